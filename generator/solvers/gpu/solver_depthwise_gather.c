/* Groups of one channel on both sides, an item for a few elements of a column of the destination:
 * forward and backward data, in NCHW and NHWC; for GPUs, whose caches serve neighbouring items
 * together. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/blocked.h"
#include "generator/plan/config_best.h"

#include "tiles.h"

#include <math.h>
#include <string.h>

enum { GROUP, ROWS, PARAMS };

static const kiln_param params[PARAMS] = {
    [GROUP] = {"T_GROUP", 3, {128, 256, 64}, 32, 512},
    [ROWS] = {"T_ROWS", 6, {1, 2, 4, 7, 8, 14}, 1, 16},
};

enum { MOST_TAPS = 121, MOST_SUMS = 64 };

static int64_t taps_of(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

/* What a config makes of a shape. */
typedef struct strips {
    bool backward;
    const int64_t *src, *dst;
    int64_t rows;          /* of the destination, an item's */
    int64_t first, window; /* the source rows that the first strip's elements meet */
    int64_t jump, move;    /* of columns, as templates/gpu/depthwise_gather.cl has them */
    int64_t items;
} strips;

static strips strips_of(const kiln_shape *s, const kiln_config *c)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t stride = s->stride[1], reach = (s->filter[1] - 1) * s->dilation[1];
    strips g = {.backward = backward,
                .src = backward ? s->out : s->in,
                .dst = backward ? s->in : s->out,
                .rows = c->v[ROWS] * (backward ? stride : 1)};
    if (backward) {
        g.first = divide_down(s->pad[1] - reach, stride);
        g.window = divide_down(g.rows - 1 + s->pad[1], stride) - g.first + 1;
        g.jump = s->stride[2] / gcd(s->stride[2], s->dilation[2]);
        g.move = -(g.jump * s->dilation[2] / s->stride[2]);
    } else {
        g.first = -s->pad[1];
        g.window = (g.rows - 1) * stride + reach + 1;
        g.jump = 1;
        g.move = s->dilation[2];
    }
    g.items = product_of(product_of(s->n * s->c, g.dst[0] * divide_up(g.dst[1], g.rows)), g.dst[2]);
    return g;
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const strips g = strips_of(s, c);
    if (c->v[GROUP] > d->max_group || c->v[GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[GROUP]);
    if (g.rows > MOST_SUMS)
        return kiln_no(why, "an item would have %lld rows, more than %d", (long long)g.rows,
                       MOST_SUMS);
    if (g.window > 4 * MOST_SUMS)
        return kiln_no(why, "the rows of an item meet %lld rows of the source, more than %d",
                       (long long)g.window, 4 * MOST_SUMS);
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    const kiln_config least = {{[GROUP] = 32, [ROWS] = 1}};
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (s->c != s->g || s->k != s->g)
        return kiln_no(why, "it does groups of one channel; these have %lld and %lld",
                       (long long)(s->c / s->g), (long long)(s->k / s->g));
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0 || !kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW, NHWC and OIHW and their kin; these are "
                       "%s, %s and %s",
                       s->x_layout, s->y_layout, s->w_layout);
    if (taps_of(s) > MOST_TAPS)
        return kiln_no(why, "its loop over taps is unrolled, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)taps_of(s));
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (s->in[0] * s->in[1] * s->in[2] > most || s->out[0] * s->out[1] * s->out[2] > most)
        return kiln_no(why, "a channel of an image has 2^29 elements or more");
    return illegal(s, d, &least, why);
}

/* A CPU has better solvers. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    (void)s, (void)c;
    return d->kind == KILN_DEVICE_CPU;
}

/* Items read, multiply and add while tensors move, but not altogether: the numbers were fitted to
 * 230 configs of 10 problems at a batch of 64 on an H100 (NVIDIA's driver 580.159, 2026-11-27).
 * Predictions are within 8 % (standard deviation), and the guess has 0.98 of the speed of the
 * fastest config measured, in the mean (worst 0.94). */
static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double load = 3.4, sum = 1.4, weight = 4.5, item = 20; /* cycles of a lane */
    const double begin_ms = 1.3e-3, load_ms = 5e-5, beside = 0.44;
    const strips g = strips_of(s, c);
    const double across = (double)(s->filter[0] * divide_up(s->filter[2], g.jump));
    const double loads = across * (double)g.window, weights = across * (double)s->filter[1];
    const double sums = weights * c->v[ROWS];
    const double cycles = load * loads + sum * sums + weight * weights + item;
    const double ms = 2 * cycles * (double)g.items / (d->peak_gflops * 1e6);
    const double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count);
    const double move = 0.88 * kiln_device_move_ms(d, bytes);
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* its vectors stay empty */
    const double all = begin_ms + load_ms * loads + fmax(ms, move) + beside * fmin(ms, move);
    return kiln_device_launch_ms(d) + kiln_tiles_row_ms(turns * all, 1);
}

/* More rows of the source and the destination than so many take more registers than they save. */
enum { MOST_ROWS = 8 };

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    if (c->v[ROWS] * g->s->stride[1] > MOST_ROWS)
        return INFINITY;
    return illegal(g->s, g->d, c, NULL) ? INFINITY : predict(g->s, g->d, c);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const kiln_config start = {{[GROUP] = 32, [ROWS] = 1}};
    const kiln_range all[] = {kiln_searched(params, GROUP), kiln_searched(params, ROWS)};
    kiln_guess g = {.s = s, .d = d, .ms = ms_of, .best = start, .best_ms = INFINITY};
    kiln_config_best(&g, &start, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const strips g = strips_of(s, c);
    const kiln_pitch src = kiln_pitch_of(s, g.backward ? 'y' : 'x');
    const kiln_pitch dst = kiln_pitch_of(s, g.backward ? 'x' : 'y');
    (void)d;
    kiln_plan_stage(plan, "depthwise_gather.cl", "depthwise_gather");
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_define_axes(plan, "P_SRC", g.src);
    kiln_define_axes(plan, "P_DST", g.dst);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_CHANNELS", s->c);
    kiln_define(plan, "D_BACKWARD", g.backward);
    kiln_define(plan, "D_CHANNELS_LAST", kiln_order_of(&dst, g.dst, s->c) == KILN_CHANNELS_LAST);
    kiln_pitch_define(&src, "D_SRC", plan);
    kiln_pitch_define(&dst, "D_DST", plan);
    kiln_define(plan, "D_ROWS", g.rows);
    kiln_define(plan, "D_FIRST", g.first);
    kiln_define(plan, "D_WINDOW", g.window);
    kiln_define(plan, "D_JUMP", g.jump);
    kiln_define(plan, "D_MOVE", g.move);
    kiln_define(plan, "T_GROUP", c->v[GROUP]);
    kiln_arg_buffer(plan, g.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, g.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, c->v[GROUP], 1, 1, g.items, 1, 1);
}

const kiln_solver kiln_solver_depthwise_gather = {
    .name = "depthwise_gather",
    .id = 1053,
    .algorithm = 1,
    .version = 2,
    .params = params,
    .nparams = PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
