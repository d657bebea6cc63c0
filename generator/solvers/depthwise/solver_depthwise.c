/* The depthwise solver: one input channel per group, in all three directions. */
#include "generator/base/integers.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"
#include "generator/geometry/lines.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"

#include <math.h>

enum { VEC, ROWS, PIX, SPLIT, GROUP, PARAMS };

static const kiln_param params[PARAMS] = {
    [VEC] = {"T_VEC", 4, {1, 4, 8, 16}, 0, 0},
    [ROWS] = {"T_ROWS", 5, {1, 2, 4, 6, 8}, 1, 16},
    [PIX] = {"T_PIX", 4, {1, 2, 4, 8}, 1, 64},
    [SPLIT] = {"T_SPLIT", 3, {1, 4, 32}, 1, 4096},
    [GROUP] = {"T_GROUP", 4, {1, 32, 64, 128}, 1, 1024},
};

/* A larger buffer exceeds the first-level cache of a CPU, and in the end its stack. */
enum { MOST_BUFFER = 32 << 10 };

/* Most sums that one item of backward weights holds: with more its code grows too long. */
enum { MOST_TAPS = 49 };

/* Returns the source planes of the destination of one item. */
static int64_t sections(const kiln_shape *s)
{
    return (s->direction == KILN_BACKWARD_DATA ? s->k / s->g : 1) * s->filter[KILN_AXIS_D];
}

static double buffer_elements(const kiln_shape *s, const kiln_lines *l, const kiln_config *c)
{
    double rows = (double)l->slots[KILN_AXIS_H] * (double)(c->v[ROWS] + l->reach[KILN_AXIS_H]);
    double columns = (double)l->slots[KILN_AXIS_W] *
                     (double)((int64_t)c->v[PIX] * c->v[VEC] + l->reach[KILN_AXIS_W]);
    return (double)sections(s) * rows * columns;
}

/* Returns how many blocks of output rows backward weights sums over. */
static int64_t row_blocks(const kiln_shape *s, const kiln_config *c)
{
    return s->n * s->out[KILN_AXIS_D] * divide_up(s->out[KILN_AXIS_H], c->v[ROWS]);
}

/* Returns how many rows of the filter one item of backward weights sums. */
static int64_t tap_rows(const kiln_shape *s)
{
    int64_t rows = MOST_TAPS / s->filter[KILN_AXIS_W];
    return rows < s->filter[KILN_AXIS_H] ? rows : s->filter[KILN_AXIS_H];
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_reject_but_plain(s, why))
        return true;
    if (s->c != s->g)
        return kiln_no(why, "it needs one input channel per group; here are %lld",
                       (long long)(s->c / s->g));
    if (s->direction == KILN_BACKWARD_WEIGHTS && s->filter[KILN_AXIS_W] > MOST_TAPS)
        return kiln_no(why, "one row of the filter has %lld weights; an item sums at most %d",
                       (long long)s->filter[KILN_AXIS_W], MOST_TAPS);
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > INT32_MAX / 2)
            return kiln_no(why, "an axis with its padding has 2^30 elements or more");
    if (sections(s) > 256)
        return kiln_no(why, "a group has %lld planes to sum over; it keeps track of at most 256",
                       (long long)sections(s));
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (v[VEC] == 1 && v[PIX] != 1)
        return kiln_no(why, "T_PIX is %d; with T_VEC 1 it must be 1", v[PIX]);
    if (v[GROUP] > d->max_group || v[GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", v[GROUP]);
    if (v[ROWS] * v[VEC] > 256)
        return kiln_no(why, "%d rows of vectors of %d are too large for registers", v[ROWS],
                       v[VEC]);
    if (s->direction == KILN_BACKWARD_WEIGHTS ? v[GROUP] != 1 : v[SPLIT] != 1)
        return kiln_no(why,
                       "T_GROUP is %d and T_SPLIT %d; backward weights needs T_GROUP 1, other "
                       "directions T_SPLIT 1",
                       v[GROUP], v[SPLIT]);
    if (s->direction == KILN_BACKWARD_WEIGHTS && v[SPLIT] > row_blocks(s, c))
        return kiln_no(why, "T_SPLIT is %d, but there are only %lld blocks of rows", v[SPLIT],
                       (long long)row_blocks(s, c));
    kiln_lines l = kiln_lines_of(s);
    double bytes = 4 * buffer_elements(s, &l, c);
    if (v[VEC] > 1 && bytes > MOST_BUFFER)
        return kiln_no(why, "an item would keep %.0f bytes of the source; the limit is %d", bytes,
                       MOST_BUFFER);
    return false;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    kiln_lines l = kiln_lines_of(s);
    bool weights = s->direction == KILN_BACKWARD_WEIGHTS;
    if (d->kind == KILN_DEVICE_CPU ? v[GROUP] != 1 || v[VEC] == 1
                                   : (!weights && v[GROUP] == 1) || v[VEC] != 1)
        return true;
    return (v[ROWS] > 1 && v[ROWS] >= 2 * l.grid[KILN_AXIS_H]) ||
           (v[PIX] > 1 && (v[PIX] / 2) * v[VEC] >= l.grid[KILN_AXIS_W]);
}

/* Time to fill an item's buffer of the source, in vector operations. */
static double fill_cost(const kiln_shape *s, const kiln_lines *l, const kiln_config *c)
{
    const int *v = c->v;
    double rows = (double)(sections(s) * l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W] *
                           (v[ROWS] + l->reach[KILN_AXIS_H]));
    int64_t vectors = divide_up((int64_t)v[PIX] * v[VEC] + l->reach[KILN_AXIS_W], v[VEC]);
    int64_t step = l->step[KILN_AXIS_W];
    double each = step == 1 ? 3 : step == 2 ? 5 : 2.0 * v[VEC];
    return rows * ((double)vectors * each + 4);
}

/* Cycles in which an item waits for rows of more source planes than prefetchers follow. The rows
 * come from the last cache one by one if a core's own cache does not hold all planes. As measured
 * with 24 to 64 planes. */
static double uncached_cycles(const kiln_shape *s, const kiln_device_facts *d, const kiln_lines *l,
                              const kiln_config *c)
{
    const double l2 = (double)d->cpu->fit.l2_counted, followed = 100;
    double rows = (double)(sections(s) * l->slots[KILN_AXIS_H]) *
                  (double)(c->v[ROWS] + l->reach[KILN_AXIS_H]);
    double bytes = (double)kiln_type_size(s->y_type) * (double)s->y_count;
    return sections(s) > 1 && rows > followed && bytes > l2 ? 50 * rows / c->v[PIX] : 0;
}

/* The time of an item is counted in vector operations: filling the buffer, then a load and a
 * multiply-add for each tap and row, fewer loads where rows share them, then the stores. */
static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const int *v = c->v;
    bool backward = s->direction == KILN_BACKWARD_DATA, cpu = d->kind == KILN_DEVICE_CPU;
    kiln_lines l = kiln_lines_of(s);
    double items = (double)(divide_up(l.grid[KILN_AXIS_W], (int64_t)v[PIX] * v[VEC]) *
                            divide_up(l.grid[KILN_AXIS_H], v[ROWS])) *
                   (double)(s->n * s->g * (backward ? s->in[0] : s->out[0]));
    double taps = (double)(s->filter[0] * s->filter[1] * s->filter[2] * (s->k / s->g));
    double rows = v[ROWS], outputs = rows * v[PIX];
    double phases = backward ? (double)(s->stride[KILN_AXIS_H] * s->stride[KILN_AXIS_W]) : 1;
    double loads = taps * v[PIX] * (rows + (double)s->filter[1] - 1) / (double)s->filter[1];
    double sums = taps * outputs, stored = outputs * (backward ? 1 : (double)(s->k / s->g));
    double fill = v[VEC] == 1 ? 3 * sums : fill_cost(s, &l, c);
    double store = v[VEC] > 1 && l.grid[KILN_AXIS_W] % v[VEC] ? 4 : 2;
    if (backward && s->stride[KILN_AXIS_W] > 1)
        store = 3.0 * v[VEC];
    /* Loops that are not unrolled read every vector again, as the template says. */
    bool unrolled = phases == 1 && s->filter[1] * s->filter[2] * v[ROWS] <= 256;
    if (s->direction == KILN_BACKWARD_WEIGHTS) {
        /* Items read x once for each output channel and part of the filter, and dy. Then they add
         * up the lanes of their sums. */
        double parts = (double)divide_up(s->filter[KILN_AXIS_H], tap_rows(s));
        fill = fill * (double)(s->k / s->g) * parts + 3 * outputs * parts;
        store = 0;
        unrolled = tap_rows(s) * s->filter[KILN_AXIS_W] <= 25; /* their sums fit the registers */
    } else if (v[ROWS] < 3)
        sums *= 3 / rows; /* a multiply-add waits for the one before */
    if (v[VEC] > 1 && !unrolled)
        sums *= 1.8;
    if (cpu && v[VEC] > 1)
        fill += uncached_cycles(s, d, &l, c);
    double cycles = fill + fmax(1.1 * sums, 1.5 * loads) + store * stored * phases + 40;
    double lanes = cpu && d->simd_floats > v[VEC] ? d->simd_floats : v[VEC];
    double per_ms = (cpu ? 0.7 : 1) * d->peak_gflops * 1e6 / (2 * lanes);
    double ms = items * cycles / per_ms;
    if (s->direction == KILN_BACKWARD_WEIGHTS) {
        double sums_of = (double)s->w_count * v[SPLIT];
        double workers = (double)(s->k * v[SPLIT]) / d->compute_units;
        ms *= ceil(workers) / workers;
        ms += sums_of * (2 * v[VEC] + 4) / per_ms;
        if (d->kind == KILN_DEVICE_GPU)
            ms *= 20; /* neighbouring items read strided elements */
        ms += kiln_device_next_launch_ms(d);
    }
    /* As seen on a double-pumped core: loads of the buffer wait for several stores, above all where
     * the stores deal out the columns of a row. Results go through the caches. */
    bool sums_data = s->direction != KILN_BACKWARD_WEIGHTS;
    if (cpu && sums_data && v[VEC] > 1)
        ms *= l.step[KILN_AXIS_W] == 1 ? 1.25 : 1.6;
    double bytes = (double)(s->x_count + s->y_count) * (double)kiln_type_size(s->x_type);
    double move = kiln_device_move_ms(d, bytes);
    if (sums_data && kiln_better_streamed(s, d))
        move *= 1.4;
    if (d->kind == KILN_DEVICE_GPU && sums_data)
        return kiln_device_launch_ms(d) + 0.01 + 2 * (ms + move); /* items read far apart */
    return kiln_device_launch_ms(d) + (cpu ? 0.2 * fmin(ms, move) + fmax(ms, move) : ms + move);
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const int *v = c->v, widest = g->d->kind == KILN_DEVICE_CPU ? g->d->simd_floats : 1;
    if (v[VEC] > widest || (v[VEC] == 1 && v[PIX] > 1))
        return INFINITY;
    const double ms = predict(g->self, g->s, g->d, c);
    return ms < g->best_ms && !illegal(g->self, g->s, g->d, c, NULL) ? ms : INFINITY;
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const int widths[] = {16, 8, 4, 1};
    const bool cpu = d->kind == KILN_DEVICE_CPU, weights = s->direction == KILN_BACKWARD_WEIGHTS;
    kiln_config start = {.v = {[VEC] = 1, [ROWS] = 1, [PIX] = 1, [SPLIT] = 1, [GROUP] = 1}};
    if (!cpu && !weights)
        for (int group = 64; group > 1 && start.v[GROUP] == 1; group /= 2)
            if (group <= d->max_group && group <= d->max_local[0])
                start.v[GROUP] = group;
    const kiln_range range[] = {kiln_listed(VEC, widths, 4), kiln_each(ROWS, 1, 8),
                                kiln_each(PIX, 1, 8)};
    kiln_guess g = {self, s, d, NULL, guessed_ms, start, predict(self, s, d, &start)};
    kiln_config_best(&g, &start, range, sizeof range / sizeof *range);
    *c = g.best;
    /* Enough parts to keep every core busy to the end; a GPU wants thousands of items. */
    const int64_t wanted = (cpu ? 4 : 256) * (int64_t)d->compute_units;
    while (weights && s->k * c->v[SPLIT] < wanted && 2 * c->v[SPLIT] <= row_blocks(s, c) &&
           2 * c->v[SPLIT] <= params[SPLIT].max)
        c->v[SPLIT] *= 2;
}

static void define_all(const kiln_shape *s, const kiln_lines *l, const kiln_config *c,
                       kiln_plan *plan)
{
    bool backward = s->direction == KILN_BACKWARD_DATA;
    bool weights = s->direction == KILN_BACKWARD_WEIGHTS;
    kiln_define_types(plan, s);
    if (!s->wide && s->w_count * c->v[SPLIT] > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    if (!weights)
        kiln_define_epilogue(plan, s);
    if (!weights && c->v[VEC] > 1)
        kiln_define(plan, "D_ROW", c->v[VEC]);
    kiln_define(plan, "D_BACKWARD", backward);
    kiln_define(plan, "P_N", s->n);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_MULTIPLE", s->k / s->g);
    kiln_define(plan, "D_TAP_ROWS", tap_rows(s));
    kiln_define_axes(plan, "P_SRC", l->source);
    kiln_define_axes(plan, "P_DST", backward ? s->in : s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_lines_define(l, plan);
    if (weights)
        kiln_filter_places_define_grouped(s, plan);
    kiln_define_params(plan, params, PARAMS, c);
}

static void emit_weights(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                         kiln_plan *plan)
{
    kiln_lines l = kiln_lines_of(s);
    int split = c->v[SPLIT], out = KILN_ROLE_W;
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    if (split > 1)
        out = kiln_plan_temp(plan, s->w_count * split * 4);
    kiln_plan_stage(plan, "depthwise_plain_weights.cl", "depthwise_weights");
    define_all(s, &l, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, out);
    int64_t blocks = divide_up(s->filter[KILN_AXIS_H], tap_rows(s));
    kiln_grid(plan, 1, 1, 1, s->filter[KILN_AXIS_D] * blocks, s->k, split);
    if (split > 1)
        kiln_sum_parts_emit(s, d, s->w_count, split, out, KILN_ROLE_W, plan);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS) {
        emit_weights(s, d, c, plan);
        return;
    }
    const int *v = c->v;
    bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_lines l = kiln_lines_of(s);
    kiln_plan_stage(plan, "depthwise.cl", "depthwise");
    define_all(s, &l, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    int64_t planes = s->n * s->g * (backward ? s->in : s->out)[KILN_AXIS_D];
    kiln_grid(plan, v[GROUP], 1, 1, divide_up(l.grid[KILN_AXIS_W], (int64_t)v[PIX] * v[VEC]),
              divide_up(l.grid[KILN_AXIS_H], v[ROWS]), planes);
}

const kiln_solver kiln_solver_depthwise = {
    .name = "depthwise",
    .id = 1002,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
