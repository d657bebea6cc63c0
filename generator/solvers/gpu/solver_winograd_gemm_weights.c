/* Backward weights of 3x3 filters with stride 1 by Winograd's F(3x3, 4x4), whose products are those
 * of the solver gemm_weights, in NCHW and NHWC; for devices whose work-items share local memory.
 *
 * Accuracy: that of sums over 4x4 tiles, see kiln_winograd_amplification(). */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/solvers/winograd/winograd.h"

#include "gemm_weights.h"
#include "winograd_stages.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS = 6, SIDE = 4, ELEMENTS = PRODUCTS * PRODUCTS };

static const kiln_param params[TILES_PARAMS] = {
    TILES_TABLE,
    [TILES_SPLIT] = {"T_SPLIT", 6, {1, 2, 4, 8, 16, 32}, 1, 4096},
};

static const int taps[2] = {SIDE, SIDE};

typedef struct geometry {
    kiln_winograd_walk walk; /* tiles of dy, patches of x */
    kiln_shape product; /* backward weights of a 1x1 filter, a group for each element and group */
    kiln_gemm_weights gemm;
    bool fits; /* `product` is a problem */
} geometry;

/* ---- what a config makes of a shape ---- */

static geometry shape_of(const kiln_shape *s)
{
    geometry g = {.walk = {.template_file = "winograd_gemm_weights.cl",
                           .src = {s->in[1], s->in[2]},
                           .dst = {s->out[1], s->out[2]},
                           .lead = {s->pad[1], s->pad[2]},
                           .src_c = s->c / s->g,
                           .dst_c = s->k / s->g,
                           .src_pitch = kiln_pitch_of(s, 'x'),
                           .dst_pitch = kiln_pitch_of(s, 'y')}};
    kiln_winograd_walk_set(&g.walk, s, SIDE, PRODUCTS);
    kiln_problem p = {
        .direction = KILN_BACKWARD_WEIGHTS,
        .batch = 1,
        .in_channels = ELEMENTS * s->c,
        .out_channels = ELEMENTS * s->k,
        .groups = ELEMENTS * s->g,
        .input = {1, g.walk.room},
        .filter = {1, 1},
    };
    g.fits = kiln_problem_check(&p, NULL) == KILN_OK;
    if (g.fits) {
        g.product = kiln_shape_of(&p);
        g.gemm = kiln_gemm_weights_of(&g.product);
    }
    return g;
}

static bool exceeds(geometry *g, const kiln_device_facts *d, const kiln_config *c, kiln_why *why)
{
    kiln_gemm_weights_set(&g->gemm, &g->product, c);
    return kiln_gemm_weights_exceeds(&g->gemm, d, c, why);
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    geometry g = shape_of(s);
    return exceeds(&g, d, c, why);
}

static bool reject_problem(const kiln_shape *s, kiln_why *why)
{
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->rank != 2)
        return kiln_no(why, "it works on two spatial axes");
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++)
        if (s->filter[a] != 3 || s->stride[a] != 1 || s->dilation[a] != 1)
            return kiln_no(why, "it does 3x3 filters with stride 1 and dilation 1");
    if (s->math == KILN_MATH_EXACT)
        return kiln_no(why,
                       "the problem asks for plain sums of products, which Winograd's are not");
    if (s->x_type == KILN_I8)
        return kiln_no(why, "Winograd's transforms are not for integers");
    if (s->epilogue.bias && !kiln_shape_is_plain_layout(s))
        return kiln_no(why,
                       "the gradient of the bias is summed from plain layouts; x and y are %s and "
                       "%s",
                       s->x_layout, s->y_layout);
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    if (reject_problem(s, why))
        return true;
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it writes weights in the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    geometry g = shape_of(s);
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why, "it works on the layouts NCHW and NHWC; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    if (!g.fits || g.walk.all > INT32_MAX / 4 || s->g > 65535 / ELEMENTS)
        return kiln_no(why, "it has too many tiles or groups for its grid");
    return exceeds(&g, d, &kiln_tiles_smallest, why);
}

static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    geometry g = shape_of(s);
    kiln_gemm_weights_set(&g.gemm, &g.product, c);
    const bool empty = (c->v[TILES_BM] > 16 && c->v[TILES_BM] >= 2 * (s->k / s->g)) ||
                       (c->v[TILES_BN] > 32 && c->v[TILES_BN] >= 2 * (s->c / s->g));
    return kiln_tiles_skipped(&g.gemm.tiles, d, c) || empty;
}

/* Transforms read and write U and V, which a cache does not keep. */
static double time_of(const geometry *g, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const double size = (double)kiln_type_size(s->x_type);
    const double between = 4.0 * ELEMENTS * (double)(g->walk.room * (s->c + s->k));
    const double tensors = size * (double)(s->x_count + s->y_count);
    const double products = 4.0 * ELEMENTS * (double)(s->k * (s->c / s->g));
    const int split = c->v[TILES_SPLIT];
    const double sums = split > 1 ? kiln_tiles_next_launch_ms : 0;
    return kiln_device_launch_ms(d) + 3 * kiln_tiles_next_launch_ms + sums +
           kiln_tiles_ms(&g->gemm.tiles, d, c) +
           1.3 * kiln_device_move_ms(d, between + tensors + 2 * products * split);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    geometry g = shape_of(s);
    kiln_gemm_weights_set(&g.gemm, &g.product, c);
    return time_of(&g, s, d, c);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    geometry *g = guess->own;
    if (exceeds(g, guess->d, c, NULL) || kiln_tiles_unfit(&g->gemm.tiles, c))
        return INFINITY;
    return time_of(g, guess->s, guess->d, c);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    geometry g = shape_of(s);
    kiln_guess best = {.s = s, .d = d, .own = &g, .ms = ms_of, .best = kiln_tiles_smallest};
    kiln_tiles_guess(&best, params, kiln_searched(params, TILES_SPLIT), NULL, 0, c);
}

/* ---- the plan ---- */

static void start(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                  const geometry *g, const char *kernel, int64_t g0, int64_t g1)
{
    kiln_winograd_walk_emit(&g->walk, s, d, kernel, (const int64_t[]){g0, g1, 1}, plan);
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const geometry g = shape_of(s);
    const int64_t across = 4 * ELEMENTS * g.walk.room;
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const int v = kiln_plan_temp(plan, across * s->c), u = kiln_plan_temp(plan, across * s->k);
    const int m = kiln_plan_temp(plan, 4 * g.product.w_count);
    plan->amplification = kiln_winograd_amplification(PRODUCTS, taps, g.walk.all);

    start(plan, s, d, &g, "source", g.walk.room, s->c);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, v);

    start(plan, s, d, &g, "gradient", g.walk.room, s->k);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, u);

    kiln_gemm_weights_emit(&g.product, d, c, v, u, m, plan);

    start(plan, s, d, &g, "weights", s->c / s->g, s->k);
    kiln_arg_buffer(plan, m);
    kiln_arg_buffer(plan, KILN_ROLE_W);
}

const kiln_solver kiln_solver_winograd_gemm_weights = {
    .name = "winograd_gemm_weights",
    .id = 1026,
    .algorithm = 3,
    .version = 1,
    .params = params,
    .nparams = TILES_PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
