/* Backward weights of 3x3 and 5x5 filters with stride 1 by Winograd's minimal filtering, in NCHW
 * and NHWC, for devices whose work-items share local memory.
 *
 *     patches of x  --transform-->  one product of matrices for each   --transform-->  dw
 *     tiles of dy   --transform-->  of T_T * T_T elements of a patch,
 *                                   by gemm_weights.cl
 *
 * Tiles of dy take the place of filters, F(3x3, 4x4) and others. Errors are those of sums over
 * tiles: see kiln_winograd_amplification().
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"
#include "generator/solvers/winograd/winograd.h"

#include "gemm_weights.h"
#include "winograd_gemm_weights_fit.h"
#include "winograd_stages.h"

#include <math.h>
#include <string.h>

/* Parameters behind the tiles'. */
enum { PRODUCTS = TILES_PARAMS, PARAMS };

static const kiln_param params[PARAMS] = {
    TILES_TABLE,
    [TILES_SPLIT] = {"T_SPLIT", 6, {1, 2, 4, 8, 16, 32}, 1, 4096},
    [PRODUCTS] = {"T_T", 2, {6, 8}, 0, 0},
};

typedef struct geometry {
    kiln_winograd_walk walk; /* tiles of dy, patches of x */

    /* ---- from a config ---- */
    int elements;       /* elements of a patch */
    kiln_shape product; /* of 1x1 filters, a group for each element and group */
    kiln_gemm_weights gemm;
} geometry;

/* ---- what a config makes of a shape ---- */

static geometry shape_of(const kiln_shape *s)
{
    return (geometry){.walk = {.template_file = "winograd_gemm_weights.cl",
                               .taps = (int)s->filter[KILN_AXIS_W],
                               .src = {s->in[1], s->in[2]},
                               .dst = {s->out[1], s->out[2]},
                               .lead = {s->pad[1], s->pad[2]},
                               .src_c = s->c / s->g,
                               .dst_c = s->k / s->g,
                               .src_pitch = kiln_pitch_of(s, 'x'),
                               .dst_pitch = kiln_pitch_of(s, 'y')}};
}

/* Sets the products of all elements as one problem. Returns false where it is none. */
static bool set_product(geometry *g, const kiln_shape *s)
{
    kiln_problem p = {
        .direction = KILN_BACKWARD_WEIGHTS,
        .batch = 1,
        .in_channels = g->elements * s->c,
        .out_channels = g->elements * s->k,
        .groups = g->elements * s->g,
        .input = {1, g->walk.room},
        .filter = {1, 1},
    };
    if (kiln_problem_check(&p, NULL) != KILN_OK)
        return false;
    g->product = kiln_shape_of(&p);
    g->gemm = kiln_gemm_weights_of(&g->product);
    return true;
}

static bool set(geometry *g, const kiln_shape *s, const kiln_config *c)
{
    const int t = c->v[PRODUCTS];
    if (g->walk.products != t) {
        g->elements = t * t;
        kiln_winograd_walk_set(&g->walk, s, t);
        if (!set_product(g, s))
            return false;
    }
    kiln_gemm_weights_set(&g->gemm, &g->product, c);
    return true;
}

static bool exceeds(geometry *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    if (!set(g, s, c) || g->walk.all > INT32_MAX / 4 || s->g > 65535 / g->elements)
        return kiln_no(why, "%d products along an axis make too many tiles or groups",
                       c->v[PRODUCTS]);
    return kiln_gemm_weights_exceeds(&g->gemm, d, c, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    geometry g = shape_of(s);
    return exceeds(&g, s, d, c, why);
}

static kiln_config least(void)
{
    kiln_config c = kiln_tiles_smallest;
    c.v[PRODUCTS] = 6;
    return c;
}

static bool reject_problem(const kiln_shape *s, kiln_why *why)
{
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->rank != 2)
        return kiln_no(why, "it works on two spatial axes");
    if (kiln_winograd_walk_rejects(s, why))
        return true;
    if (s->math == KILN_MATH_EXACT)
        return kiln_no(why,
                       "the problem asks for plain sums of products, which Winograd's are not");
    if (kiln_type_is_integer(s->x_type))
        return kiln_no(why, "Winograd's transforms are not for integers");
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (reject_problem(s, why))
        return true;
    if (kiln_filter_places_refused(s, why))
        return true;
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why, "it works on the layouts NCHW and NHWC; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    const kiln_config c = least();
    return illegal(self, s, d, &c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    geometry g = shape_of(s);
    const bool empty = (c->v[TILES_BM] > 16 && c->v[TILES_BM] >= 2 * (s->k / s->g)) ||
                       (c->v[TILES_BN] > 32 && c->v[TILES_BN] >= 2 * (s->c / s->g));
    return !set(&g, s, c) || kiln_tiles_skipped(&g.gemm.tiles, d, c) || empty;
}

/* Transforms read and write U and V, which a cache does not keep. */
static double time_of(const kiln_solver *self, const geometry *g, const kiln_shape *s,
                      const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_winograd_gemm_weights_numbers *k = self->fits[1]->numbers;
    const double size = (double)kiln_type_size(s->x_type);
    const double between = 4.0 * g->elements * (double)(g->walk.room * (s->c + s->k));
    const double tensors = size * (double)(s->x_count + s->y_count);
    const double products = 4.0 * g->elements * (double)(s->k * (s->c / s->g));
    const int split = c->v[TILES_SPLIT];
    const double sums = split > 1 ? kiln_device_behind_ms(d) : 0;
    const double ms = 3 * kiln_device_behind_ms(d) + sums +
                      kiln_tiles_ms(self->fits[0], &g->gemm.tiles, d, c) +
                      k->moves * kiln_device_move_ms(d, between + tensors + 2 * products * split);
    return kiln_device_launch_ms(d) + kiln_tiles_row_ms(d, ms, split > 1 ? 5 : 4);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    geometry g = shape_of(s);
    return set(&g, s, c) ? time_of(self, &g, s, d, c) : INFINITY;
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    geometry *g = guess->own;
    if (exceeds(g, guess->s, guess->d, c, NULL) || kiln_tiles_unfit(&g->gemm.tiles, c))
        return INFINITY;
    return time_of(guess->self, g, guess->s, guess->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    geometry g = shape_of(s);
    kiln_guess best = {.self = self, .s = s, .d = d, .own = &g, .ms = ms_of, .best = least()};
    const kiln_range more[] = {kiln_searched(params, PRODUCTS)};
    kiln_tiles_guess(&best, params, kiln_searched(params, TILES_SPLIT), more, 1, c);
}

/* ---- the plan ---- */

static void start(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                  const geometry *g, const char *kernel, int64_t g0, int64_t g1)
{
    kiln_winograd_walk_emit(&g->walk, s, d, kernel, (const int64_t[]){g0, g1, 1}, plan);
    kiln_filter_places_define(s, plan);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    geometry g = shape_of(s);
    if (!set(&g, s, c))
        plan->broken = true;
    const int64_t across = 4 * g.elements * g.walk.room;
    const int taps[2] = {g.walk.side, g.walk.side};
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const int v = kiln_plan_temp(plan, across * s->c), u = kiln_plan_temp(plan, across * s->k);
    const int m = kiln_plan_temp(plan, 4 * g.product.w_count);
    plan->amplification = kiln_winograd_amplification(c->v[PRODUCTS], taps, g.walk.all);

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
    .version = 2,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&kiln_tiles_fit, &winograd_gemm_weights_fit},
    .nfits = 2,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
