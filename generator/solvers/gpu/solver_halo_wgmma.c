/* A convolution without a stride and of few channels on tensor cores: forward and backward data,
 * without groups.
 *
 *     a tile: 8 x 8 * T_BLOCKS pixels    its patch in local memory
 *     +--------+                         +----------+     all taps of the tile read this one
 *     |        |                         | +------+ |     patch, which is copied once; weights
 *     |        |                         | |      | |     of all taps stay in local memory while
 *     +--------+                         +-+------+-+     a group goes through tiles
 *
 * T_TEAMS teams of a group have tiles and T_SLOTS patches of their own. Local memory has to hold
 * the weights of all taps of T_COLUMNS channels. templates/gpu/halo_wgmma.cl has the kernel.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"

#include "halo_fit.h"
#include "mma_source.h"
#include "mma_tiles.h"

#include <math.h>

enum { TEAMS, BLOCKS, SLOTS, COLUMNS, PARAMS };

static const kiln_param params[PARAMS] = {
    [TEAMS] = {"T_TEAMS", 4, {1, 2, 3, 4}, 0, 0},
    [BLOCKS] = {"T_BLOCKS", 2, {1, 2}, 0, 0},
    [SLOTS] = {"T_SLOTS", 3, {2, 3, 4}, 0, 0},
    [COLUMNS] = {"T_COLUMNS", 5, {32, 64, 96, 128, 192}, 0, 0},
};

static const kiln_config smallest = {{[TEAMS] = 1, [BLOCKS] = 1, [SLOTS] = 2, [COLUMNS] = 32}};

enum { TEAM_ITEMS = 128, ROW_BYTES = 128, MOST_SUMS = 128, TILE_W = 8 };

typedef struct halo {
    /* ---- from the shape ---- */
    kiln_blocked walk;
    kiln_mma_source src;
    int64_t size, out_size, out_unit; /* bytes of elements; bytes of a store */
    int64_t taps, rows;               /* taps of the filter; rows of 128 bytes that a pixel has */
    kiln_mma_result dst;

    /* ---- from a config ---- */
    int64_t columns, tiles, patch_bytes, patch_units, local_bytes, items;
    int64_t beside, groups; /* groups of a unit; groups for each tile of channels */
} halo;

static halo of_shape(const kiln_shape *s)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    halo h = {.walk = kiln_blocked_of(s)};
    h.src = kiln_mma_source_of(s, backward ? 'y' : 'x', true);
    h.size = (int64_t)kiln_type_size(h.src.type);
    h.out_size = (int64_t)kiln_type_size(kiln_shape_out_type(s));
    h.dst = kiln_mma_result_of(s, &h.walk.dst_pitch, h.walk.dst, TILE_W);
    h.out_unit = kiln_mma_out_unit(&h.dst.pitch, h.walk.dst, h.walk.dst_c, TILE_W, h.out_size);
    h.taps = s->filter[1] * s->filter[2];
    h.rows = divide_up(h.src.channels * h.size, ROW_BYTES);
    return h;
}

static void set_config(halo *h, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    const kiln_blocked *w = &h->walk;
    const int64_t high = 8 * v[BLOCKS],
                  pixels = product_of(high + (w->filter[1] - 1) * w->dilation[1],
                                      8 + (w->filter[2] - 1) * w->dilation[2]);
    const int64_t weights = product_of(h->taps * h->rows, v[COLUMNS] * ROW_BYTES);
    h->columns = round_up(w->dst_c, v[COLUMNS]);
    h->tiles = product_of(w->n, divide_up(w->dst[1], high) * divide_up(w->dst[2], 8));
    h->patch_bytes = product_of(h->rows, round_up(product_of(pixels, ROW_BYTES), 1024));
    h->local_bytes = weights + v[TEAMS] * product_of(v[SLOTS], h->patch_bytes);
    h->items = TEAM_ITEMS * v[TEAMS];
    const int64_t registers = (v[BLOCKS] * v[COLUMNS] / 2 + 64) * h->items;
    h->beside = least_of(kiln_device_unit_local(d) / (h->local_bytes + d->unit->group_local),
                         kiln_device_unit_registers(d) / registers);
    h->beside = h->beside < 1 ? 1 : h->beside;
    /* There are as many groups as run at a time. */
    const int64_t across = h->columns / v[COLUMNS], all = d->compute_units * h->beside;
    h->groups = least_of(divide_up(h->tiles, v[TEAMS]), all < across ? 1 : all / across);
}

static halo halo_of(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    halo h = of_shape(s);
    set_config(&h, d, c);
    return h;
}

/* ---- limits ---- */

static bool exceeds(const halo *h, const kiln_device_facts *d, const kiln_config *c, kiln_why *why)
{
    const int64_t local = kiln_device_static_local(d);
    if (h->items > d->max_group || h->items > d->max_local[0])
        return kiln_no(why, "a group of %lld items exceeds the device's limit",
                       (long long)h->items);
    if (c->v[BLOCKS] * c->v[COLUMNS] / 2 > MOST_SUMS)
        return kiln_no(why, "%d x %d results need more than %d registers for an item's sums",
                       64 * c->v[BLOCKS], c->v[COLUMNS], MOST_SUMS);
    if (h->local_bytes > local)
        return kiln_no(why,
                       "%lld bytes of local memory, for all weights of %d channels and %d patches, "
                       "exceed the device's %lld",
                       (long long)h->local_bytes, c->v[COLUMNS], c->v[TEAMS] * c->v[SLOTS],
                       (long long)local);
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const halo h = halo_of(s, d, c);
    return exceeds(&h, d, c, why);
}

static bool refuses_geometry(const kiln_shape *s, kiln_why *why)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS || s->g != 1)
        return kiln_no(why, "it does forward and backward data without groups");
    if (s->in[0] != 1 || s->filter[0] != 1 || s->out[0] != 1 || s->pad[0] != 0)
        return kiln_no(why, "it does one and two axes");
    if (s->filter[1] * s->filter[2] == 1)
        return kiln_no(why, "a filter of one tap has no patch to keep");
    if (s->stride[1] != 1 || s->stride[2] != 1)
        return kiln_no(why, "its filters move by one pixel, not by %lld x %lld",
                       (long long)s->stride[1], (long long)s->stride[2]);
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (refuses_geometry(s, why))
        return true;
    if (kiln_mma_lacks(s, d, KILN_WGMMA, why) || kiln_mma_refuses_tensors(s, why))
        return true;
    const halo h = halo_of(s, d, &smallest);
    for (int a = 1; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->filter[a] * s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (h.tiles > most || product_of(h.columns, h.taps * h.rows) > most / ROW_BYTES)
        return kiln_no(why, "its tiles or channels leave the range of its grid");
    return exceeds(&h, d, &smallest, why);
}

/* Leaves out more columns than the destination has, and teams without tiles. */
static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const halo h = halo_of(s, d, c);
    const int v = c->v[COLUMNS];
    return (v > 32 && v - (v > 128 ? 64 : 32) >= h.walk.dst_c) ||
           h.tiles < (int64_t)d->compute_units * c->v[TEAMS];
}

/* ---- time ---- */

/* Returns how much longer a problem takes that this solver was not made for. */
static double slower(const halo *h, const kiln_halo_numbers *k, double teams)
{
    const double rows = h->rows > 2 ? k->lost_more : h->rows > 1 || teams < 2 ? k->lost : 1;
    return rows * (h->size == 1 ? k->lost_bytes : 1);
}

/* Teams of a unit share its tensor cores. Products of few columns are bound by reads of local
 * memory; teams with patches to spare wait less for copies. */
static double ms_of_tiles(const kiln_solver *self, const halo *h, const kiln_shape *s,
                          const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_fit *fit = self->fits[0];
    const kiln_halo_numbers *k = fit->numbers;
    const int *v = c->v;
    const double columns = v[COLUMNS], teams = (double)(h->beside * v[TEAMS]);
    const double steps = (double)(h->taps * divide_up(h->src.channels * h->size, 32)) * v[BLOCKS];
    const double multiply = steps * fmax(columns / 2, k->read * (2048 + 32 * columns));
    const double wait = v[SLOTS] > 2 ? k->waits_less : k->waits;
    const double tile = multiply + (v[BLOCKS] > 1 ? k->high : 1) * wait;
    const double across = (double)(h->columns / v[COLUMNS]),
                 tiles = ceil((double)h->tiles / (double)(h->groups * v[TEAMS]));
    const double launches = fmax(1, across / (double)(d->compute_units * h->beside));
    const double bytes =
        (double)kiln_mma_source_bytes(&h->src) + (double)(kiln_shape_out_count(s) * h->out_size);
    const double ms = tiles * teams * tile * slower(h, k, teams) * launches /
                      (kiln_device_fit_ghz(d, fit) * 1e6),
                 move = kiln_device_move_ms(d, bytes);
    return fmax(ms, move) + k->beside * fmin(ms, move) + (tiles < 6 ? k->begin_ms : 0) +
           kiln_mma_source_ms(&h->src, d) + kiln_mma_result_ms(&h->dst, d) +
           kiln_device_launch_ms(d);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const halo h = halo_of(s, d, c);
    return ms_of_tiles(self, &h, s, d, c);
}

static double guess_ms(const kiln_guess *g, kiln_config *c)
{
    halo *h = g->own;
    set_config(h, g->d, c);
    /* All other configs were slower in the problems that were measured. */
    const bool high = c->v[COLUMNS] == 32 && c->v[SLOTS] == 3;
    if ((c->v[BLOCKS] > 1 && !high) || c->v[SLOTS] > 3 || (h->size == 1 && c->v[COLUMNS] > 64))
        return INFINITY;
    return exceeds(h, g->d, c, NULL) ? INFINITY : ms_of_tiles(g->self, h, g->s, g->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_range all[] = {kiln_searched(params, TEAMS), kiln_searched(params, BLOCKS),
                              kiln_searched(params, SLOTS), kiln_searched(params, COLUMNS)};
    halo own = of_shape(s);
    kiln_guess g = {.self = self,
                    .s = s,
                    .d = d,
                    .own = &own,
                    .ms = guess_ms,
                    .best = smallest,
                    .best_ms = INFINITY};
    kiln_config_best(&g, &smallest, all, sizeof all / sizeof *all);
    *c = g.best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const halo *h, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    const kiln_blocked *w = &h->walk;
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t across = s->c * h->taps;
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    if (!s->wide && product_of(w->n, h->src.pitch.image) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_IMAGES", w->n);
    kiln_define_axes(plan, "P_SRC", w->src);
    kiln_define_axes(plan, "P_DST", w->dst);
    kiln_define_axes(plan, "P_FILTER", w->filter);
    kiln_define_axes(plan, "P_DILATION", w->dilation);
    kiln_define_axes(plan, "D_LEAD", w->lead);
    kiln_define(plan, "D_TURNED", backward);
    kiln_define(plan, "D_SRC_C", w->src_c);
    kiln_define(plan, "D_CHANNELS", h->src.channels);
    kiln_define(plan, "D_DST_C", w->dst_c);
    kiln_define(plan, "D_COLUMNS", h->columns);
    kiln_define(plan, "D_W_SRC", backward ? across : h->taps);
    kiln_define(plan, "D_W_DST", backward ? h->taps : across);
    kiln_pitch_define(&h->src.pitch, "D_SRC", plan);
    kiln_pitch_define(&h->dst.pitch, "D_DST", plan);
    kiln_define(plan, "D_UNIT", h->src.unit);
    kiln_define(plan, "D_OUT_UNIT", h->out_unit);
    kiln_define(plan, "D_GROUPS", h->groups);
    kiln_define_params(plan, params, PARAMS, c);
    /* An emulation of the instructions has no such target. */
    if (d->unit->wgmma_target)
        kiln_define_text(plan, "D_PTX_TARGET", d->unit->wgmma_target);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const halo h = halo_of(s, d, c);
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const double terms = (double)kiln_shape_terms(s);
    const int64_t rows = h.taps * h.rows;
    plan->amplification = kiln_mma_amplification(h.src.type, terms, terms);
    plan->packed_bytes = h.columns * rows * ROW_BYTES;
    kiln_plan_stage(plan, "halo_wgmma.cl", "halo_wgmma_pack")->pack = true;
    define_all(s, &h, d, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, kiln_device_group(d, 64), 1, 1, ROW_BYTES / h.size, h.columns, rows);
    const int src = kiln_mma_source_emit(&h.src, s, d, backward ? KILN_ROLE_Y : KILN_ROLE_X, plan);
    const int dst = kiln_mma_result_role(&h.dst, s, plan);
    kiln_plan_stage(plan, "halo_wgmma.cl", "halo_wgmma");
    define_all(s, &h, d, c, plan);
    kiln_arg_buffer(plan, src);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, dst);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, h.items, 1, 1, h.groups * h.items, h.columns / c->v[COLUMNS], 1);
    kiln_mma_result_emit(&h.dst, s, d, dst, plan);
}

const kiln_solver kiln_solver_halo_wgmma = {
    .name = "halo_wgmma",
    .id = 1065,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&halo_fit},
    .nfits = 1,
    .prefer = kiln_mma_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
