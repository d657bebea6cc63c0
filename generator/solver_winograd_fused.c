/* Winograd in one launch: an item transforms its tiles for all source channels into local memory
 * and multiplies them by every destination channel's transformed filter there.
 *
 * Accuracy: its results err more than plain sums, by at most the factor that
 * kiln_winograd_amplification() derives and verification multiplies its bound by. Measured on
 * uniform data, C = 4 to 512, the largest error was 1e-7 of the sum of the terms' absolute values
 * with T_M = 2 and 1.7e-6 with T_M = 4: a twelfth of the bound or less.
 */
#include "winograd.h"

#include <math.h>

enum { M, TILES, WIDTH, BLOCKS, SPLIT, ORDER, PARAMS };

static const kiln_param params[PARAMS] = {
    [M] = {"T_M", 2, {2, 4}, 0, 0},
    [TILES] = {"T_TILES", 6, {4, 7, 8, 14, 16, 28}, 1, 64},
    [WIDTH] = {"T_W", 4, {4, 7, 8, 14}, 1, 16},
    [BLOCKS] = {"T_KV", 3, {1, 2, 4}, 1, 4},
    [SPLIT] = {"T_SPLIT", 3, {1, 2, 4}, 1, 64},
    [ORDER] = {"T_ORDER", 1, {0}, 0, 1},
};

static const kiln_config smallest = {
    .v = {[M] = 2, [TILES] = 1, [WIDTH] = 1, [BLOCKS] = 1, [SPLIT] = 1}};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t all_tiles(const kiln_shape *s, const kiln_winograd *w, int m)
{
    return s->n * kiln_winograd_tiles(w, 0, m) * kiln_winograd_tiles(w, 1, m);
}

/* Rows of tiles are cut into equal runs of at most 8 (of 4 x 4), whose strip stays in a level-1
 * cache. */
static int64_t run_of(const kiln_winograd *w, const kiln_config *c)
{
    int64_t row = kiln_winograd_tiles(w, 1, c->v[M]), most = 32 / c->v[M];
    int64_t run = divide_up(row, divide_up(row, most));
    return run < c->v[TILES] ? run : c->v[TILES];
}

/* Bytes of the kernel's three arrays in local memory; see the template. */
static int64_t local_bytes(const kiln_winograd *w, const kiln_config *c)
{
    int64_t t = c->v[M] + 2, columns = c->v[M] * run_of(w, c) + 2;
    if (columns < w->block)
        columns = w->block;
    int64_t vectors = t * t * (w->src_blocks * c->v[TILES] + 1) +
                      t * t * (c->v[BLOCKS] * c->v[TILES] + 1) + t * columns;
    return vectors * w->block * 4;
}

static int64_t dst_tiles(const kiln_winograd *w, const kiln_config *c)
{
    return divide_up(w->dst_blocks, c->v[BLOCKS]);
}

/* Elements of one group's transformed filters. */
static int64_t filter_count(const kiln_winograd *w, const kiln_config *c)
{
    int64_t t = c->v[M] + 2, rows = divide_up(w->src_c, 4) * 4;
    return dst_tiles(w, c) * t * t * rows * c->v[BLOCKS] * w->block;
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int *v = c->v;
    kiln_winograd w = kiln_winograd_of(s, d);
    if (v[TILES] % v[WIDTH])
        return kiln_no(why, "T_TILES is %d, no multiple of T_W, %d", v[TILES], v[WIDTH]);
    if (v[WIDTH] * v[BLOCKS] > 32)
        return kiln_no(why, "%d tiles by %d vectors are too many sums for the registers", v[WIDTH],
                       v[BLOCKS]);
    if (v[BLOCKS] > w.dst_blocks)
        return kiln_no(why, "T_KV is %d, but a group has only %lld blocks of channels", v[BLOCKS],
                       (long long)w.dst_blocks);
    if (v[SPLIT] > dst_tiles(&w, c))
        return kiln_no(why, "T_SPLIT is %d, but a group has only %lld tiles of channels", v[SPLIT],
                       (long long)dst_tiles(&w, c));
    /* PoCL aborts the process when a kernel needs more than there is; each array may be aligned. */
    if (local_bytes(&w, c) + 3 * 128 > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)local_bytes(&w, c), (long long)d->local_memory);
    if (filter_count(&w, c) * s->g > INT32_MAX)
        return kiln_no(why, "the transformed filters have 2^31 elements or more");
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (d->kind != KILN_DEVICE_CPU)
        return kiln_no(why, "its items are as large as a CPU core's cache, not for this device");
    return kiln_winograd_reject(s, d, why) || illegal(s, d, &smallest, why);
}

/* Sums and the operands of one step that fit the vector registers: 32 with 512 bits, else 16. */
static bool fits_registers(const kiln_device_facts *d, const kiln_config *c)
{
    int sums = c->v[WIDTH] * c->v[BLOCKS];
    return sums + c->v[BLOCKS] + 1 <= (d->simd_floats >= 16 ? 32 : 16);
}

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    kiln_winograd w = kiln_winograd_of(s, d);
    int64_t tiles = all_tiles(s, &w, v[M]), items = divide_up(tiles, v[TILES]);
    int64_t few = 8 * (int64_t)d->compute_units;
    /* Fewer than eight sums wait for each other. */
    if (!fits_registers(d, c) || v[WIDTH] * v[BLOCKS] < (d->simd_floats >= 16 ? 12 : 8))
        return true;
    if (v[TILES] >= tiles + v[WIDTH] || dst_tiles(&w, c) % v[SPLIT] || w.dst_blocks % v[BLOCKS])
        return true;
    if (v[SPLIT] > 1 && items * v[SPLIT] > few)
        return true;
    if (v[TILES] < 14 && items > 4 * few && 4 * local_bytes(&w, c) < d->local_memory)
        return true;
    return v[M] == 2 && w.dst[0] > 16 && w.dst[1] > 16;
}

/* In units of one vector multiply-add. */
static double item_cost(const kiln_winograd *w, const kiln_config *c)
{
    const int *v = c->v;
    double t = v[M] + 2, e = t * t, sums = v[WIDTH] * v[BLOCKS], loads = v[WIDTH] + v[BLOCKS];
    double rows = (double)divide_up(w->src_c, 4) * 4, tiles = v[TILES];
    double kt = ceil((double)dst_tiles(w, c) / v[SPLIT]);
    double product = rows * ((sums > loads ? sums : loads) + 0.1 * (sums + loads)) + 3 * sums + 20;
    double products = kt * e * (tiles / v[WIDTH]) * product;
    double source = tiles * (double)w->src_blocks * e * (w->src_blocked ? 6 : 9);
    double destination = tiles * kt * v[BLOCKS] * e * (w->dst_blocked ? 5 : 8);
    return products + source + destination;
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    kiln_winograd w = kiln_winograd_of(s, d);
    double items = (double)(divide_up(all_tiles(s, &w, v[M]), v[TILES]) * v[SPLIT] * s->g);
    double waves = ceil(items / d->compute_units) * d->compute_units;
    double width = (double)d->simd_floats / w.block;
    double flops = waves * item_cost(&w, c) * 2 * w.block * (width > 1 ? width : 1);
    double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count);
    /* Each item reads its part of the filters, mostly from a cache that the cores share. */
    double filters = 4.0 * (double)filter_count(&w, c) * items / v[SPLIT] / 4;
    return (flops / d->peak_gflops + (bytes + filters) / d->bandwidth_gbs) / 1e6 + 0.02;
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    kiln_config best = smallest;
    static const int widths[] = {2, 4, 7, 8, 14};
    double least = predict(s, d, &best);
    for (int m = 2; m <= 4; m += 2)
        for (int i = 0; i < 5; i++)
            for (int groups = 1; groups * widths[i] <= 32; groups++)
                for (int kv = 1; kv <= 4; kv *= 2)
                    for (int split = 1; split <= 8; split *= 2) {
                        kiln_config next = {.v = {m, groups * widths[i], widths[i], kv, split, 0}};
                        kiln_why why;
                        if (!fits_registers(d, &next) || illegal(s, d, &next, &why))
                            continue;
                        double ms = predict(s, d, &next);
                        if (ms < least) {
                            least = ms;
                            best = next;
                        }
                    }
    *c = best;
}

static void define_all(const kiln_shape *s, const kiln_winograd *w, const kiln_config *c,
                       kiln_plan *plan)
{
    int64_t most = s->n * s->g * w->block;
    int64_t src = most * w->src_blocks * w->src[0] * w->src[1];
    int64_t dst = most * w->dst_blocks * w->dst[0] * w->dst[1];
    kiln_define_types(plan, s);
    if (!s->wide && (src > INT32_MAX || dst > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "P_SRC_H", w->src[0]);
    kiln_define(plan, "P_SRC_W", w->src[1]);
    kiln_define(plan, "P_DST_H", w->dst[0]);
    kiln_define(plan, "P_DST_W", w->dst[1]);
    kiln_define(plan, "D_B", w->block);
    kiln_define(plan, "D_SRC_C", w->src_c);
    kiln_define(plan, "D_DST_C", w->dst_c);
    kiln_define(plan, "D_SRC_BLOCKED", w->src_blocked);
    kiln_define(plan, "D_DST_BLOCKED", w->dst_blocked);
    kiln_define(plan, "D_SRC_COUNT", w->backward ? s->y_count : s->x_count);
    kiln_define(plan, "D_LEAD_H", w->lead[0]);
    kiln_define(plan, "D_LEAD_W", w->lead[1]);
    kiln_define(plan, "D_TILES", all_tiles(s, w, c->v[M]));
    kiln_define(plan, "D_TILES_H", kiln_winograd_tiles(w, 0, c->v[M]));
    kiln_define(plan, "D_TILES_W", kiln_winograd_tiles(w, 1, c->v[M]));
    kiln_define(plan, "D_RUN", run_of(w, c));
    kiln_define(plan, "D_BACKWARD", w->backward);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const int *v = c->v;
    kiln_winograd w = kiln_winograd_of(s, d);
    plan->packed_bytes = filter_count(&w, c) * s->g * 4;
    plan->amplification = kiln_winograd_amplification(v[M], w.src_c);
    kiln_plan_fact(plan, "LOCAL_BYTES", local_bytes(&w, c));
    kiln_plan_stage(plan, "winograd.cl", "pack")->pack = true;
    define_all(s, &w, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, divide_up(w.src_c, 4) * 4, s->g * dst_tiles(&w, c) * v[BLOCKS], 1);
    kiln_plan_stage(plan, "winograd.cl", "winograd_fused");
    define_all(s, &w, c, plan);
    kiln_arg_buffer(plan, w.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, w.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    int64_t items = divide_up(all_tiles(s, &w, v[M]), v[TILES]);
    if (v[ORDER])
        kiln_grid(plan, 1, 1, 1, v[SPLIT], items, s->g);
    else
        kiln_grid(plan, 1, 1, 1, items, v[SPLIT], s->g);
}

const kiln_solver kiln_solver_winograd_fused = {
    .name = "winograd_fused",
    .id = 1020,
    .algorithm = 3,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .prefer = kiln_winograd_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
