/* Winograd for bytes on a CPU, in one launch and in integers that are exact: an item transforms its
 * tiles for all source channels into local memory and multiplies them by every destination
 * channel's transformed filter there. */
#include "generator/base/names.h"

#include "winograd_int8.h"

#include <math.h>
#include <string.h>

static const kiln_param params[INT8_PARAMS] = {
    [INT8_SIDE] = {"T_SIDE", 2, {2, 4}, 0, 0},
    [WINOGRAD_TILES] = {"T_TILES", 10, {4, 7, 8, 14, 16, 21, 26, 28, 32, 42}, 1, 64},
    [WINOGRAD_W] = {"T_W", 5, {4, 6, 7, 8, 13}, 1, 16},
    [WINOGRAD_KV] = {"T_KV", 3, {1, 2, 4}, 1, 4},
    [INT8_SPLIT] = {"T_SPLIT", 3, {1, 2, 4}, 1, 64},
};

static const kiln_config smallest = {.v = {[INT8_SIDE] = 2,
                                           [WINOGRAD_TILES] = 1,
                                           [WINOGRAD_W] = 1,
                                           [WINOGRAD_KV] = 1,
                                           [INT8_SPLIT] = 1}};

/* ---- what it can do ---- */

static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked_prefer(s, d, true);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_winograd_int8 w = kiln_winograd_int8_of(s, d, c);
    const int *v = c->v;
    if (kiln_winograd_illegal_tiles(w.dst_blocks, c, why))
        return true;
    if (v[INT8_SPLIT] > w.dst_tiles)
        return kiln_no(why, "T_SPLIT is %d, but there are only %lld tiles of channels",
                       v[INT8_SPLIT], (long long)w.dst_tiles);
    if (w.filter_bytes > INT32_MAX)
        return kiln_no(why, "the transformed filters have 2^31 bytes or more");
    return kiln_winograd_no_room(d, w.local_bytes, 3, why);
}

/* Whether neighbours in memory are pixels or channels: all channels, or as many as a vector has
 * lanes. */
static bool is_known(const kiln_pitch *p, int64_t channels, int lanes)
{
    if (p->channel == 1 && p->blocks > 0 && p->neighbours == lanes)
        return true;
    return p->blocks == 1 && p->neighbours == channels && (p->channel == 1 || p->pixel == 1);
}

static bool reject_layouts(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    kiln_blocked b = kiln_winograd_int8_blocked(s, d);
    if (!is_known(&b.src_pitch, b.src_c, b.block) || !is_known(&b.dst_pitch, b.dst_c, b.block))
        return kiln_no(why,
                       "it works on NCHW, NHWC and NCHW4c, NCHW8c or NCHW16c, the same for x and y "
                       "if both have blocks; the layouts are %s and %s",
                       s->x_layout, s->y_layout);
    return false;
}

static bool reject_problem(const kiln_shape *s, kiln_why *why)
{
    enum { MOST_CHANNELS = (1 << 29) / (9 * 128 * 128) };
    if (s->w_type != KILN_I8)
        return kiln_no(why, "it multiplies bytes; winograd_fused is for floats");
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (s->rank != 2)
        return kiln_no(why, "it works on two spatial axes");
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++)
        if (s->filter[a] != 3 || s->stride[a] != 1 || s->dilation[a] != 1)
            return kiln_no(why,
                           "Winograd's tiles are for 3x3 filters with stride 1 and dilation 1");
    if (s->g > 1)
        return kiln_no(why, "it multiplies all channels; this has %lld groups", (long long)s->g);
    int64_t channels = s->direction == KILN_FORWARD ? s->c : s->k;
    if (channels > MOST_CHANNELS)
        return kiln_no(why,
                       "sums of %lld channels may reach 2^29, and four times a result must fit 32 "
                       "bits; it takes up to %d",
                       (long long)channels, MOST_CHANNELS);
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_reject_but_cpu(d, why) || reject_problem(s, why) || reject_layouts(s, d, why) ||
        kiln_blocked_too_large(s, why))
        return true;
    int64_t in = s->in[KILN_AXIS_H] * s->in[KILN_AXIS_W];
    int64_t out = s->out[KILN_AXIS_H] * s->out[KILN_AXIS_W], most = in > out ? in : out;
    if (most * s->n > INT32_MAX / 2)
        return kiln_no(why, "its tiles are counted in 32 bits, and there are %lld pixels",
                       (long long)(most * s->n));
    return illegal(self, s, d, &smallest, why);
}

/* ---- configs ---- */

/* Whether sums, the operands of one step and, without VNNI, a product fit the vector registers. */
static bool fits(const kiln_device_facts *d, const kiln_config *c)
{
    int others = c->v[WINOGRAD_KV] + (d->has_vnni ? 1 : 2);
    return c->v[WINOGRAD_W] * c->v[WINOGRAD_KV] + others <= kiln_blocked_registers(d);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    const kiln_winograd_int8 w = kiln_winograd_int8_of(s, d, c);
    int64_t all = w.items, few = 8 * (int64_t)d->compute_units;
    /* With fewer sums a multiply-add waits for the one before. */
    if (!fits(d, c) || v[WINOGRAD_W] * v[WINOGRAD_KV] < (d->simd_floats >= 16 ? 12 : 8) ||
        v[WINOGRAD_TILES] >= w.tiles + v[WINOGRAD_W] || w.dst_blocks % v[WINOGRAD_KV])
        return true;
    if (w.dst_tiles % v[INT8_SPLIT] || (v[INT8_SPLIT] > 1 && all * v[INT8_SPLIT] > few))
        return true;
    return v[WINOGRAD_TILES] < 14 && all > 4 * few && 4 * w.local_bytes < d->local_memory;
}

/* Return the vector operations of an item of `tiles` tiles: for its source, and for one tile of K.
 */
static double source_cost(const kiln_winograd_int8 *w, double tiles)
{
    return tiles * (double)(w->src_blocks * w->elements) * (w->b.src_pitch.channel == 1 ? 3 : 5);
}

static double multiply_cost(const kiln_winograd_int8 *w, const kiln_device_facts *d,
                            const kiln_config *c, double tiles)
{
    const int *v = c->v;
    double sums = v[WINOGRAD_W] * v[WINOGRAD_KV], loads = v[WINOGRAD_W] + 2.0 * v[WINOGRAD_KV];
    double each = d->has_vnni ? 1 : 1.37; /* without VNNI a product is two instructions */
    double step = fmax(each * sums, loads) + 0.05 * (sums + loads);
    double product = (double)w->pairs * step + 2 * sums + 20;
    double stored = tiles * v[WINOGRAD_KV] * (w->b.dst_pitch.channel == 1 ? 5 : 10);
    return (double)w->elements * (ceil(tiles / v[WINOGRAD_W]) * product + stored);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_winograd_int8 w = kiln_winograd_int8_of(s, d, c);
    double most = fmin((double)c->v[WINOGRAD_TILES], (double)w.tiles);
    double parts = (double)w.items * c->v[INT8_SPLIT];
    double waves = ceil(parts / d->compute_units) * d->compute_units;
    double kt = ceil((double)w.dst_tiles / c->v[INT8_SPLIT]);
    double cost = waves * (source_cost(&w, most) + kt * multiply_cost(&w, d, c, most));
    double width = fmax(1, (double)d->simd_floats / w.b.block);
    const double reached = 0.68; /* of the peak, as fitted to the products of this solver */
    double compute = cost * 2 * w.b.block * width / (reached * d->peak_gflops * 1e6);
    double filters = (double)w.filter_bytes;
    double read = filters * (double)w.items / (4.5 * d->bandwidth_gbs * 1e6);
    double exposed = kiln_device_holds(d, filters) ? 0.1 : 0.5;
    double bytes = (double)s->x_count * (double)kiln_type_size(s->x_type) +
                   (double)s->y_count * (double)kiln_type_size(s->y_type);
    return fmax(compute, read) + exposed * fmin(compute, read) +
           0.5 * kiln_device_move_ms(d, bytes) + kiln_device_launch_ms(d);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const kiln_winograd_range range = {2, 4, 42, 8, fits};
    *c = smallest;
    kiln_winograd_guess(self, s, d, &range, c);
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_winograd_int8 *w, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    const kiln_blocked *b = &w->b;
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(b, plan);
    kiln_define(plan, "D_ROW", b->block);
    kiln_define(plan, "D_SRC_COUNT", b->src_pitch.cells);
    kiln_define(plan, "D_DST_WHOLE", b->dst_pitch.neighbours % b->block == 0);
    kiln_define(plan, "D_TILES", w->tiles);
    kiln_define(plan, "D_TILES_H", w->tiles_h);
    kiln_define(plan, "D_TILES_W", w->tiles_w);
    kiln_define(plan, "D_RUN", w->run);
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    kiln_define(plan, "D_TOGETHER", 2);
    kiln_define(plan, "D_VNNI", d->has_vnni);
    kiln_define(plan, "D_STREAM", b->dst_pitch.channel == 1 && kiln_better_streamed(s, d));
    kiln_define_params(plan, params, INT8_PARAMS, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const kiln_winograd_int8 w = kiln_winograd_int8_of(s, d, c);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    plan->packed_bytes = w.filter_bytes;
    kiln_plan_fact(plan, "LOCAL_BYTES", w.local_bytes);
    kiln_plan_stage(plan, "winograd_int8.cl", "pack")->pack = true;
    define_all(s, &w, d, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, w.pairs, w.dst_tiles * c->v[WINOGRAD_KV], 1);

    kiln_plan_stage(plan, "winograd_int8.cl", "winograd_int8");
    define_all(s, &w, d, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, 1, 1, 1, w.items, c->v[INT8_SPLIT], 1);
}

const kiln_solver kiln_solver_winograd_int8 = {
    .name = "winograd_int8",
    .id = 1024,
    .algorithm = 3,
    .version = 1,
    .params = params,
    .nparams = INT8_PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
