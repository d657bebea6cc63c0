/* Winograd for bytes on a CPU, in one launch and in integers that are exact: an item transforms its
 * tiles for all source channels into local memory and multiplies them by every destination
 * channel's transformed filter there. */
#include "blocked.h"
#include "integers.h"
#include "problem_text.h"
#include "winograd.h"

#include <math.h>
#include <string.h>

enum { SIDE = WINOGRAD_T, SPLIT = WINOGRAD_SHARED, PARAMS };

static const kiln_param params[PARAMS] = {
    [SIDE] = {"T_SIDE", 2, {2, 4}, 0, 0},
    [WINOGRAD_TILES] = {"T_TILES", 10, {4, 7, 8, 14, 16, 21, 26, 28, 32, 42}, 1, 64},
    [WINOGRAD_W] = {"T_W", 5, {4, 6, 7, 8, 13}, 1, 16},
    [WINOGRAD_KV] = {"T_KV", 3, {1, 2, 4}, 1, 4},
    [SPLIT] = {"T_SPLIT", 3, {1, 2, 4}, 1, 64},
};

static const kiln_config smallest = {
    .v = {[SIDE] = 2, [WINOGRAD_TILES] = 1, [WINOGRAD_W] = 1, [WINOGRAD_KV] = 1, [SPLIT] = 1}};

/* ---- geometry ---- */

/* Lanes of a vector: as many as the layouts keep together, else the device's. */
static int lanes_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    int own = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    return x > 1 ? x : y > 1 ? y : own;
}

/* With blocks of that many channels wherever they lie. */
static kiln_blocked geometry(const kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked b = kiln_blocked_of(s);
    kiln_pitch *pitch[] = {&b.src_pitch, &b.dst_pitch};
    b.block = lanes_of(s, d);
    for (int i = 0; i < 2; i++)
        if (pitch[i]->blocks == 1)
            pitch[i]->block = b.block * pitch[i]->channel;
    return b;
}

static int64_t src_blocks(const kiln_blocked *b)
{
    return divide_up(b->src_c, b->block);
}

static int64_t dst_blocks(const kiln_blocked *b)
{
    return divide_up(b->dst_c, b->block);
}

static int64_t pairs(const kiln_blocked *b)
{
    return divide_up(b->src_c, 2);
}

static int64_t tiles_along(const kiln_blocked *b, const kiln_config *c, int axis)
{
    return divide_up(b->dst[axis], c->v[SIDE]);
}

static int64_t all_tiles(const kiln_blocked *b, const kiln_config *c)
{
    return b->n * tiles_along(b, c, KILN_AXIS_H) * tiles_along(b, c, KILN_AXIS_W);
}

static int64_t items(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(all_tiles(b, c), c->v[WINOGRAD_TILES]);
}

static int64_t dst_tiles(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(dst_blocks(b), c->v[WINOGRAD_KV]);
}

static int64_t elements(const kiln_config *c)
{
    return (c->v[SIDE] + 2) * (c->v[SIDE] + 2);
}

static int64_t filter_bytes(const kiln_blocked *b, const kiln_config *c)
{
    return dst_tiles(b, c) * elements(c) * pairs(b) * c->v[WINOGRAD_KV] * b->block * 4;
}

static int64_t run_of(const kiln_blocked *b, const kiln_config *c)
{
    return kiln_winograd_run(tiles_along(b, c, KILN_AXIS_W), c->v[SIDE], c);
}

/* Bytes of the kernel's three arrays in local memory; see the template. */
static int64_t local_bytes(const kiln_blocked *b, const kiln_config *c)
{
    int64_t columns = c->v[SIDE] * run_of(b, c) + 2;
    columns = columns > b->block ? columns : b->block;
    int64_t source = src_blocks(b) * c->v[WINOGRAD_TILES] + 1,
            sums = c->v[WINOGRAD_KV] * c->v[WINOGRAD_TILES] + 1;
    return (elements(c) * (source * 2 + sums * 4) + ((c->v[SIDE] + 2) * columns + b->block) * 2) *
           b->block;
}

/* ---- what can be done ---- */

static void prefer(kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked_prefer(s, d, true);
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const kiln_blocked b = geometry(s, d);
    const int *v = c->v;
    if (kiln_winograd_illegal_tiles(dst_blocks(&b), c, why))
        return true;
    if (v[SPLIT] > dst_tiles(&b, c))
        return kiln_no(why, "T_SPLIT is %d, but there are only %lld tiles of channels", v[SPLIT],
                       (long long)dst_tiles(&b, c));
    if (filter_bytes(&b, c) > INT32_MAX)
        return kiln_no(why, "the transformed filters have 2^31 bytes or more");
    return kiln_winograd_no_room(d, local_bytes(&b, c), 3, why);
}

/* Neighbours are pixels, or channels: all, or as many as a vector has lanes. */
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
    kiln_blocked b = geometry(s, d);
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

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (kiln_reject_but_cpu(d, why) || reject_problem(s, why) || reject_layouts(s, d, why) ||
        kiln_blocked_too_large(s, why))
        return true;
    int64_t in = s->in[KILN_AXIS_H] * s->in[KILN_AXIS_W];
    int64_t out = s->out[KILN_AXIS_H] * s->out[KILN_AXIS_W], most = in > out ? in : out;
    if (most * s->n > INT32_MAX / 2)
        return kiln_no(why, "its tiles are counted in 32 bits, and there are %lld pixels",
                       (long long)(most * s->n));
    return illegal(s, d, &smallest, why);
}

/* ---- configs ---- */

/* Sums, the operands of one step and, without VNNI, a product fit the vector registers. */
static bool fits(const kiln_device_facts *d, const kiln_config *c)
{
    int others = c->v[WINOGRAD_KV] + (d->has_vnni ? 1 : 2);
    return c->v[WINOGRAD_W] * c->v[WINOGRAD_KV] + others <= kiln_blocked_registers(d);
}

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    const kiln_blocked b = geometry(s, d);
    int64_t all = items(&b, c), few = 8 * (int64_t)d->compute_units;
    /* With fewer sums a multiply-add waits for the one before. */
    if (!fits(d, c) || v[WINOGRAD_W] * v[WINOGRAD_KV] < (d->simd_floats >= 16 ? 12 : 8) ||
        v[WINOGRAD_TILES] >= all_tiles(&b, c) + v[WINOGRAD_W] || dst_blocks(&b) % v[WINOGRAD_KV])
        return true;
    if (dst_tiles(&b, c) % v[SPLIT] || (v[SPLIT] > 1 && all * v[SPLIT] > few))
        return true;
    return v[WINOGRAD_TILES] < 14 && all > 4 * few && 4 * local_bytes(&b, c) < d->local_memory;
}

/* Vector operations of an item of `tiles` tiles, for its source, and for one tile of K. */
static double source_cost(const kiln_blocked *b, const kiln_config *c, double tiles)
{
    return tiles * (double)(src_blocks(b) * elements(c)) * (b->src_pitch.channel == 1 ? 3 : 5);
}

static double multiply_cost(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c,
                            double tiles)
{
    const int *v = c->v;
    double sums = v[WINOGRAD_W] * v[WINOGRAD_KV], loads = v[WINOGRAD_W] + 2.0 * v[WINOGRAD_KV];
    double each = d->has_vnni ? 1 : 1.37; /* a product is two instructions without */
    double step = fmax(each * sums, loads) + 0.05 * (sums + loads);
    double product = (double)pairs(b) * step + 2 * sums + 20;
    double stored = tiles * v[WINOGRAD_KV] * (b->dst_pitch.channel == 1 ? 5 : 10);
    return (double)elements(c) * (ceil(tiles / v[WINOGRAD_W]) * product + stored);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_blocked b = geometry(s, d);
    double most = fmin((double)c->v[WINOGRAD_TILES], (double)all_tiles(&b, c));
    double parts = (double)items(&b, c) * c->v[SPLIT];
    double waves = ceil(parts / d->compute_units) * d->compute_units;
    double kt = ceil((double)dst_tiles(&b, c) / c->v[SPLIT]);
    double cost = waves * (source_cost(&b, c, most) + kt * multiply_cost(&b, d, c, most));
    double width = fmax(1, (double)d->simd_floats / b.block);
    double compute = cost * 2 * b.block * width / (0.68 * d->peak_gflops * 1e6);
    double filters = (double)filter_bytes(&b, c);
    double read = filters * (double)items(&b, c) / (4.5 * d->bandwidth_gbs * 1e6);
    double exposed = filters > 0.7 * (double)d->cache ? 0.5 : 0.1;
    double bytes = (double)s->x_count * (double)kiln_type_size(s->x_type) +
                   (double)s->y_count * (double)kiln_type_size(s->y_type);
    return fmax(compute, read) + exposed * fmin(compute, read) +
           0.5 * kiln_device_move_ms(d, bytes) + 0.012;
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    static const kiln_winograd_range range = {2, 4, 42, 8, fits};
    *c = smallest;
    kiln_winograd_guess(&kiln_solver_winograd_int8, s, d, &range, c);
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_blocked *b, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(b, plan);
    kiln_define(plan, "D_ROW", b->block);
    kiln_define(plan, "D_SRC_COUNT", b->n * b->src_pitch.image);
    kiln_define(plan, "D_DST_WHOLE", b->dst_pitch.neighbours % b->block == 0);
    kiln_define(plan, "D_TILES", all_tiles(b, c));
    kiln_define(plan, "D_TILES_H", tiles_along(b, c, KILN_AXIS_H));
    kiln_define(plan, "D_TILES_W", tiles_along(b, c, KILN_AXIS_W));
    kiln_define(plan, "D_RUN", run_of(b, c));
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    kiln_define(plan, "D_TOGETHER", 2);
    kiln_define(plan, "D_VNNI", d->has_vnni);
    kiln_define(plan, "D_STREAM", b->dst_pitch.channel == 1 && kiln_better_streamed(s, d));
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const kiln_blocked b = geometry(s, d);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    plan->packed_bytes = filter_bytes(&b, c);
    kiln_plan_fact(plan, "LOCAL_BYTES", local_bytes(&b, c));
    kiln_plan_stage(plan, "winograd_int8.cl", "pack")->pack = true;
    define_all(s, &b, d, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, pairs(&b), dst_tiles(&b, c) * c->v[WINOGRAD_KV], 1);

    kiln_plan_stage(plan, "winograd_int8.cl", "winograd_int8");
    define_all(s, &b, d, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, 1, 1, 1, items(&b, c), c->v[SPLIT], 1);
}

const kiln_solver kiln_solver_winograd_int8 = {
    .name = "winograd_int8",
    .id = 1024,
    .algorithm = 3,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
