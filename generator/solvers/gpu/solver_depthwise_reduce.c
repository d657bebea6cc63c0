/* Backward weights of groups of few source channels, each gradient summed by the items of a group;
 * from plain tensors, or several at a time in NHWC; for devices whose work-items share local
 * memory. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/blocked.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"

#include "tiles.h"

#include <math.h>
#include <string.h>

enum { GROUP, CHANNELS, ROWS, PARTS, VECTOR, PARAMS };

static const kiln_param params[PARAMS] = {
    [GROUP] = {"T_GROUP", 4, {64, 128, 256, 512}, 0, 0},
    [CHANNELS] = {"T_CHANNELS", 7, {1, 2, 4, 8, 16, 32, 64}, 0, 0},
    [ROWS] = {"T_ROWS", 5, {1, 2, 4, 7, 14}, 1, 16},
    [PARTS] = {"T_PARTS", 9, {1, 2, 4, 8, 16, 32, 64, 128, 256}, 1, 4096},
    [VECTOR] = {"T_VECTOR", 3, {1, 4, 8}, 0, 0},
};

static const kiln_config least = {
    {[GROUP] = 64, [CHANNELS] = 1, [ROWS] = 1, [PARTS] = 1, [VECTOR] = 1}};

enum { MOST_TAPS = 49, MOST_SUMS = 128, MOST_WINDOW = 256, MOST_SOURCES = 16 };

static int64_t taps_of(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

/* Of a channel of dy and one of x; each has a filter's gradients. */
static int64_t pairs_of(const kiln_shape *s)
{
    return s->k * (s->c / s->g);
}

static int64_t pixels_of(const kiln_shape *s)
{
    return s->n * s->out[0] * s->out[1] * s->out[2];
}

/* Columns of strips, of a pair in all images. */
static int64_t columns_of(const kiln_shape *s, const kiln_config *c)
{
    return s->n * s->out[0] * divide_up(s->out[1], c->v[ROWS]) * s->out[2];
}

/* Rows of x that a strip meets. */
static int64_t window_of(const kiln_shape *s, const kiln_config *c)
{
    return (c->v[ROWS] - 1) * s->stride[1] + (s->filter[1] - 1) * s->dilation[1] + 1;
}

/* Items that share a pair. */
static int64_t sharers_of(const kiln_config *c)
{
    return c->v[GROUP] / (c->v[CHANNELS] / c->v[VECTOR]);
}

static bool channels_are_last(const kiln_shape *s)
{
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    return kiln_order_of(&x, s->in, s->c) == KILN_CHANNELS_LAST &&
           kiln_order_of(&y, s->out, s->k) == KILN_CHANNELS_LAST;
}

static int64_t local_bytes(const kiln_shape *s, const kiln_config *c)
{
    const int64_t sharers = sharers_of(c);
    return 4 * taps_of(s) * c->v[CHANNELS] *
           (sharers + sharers / 8 + sharers / 64 + sharers / 512 + 1);
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    if (c->v[CHANNELS] % c->v[VECTOR])
        return kiln_no(why, "%d channels of a group are no multiple of %d", c->v[CHANNELS],
                       c->v[VECTOR]);
    if (c->v[VECTOR] > 1 &&
        (s->c != s->g || s->k != s->g || s->c % c->v[VECTOR] || !channels_are_last(s)))
        return kiln_no(why,
                       "vectors are of %d neighbouring groups of one channel; x has %lld in %s",
                       c->v[VECTOR], (long long)s->c, s->x_layout);
    if (c->v[VECTOR] > 1 && taps_of(s) * c->v[VECTOR] > MOST_SUMS)
        return kiln_no(why, "an item would have %lld sums, more than %d",
                       (long long)(taps_of(s) * c->v[VECTOR]), MOST_SUMS);
    const int64_t bytes = local_bytes(s, c);
    if (c->v[GROUP] > d->max_group || c->v[GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[GROUP]);
    if (bytes > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld", (long long)bytes,
                       (long long)d->local_memory);
    if (c->v[PARTS] > columns_of(s, c))
        return kiln_no(why, "T_PARTS is %d, but there are only %lld columns of strips", c->v[PARTS],
                       (long long)columns_of(s, c));
    if (window_of(s, c) > MOST_WINDOW)
        return kiln_no(why, "the rows of an item meet %lld rows of x, more than %d",
                       (long long)window_of(s, c), MOST_WINDOW);
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->c / s->g > MOST_SOURCES)
        return kiln_no(why, "it does groups of at most %d source channels; these have %lld",
                       MOST_SOURCES, (long long)(s->c / s->g));
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0 ||
        (!kiln_shape_is_plain_layout(s) && !channels_are_last(s)))
        return kiln_no(why, "it works on the layouts NCHW, or NHWC, and OIHW and their kin");
    if (taps_of(s) > MOST_TAPS)
        return kiln_no(why, "an item keeps a sum for each tap, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)taps_of(s));
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (pixels_of(s) > most || pairs_of(s) > most / 256)
        return kiln_no(why, "its pixels or channels leave the range of its grid");
    return illegal(s, d, &least, why);
}

/* A CPU runs the items of a group in turns between barriers, and has better solvers. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double groups = (double)divide_up(pairs_of(s), c->v[CHANNELS]) * c->v[PARTS];
    const int64_t sharers = sharers_of(c);
    return d->kind == KILN_DEVICE_CPU || sharers > 2 * columns_of(s, c) ||
           (c->v[PARTS] > 1 &&
            (groups > 64.0 * d->compute_units || c->v[PARTS] * sharers > 2 * columns_of(s, c)));
}

/* Three things take time: moving tensors, longer where some units have more groups than others; all
 * instructions of a unit; and what one item does after the other, a column of a strip at a time,
 * then the tree. Fitted to 340 configs of 10 problems at a batch of 64 on an H100 (NVIDIA's driver
 * 580.159, 2026-11-27): predictions are within 20 % (standard deviation), and the config predicted
 * to be the fastest has 0.90 of the speed of the fastest one measured, in the mean (worst 0.72).
 * All of them have groups of one source channel; longer filters of others take in proportion. */
static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double begin_ms = 1.3e-3, group_ms = 8e-5, load_ms = 3.8e-5, level_ms = 1.3e-5,
                 least_cycles = 59; /* of a column */
    const double uneven = 0.4, beside = 0.85, again = 8.7;
    const int64_t local = d->gpu.unit_local_memory ? d->gpu.unit_local_memory : 4 * d->local_memory;
    const double sharers = (double)sharers_of(c), parts = c->v[PARTS];
    const double groups = (double)divide_up(pairs_of(s), c->v[CHANNELS]) * parts;
    const double of_unit = ceil(groups / d->compute_units);
    const double at_once = fmax(1, fmin(2048.0 / c->v[GROUP], (double)(local / local_bytes(s, c))));
    const double columns = ceil((double)columns_of(s, c) / parts / sharers); /* of an item */
    const double loads = (double)(s->filter[0] * s->filter[2] * window_of(s, c)) + c->v[ROWS];
    const double sums = (double)(taps_of(s) * c->v[ROWS]);
    const double size = (double)kiln_type_size(s->x_type), vector = c->v[VECTOR];
    /* Without vectors neighbouring items read neighbouring pixels, which are a pixel's channels
     * apart in NHWC. */
    const double apart = vector == 1 && !kiln_shape_is_plain_layout(s)
                             ? fmax(1, fmin(4, size * (double)s->c / 8))
                             : 1;
    const double vector_cycles =
        loads * (1.5 * fmax(1, vector * size / 8) + 1.2 * vector) + 0.4 * sums * vector;
    const double plain_cycles =
        s->c == s->g ? least_cycles : fmax(least_cycles, 1.4 * (loads + sums));
    const double column_cycles = vector > 1 ? vector_cycles : apart * plain_cycles;
    const double bytes = size * (double)(s->x_count + s->y_count);
    const double more = of_unit * d->compute_units / groups - 1;
    const double move = 0.9 * kiln_device_move_ms(d, bytes) * (1 + uneven * more);
    const double items = of_unit * d->compute_units * c->v[GROUP];
    const double all = 2 * items * columns * column_cycles / (d->peak_gflops * 1e6);
    const double one =
        ceil(of_unit / at_once) * (apart * columns * loads * load_ms +
                                   level_ms * (double)taps_of(s) * log2(fmax(2, sharers)));
    const double most = fmax(move, fmax(all, one)), least = fmin(move, fmin(all, one));
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* of items, at every barrier */
    const double ms =
        begin_ms + group_ms * of_unit + turns * (most + beside * (move + all + one - most - least));
    const double adding = again * kiln_device_move_ms(d, 4 * parts * (double)s->w_count);
    return kiln_device_launch_ms(d) +
           (parts > 1 ? kiln_tiles_row_ms(ms + kiln_tiles_next_launch_ms + adding, 2)
                      : kiln_tiles_row_ms(ms, 1));
}

/* What a GPU brings from memory at a time. */
enum { SECTOR_BYTES = 32 };

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    const int64_t read = c->v[CHANNELS] * (int64_t)kiln_type_size(g->s->x_type);
    if (c->v[VECTOR] > 1 && read < SECTOR_BYTES)
        return INFINITY;
    return illegal(g->s, g->d, c, NULL) ? INFINITY : predict(g->s, g->d, c);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const kiln_range all[] = {kiln_searched(params, GROUP), kiln_searched(params, CHANNELS),
                              kiln_searched(params, ROWS), kiln_searched(params, PARTS),
                              kiln_searched(params, VECTOR)};
    kiln_guess g = {.s = s, .d = d, .ms = ms_of, .best = least, .best_ms = INFINITY};
    *c = least;
    if (d->kind == KILN_DEVICE_CPU)
        return; /* where a small kernel compiles soonest */
    kiln_config_best(&g, &least, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const int parts = c->v[PARTS];
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const int sums = parts > 1 ? kiln_plan_temp(plan, 4 * s->w_count * parts) : KILN_ROLE_W;
    kiln_plan_stage(plan, "depthwise_reduce.cl", "depthwise_reduce");
    kiln_define_types(plan, s);
    if (!s->wide && product_of(s->w_count, parts) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_axes(plan, "P_SRC", s->in);
    kiln_define_axes(plan, "P_DST", s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_CHANNELS", s->k);
    kiln_define(plan, "D_MULTIPLE", s->k / s->g);
    kiln_define(plan, "D_SOURCES", s->c / s->g);
    kiln_define(plan, "D_CHANNELS_LAST", kiln_order_of(&y, s->out, s->k) == KILN_CHANNELS_LAST);
    kiln_pitch_define(&x, "D_SRC", plan);
    kiln_pitch_define(&y, "D_DST", plan);
    kiln_define(plan, "D_WORDS", c->v[VECTOR] * (int64_t)kiln_type_size(s->x_type) / 4);
    if (d->kind == KILN_DEVICE_GPU)
        kiln_define(plan, "D_ALIGNED", 1);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, c->v[GROUP], 1, 1, c->v[GROUP] * divide_up(pairs_of(s), c->v[CHANNELS]), parts,
              1);
    if (parts > 1)
        kiln_sum_parts_emit(s, d, s->w_count, parts, sums, KILN_ROLE_W, plan);
}

const kiln_solver kiln_solver_depthwise_reduce = {
    .name = "depthwise_reduce",
    .id = 1052,
    .algorithm = 1,
    .version = 4,
    .params = params,
    .nparams = PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
