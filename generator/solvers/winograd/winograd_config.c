/* Computes what a Winograd config means: sizes, limits, times, defines; and guesses a config. */
#include "generator/base/integers.h"
#include "generator/geometry/blocked.h"
#include "generator/plan/config_best.h"

#include "winograd.h"

#include <math.h>
#include <stdio.h>

/* Returns the products along axis 0 or 1 (H, W) of a tile. */
static int products_of(const kiln_winograd *w, const kiln_config *c, int axis)
{
    return w->taps[axis] > 1 ? c->v[WINOGRAD_T] : 1;
}

/* Returns the destination elements along an axis of a tile. */
static int side_of(const kiln_winograd *w, const kiln_config *c, int axis)
{
    return products_of(w, c, axis) - w->taps[axis] + 1;
}

int kiln_winograd_elements(const kiln_winograd *w, const kiln_config *c)
{
    return products_of(w, c, 0) * products_of(w, c, 1);
}

int kiln_winograd_least(const kiln_winograd *w)
{
    int taps = w->taps[0] > w->taps[1] ? w->taps[0] : w->taps[1];
    return taps < 4 ? 4 : taps / 2 * 2 + 2;
}

/* Returns the tiles along an axis. */
static int64_t tiles_of(const kiln_winograd *w, const kiln_config *c, int axis)
{
    return divide_up(divide_up(w->dst[axis], w->dilation[axis]), side_of(w, c, axis));
}

int64_t kiln_winograd_all_tiles(const kiln_winograd *w, const kiln_config *c)
{
    int64_t planes = w->images * w->dilation[0] * w->dilation[1];
    return planes * tiles_of(w, c, 0) * tiles_of(w, c, 1);
}

int64_t kiln_winograd_items(const kiln_winograd *w, const kiln_config *c)
{
    return divide_up(kiln_winograd_all_tiles(w, c), c->v[WINOGRAD_TILES]);
}

int64_t kiln_winograd_dst_tiles(const kiln_winograd *w, const kiln_config *c)
{
    return divide_up(w->dst_blocks, c->v[WINOGRAD_KV]);
}

/* Returns the elements of the transformed filters of one group. */
static int64_t filters_of(const kiln_winograd *w, const kiln_config *c)
{
    int64_t rows = divide_up(w->src_rows, 4) * 4, columns = (int64_t)c->v[WINOGRAD_KV] * w->block;
    return kiln_winograd_dst_tiles(w, c) * kiln_winograd_elements(w, c) * rows * columns;
}

/* Rows of tiles are cut into equal runs of at most 32 elements, whose strip stays in a level-1
 * cache. */
int64_t kiln_winograd_run(int64_t row, int side, const kiln_config *c)
{
    int64_t run = divide_up(row, divide_up(row, 32 / side));
    return run < c->v[WINOGRAD_TILES] ? run : c->v[WINOGRAD_TILES];
}

static int64_t run_of(const kiln_winograd *w, const kiln_config *c)
{
    return kiln_winograd_run(tiles_of(w, c, 1), side_of(w, c, 1), c);
}

int64_t kiln_winograd_strip(const kiln_winograd *w, const kiln_config *c)
{
    int64_t columns = side_of(w, c, 1) * run_of(w, c) + w->taps[1] - 1;
    int64_t spare = w->src_pixel && w->dst_pixel ? 0 : w->block;
    int64_t rows = products_of(w, c, 0);
    return (rows * (columns > w->block ? columns : w->block) + spare) * w->block * 4;
}

bool kiln_winograd_illegal_tiles(int64_t dst_blocks, const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (v[WINOGRAD_TILES] % v[WINOGRAD_W])
        return kiln_no(why, "T_TILES is %d, no multiple of T_W, %d", v[WINOGRAD_TILES],
                       v[WINOGRAD_W]);
    if (v[WINOGRAD_W] * v[WINOGRAD_KV] > 32)
        return kiln_no(why, "%d tiles by %d vectors are too many sums for the registers",
                       v[WINOGRAD_W], v[WINOGRAD_KV]);
    if (v[WINOGRAD_KV] > dst_blocks)
        return kiln_no(why, "T_KV is %d, but a group has only %lld blocks of channels",
                       v[WINOGRAD_KV], (long long)dst_blocks);
    return false;
}

/* PoCL aborts the process when a kernel needs more local memory than there is. Each array may be
 * aligned. */
bool kiln_winograd_no_room(const kiln_device_facts *d, int64_t bytes, int arrays, kiln_why *why)
{
    if (bytes + arrays * 128 <= d->local_memory)
        return false;
    return kiln_no(why, "%lld bytes of local memory exceed the device's %lld", (long long)bytes,
                   (long long)d->local_memory);
}

bool kiln_winograd_illegal(const kiln_winograd *w, const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    for (int a = 0; a < 2; a++)
        if (w->taps[a] >= v[WINOGRAD_T])
            return kiln_no(why,
                           "T_T is %d, and the filter has %d taps along an axis: less is left "
                           "of a tile than two elements",
                           v[WINOGRAD_T], w->taps[a]);
    if (v[WINOGRAD_T] > WINOGRAD_SQUARE && w->taps[0] > 1 && w->taps[1] > 1)
        return kiln_no(why, "T_T is %d, and along two axes at most %d keeps errors small",
                       v[WINOGRAD_T], WINOGRAD_SQUARE);
    if (kiln_winograd_illegal_tiles(w->dst_blocks, c, why))
        return true;
    if (filters_of(w, c) * w->groups > INT32_MAX)
        return kiln_no(why, "the transformed filters have 2^31 elements or more");
    return false;
}

bool kiln_winograd_fits(const kiln_device_facts *d, const kiln_config *c)
{
    int sums = c->v[WINOGRAD_W] * c->v[WINOGRAD_KV];
    return sums + c->v[WINOGRAD_KV] + 1 <= kiln_blocked_registers(d);
}

/* Expects the number of T_W tiles in T_TILES. */
static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const kiln_winograd_range *range = g->own;
    c->v[WINOGRAD_TILES] *= c->v[WINOGRAD_W];
    const bool tried = c->v[WINOGRAD_TILES] <= range->tiles && range->fits(g->d, c);
    return tried ? kiln_legal_ms(g, c) : INFINITY;
}

void kiln_winograd_guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_winograd_range *range, kiln_config *c)
{
    const kiln_range ranges[] = {
        kiln_stepped(WINOGRAD_T, range->first, range->last, 2), kiln_each(WINOGRAD_W, 2, 14),
        kiln_each(WINOGRAD_TILES, 1, range->tiles / 2), kiln_doubled(WINOGRAD_KV, 1, 4),
        kiln_doubled(WINOGRAD_SHARED, 1, range->split)};
    kiln_winograd_range own = *range;
    kiln_guess g = {self, s, d, &own, guessed_ms, *c, self->predict(self, s, d, c)};
    kiln_config_best(&g, c, ranges, range->split ? 5 : 4);
    *c = g.best;
}

bool kiln_winograd_skip(const kiln_winograd *w, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    /* With fewer sums a multiply-add waits for the one before. */
    if (!kiln_winograd_fits(d, c) ||
        v[WINOGRAD_W] * v[WINOGRAD_KV] < (d->simd_floats >= 16 ? 12 : 8))
        return true;
    if (v[WINOGRAD_TILES] >= kiln_winograd_all_tiles(w, c) + v[WINOGRAD_W] ||
        w->dst_blocks % v[WINOGRAD_KV])
        return true;
    /* Small tiles are for small images. */
    for (int a = 0; a < 2; a++)
        if (w->taps[a] > 1 && w->dst[a] <= 16)
            return false;
    return side_of(w, c, 0) * side_of(w, c, 1) <= 4 && v[WINOGRAD_T] < 8;
}

kiln_winograd_cost kiln_winograd_cost_of(const kiln_winograd *w, const kiln_config *c,
                                         int64_t count)
{
    const int *v = c->v;
    double e = kiln_winograd_elements(w, c), tiles = (double)count;
    double sums = v[WINOGRAD_W] * v[WINOGRAD_KV];
    double rows = (double)divide_up(w->src_rows, 4) * 4;
    /* Filters come from the second cache at half a vector a cycle. They come late where the first
     * cache cannot keep them for the next T_W tiles. */
    double loads = w->cpu->fit.load_of_bank * (v[WINOGRAD_W] + 2.0 * v[WINOGRAD_KV]);
    bool kept = count <= v[WINOGRAD_W] ||
                rows * v[WINOGRAD_KV] * w->block * 4 <= (double)w->cpu->fit.l1_counted * 5 / 8;
    double step = fmax(sums, loads) + 0.05 * (sums + loads) + (kept ? 0 : 0.25 * v[WINOGRAD_KV]);
    double product = rows * step + w->cpu->fit.moves * (3 * sums + 20);
    if (sums + v[WINOGRAD_KV] > (w->block >= 16 ? 28 : 12))
        product *= 1.06; /* the compiler spills some sums */
    /* Plain tensors are gathered and scattered, one by one where elements lie apart. Measured where
     * few channels make that most of the time. */
    double apart = w->dilation[1] > 1 ? 20 : 0;
    return (kiln_winograd_cost){
        .source =
            w->cpu->fit.moves * tiles * (double)w->src_blocks * e * (w->src_pixel ? 6 : 20 + apart),
        .products = e * (double)divide_up(count, v[WINOGRAD_W]) * product,
        .destination =
            w->cpu->fit.moves * tiles * v[WINOGRAD_KV] * e * (w->dst_pixel ? 5 : 25 + apart),
    };
}

double kiln_winograd_ms(const kiln_winograd *w, const kiln_device_facts *d, double operations)
{
    /* A CPU runs at full speed only with vectors as wide as its own. The share of its peak, 0.72,
     * is fitted to the products. */
    double width = fmax(1, (double)d->simd_floats / w->block);
    double per_ms = (d->kind == KILN_DEVICE_CPU ? 0.72 : 1) * d->peak_gflops * 1e6;
    return operations * 2 * w->block * width / per_ms;
}

double kiln_winograd_multiply_ms(const kiln_winograd *w, const kiln_device_facts *d,
                                 const kiln_config *c, double operations, int64_t readers)
{
    double compute = kiln_winograd_ms(w, d, operations);
    double bytes = 4.0 * (double)(filters_of(w, c) * w->groups);
    /* Multiples of the roofline's bandwidth, fitted to the products: filters that leave room in the
     * last cache for other data, filters that fill it, and filters that come from memory. */
    double cache = (double)d->cache;
    double speed = bytes < 0.5 * cache ? 5.5 : bytes < 1.5 * cache ? 3.4 : 1.8;
    double exposed = kiln_device_holds(d, bytes) ? 0.1 : 0.5;
    /* As measured where a core has a large second cache: each core reads the next one slowly,
     * memory half as fast. */
    if (kiln_device_large_l2(d) && bytes > (double)d->core_cache) {
        speed = bytes < 0.5 * cache ? 2.5 : 1.3;
        exposed = 0.7;
    }
    double read = bytes * (double)readers / (speed * d->bandwidth_gbs * 1e6);
    return fmax(compute, read) + exposed * fmin(compute, read);
}

/* Defines the pitches of a tensor of `channels` channels in a group and `plane` pixels in an image.
 */
static void define_pitch(kiln_plan *plan, const char *tensor, const kiln_winograd *w, int64_t pixel,
                         int64_t channels, int64_t plane)
{
    char name[32];
    const int64_t blocks = w->groups * divide_up(channels, w->block);
    const struct {
        const char *name;
        int64_t value;
    } pitches[] = {{"TOGETHER", pixel > 0},
                   {"PIXEL", pixel},
                   {"BLOCK", pixel > w->block ? w->block : plane * w->block},
                   {"IMAGE", blocks * plane * w->block}};
    for (size_t i = 0; i < (pixel ? sizeof pitches / sizeof *pitches : 1); i++) {
        snprintf(name, sizeof name, "%s_%s", tensor, pitches[i].name);
        kiln_define(plan, name, pitches[i].value);
    }
}

static void define_sizes(const kiln_winograd *w, const kiln_config *c, kiln_plan *plan)
{
    static const char *const names[2][4] = {{"P_SRC_H", "P_DST_H", "D_LEAD_H", "D_TILES_H"},
                                            {"P_SRC_W", "P_DST_W", "D_LEAD_W", "D_TILES_W"}};
    for (int a = 0; a < 2; a++) {
        kiln_define(plan, names[a][0], w->src[a]);
        kiln_define(plan, names[a][1], w->dst[a]);
        kiln_define(plan, names[a][2], w->lead[a]);
        kiln_define(plan, names[a][3], tiles_of(w, c, a));
    }
    kiln_define(plan, "P_GROUPS", w->groups);
    kiln_define(plan, "D_B", w->block);
    kiln_define(plan, "D_SRC_C", w->src_c);
    kiln_define(plan, "D_DST_C", w->dst_c);
    define_pitch(plan, "D_SRC", w, w->src_pixel, w->src_c, w->src[0] * w->src[1]);
    define_pitch(plan, "D_DST", w, w->dst_pixel, w->dst_c, w->dst[0] * w->dst[1]);
    kiln_define(plan, "D_CHANNELS", w->groups * w->dst_c);
    if (!w->dst_pixel)
        kiln_define(plan, "D_ROW", w->block);
    kiln_define(plan, "D_BACKWARD", w->backward);
    kiln_define(plan, "D_TILES", kiln_winograd_all_tiles(w, c));
    kiln_define(plan, "D_RUN", run_of(w, c));
    kiln_define(plan, "P_FILTER_H", w->filter[0]);
    kiln_define(plan, "P_FILTER_W", w->filter[1]);
    kiln_define(plan, "P_STRIDE_H", w->stride[0]);
    kiln_define(plan, "P_STRIDE_W", w->stride[1]);
    kiln_define(plan, "P_DILATION_H", w->dilation[0]);
    kiln_define(plan, "P_DILATION_W", w->dilation[1]);
}

void kiln_winograd_stage(const kiln_shape *s, const kiln_winograd *w, const kiln_solver *solver,
                         const kiln_config *c, bool staged, const char *kernel, kiln_plan *plan)
{
    int64_t all = w->images * w->groups * w->block, tiles = c->v[WINOGRAD_TILES];
    kiln_plan_stage(plan, "winograd.cl", kernel);
    kiln_define_types(plan, s);
    if (!s->wide && (all * w->src_blocks * w->src[0] * w->src[1] > INT32_MAX ||
                     all * w->dst_blocks * w->dst[0] * w->dst[1] > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_BF16", w->has_bf16);
    define_sizes(w, c, plan);
    kiln_define(plan, "D_SRC_COUNT", w->backward ? s->y_count : s->x_count);
    bool filters = staged && w->cache > 0 && filters_of(w, c) * 4 > w->cache / 2;
    kiln_define(plan, "D_STREAM", w->dst_streamed);
    kiln_define(plan, "D_AHEAD", filters || w->src_ahead);
    kiln_define(plan, "D_FILTERS_AHEAD", filters);
    kiln_define(plan, "D_SOURCE_AHEAD", w->src_ahead);
    kiln_define(plan, "D_STAGED", staged);
    kiln_define(plan, "D_ROOM", staged ? tiles * kiln_winograd_items(w, c) : tiles);
    kiln_define_params(plan, solver->params, solver->nparams, c);
}

void kiln_winograd_emit_pack(const kiln_shape *s, const kiln_winograd *w, const kiln_solver *solver,
                             const kiln_config *c, bool staged, kiln_plan *plan)
{
    plan->packed_bytes = filters_of(w, c) * w->groups * 4;
    plan->amplification =
        kiln_winograd_amplification(c->v[WINOGRAD_T], w->taps, w->src_rows) * w->waste;
    kiln_winograd_stage(s, w, solver, c, staged, "pack", plan);
    plan->stage[plan->nstages - 1].pack = true;
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    int64_t blocks = kiln_winograd_dst_tiles(w, c) * c->v[WINOGRAD_KV];
    kiln_grid(plan, 1, 1, 1, divide_up(w->src_rows, 4) * 4, w->groups * blocks, 1);
}
