/* Backward weights as a product of matrices, tile by tile in local memory: any filter, stride,
 * dilation and groups, in NCHW and NHWC, for devices whose work-items share local memory.
 *
 *                        columns: source channel and tap ->
 *                        +--------+--------+---
 *     channels of dy     | T_BM x |                a work-group's tile of dw is a sum over
 *        |               |  T_BN  |                pixels, T_BK of them in a step; T_SPLIT
 *        v               +--------+--------+---    groups share the pixels
 *
 * sum_parts.cl adds the groups' sums in order. templates/gpu/gemm_weights.cl has the kernel,
 * tiles.c the time.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"
#include "generator/geometry/sum_parts.h"

#include "gemm_weights.h"

#include <math.h>
#include <string.h>

static const kiln_param params[TILES_PARAMS] = {
    TILES_TABLE,
    [TILES_SPLIT] = {"T_SPLIT", 10, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, 1, 4096},
};

/* ---- what a config makes of a shape ---- */

static kiln_gemm_weights_load load_of(const kiln_pitch *p, const int64_t size[3], int64_t channels,
                                      bool one_tap)
{
    return p->channel == 1 && channels % 4 == 0        ? GEMM_WEIGHTS_CHANNELS
           : one_tap && kiln_tiles_have_quads(p, size) ? GEMM_WEIGHTS_QUADS
                                                       : GEMM_WEIGHTS_PIXELS;
}

kiln_gemm_weights kiln_gemm_weights_of(const kiln_shape *s)
{
    kiln_gemm_weights g = {
        .columns = s->c / s->g * s->filter[0] * s->filter[1] * s->filter[2],
        .pixels = s->n * s->out[0] * s->out[1] * s->out[2],
        .x_pitch = kiln_pitch_of(s, 'x'),
        .dy_pitch = kiln_pitch_of(s, 'y'),
    };
    g.x_load = load_of(&g.x_pitch, s->in, s->c / s->g, kiln_shape_is_pointwise(s));
    g.dy_load = load_of(&g.dy_pitch, s->out, s->k / s->g, true);
    return g;
}

/* Returns the elements of local memory between rows of a piece. */
static int64_t gap_of(kiln_gemm_weights_load load)
{
    return load == GEMM_WEIGHTS_CHANNELS ? 0 : 4;
}

static kiln_tiles_load bringing(kiln_gemm_weights_load load)
{
    return load == GEMM_WEIGHTS_PIXELS ? KILN_TILES_BOUNDED : KILN_TILES_OF_FOUR;
}

void kiln_gemm_weights_set(kiln_gemm_weights *g, const kiln_shape *s, const kiln_config *c)
{
    const int64_t bm = c->v[TILES_BM], bn = c->v[TILES_BN], bk = c->v[TILES_BK];
    const int64_t pieces = 2 * bk * (bm + gap_of(g->dy_load) + bn + gap_of(g->x_load));
    const int64_t slices = kiln_tiles_slices_room(c);
    g->tiles_m = divide_up(s->k / s->g, bm);
    g->tiles_n = divide_up(g->columns, bn);
    g->tiles = (kiln_tiles){
        .items = kiln_tiles_items(c),
        .local_bytes = 4 * (pieces > slices ? pieces : slices),
        .count = (double)(g->tiles_m * g->tiles_n * s->g) * c->v[TILES_SPLIT],
        .steps = divide_up(divide_up(g->pixels, bk), c->v[TILES_SPLIT]),
        .a_load = bringing(g->dy_load),
        .b_load = bringing(g->x_load),
        .b_lines = 1,
    };
}

static kiln_gemm_weights geometry_of(const kiln_shape *s, const kiln_config *c)
{
    const kiln_shape f = kiln_tiles_fold(s);
    kiln_gemm_weights g = kiln_gemm_weights_of(&f);
    kiln_gemm_weights_set(&g, &f, c);
    return g;
}

/* Returns whether the items read a piece of `tile` columns evenly. */
static bool shares(int64_t items, kiln_gemm_weights_load load, int64_t tile, int64_t bk)
{
    if (load == GEMM_WEIGHTS_QUADS)
        return items % 32 == 0 && kiln_tiles_share(items, 32, bk * tile / 128);
    if (load == GEMM_WEIGHTS_CHANNELS)
        return items >= tile / 4 && kiln_tiles_share(items, tile / 4, bk);
    return items % bk == 0 && tile % (items / bk) == 0;
}

bool kiln_gemm_weights_exceeds(const kiln_gemm_weights *g, const kiln_device_facts *d,
                               const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (kiln_tiles_refused(&g->tiles, d, c, why))
        return true;
    if (!shares(g->tiles.items, g->dy_load, v[TILES_BM], v[TILES_BK]) ||
        !shares(g->tiles.items, g->x_load, v[TILES_BN], v[TILES_BK]))
        return kiln_no(why,
                       "%lld items cannot share the reading of %d pixels of %d channels of dy and "
                       "%d columns evenly",
                       (long long)g->tiles.items, v[TILES_BK], v[TILES_BM], v[TILES_BN]);
    if (v[TILES_SPLIT] > divide_up(g->pixels, v[TILES_BK]))
        return kiln_no(why, "T_SPLIT is %d, but there are only %lld steps of pixels",
                       v[TILES_SPLIT], (long long)divide_up(g->pixels, v[TILES_BK]));
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_gemm_weights g = geometry_of(s, c);
    return kiln_gemm_weights_exceeds(&g, d, c, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (kiln_filter_places_refused(s, why))
        return true;
    const kiln_gemm_weights g = geometry_of(s, &kiln_tiles_smallest);
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW and NHWC and their kin; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    if (g.pixels > most || g.columns > most || s->g > 65535)
        return kiln_no(why, "its pixels, columns or groups leave the range of its grid");
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    return kiln_gemm_weights_exceeds(&g, d, &kiln_tiles_smallest, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_gemm_weights g = geometry_of(s, c);
    const bool empty = (c->v[TILES_BM] > 16 && c->v[TILES_BM] >= 2 * (s->k / s->g)) ||
                       (c->v[TILES_BN] > 32 && c->v[TILES_BN] >= 2 * g.columns);
    return kiln_tiles_skipped(&g.tiles, d, c) || empty;
}

static double time_of(const kiln_solver *self, const kiln_gemm_weights *g, const kiln_shape *s,
                      const kiln_device_facts *d, const kiln_config *c)
{
    const int split = c->v[TILES_SPLIT];
    const double size = (double)kiln_type_size(s->x_type);
    const double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    const double ms =
        fmax(kiln_tiles_ms(self->fits[0], &g->tiles, d, c), kiln_device_move_ms(d, bytes));
    const double sums = split > 1 ? kiln_device_behind_ms(d) +
                                        kiln_device_move_ms(d, 8.0 * split * (double)s->w_count)
                                  : 0;
    return kiln_tiles_row_ms(d, ms + sums, split > 1 ? 2 : 1) + kiln_device_launch_ms(d);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_gemm_weights g = geometry_of(s, c);
    return time_of(self, &g, s, d, c);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    kiln_gemm_weights *g = guess->own;
    kiln_why why;
    kiln_gemm_weights_set(g, guess->s, c);
    if (kiln_tiles_unfit(&g->tiles, c))
        return INFINITY;
    return kiln_gemm_weights_exceeds(g, guess->d, c, &why)
               ? INFINITY
               : time_of(guess->self, g, guess->s, guess->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const int splits[] = {1,  2,  3,  4,  6,   8,   12,  16,  24,
                                 32, 48, 64, 96, 128, 192, 256, 384, 512};
    const kiln_shape f = kiln_tiles_fold(s);
    kiln_gemm_weights g = kiln_gemm_weights_of(&f);
    kiln_guess best = {
        .self = self, .s = s, .d = d, .own = &g, .ms = ms_of, .best = kiln_tiles_smallest};
    kiln_tiles_guess(&best, params,
                     kiln_listed(TILES_SPLIT, splits, sizeof splits / sizeof *splits), NULL, 0, c);
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_gemm_weights *g, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    const kiln_tiles_walk walk = {
        .src_c = s->c / s->g,
        .dst_c = s->k / s->g,
        .src = {s->in[0], s->in[1], s->in[2]},
        .dst = {s->out[0], s->out[1], s->out[2]},
        .filter = {s->filter[0], s->filter[1], s->filter[2]},
        .pad = {s->pad[0], s->pad[1], s->pad[2]},
    };
    kiln_tiles_define(s, &walk, d, c, plan);
    if (!s->wide && product_of(s->w_count, c->v[TILES_SPLIT]) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "D_X_LOAD", g->x_load);
    kiln_define(plan, "D_DY_LOAD", g->dy_load);
    kiln_pitch_define(&g->x_pitch, "D_X", plan);
    kiln_pitch_define(&g->dy_pitch, "D_DY", plan);
    kiln_filter_places_define(s, plan);
}

void kiln_gemm_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                            int x, int dy, int dst, kiln_plan *plan)
{
    const kiln_gemm_weights g = geometry_of(s, c);
    const int split = c->v[TILES_SPLIT];
    const int sums = split > 1 ? kiln_plan_temp(plan, 4 * s->w_count * split) : dst;
    kiln_plan_stage(plan, "gemm_weights.cl", "gemm_weights");
    define_all(s, &g, d, c, plan);
    kiln_arg_buffer(plan, x);
    kiln_arg_buffer(plan, dy);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, g.tiles.items, 1, 1, g.tiles_m * g.tiles_n * g.tiles.items, s->g, split);
    if (split > 1)
        kiln_sum_parts_emit(s, d, s->w_count, split, sums, dst, plan);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const kiln_shape f = kiln_tiles_fold(s);
    kiln_gemm_weights_emit(&f, d, c, KILN_ROLE_X, KILN_ROLE_Y, KILN_ROLE_W, plan);
}

const kiln_solver kiln_solver_gemm_weights = {
    .name = "gemm_weights",
    .id = 1051,
    .algorithm = 5,
    .version = 2,
    .params = params,
    .nparams = TILES_PARAMS,
    .fits = (const kiln_fit *const[]){&kiln_tiles_fit},
    .nfits = 1,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
