/* The blocked depthwise solver: groups no wider than a block of channels; for CPUs. */
#include "blocked.h"
#include "integers.h"

#include <math.h>

enum { TILE_W, TILE_ROWS, STREAM, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 10, {2, 4, 5, 6, 7, 8, 10, 12, 14, 16}, 1, 28},
    [TILE_ROWS] = {"T_ROWS", 6, {1, 2, 4, 8, 14, 28}, 1, 4096},
    [STREAM] = {"T_STREAM", 2, {0, 1}, 0, 0},
};

static void prefer(kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked_prefer(s, d, false);
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (kiln_blocked_reject(s, d, why))
        return true;
    kiln_blocked b = kiln_blocked_of(s);
    if (b.src_pitch.channel != 1)
        return kiln_no(why, "it needs the source in blocks too; the layouts are %s and %s",
                       s->x_layout, s->y_layout);
    if (b.groups == 1 || b.src_c != b.dst_c || b.src_c >= b.block || b.block % b.src_c)
        return kiln_no(why,
                       "it takes groups of equally many channels on both sides, fewer than the %d "
                       "of a block and a divisor of it; these are %lld groups of %lld and %lld",
                       b.block, (long long)b.groups, (long long)b.src_c, (long long)b.dst_c);
    return false;
}

static int64_t blocks_of(const kiln_blocked *b)
{
    return divide_up(b->dst_c * b->groups, b->block);
}

static int64_t rows_of(const kiln_blocked *b)
{
    return b->dst[0] * b->dst[1];
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    (void)d;
    kiln_blocked b = kiln_blocked_of(s);
    if (c->v[TILE_W] > b.dst[KILN_AXIS_W])
        return kiln_no(why, "T_W is %d, but a row has only %lld pixels", c->v[TILE_W],
                       (long long)b.dst[KILN_AXIS_W]);
    if (c->v[TILE_ROWS] > rows_of(&b))
        return kiln_no(why, "T_ROWS is %d, but an image has only %lld rows", c->v[TILE_ROWS],
                       (long long)rows_of(&b));
    return false;
}

/* Whether the destination is better written past the caches, which it would not stay in. */
static bool streams(const kiln_shape *s, const kiln_device_facts *d)
{
    double bytes = (double)(s->x_count + s->y_count) * (double)kiln_type_size(s->x_type);
    return bytes > 0.7 * (double)d->cache;
}

/* Whether the compiler may know the pixels that taps do not reach: they are in the first and last
 * tile only, and the code stays small. */
static bool unrolled(const kiln_blocked *b, const kiln_config *c)
{
    kiln_blocked_ends e = kiln_blocked_ends_of(b, c->v[TILE_W]);
    return !e.more && b->filter[KILN_AXIS_W] * c->v[TILE_W] * b->src_c <= 256;
}

/* Cycles of one core, in vector multiply-adds; the pixels that taps do not reach cost nothing where
 * the compiler knows them. */
static double row_cost(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    const int vectors = kiln_blocked_vectors(b->block, d), width = c->v[TILE_W];
    const double group = (double)b->src_c, sums = width * vectors;
    const double tiles = (double)divide_up(b->dst[2], width);
    const bool known = unrolled(b, c);
    double taps = (double)kiln_blocked_meetings(b, 0) * (double)kiln_blocked_meetings(b, 1) /
                  (double)rows_of(b);
    double meetings = tiles * sums; /* some pixels twice */
    if (known)
        meetings *= (double)kiln_blocked_meetings(b, 2) / (double)b->dst[2];
    else
        meetings *= 1.8 * (double)b->filter[2];
    if (known && sums < 6) /* a multiply-add waits for the one before */
        meetings *= 6 / sums;
    /* Source vectors stay for the next tap that meets them; weights are few. */
    double window = known ? (double)((width - 1) * b->stride[2] + b->filter[2]) : width;
    double live = sums + (window + (double)b->filter[2] + 2 * (group - 1)) * vectors;
    double spills = live + 3 - kiln_blocked_registers(d);
    double per_tap = meetings * group * (group > 1 ? 1.5 : 1.1) + tiles * (double)b->filter[2];
    if (spills > 0)
        per_tap += 0.7 * spills * tiles;
    return taps * per_tap + tiles * (sums + 6);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_blocked b = kiln_blocked_of(s);
    double items = (double)(divide_up(rows_of(&b), c->v[TILE_ROWS]) * blocks_of(&b) * b.n);
    double waves = (double)divide_up((int64_t)items, d->compute_units) * d->compute_units;
    double work = waves * (c->v[TILE_ROWS] * row_cost(&b, d, c) + 150);
    double ms = work * 2 * d->simd_floats / (0.7 * d->peak_gflops * 1e6);
    double bytes = (double)(s->x_count + s->y_count) * (double)kiln_type_size(s->x_type);
    double move = kiln_device_move_ms(d, bytes);
    if (streams(s, d) != (c->v[STREAM] == 1))
        move *= 1.3;
    return 0.003 + 0.2 * fmin(ms, move) + fmax(ms, move);
}

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_blocked b = kiln_blocked_of(s);
    int64_t size = b.dst[KILN_AXIS_W], width = c->v[TILE_W];
    if (divide_up(size, width) * width * 3 > size * 4)
        return true;
    int64_t items = divide_up(rows_of(&b), c->v[TILE_ROWS]) * blocks_of(&b) * b.n;
    return (c->v[TILE_ROWS] > 1 && items < 2 * d->compute_units) ||
           (c->v[STREAM] && kiln_shape_out_type(s) != KILN_F32);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    kiln_config best = {.v = {1, 1, streams(s, d)}};
    double least = predict(s, d, &best);
    for (int rows = 1; rows <= 16; rows *= 2)
        for (int width = 1; width <= 20; width++) {
            kiln_config next = {.v = {width, rows, best.v[STREAM]}};
            kiln_why why;
            if (illegal(s, d, &next, &why))
                continue;
            double ms = predict(s, d, &next);
            if (ms < least) {
                least = ms;
                best = next;
            }
        }
    *c = best;
}

static void define_all(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(b, plan);
    kiln_define(plan, "D_GROUP", b->src_c);
    kiln_define(plan, "D_UNROLL", unrolled(b, c));
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    (void)d;
    kiln_blocked b = kiln_blocked_of(s);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    int64_t taps = s->filter[0] * s->filter[1] * s->filter[2];
    plan->packed_bytes = blocks_of(&b) * taps * b.src_c * b.block * 4;
    kiln_plan_stage(plan, "depthwise_blocked.cl", "pack")->pack = true;
    define_all(s, &b, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, blocks_of(&b), 1, 1);

    kiln_plan_stage(plan, "depthwise_blocked.cl", "depthwise_blocked");
    define_all(s, &b, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, 1, 1, 1, divide_up(rows_of(&b), c->v[TILE_ROWS]), blocks_of(&b), b.n);
}

const kiln_solver kiln_solver_depthwise_blocked = {
    .name = "depthwise_blocked",
    .id = 1011,
    .algorithm = 1,
    .version = 2,
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
