/* Backward weights of depthwise convolutions over vectors of channels; for CPUs. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/filter_places.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"

#include "depthwise.h"

#include <math.h>

enum { TILE_W, TAP_ROWS, TAPS, PARTS, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 6, {2, 4, 6, 7, 8, 14}, 1, 28},
    [TAP_ROWS] = {"T_R", 4, {1, 3, 5, 7}, 1, 32},
    [TAPS] = {"T_S", 4, {1, 3, 5, 7}, 1, 32},
    [PARTS] = {"T_PARTS", 6, {1, 2, 4, 8, 16, 32}, 1, 1024},
};

/* Returns the rows of dy in all images. */
static int64_t rows_of(const kiln_blocked *b)
{
    return b->dst[0] * b->dst[1] * b->n;
}

static int64_t part_of(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(rows_of(b), c->v[PARTS]);
}

/* Returns the elements of the sums of one part. */
static int64_t sums_of(const kiln_blocked *b)
{
    return kiln_depthwise_vectors(b) * b->block * b->filter[0] * b->filter[1] * b->filter[2];
}

/* Returns the columns of x that a tile of dy meets, less one. */
static int64_t reach_of(const kiln_blocked *b, const kiln_config *c)
{
    return (c->v[TILE_W] - 1) * b->stride[2] + (c->v[TAPS] - 1) * b->dilation[2];
}

static int64_t tiles_of(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(b->dst[KILN_AXIS_W], c->v[TILE_W]);
}

/* Whether only the first and the last tile of a row meet columns outside of x. */
static bool known(const kiln_blocked *b, const kiln_config *c)
{
    const int64_t step = c->v[TILE_W] * b->stride[2], last = (tiles_of(b, c) - 2) * step;
    if (tiles_of(b, c) <= 2 || c->v[TAPS] != b->filter[2])
        return c->v[TAPS] == b->filter[2];
    return step >= b->lead[2] && last - b->lead[2] + reach_of(b, c) < b->src[2];
}

static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS && s->c == s->g && s->k == s->g)
        kiln_depthwise_prefer(self, s, d);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_reject_but_cpu(d, why))
        return true;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->c != s->g || s->k != s->g || s->g == 1)
        return kiln_no(why,
                       "it takes groups of one channel; these are %lld groups of %lld and %lld",
                       (long long)s->g, (long long)(s->c / s->g), (long long)(s->k / s->g));
    if (kiln_type_is_integer(s->x_type))
        return kiln_no(why, "it adds floats, and these tensors are %s", kiln_type_name(s->x_type));
    if (kiln_filter_places_refused(s, why))
        return true;
    if (s->epilogue.bias)
        return kiln_no(why, "it writes no bias gradient");
    if (kiln_depthwise_layouts(s, d, why) || kiln_blocked_too_large(s, why))
        return true;
    kiln_blocked b = kiln_depthwise_of(s, d);
    if (rows_of(&b) > INT32_MAX / 64)
        return kiln_no(why, "dy has 2^25 rows or more");
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    enum { MOST_TAPS = 64, MOST_PRODUCTS = 2048 };
    kiln_blocked b = kiln_depthwise_of(s, d);
    const int *v = c->v;
    if (b.filter[1] % v[TAP_ROWS] || b.filter[2] % v[TAPS])
        return kiln_no(why, "T_R is %d and T_S %d; they must divide the filter's %lld and %lld",
                       v[TAP_ROWS], v[TAPS], (long long)b.filter[1], (long long)b.filter[2]);
    if (v[TILE_W] > b.dst[KILN_AXIS_W])
        return kiln_no(why, "T_W is %d, but a row has only %lld pixels", v[TILE_W],
                       (long long)b.dst[KILN_AXIS_W]);
    double products = (double)(reach_of(&b, c) + 1) * v[TAP_ROWS] * v[TAPS];
    if (v[TAP_ROWS] * v[TAPS] > MOST_TAPS || products > MOST_PRODUCTS)
        return kiln_no(why, "%d taps over %lld columns are too much code", v[TAP_ROWS] * v[TAPS],
                       (long long)reach_of(&b, c) + 1);
    if ((v[PARTS] - 1) * part_of(&b, c) >= rows_of(&b))
        return kiln_no(why, "T_PARTS is %d, which leaves parts without any of the %lld rows",
                       v[PARTS], (long long)rows_of(&b));
    return false;
}

/* Cycles of one core for a row of dy and T_R x T_S taps, in vector multiply-adds. */
static double row_cost(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    double vectors = kiln_blocked_vectors(b->block, d), width = v[TILE_W];
    double sums = v[TAP_ROWS] * v[TAPS] * vectors;
    double met = (double)kiln_blocked_meetings(b, 0) / (double)(b->dst[0] * b->filter[0]) *
                 (double)kiln_blocked_meetings(b, 1) / (double)(b->dst[1] * b->filter[1]);
    double adds = sums * (double)b->dst[2] / (double)tiles_of(b, c);
    double reach = (double)(reach_of(b, c) + 1);
    double loads = (fmin(reach, width * v[TAPS]) * v[TAP_ROWS] + width) * vectors;
    double over = sums + width * vectors + 2 - kiln_blocked_registers(d);
    double cost = fmax(adds, loads) + 0.1 * adds + 0.25 * loads + (over > 0 ? 0.5 * adds : 0);
    if (sums < 6) /* a multiply-add waits for the one before */
        cost *= 6 / sums;
    if (!known(b, c))
        cost += 3 * reach * v[TAP_ROWS];
    return met * ((double)tiles_of(b, c) * (cost + 8) + 20);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    double passes =
        (double)(b.filter[0] * (b.filter[1] / c->v[TAP_ROWS])) * (double)(b.filter[2] / c->v[TAPS]);
    double items = (double)(kiln_depthwise_vectors(&b) * c->v[PARTS]);
    double wait = 1 + 0.7 * d->compute_units / items;
    double taps = (double)(b.filter[0] * b.filter[1] * b.filter[2]);
    double item = passes * ((double)part_of(&b, c) * row_cost(&b, d, c) + 60) + 250;
    double results = (double)kiln_depthwise_vectors(&b) * taps * (2 * b.block + c->v[PARTS]);
    const double reached = 0.8; /* of the peak, as fitted to this solver's tiles */
    double scale = 2 * d->simd_floats / (reached * d->peak_gflops * 1e6);
    double ms = (wait * items * item + results) * scale;
    double bytes = (double)(s->x_count + s->y_count) * (double)kiln_type_size(s->x_type);
    double move = wait * kiln_device_move_ms(d, bytes);
    return (c->v[PARTS] > 1 ? 2 : 1) * kiln_device_launch_ms(d) + 0.3 * fmin(ms, move) +
           fmax(ms, move);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    int64_t items = kiln_depthwise_vectors(&b) * c->v[PARTS];
    return c->v[TAP_ROWS] * c->v[TAPS] + c->v[TILE_W] > kiln_blocked_registers(d) + 4 ||
           (c->v[PARTS] > 1 && items > 64 * d->compute_units);
}

/* Returns the divisors of `taps` up to `most` as a range, with the values in `list`. */
static kiln_range divisors(int param, int64_t taps, int most, int *list)
{
    int n = 0;
    for (int i = 1; i <= most; i++)
        if (taps % i == 0)
            list[n++] = i;
    return kiln_listed(param, list, n);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    enum { MOST_ROWS = 8, MOST_COLUMNS = 16 };
    const kiln_blocked b = kiln_depthwise_of(s, d);
    const kiln_config start = {.v = {1, 1, 1, 1}};
    int rows[MOST_ROWS], columns[MOST_COLUMNS];
    const kiln_range range[] = {divisors(TAP_ROWS, b.filter[1], MOST_ROWS, rows),
                                divisors(TAPS, b.filter[2], MOST_COLUMNS, columns),
                                kiln_each(TILE_W, 1, 16), kiln_doubled(PARTS, 1, 64)};
    kiln_guess g = {self, s, d, NULL, kiln_legal_ms, start, INFINITY};
    kiln_config_best(&g, &start, range, sizeof range / sizeof *range);
    *c = g.best;
}

static void stage(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c,
                  const char *kernel, int launch, kiln_plan *plan)
{
    kiln_plan_stage(plan, "depthwise_weights.cl", kernel);
    kiln_define_types(plan, s);
    kiln_depthwise_define(b, plan);
    kiln_define(plan, "D_ROWS", rows_of(b));
    kiln_define(plan, "D_PART", part_of(b, c));
    kiln_define(plan, "D_KNOWN", known(b, c));
    kiln_define(plan, "D_LAUNCH", launch);
    kiln_filter_places_define(s, plan);
    kiln_define_params(plan, params, PARAMS, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    int parts = c->v[PARTS], out = KILN_ROLE_W;
    if (parts > 1)
        out = kiln_plan_temp(plan, sums_of(&b) * parts * 4);
    stage(s, &b, c, "depthwise_weights", 1, plan);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, out);
    kiln_grid_shared(plan, d, predict(self, s, d, c), kiln_depthwise_vectors(&b), parts, 1);
    if (parts == 1)
        return;
    stage(s, &b, c, "depthwise_weights_sum", 2, plan);
    kiln_arg_buffer(plan, out);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_grid_shared(plan, d, kiln_sum_parts_ms(d, s->w_count, parts), kiln_depthwise_vectors(&b),
                     1, 1);
}

const kiln_solver kiln_solver_depthwise_weights = {
    .name = "depthwise_weights",
    .id = 1041,
    .algorithm = 1,
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
