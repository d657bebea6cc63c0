/* Tiles in local memory: legality, defines, and the time of their products.
 *
 *               T_BN                    a step takes T_BK terms: while the items multiply one
 *           +-----------+               pair of pieces in local memory, each item has its share
 *     T_BM  | tile of a |  by T_BK      of the next pair under way in registers. An item has
 *           |   group   |  terms a      T_TM x T_TN of the results
 *           +-----------+  step
 *
 * The time is a unit's cycles; tiles_fit.h has the numbers. Groups that run side by side on a unit
 * take turns: together they need the cycles of all their steps, but a group alone needs the latency
 * of each step at least.
 */
#include "tiles.h"

#include "generator/base/integers.h"

#include "tiles_fit.h"

#include <math.h>
#include <string.h>

/* Ranges that a guess tries of parameters behind the tiles'. */
enum { MOST_RANGES = 2 };

/* Groups of more items wait for one another for longer than large tiles save. */
enum { MOST_ITEMS = 256 };

/* Terms of a step for each slice, where a group has several slices. */
enum { SLICE_TERMS = 16 };

/* Registers of an item: an item that needed more would keep some sums in memory. */
enum { MOST_REGISTERS = 192 };

static const double own_registers = 63; /* of an item, besides sums, operands and pieces */

const kiln_config kiln_tiles_smallest = {{[TILES_BM] = 16,
                                          [TILES_BN] = 32,
                                          [TILES_BK] = 8,
                                          [TILES_TM] = 4,
                                          [TILES_TN] = 4,
                                          [TILES_SPLIT] = 1}};

/* Slices share the terms of steps that are too long for one item. */
int kiln_tiles_slices(const kiln_config *c)
{
    return c->v[TILES_BK] > 32 ? c->v[TILES_BK] / SLICE_TERMS : 1;
}

int64_t kiln_tiles_items(const kiln_config *c)
{
    return (int64_t)c->v[TILES_BM] * c->v[TILES_BN] / (c->v[TILES_TM] * c->v[TILES_TN]) *
           kiln_tiles_slices(c);
}

int64_t kiln_tiles_slices_room(const kiln_config *c)
{
    return (int64_t)kiln_tiles_slices(c) / 2 * c->v[TILES_BM] * c->v[TILES_BN];
}

bool kiln_tiles_share(int64_t items, int64_t across, int64_t rows)
{
    if (items <= across)
        return across % items == 0;
    return items % across == 0 && (items / across >= rows || rows % (items / across) == 0);
}

bool kiln_tiles_refused(const kiln_tiles *t, const kiln_device_facts *d, const kiln_config *c,
                        kiln_why *why)
{
    const int *v = c->v;
    if (v[TILES_BM] % (4 * v[TILES_TM]) || v[TILES_BN] % (8 * v[TILES_TN]))
        return kiln_no(why, "a tile of %d x %d is no whole number of parts of %d x %d", v[TILES_BM],
                       v[TILES_BN], 4 * v[TILES_TM], 8 * v[TILES_TN]);
    if (t->items > d->max_group || t->items > d->max_local[0])
        return kiln_no(why, "a group of %lld items exceeds the device's limit",
                       (long long)t->items);
    if (t->local_bytes > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)t->local_bytes, (long long)d->local_memory);
    return false;
}

/* Returns the registers of an item: sums, operands, its share of the next pieces, addresses. */
static double registers_of(const kiln_tiles *t, const kiln_config *c)
{
    const int *v = c->v;
    const double brought = v[TILES_BK] * (v[TILES_BM] + v[TILES_BN]) / (double)t->items;
    return v[TILES_TM] * v[TILES_TN] + v[TILES_TM] + v[TILES_TN] + brought + own_registers;
}

bool kiln_tiles_unfit(const kiln_tiles *t, const kiln_config *c)
{
    return t->items > MOST_ITEMS || registers_of(t, c) > MOST_REGISTERS;
}

void kiln_tiles_guess(kiln_guess *g, const kiln_param *params, kiln_range splits,
                      const kiln_range *more, int nmore, kiln_config *c)
{
    kiln_range all[TILES_PARAMS + MOST_RANGES];
    int n = 0;
    *c = g->best;
    if (g->d->kind == KILN_DEVICE_CPU)
        return; /* a CPU gets the small kernel, which compiles soonest */
    g->best_ms = INFINITY;
    while (n < nmore && n < MOST_RANGES) {
        all[n] = more[n];
        n++;
    }
    for (int p = TILES_BM; p <= TILES_TN; p++)
        all[n++] = kiln_searched(params, p);
    all[n++] = splits;
    kiln_config_best(g, c, all, n);
    *c = g->best;
}

bool kiln_tiles_skipped(const kiln_tiles *t, const kiln_device_facts *d, const kiln_config *c)
{
    const bool crowded = c->v[TILES_SPLIT] > 1 && t->count > 16.0 * d->compute_units;
    /* A CPU runs the items of a group in turns between barriers, and has better solvers. */
    return d->kind == KILN_DEVICE_CPU || t->items < 32 || kiln_tiles_unfit(t, c) || crowded;
}

/* Makes a 1x1 filter of a filter as large as the images, where memory lies the same. Returns
 * false where it does not. */
static bool fold_filter(kiln_shape *f)
{
    const bool bias_of_x = f->direction == KILN_BACKWARD_DATA && f->epilogue.bias;
    if (!kiln_shape_is_plain_layout(f) || bias_of_x)
        return false;
    for (int a = 0; a < 3; a++)
        if (f->filter[a] != f->in[a] || f->out[a] != 1 || f->pad[a] != 0 ||
            (f->filter[a] > 1 && f->dilation[a] != 1))
            return false;
    for (int a = 0; a < 3; a++) {
        f->c *= f->filter[a];
        f->in[a] = f->filter[a] = f->stride[a] = f->dilation[a] = 1;
        f->pad_end[a] = 0;
    }
    return true;
}

kiln_shape kiln_tiles_fold(const kiln_shape *s)
{
    kiln_shape f = *s;
    if (fold_filter(&f) || !kiln_shape_is_pointwise(s) || s->rank == 1)
        return f;
    const int64_t row[3] = {1, 1, s->in[0] * s->in[1] * s->in[2]};
    memcpy(f.in, row, sizeof row);
    memcpy(f.out, row, sizeof row);
    return f;
}

bool kiln_tiles_take_layouts(const kiln_shape *s)
{
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    return kiln_order_of(&x, s->in, s->c) != KILN_CHANNELS_ELSEWHERE &&
           kiln_order_of(&y, s->out, s->k) != KILN_CHANNELS_ELSEWHERE;
}

bool kiln_tiles_have_quads(const kiln_pitch *p, const int64_t size[3])
{
    const bool dense = p->row == size[2] * p->pixel && p->plane == size[1] * p->row;
    return p->pixel == 1 && dense && size[0] * size[1] * size[2] % 4 == 0;
}

void kiln_tiles_define(const kiln_shape *s, const kiln_tiles_walk *w, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    static const char *const names[TILES_PARAMS] = {"T_BM", "T_BN", "T_BK",
                                                    "T_TM", "T_TN", "T_SPLIT"};
    kiln_define_types(plan, s);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_SRC_C", w->src_c);
    kiln_define(plan, "D_DST_C", w->dst_c);
    kiln_define_axes(plan, "P_SRC", w->src);
    kiln_define_axes(plan, "P_DST", w->dst);
    kiln_define_axes(plan, "P_FILTER", w->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", w->pad);
    if (d->kind == KILN_DEVICE_GPU)
        kiln_define(plan, "D_ALIGNED", 1);
    for (int i = 0; i < TILES_PARAMS; i++)
        kiln_define(plan, names[i], c->v[i]);
    kiln_define(plan, "D_SLICES", kiln_tiles_slices(c));
}

/* Returns the work-groups that a unit runs side by side. */
static double beside(const kiln_tiles *t, const kiln_device_facts *d, const kiln_config *c)
{
    const int64_t registers = kiln_device_unit_registers(d);
    const int64_t local = d->gpu.unit_local_memory ? d->gpu.unit_local_memory : 2 * d->local_memory;
    const double items = (double)t->items;
    double groups = fmin(d->unit->groups, floor((double)registers / (registers_of(t, c) * items)));
    groups = fmin(groups, floor(d->unit->items / items));
    groups = fmin(groups, floor((double)local / (double)t->local_bytes));
    return fmax(1, groups);
}

/* Returns the cycles of a lane to bring an element of a piece. */
static double load_cycles(const kiln_tiles_numbers *k, kiln_tiles_load load)
{
    const double cycles[] = {[KILN_TILES_OF_FOUR] = k->of_four,
                             [KILN_TILES_ALONE] = k->alone,
                             [KILN_TILES_BOUNDED] = k->bounded,
                             [KILN_TILES_LOOKED_FOR] = k->looked_for};
    return cycles[load];
}

/* Returns the cycles that a unit has for one step of a group. */
static double step_cycles(const kiln_tiles_numbers *k, const kiln_tiles *t,
                          const kiln_device_facts *d, const kiln_config *c)
{
    const double lanes = kiln_device_unit_lanes(d);
    const double bm = c->v[TILES_BM], bn = c->v[TILES_BN], bk = c->v[TILES_BK];
    const double tm = c->v[TILES_TM], tn = c->v[TILES_TN], sums = bm * bn * bk;
    const double a = load_cycles(k, t->a_load), b = load_cycles(k, t->b_load) * t->b_lines;
    return k->multiply_add * sums / lanes + sums * (tm + tn) / (tm * tn) / k->read_rate +
           (bk * (bn * b + bm * a) + k->item_cycles * (double)t->items) / lanes;
}

double kiln_tiles_row_ms(const kiln_device_facts *d, double ms, int launches)
{
    const double less_busy = 0.05; /* less to do is better even so */
    return fmax(ms, launches * kiln_device_enqueue_ms(d)) + less_busy * ms;
}

/* Returns the cycles of a step of `groups` groups that a unit runs side by side. Few items leave
 * lanes without any. */
static double round_cycles(const kiln_tiles_numbers *k, const kiln_tiles *t,
                           const kiln_device_facts *d, double cycles, double latency, double groups)
{
    const double all = kiln_device_unit_lanes(d), used = fmin(all, groups * (double)t->items);
    const double busy = groups * cycles * all / used;
    return fmax(busy, latency + k->overlap * busy);
}

double kiln_tiles_ms(const kiln_fit *fit, const kiln_tiles *t, const kiln_device_facts *d,
                     const kiln_config *c)
{
    const kiln_tiles_numbers *k = fit->numbers;
    const double units = d->compute_units, most = beside(t, d, c), cycles = step_cycles(k, t, d, c);
    const int slices = kiln_tiles_slices(c);
    const double latency = k->step_latency + k->term_latency * c->v[TILES_BK] / slices;
    const double adding = k->slices_latency * log2(slices);
    const double rounds = floor(t->count / (units * most)), left = t->count - rounds * units * most;
    const double last = ceil(left / units);
    const double a_round = round_cycles(k, t, d, cycles, latency, most);
    const double last_round = left > 0 ? round_cycles(k, t, d, cycles, latency, last) : 0;
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* items take turns at barriers */
    return turns *
           (((double)t->steps + k->other_steps) * (rounds * a_round + last_round) +
            adding * (rounds + (left > 0))) /
           (kiln_device_fit_ghz(d, fit) * 1e6);
}
