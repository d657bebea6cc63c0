/* A convolution with few channels of the destination as a product of matrices, such as the gradient
 * of a network's first layer: for results in NCHW, and devices whose work-items share local memory.
 *
 *     rows of the product     channel 0, phases 0 1 2 3     phases are neighbouring pixels of a
 *                             channel 1, phases 0 1 2 3     channel. They fill a tile that the
 *                             ...                           channels alone would leave empty
 *
 * A phase does not meet every pixel of the source that the other phases meet: its weights for these
 * pixels are zeros. So a value of the source that is not finite spoils neighbours of the results
 * that it is a term of.
 */
#include "generator/base/integers.h"

#include "gemm.h"

#include <math.h>

/* Parameters behind the tiles'. */
enum { PHASES_H = TILES_PARAMS, PHASES_W, PARAMS };

/* With more channels the tiles of the solver gemm are no emptier. */
enum { MOST_CHANNELS = 8 };

static const kiln_param params[PARAMS] = {
    TILES_TABLE,
    [TILES_SPLIT] = {"T_SPLIT", 3, {1, 2, 4}, 1, 128},
    [PHASES_H] = {"T_PHASES_H", 4, {1, 2, 4, 8}, 0, 0},
    [PHASES_W] = {"T_PHASES_W", 4, {1, 2, 4, 8}, 0, 0},
};

/* Errors are as large as those of plain sums, but values meet zeros. */
static const double amplification = 1.000001;

static int64_t least_phases(const kiln_shape *s, int a)
{
    return s->direction == KILN_BACKWARD_DATA ? s->stride[a] : 1;
}

typedef struct geometry {
    kiln_gemm apart, merged; /* the shape's product; with a config's phases as rows */
} geometry;

static geometry shape_of(const kiln_shape *s)
{
    return (geometry){.apart = kiln_gemm_of(s)};
}

static void set(geometry *g, const kiln_shape *s, const kiln_config *c)
{
    const int64_t phases[3] = {least_phases(s, 0), c->v[PHASES_H], c->v[PHASES_W]};
    if (phases[1] != g->merged.phases[1] || phases[2] != g->merged.phases[2]) {
        g->merged = g->apart;
        kiln_gemm_merge(&g->merged, s, phases);
    }
    kiln_gemm_set(&g->merged, c);
}

static kiln_config least(const kiln_shape *s)
{
    kiln_config c = kiln_tiles_smallest;
    c.v[PHASES_H] = (int)least_phases(s, 1);
    c.v[PHASES_W] = (int)least_phases(s, 2);
    return c;
}

static bool exceeds(geometry *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    for (int a = 1; a < 3; a++) {
        const int phases = c->v[PHASES_H + a - 1];
        if (phases % least_phases(s, a))
            return kiln_no(why, "%d phases are no multiple of the stride, %lld", phases,
                           (long long)s->stride[a]);
        if (s->filter[a] == 1 && phases != least_phases(s, a))
            return kiln_no(why, "%d phases of a filter of one tap have pixels of their own each",
                           phases);
    }
    set(g, s, c);
    return kiln_gemm_exceeds(&g->merged, d, c, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    geometry g = shape_of(s);
    return exceeds(&g, s, d, c, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (s->math == KILN_MATH_EXACT && !kiln_type_is_integer(s->x_type))
        return kiln_no(why, "the problem asks for plain sums of products; these have zeros, too");
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t channels = (backward ? s->c : s->k) / s->g;
    if (s->c == s->g && s->k == s->g)
        return kiln_no(why, "groups of one channel on both sides leave its tiles empty");
    if (channels > MOST_CHANNELS)
        return kiln_no(why, "a group's result has %lld channels; it is for %d and fewer",
                       (long long)channels, MOST_CHANNELS);
    for (int a = 1; a < 3; a++)
        if (least_phases(s, a) != 1 && least_phases(s, a) != 2 && least_phases(s, a) != 4)
            return kiln_no(why, "it does strides of 1, 2 and 4, not %lld", (long long)s->stride[a]);
    if (!kiln_tiles_take_layouts(s) || kiln_pitch_of(s, backward ? 'x' : 'y').pixel != 1)
        return kiln_no(why, "it reads NCHW and NHWC and writes NCHW; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    const kiln_config c = least(s);
    geometry g = shape_of(s);
    set(&g, s, &c);
    return kiln_gemm_rejects(&g.merged, s, why) || illegal(self, s, d, &c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    geometry g = shape_of(s);
    set(&g, s, c);
    const bool empty = c->v[TILES_BM] > 16 && c->v[TILES_BM] >= 2 * g.merged.walk.dst_c;
    return kiln_tiles_skipped(&g.merged.tiles, d, c) || empty;
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    geometry g = shape_of(s);
    set(&g, s, c);
    return kiln_gemm_ms(self, &g.merged, s, d, c);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    geometry *g = guess->own;
    if (exceeds(g, guess->s, guess->d, c, NULL) || kiln_tiles_unfit(&g->merged.tiles, c))
        return INFINITY;
    return kiln_gemm_ms(guess->self, &g->merged, guess->s, guess->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_config start = least(s);
    geometry g = shape_of(s);
    kiln_guess best = {.self = self, .s = s, .d = d, .own = &g, .ms = ms_of, .best = start};
    const kiln_range more[] = {kiln_searched(params, PHASES_H), kiln_searched(params, PHASES_W)};
    kiln_tiles_guess(&best, params, kiln_searched(params, TILES_SPLIT), more,
                     sizeof more / sizeof *more, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    geometry g = shape_of(s);
    set(&g, s, c);
    if (!kiln_type_is_integer(s->x_type))
        plan->amplification = amplification;
    kiln_gemm_emit_pack(&g.merged, s, d, plan);
    kiln_gemm_emit(&g.merged, s, d, c, backward ? KILN_ROLE_Y : KILN_ROLE_X,
                   backward ? KILN_ROLE_X : KILN_ROLE_Y, plan);
}

const kiln_solver kiln_solver_gemm_phases = {
    .name = "gemm_phases",
    .id = 1054,
    .algorithm = 5,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&kiln_tiles_fit},
    .nfits = 1,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
