/* Tiles for tensor cores: legality, defines, and the time of their products.
 *
 *            T_COLUMNS                     a step takes T_BYTES of terms: the group's items copy
 * the
 *          +-----------+                   rows of both factors into one of T_STAGES places in
 * local T_ROWS | tile of a |  by T_BYTES of    memory, while its warps multiply what lies in the
 * others |   group   |  terms a step
 *          +-----------+
 *
 * The time is a unit's cycles, as in tiles.c; mma_fit.h has the numbers. Groups that run side by
 * side on a unit take turns, so that a unit needs the cycles of all their steps, and a group alone
 * waits for the way of its copies. The begin of a group and the places of its copies bound tiles of
 * few steps.
 */
#include "mma_tiles.h"

#include "generator/base/integers.h"

#include "mma_fit.h"
#include "tiles.h"

#include <math.h>

/* Registers for sums: an item that needed more would keep some in memory. */
enum { MOST_SUMS = 128 };

const kiln_fit *const kiln_mma_fits[] = {
    [KILN_MMA] = &mma_fit,
    [KILN_WGMMA] = &wgmma_fit,
    [KILN_MMA_TURNED] = &mma_turned_fit,
    [KILN_WGMMA_TURNED] = &wgmma_turned_fit,
};

static bool is_wgmma(kiln_mma_kind kind)
{
    return kind == KILN_WGMMA || kind == KILN_WGMMA_TURNED;
}

int kiln_mma_teams(const kiln_config *c)
{
    return c->v[MMA_BYTES] > 128 ? c->v[MMA_BYTES] / 128 : 1;
}

kiln_mma_tiles kiln_mma_tiles_of(kiln_mma_kind kind, kiln_type type, int64_t out_size,
                                 bool exchanged, int64_t most_steps, const kiln_config *c)
{
    const int *v = c->v;
    const int64_t slots = least_of(v[MMA_STAGES], most_steps);
    const int64_t pieces = slots * (v[MMA_ROWS] + v[MMA_COLUMNS]) * v[MMA_BYTES];
    const int teams = kiln_mma_teams(c);
    const int64_t sums = 4 * (teams - 1) * v[MMA_ROWS] * v[MMA_COLUMNS];
    const int64_t results = exchanged ? v[MMA_ROWS] * (v[MMA_COLUMNS] * out_size + 16) : 0;
    const int64_t after = results > sums ? results : sums;
    return (kiln_mma_tiles){
        .kind = kind,
        .type = type,
        .items = 32 * v[MMA_WARPS_R] * v[MMA_WARPS_C] * teams,
        .out_size = out_size,
        .local_bytes = pieces > after ? pieces : after,
        .share = 1,
    };
}

bool kiln_mma_lacks(const kiln_shape *s, const kiln_device_facts *d, kiln_mma_kind kind,
                    kiln_why *why)
{
    /* This comes first: the device is asked for tensor cores only where a shape suits them. */
    if (!kiln_shape_suits_tensor_cores(s))
        return kiln_no(why, "tensor cores round f32 to 10 bits of fraction; allow that with "
                            "--math reduced");
    const bool wgmma = is_wgmma(kind);
    if (wgmma ? d->gpu.has_wgmma : d->gpu.has_mma)
        return false;
    const char *what = wgmma ? "tensor cores that kernels reach by the instruction wgmma"
                             : "tensor cores that kernels reach by the instruction mma";
    return kiln_gpu_gate_shut(wgmma ? &d->unit->wgmma : &d->unit->mma, &d->gpu.id, what, why) ||
           kiln_no(why, "it needs %s; a probe found none on the device", what);
}

bool kiln_mma_refused(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                      kiln_why *why)
{
    const int *v = c->v;
    const int rows = v[MMA_ROWS] / v[MMA_WARPS_R], columns = v[MMA_COLUMNS] / v[MMA_WARPS_C];
    const int64_t local = kiln_device_static_local(d);
    if (v[MMA_ROWS] % (16 * v[MMA_WARPS_R]) || v[MMA_COLUMNS] % (16 * v[MMA_WARPS_C]) ||
        rows * columns / 32 > MOST_SUMS)
        return kiln_no(why,
                       "a warp's part of %d x %d is no whole number of 16 x 16, or needs more than "
                       "%d registers for an item's sums",
                       rows, columns, MOST_SUMS);
    if (is_wgmma(t->kind) && (v[MMA_WARPS_R] % 4 || rows % 16 || v[MMA_STAGES] < 3))
        return kiln_no(why, "%d rows are no whole number of 64 for each four of %d warps",
                       v[MMA_ROWS], v[MMA_WARPS_R]);
    if (t->items < 128 * kiln_mma_teams(c) || t->items > d->max_group || t->items > d->max_local[0])
        return kiln_no(why, "a group of %lld items is below 128 or exceeds the device's limit",
                       (long long)t->items);
    if (t->local_bytes > local)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)t->local_bytes, (long long)local);
    return false;
}

bool kiln_mma_unfit(const kiln_mma_tiles *t, const kiln_config *c)
{
    return t->items > (is_wgmma(t->kind) ? 384 : kiln_mma_teams(c) > 1 ? 512 : 256);
}

kiln_config kiln_mma_best(const kiln_guess *guess, const int *splits, int nsplits)
{
    kiln_guess g = *guess;
    const kiln_mma_variant *variant = g.self->own;
    const kiln_param *params = g.self->params;
    const kiln_range all[] = {
        kiln_searched(params, MMA_ROWS),        kiln_searched(params, MMA_COLUMNS),
        kiln_searched(params, MMA_WARPS_R),     kiln_searched(params, MMA_WARPS_C),
        kiln_searched(params, MMA_BYTES),       kiln_searched(params, MMA_STAGES),
        kiln_listed(MMA_SPLIT, splits, nsplits)};
    g.best = variant->smallest;
    g.best_ms = INFINITY;
    kiln_config_best(&g, &variant->smallest, all, sizeof all / sizeof *all);
    return g.best;
}

void kiln_mma_define(const kiln_mma_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                     kiln_plan *plan)
{
    static const char *const names[MMA_PARAMS] = {"T_ROWS",  "T_COLUMNS", "T_WARPS_R", "T_WARPS_C",
                                                  "T_BYTES", "T_STAGES",  "T_SPLIT"};
    for (int i = 0; i < MMA_PARAMS; i++)
        kiln_define(plan, names[i], c->v[i]);
    kiln_define(plan, "T_WGMMA", is_wgmma(t->kind));
    if (is_wgmma(t->kind) && d->unit->wgmma_target)
        kiln_define_text(plan, "D_PTX_TARGET", d->unit->wgmma_target);
}

/* Tensor cores cut a sum off, toward zero, each time that they add the products of an instruction,
 * sixteen or so. Where the sum grows evenly, `chain` / 16 of such errors add up to at most
 * u chain |S| / 8, if a cut is of 2^-22 of the sum, four units u; driver/reference/bound.c allows
 * plain sums 4 u sqrt(terms) |S|. On an H100 the largest errors of sums of 3136 to 12544 products
 * in f16 were 0.75 to 0.8 of that.
 *
 * Both factors of a product in f32 are rounded to 11 bits: it is off by 2^-10 of itself at most,
 * 2^14 units. Where such errors are independent, a sum of n of them is off by about 2^14 / sqrt(n)
 * units of the sum of absolute values; bound.c counts with eight. */
double kiln_mma_amplification(kiln_type type, double terms, double chain)
{
    const double cut = fmax(1, chain / (32 * sqrt(terms)));
    return type == KILN_I8    ? 1
           : type == KILN_F32 ? fmax(cut, fmin(2048, 16384 / sqrt(terms)))
                              : cut;
}

/* Returns the registers of an item: sums, two slices of operands (wgmma has none), addresses. */
static double registers_of(const kiln_mma_numbers *k, const kiln_mma_tiles *t, const kiln_config *c)
{
    const double rows = c->v[MMA_ROWS] / c->v[MMA_WARPS_R],
                 columns = c->v[MMA_COLUMNS] / c->v[MMA_WARPS_C];
    const double operands = is_wgmma(t->kind) ? 0 : (rows + columns) / 2;
    return fmin(255, rows * columns / 32 + operands + k->own_registers);
}

/* Returns the work-groups that a unit runs side by side. */
static double beside(const kiln_mma_numbers *k, const kiln_mma_tiles *t, const kiln_device_facts *d,
                     const kiln_config *c)
{
    const int64_t registers = kiln_device_unit_registers(d), local = kiln_device_unit_local(d);
    const double items = (double)t->items;
    double groups =
        fmin(d->unit->groups, floor((double)registers / (registers_of(k, t, c) * items)));
    groups = fmin(groups, floor(d->unit->items / items));
    groups = fmin(groups, floor((double)local / ((double)(t->local_bytes + d->unit->group_local))));
    return fmax(1, groups);
}

/* Returns the copies of 16 bytes that an item has in a step. */
static double copies_of(const kiln_mma_tiles *t, const kiln_config *c)
{
    return (double)((c->v[MMA_ROWS] + c->v[MMA_COLUMNS]) * c->v[MMA_BYTES]) / 16 / (double)t->items;
}

/* Returns the steps whose copies are begun before they are needed. */
static double steps_ahead(const kiln_mma_tiles *t, const kiln_config *c)
{
    return fmax(1, fmin(c->v[MMA_STAGES] - (is_wgmma(t->kind) ? 2 : 1), t->steps));
}

/* Returns the cycles that a unit has for one step of a group; *alone are the cycles that a group
 * which is alone needs at least. */
static double step_cycles(const kiln_mma_numbers *k, const kiln_mma_tiles *t, const kiln_config *c,
                          double *alone)
{
    const int *v = c->v;
    const bool wgmma = is_wgmma(t->kind);
    const double rows = v[MMA_ROWS], columns = v[MMA_COLUMNS], lines = v[MMA_BYTES] / 128.0;
    const double readers_r = wgmma ? 1 : v[MMA_WARPS_C],
                 readers_c = wgmma ? v[MMA_WARPS_R] / 4.0 : v[MMA_WARPS_R];
    const double multiply = t->share * rows * columns * v[MMA_BYTES] / 2 / k->multiply,
                 read = k->read * (rows * readers_r + t->share * columns * readers_c) * lines,
                 copy = k->copy * (rows + columns) * lines;
    *alone =
        k->latency / steps_ahead(t, c) + k->alone * (multiply + read) + k->one * copies_of(t, c);
    return fmax(multiply, read + copy) + k->issue * (double)t->items / 128;
}

double kiln_mma_ms(const kiln_fit *fit, const kiln_mma_tiles *t, const kiln_device_facts *d,
                   const kiln_config *c)
{
    const kiln_mma_numbers *k = fit->numbers;
    double alone;
    const double units = d->compute_units, most = beside(k, t, d, c),
                 step = step_cycles(k, t, c, &alone);
    const double begin = k->begin + k->setup * copies_of(t, c) + k->first / steps_ahead(t, c);
    const double end = (double)t->out_size * c->v[MMA_ROWS] * c->v[MMA_COLUMNS] / k->store;
    const double rounds = floor(t->count / (units * most)), left = t->count - rounds * units * most;
    double cycles = 0;
    for (int last = 0; last < 2; last++) {
        const double groups = last ? ceil(left / units) : most, times = last ? left > 0 : rounds;
        const double one = fmax(k->chain, alone + k->overlap * groups * step);
        const double round = fmax(groups * step, one);
        const double sums = t->steps * round + begin, stores = groups * end;
        cycles += times * (fmax(sums, stores) + fmin(sums, stores) / pow(most, k->mixed));
    }
    return cycles / (kiln_device_fit_ghz(d, fit) * 1e6);
}

double kiln_mma_both_ms(const kiln_fit *fit, double multiply, double move)
{
    const kiln_mma_numbers *k = fit->numbers;
    return fmax(multiply, move) + k->beside * fmin(multiply, move);
}

/* Operations of one launch that took 7 to 9 us in a row needed 2.1 to 3.0 us more than their
 * prediction (ten layers). The same is left out here for operations of several launches, which
 * need as long as the host takes to enqueue them. On an H100 one launch was 1.2 to 2.4 times as
 * fast as two or more in all of 18 layers beside other processes, and no slower in 15 of them
 * with the host ahead of the device (2026-11-27). */
double kiln_mma_row_ms(const kiln_device_facts *d, double ms, int launches)
{
    const double between = 0.0024;
    return launches > 1 ? fmax(ms, kiln_tiles_row_ms(d, 0, launches) - between + 0.05 * ms) : ms;
}
