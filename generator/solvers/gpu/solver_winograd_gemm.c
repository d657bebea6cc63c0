/* Winograd's minimal filtering for 3x3 and 5x5 filters with stride 1: forward and backward data, in
 * NCHW and NHWC, for devices whose work-items share local memory.
 *
 *     overlapping patches      --transform-->  one product of matrices for  --transform-->  tiles
 *     of T_T x T_T pixels                      each of T_T * T_T elements                   of
 *     of the source                            of a patch, by gemm.cl                       results
 *
 * The products have 2.25 to 6.25 times fewer multiply-adds than a direct sum, but two more launches
 * move the transformed tensors through memory. Errors grow: see kiln_winograd_amplification().
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/solvers/winograd/winograd.h"

#include "gemm.h"
#include "winograd_gemm_fit.h"
#include "winograd_stages.h"

#include <math.h>
#include <string.h>

/* Parameters behind the tiles'. */
enum { PRODUCTS = TILES_PARAMS, PARAMS };

static const kiln_param params[PARAMS] = {
    TILES_TABLE,
    [TILES_SPLIT] = {"T_SPLIT", 3, {1, 2, 4}, 1, 128},
    [PRODUCTS] = {"T_T", 3, {4, 6, 8}, 0, 0},
};

typedef struct geometry {
    bool backward;
    kiln_winograd_walk walk;

    /* ---- from a config ---- */
    int elements;       /* elements of a patch */
    kiln_shape product; /* a 1x1 convolution with a group for each element and group */
    kiln_gemm gemm;
} geometry;

/* ---- what a config makes of a shape ---- */

static geometry shape_of(const kiln_shape *s)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    geometry g = {
        .backward = backward,
        .walk = {.template_file = "winograd_gemm.cl",
                 .taps = (int)s->filter[KILN_AXIS_W],
                 .src_c = (backward ? s->k : s->c) / s->g,
                 .dst_c = (backward ? s->c : s->k) / s->g,
                 .src_pitch = kiln_pitch_of(s, backward ? 'y' : 'x'),
                 .dst_pitch = kiln_pitch_of(s, backward ? 'x' : 'y')},
    };
    for (int a = 0; a < 2; a++) {
        g.walk.src[a] = backward ? s->out[a + 1] : s->in[a + 1];
        g.walk.dst[a] = backward ? s->in[a + 1] : s->out[a + 1];
        g.walk.lead[a] = backward ? g.walk.taps - 1 - s->pad[a + 1] : s->pad[a + 1];
    }
    return g;
}

/* Sets the products of all elements as one problem. Returns false where it is none. */
static bool set_product(geometry *g, const kiln_shape *s)
{
    kiln_problem p = {
        .batch = 1,
        .in_channels = g->elements * s->g * g->walk.src_c,
        .out_channels = g->elements * s->g * g->walk.dst_c,
        .groups = g->elements * s->g,
        .input = {1, g->walk.room},
        .filter = {1, 1},
    };
    if (kiln_problem_check(&p, NULL) != KILN_OK)
        return false;
    g->product = kiln_shape_of(&p);
    g->gemm = kiln_gemm_of(&g->product);
    return true;
}

static bool set(geometry *g, const kiln_shape *s, const kiln_config *c)
{
    const int t = c->v[PRODUCTS];
    if (t <= g->walk.taps)
        return false;
    if (g->walk.products != t) {
        g->elements = t * t;
        kiln_winograd_walk_set(&g->walk, s, t);
        if (!set_product(g, s))
            return false;
    }
    kiln_gemm_set(&g->gemm, c);
    return true;
}

static bool exceeds(geometry *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (!set(g, s, c) || g->walk.all > most || g->gemm.groups > 65535)
        return kiln_no(why,
                       "%d products along an axis are too few for the filter, or make too many "
                       "tiles or groups",
                       c->v[PRODUCTS]);
    return kiln_gemm_exceeds(&g->gemm, d, c, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    geometry g = shape_of(s);
    return exceeds(&g, s, d, c, why);
}

static kiln_config least(const kiln_shape *s)
{
    kiln_config c = kiln_tiles_smallest;
    c.v[PRODUCTS] = s->filter[KILN_AXIS_W] == 3 ? 4 : 6;
    return c;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_winograd_reject_problem(s, why))
        return true;
    if (kiln_winograd_walk_rejects(s, why))
        return true;
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    geometry g = shape_of(s);
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why, "it works on the layouts NCHW and NHWC; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    const kiln_config c = least(s);
    return exceeds(&g, s, d, &c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    geometry g = shape_of(s);
    const bool empty = c->v[TILES_BM] > 16 && c->v[TILES_BM] >= 2 * g.walk.dst_c;
    return !set(&g, s, c) || kiln_tiles_skipped(&g.gemm.tiles, d, c) || empty;
}

/* Transforms read and write V and M, which a cache does not keep. Neighbouring items of patches of
 * 8 x 8 read and write addresses so far apart that memory is used less well. */
static double time_of(const kiln_solver *self, const geometry *g, const kiln_shape *s,
                      const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_winograd_gemm_numbers *k = self->fits[1]->numbers;
    const double size = (double)kiln_type_size(s->x_type);
    const double across = 4.0 * g->elements * (double)(s->g * g->walk.room);
    const double v = across * (double)g->walk.src_c, m = across * (double)g->walk.dst_c;
    const double tensors = size * (double)(s->x_count + s->y_count);
    const double sums =
        c->v[TILES_SPLIT] > 1
            ? kiln_device_behind_ms(d) + kiln_device_move_ms(d, 2 * m * c->v[TILES_SPLIT])
            : 0;
    const double moves =
        (c->v[PRODUCTS] > 6 ? k->moves_8 : k->moves) * kiln_device_move_ms(d, v + m + tensors);
    const double ms = 2 * kiln_device_behind_ms(d) + sums +
                      kiln_tiles_ms(self->fits[0], &g->gemm.tiles, d, c) + moves;
    return kiln_device_launch_ms(d) + kiln_tiles_row_ms(d, ms, c->v[TILES_SPLIT] > 1 ? 4 : 3);
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
    if (!set(g, guess->s, c) || kiln_tiles_unfit(&g->gemm.tiles, c) ||
        exceeds(g, guess->s, guess->d, c, NULL))
        return INFINITY;
    return time_of(guess->self, g, guess->s, guess->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    geometry g = shape_of(s);
    const kiln_config start = least(s);
    kiln_guess best = {.self = self, .s = s, .d = d, .own = &g, .ms = ms_of, .best = start};
    const kiln_range more[] = {kiln_searched(params, PRODUCTS)};
    kiln_tiles_guess(&best, params, kiln_searched(params, TILES_SPLIT), more,
                     sizeof more / sizeof *more, c);
}

/* ---- the plan ---- */

static void start(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                  const geometry *g, const char *kernel, int64_t g0, int64_t g1, int64_t g2)
{
    kiln_winograd_walk_emit(&g->walk, s, d, kernel, (const int64_t[]){g0, g1, g2}, plan);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_BACKWARD", g->backward);
    const int64_t taps = s->filter[KILN_AXIS_H] * s->filter[KILN_AXIS_W];
    kiln_define(plan, "D_W_DST", g->backward ? taps : taps * g->walk.src_c);
    kiln_define(plan, "D_W_SRC", g->backward ? taps * g->walk.dst_c : taps);
    kiln_define(plan, "D_ROWS", g->gemm.rows);
    kiln_define(plan, "D_COLUMNS", g->gemm.columns);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    geometry g = shape_of(s);
    if (!set(&g, s, c))
        plan->broken = true;
    const kiln_winograd_walk *w = &g.walk;
    const int64_t across = 4 * g.elements * s->g * w->room;
    const int v = kiln_plan_temp(plan, across * w->src_c);
    const int m = kiln_plan_temp(plan, across * w->dst_c);
    const int taps[2] = {w->taps, w->taps};
    plan->amplification = kiln_winograd_amplification(c->v[PRODUCTS], taps, w->src_c);
    plan->packed_bytes = 4 * g.elements * s->g * g.gemm.rows * g.gemm.columns;

    start(plan, s, d, &g, "filter", g.gemm.columns, g.gemm.rows, s->g);
    plan->stage[plan->nstages - 1].pack = true;
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);

    start(plan, s, d, &g, "source", w->room, s->g * w->src_c, 1);
    kiln_arg_buffer(plan, g.backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, v);

    kiln_gemm_emit(&g.gemm, &g.product, d, c, v, m, plan);

    start(plan, s, d, &g, "result", w->all, s->g * w->dst_c, 1);
    kiln_arg_buffer(plan, m);
    kiln_arg_buffer(plan, g.backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
}

const kiln_solver kiln_solver_winograd_gemm = {
    .name = "winograd_gemm",
    .id = 1025,
    .algorithm = 3,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .fits = (const kiln_fit *const[]){&kiln_tiles_fit, &winograd_gemm_fit},
    .nfits = 2,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
