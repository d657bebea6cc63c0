/* Backward weights as a product of matrices on tensor cores, summed over pixels that groups share:
 * any filter, stride, dilation and groups, in f16 and bf16; in NHWC as it lies, from NCHW by way of
 * stages that turn x and dy. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"

#include "mma_source.h"
#include "mma_tiles.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

static const kiln_param params[MMA_PARAMS] = {
    [MMA_ROWS] = {"T_ROWS", 3, {64, 128, 256}, 0, 0},
    [MMA_COLUMNS] = {"T_COLUMNS", 3, {64, 128, 256}, 0, 0},
    MMA_TABLE,
    [MMA_SPLIT] = {"T_SPLIT", 10, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, 1, 4096},
};

/* ---- what a config makes of a shape ---- */

typedef struct geometry {
    kiln_mma_source x, dy;
    int64_t rows, columns, pixels; /* columns with padding of channels */

    /* Of a config. */
    int64_t tiles_m, tiles_n;
    kiln_mma_tiles tiles;
} geometry;

static geometry geometry_of_shape(const kiln_shape *s)
{
    geometry g = {.x = kiln_mma_source_of(s, 'x'), .dy = kiln_mma_source_of(s, 'y')};
    g.rows = s->k / s->g;
    g.columns = g.x.channels * s->filter[0] * s->filter[1] * s->filter[2];
    g.pixels = s->n * s->out[0] * s->out[1] * s->out[2];
    return g;
}

static void set_config(geometry *g, const kiln_shape *s, const kiln_config *c)
{
    const int *v = c->v;
    const int64_t terms = v[MMA_BYTES] / (int64_t)kiln_type_size(g->x.type);
    g->tiles_m = divide_up(g->rows, v[MMA_ROWS]);
    g->tiles_n = divide_up(g->columns, v[MMA_COLUMNS]);
    g->tiles = kiln_mma_tiles_of(KILN_MMA_TURNED, g->x.type, 4, INT32_MAX, c);
    g->tiles.count = (double)(g->tiles_m * g->tiles_n * s->g) * v[MMA_SPLIT];
    g->tiles.steps = (double)divide_up(divide_up(g->pixels, terms), v[MMA_SPLIT]);
}

static geometry geometry_of(const kiln_shape *s, const kiln_config *c)
{
    geometry g = geometry_of_shape(s);
    set_config(&g, s, c);
    return g;
}

static const kiln_config smallest = {{[MMA_ROWS] = 64,
                                      [MMA_COLUMNS] = 64,
                                      [MMA_WARPS_R] = 2,
                                      [MMA_WARPS_C] = 2,
                                      [MMA_BYTES] = 64,
                                      [MMA_STAGES] = 2,
                                      [MMA_SPLIT] = 1}};

static bool exceeds(const geometry *g, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int64_t steps =
        divide_up(g->pixels, c->v[MMA_BYTES] / (int64_t)kiln_type_size(g->x.type));
    if (kiln_mma_refused(&g->tiles, d, c, why))
        return true;
    if (c->v[MMA_SPLIT] > steps)
        return kiln_no(why, "T_SPLIT is %d, but there are only %lld steps of pixels",
                       c->v[MMA_SPLIT], (long long)steps);
    return false;
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const geometry g = geometry_of(s, c);
    return exceeds(&g, d, c, why);
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (kiln_mma_lacks(s, d, KILN_MMA_TURNED, why))
        return true;
    if (s->x_type != KILN_F16 && s->x_type != KILN_BF16)
        return kiln_no(why, "it multiplies f16 and bf16; x and dy are %s",
                       kiln_type_name(s->x_type));
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it writes weights in the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    if (s->epilogue.bias && !kiln_shape_is_plain_layout(s))
        return kiln_no(why,
                       "the gradient of the bias is summed from plain layouts; x and y are %s "
                       "and %s",
                       s->x_layout, s->y_layout);
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW and NHWC and their kin; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    const geometry g = geometry_of(s, &smallest);
    if (g.pixels > most || g.columns > most || s->g > 65535)
        return kiln_no(why, "its pixels, columns or groups leave the range of its grid");
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    return exceeds(&g, d, &smallest, why);
}

/* ---- time ---- */

static int64_t part_of(const geometry *g, const kiln_shape *s)
{
    return product_of(s->k, g->columns);
}

static double time_of(const geometry *g, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const double bytes = (double)(kiln_mma_source_bytes(&g->x) + kiln_mma_source_bytes(&g->dy));
    double ms = fmax(kiln_mma_ms(&g->tiles, d, c), kiln_device_move_ms(d, bytes));
    ms += kiln_mma_source_ms(&g->x, d) + kiln_mma_source_ms(&g->dy, d);
    if (c->v[MMA_SPLIT] > 1)
        ms += kiln_tiles_next_launch_ms +
              kiln_device_move_ms(d, 8.0 * c->v[MMA_SPLIT] * (double)part_of(g, s));
    return ms + kiln_device_launch_ms(d);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const geometry g = geometry_of(s, c);
    return time_of(&g, s, d, c);
}

/* Whether a search leaves out tiles that are mostly empty, and splits of enough tiles. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const geometry g = geometry_of(s, c);
    const bool empty = (c->v[MMA_ROWS] > 64 && c->v[MMA_ROWS] >= 2 * g.rows) ||
                       (c->v[MMA_COLUMNS] > 64 && c->v[MMA_COLUMNS] >= 2 * g.columns);
    return empty || kiln_mma_unfit(&g.tiles) ||
           (c->v[MMA_SPLIT] > 1 && g.tiles.count > 8.0 * d->compute_units);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    geometry *g = guess->own;
    set_config(g, guess->s, c);
    return kiln_mma_unfit(&g->tiles) || exceeds(g, guess->d, c, NULL)
               ? INFINITY
               : time_of(g, guess->s, guess->d, c);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    static const int splits[] = {1,  2,  3,  4,  6,   8,   12,  16,  24,
                                 32, 48, 64, 96, 128, 192, 256, 384, 512};
    geometry g = geometry_of_shape(s);
    kiln_guess best = {
        .s = s, .d = d, .own = &g, .ms = ms_of, .best = smallest, .best_ms = INFINITY};
    const kiln_range all[] = {kiln_searched(params, MMA_ROWS),
                              kiln_searched(params, MMA_COLUMNS),
                              kiln_searched(params, MMA_WARPS_R),
                              kiln_searched(params, MMA_WARPS_C),
                              kiln_searched(params, MMA_BYTES),
                              kiln_searched(params, MMA_STAGES),
                              kiln_listed(MMA_SPLIT, splits, sizeof splits / sizeof *splits)};
    kiln_config_best(&best, &smallest, all, sizeof all / sizeof *all);
    *c = best.best;
}

/* ---- the plan ---- */

/* Pixels of x and of dy are the same. */
static bool is_pointwise(const kiln_shape *s)
{
    for (int a = 0; a < 3; a++)
        if (s->filter[a] != 1 || s->stride[a] != 1 || s->pad[a] != 0 || s->pad_end[a] != 0)
            return false;
    return true;
}

static void define_all(const kiln_shape *s, const geometry *g, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    if (!s->wide &&
        (product_of(part_of(g, s), c->v[MMA_SPLIT]) > INT32_MAX ||
         kiln_mma_source_bytes(&g->x) > INT32_MAX || kiln_mma_source_bytes(&g->dy) > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_SRC_C", g->x.group_channels);
    kiln_define(plan, "D_DST_C", g->dy.group_channels);
    kiln_define(plan, "D_X_CHANNELS", g->x.channels);
    kiln_define(plan, "D_DY_CHANNELS", g->dy.channels);
    kiln_define(plan, "D_X_UNIT", g->x.unit);
    kiln_define(plan, "D_DY_UNIT", g->dy.unit);
    kiln_define_axes(plan, "P_SRC", s->in);
    kiln_define_axes(plan, "P_DST", s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "D_POINTWISE", is_pointwise(s));
    kiln_pitch_define(&g->x.pitch, "D_X", plan);
    kiln_pitch_define(&g->dy.pitch, "D_DY", plan);
    kiln_mma_define(&g->tiles, c, plan);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const geometry g = geometry_of(s, c);
    const int split = c->v[MMA_SPLIT];
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const int x = kiln_mma_source_emit(&g.x, s, KILN_ROLE_X, plan),
              dy = kiln_mma_source_emit(&g.dy, s, KILN_ROLE_Y, plan);
    const int sums = split > 1 ? kiln_plan_temp(plan, 4 * part_of(&g, s) * split) : KILN_ROLE_W;
    kiln_plan_stage(plan, "gemm_weights_mma.cl", "gemm_weights_mma");
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, x);
    kiln_arg_buffer(plan, dy);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, g.tiles.items, 1, 1, g.tiles_m * g.tiles_n * g.tiles.items, s->g, split);
    if (split == 1)
        return;
    kiln_plan_stage(plan, "gemm_weights_mma.cl", "gemm_weights_mma_sum");
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, sums);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_grid(plan, kiln_device_group(d, 128), 1, 1, part_of(&g, s), 1, 1);
}

const kiln_solver kiln_solver_gemm_weights_mma = {
    .name = "gemm_weights_mma",
    .id = 1061,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = MMA_PARAMS,
    .prefer = kiln_mma_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
