/* A convolution as a product of matrices, tile by tile in local memory: forward and backward data
 * of any filter, stride, dilation and groups, in NCHW and NHWC, for devices whose work-items share
 * local memory.
 *
 *                  pixels of all images ->
 *                  +--------+--------+---
 *     channels     | T_BM x |                a work-group's tile is a sum over terms (source
 *        |         |  T_BN  |                channel and tap), T_BK of them in a step;
 *        v         +--------+--------+---    T_SPLIT groups may share the terms of a tile
 *
 * Neither matrix is laid out: patches of the source are gathered as they are read, and weights are
 * packed once. templates/gpu/gemm.cl has the kernel, tiles.c the time.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"

#include "gemm.h"

#include <math.h>
#include <string.h>

static const kiln_param params[TILES_PARAMS] = {
    TILES_TABLE,
    [TILES_SPLIT] = {"T_SPLIT", 7, {1, 2, 3, 4, 8, 16, 32}, 1, 128},
};

static kiln_gemm geometry_of(const kiln_shape *s, const kiln_config *c)
{
    const kiln_shape f = kiln_tiles_fold(s);
    kiln_gemm g = kiln_gemm_of(&f);
    kiln_gemm_set(&g, c);
    return g;
}

bool kiln_gemm_exceeds(const kiln_gemm *g, const kiln_device_facts *d, const kiln_config *c,
                       kiln_why *why)
{
    const int *v = c->v;
    const int64_t items = g->tiles.items, quads = v[TILES_BK] / 4;
    if (kiln_tiles_refused(&g->tiles, d, c, why))
        return true;
    const bool b =
        g->load == GEMM_CHANNELS
            ? items % quads == 0 && v[TILES_BN] % (items / quads) == 0
            : kiln_tiles_share(items, v[TILES_BN] / (g->load == GEMM_PIXELS ? 4 : 1), v[TILES_BK]);
    if (!b || !kiln_tiles_share(items, v[TILES_BM] / 4, v[TILES_BK]) || items < v[TILES_BM] / 4)
        return kiln_no(why,
                       "%lld items cannot share the reading of %d terms of %d channels and %d "
                       "pixels evenly",
                       (long long)items, v[TILES_BK], v[TILES_BM], v[TILES_BN]);
    if (v[TILES_SPLIT] > 1 && v[TILES_SPLIT] > g->rows / v[TILES_BK] / g->group_phases)
        return kiln_no(why, "T_SPLIT is %d, but a tile has only %lld steps", v[TILES_SPLIT],
                       (long long)(g->rows / v[TILES_BK] / g->group_phases));
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_gemm g = geometry_of(s, c);
    return kiln_gemm_exceeds(&g, d, c, why);
}

bool kiln_gemm_rejects(const kiln_gemm *g, const kiln_shape *s, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s",
                       kiln_plain_filter_layout(s->rank), s->w_layout);
    if (!kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW and NHWC and their kin; x and y are %s "
                       "and %s",
                       s->x_layout, s->y_layout);
    if (g->pixels > most || g->rows > most || g->walk.dst_c > most ||
        product_of(g->groups, g->all_phases) > 65535)
        return kiln_no(why, "its pixels, terms, channels, or groups and phases leave the range of "
                            "its grid");
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const kiln_gemm g = geometry_of(s, &kiln_tiles_smallest);
    if (g.all_phases > 1 && kiln_device_is_pocl(d) && strncmp(d->driver, "5.", 2) == 0)
        return kiln_no(why,
                       "PoCL %s computes backward data with a stride wrongly; PoCL 3.1 and 6.0 "
                       "do not",
                       d->driver);
    return kiln_gemm_rejects(&g, s, why) || kiln_gemm_exceeds(&g, d, &kiln_tiles_smallest, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_gemm g = geometry_of(s, c);
    const bool empty = c->v[TILES_BM] > 16 && c->v[TILES_BM] >= 2 * g.walk.dst_c;
    return kiln_tiles_skipped(&g.tiles, d, c) || empty;
}

double kiln_gemm_ms(const kiln_solver *self, const kiln_gemm *g, const kiln_shape *s,
                    const kiln_device_facts *d, const kiln_config *c)
{
    const int split = c->v[TILES_SPLIT];
    const double size = (double)kiln_type_size(s->x_type);
    const double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    const double parts =
        8.0 * split * (double)(g->groups * g->group_phases * g->walk.dst_c * g->pixels);
    const double ms =
        fmax(kiln_tiles_ms(self->fits[0], &g->tiles, d, c), kiln_device_move_ms(d, bytes));
    const double sums = split > 1 ? kiln_device_behind_ms(d) + kiln_device_move_ms(d, parts) : 0;
    return kiln_tiles_row_ms(d, ms + sums, split > 1 ? 2 : 1) + kiln_device_launch_ms(d);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_gemm g = geometry_of(s, c);
    return kiln_gemm_ms(self, &g, s, d, c);
}

static double ms_of(const kiln_guess *guess, kiln_config *c)
{
    kiln_gemm *g = guess->own;
    kiln_why why;
    kiln_gemm_set(g, c);
    if (kiln_tiles_unfit(&g->tiles, c))
        return INFINITY;
    return kiln_gemm_exceeds(g, guess->d, c, &why)
               ? INFINITY
               : kiln_gemm_ms(guess->self, g, guess->s, guess->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const int splits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
    const kiln_shape f = kiln_tiles_fold(s);
    kiln_gemm g = kiln_gemm_of(&f);
    kiln_guess best = {
        .self = self, .s = s, .d = d, .own = &g, .ms = ms_of, .best = kiln_tiles_smallest};
    kiln_tiles_guess(&best, params,
                     kiln_listed(TILES_SPLIT, splits, sizeof splits / sizeof *splits), NULL, 0, c);
}

/* ---- the plan ---- */

static void define_weights(const kiln_shape *s, const kiln_gemm *g, kiln_plan *plan)
{
    kiln_define(plan, "D_CHANNELS", g->channels);
    kiln_define(plan, "D_ROWS", g->rows);
    kiln_define(plan, "D_COLUMNS", g->columns);
    if (!s->wide && product_of(product_of(g->groups, g->rows), g->columns) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
}

/* The tap of the filter, times the dilation, is D_AT + D_AT_PHASE * phase + D_AT_TAP * tap. */
void kiln_gemm_define_merged(const kiln_gemm *g, const kiln_shape *s, kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    int64_t at[3], at_phase[3], at_tap[3];
    for (int a = 0; a < 3; a++) {
        at[a] = backward ? s->pad[a] + g->walk.pad[a] * s->stride[a] : 0;
        at_phase[a] = backward ? 1 : -s->stride[a];
        at_tap[a] = backward ? -s->stride[a] : 1;
    }
    kiln_define_axes(plan, "D_AT", at);
    kiln_define_axes(plan, "D_AT_PHASE", at_phase);
    kiln_define_axes(plan, "D_AT_TAP", at_tap);
}

void kiln_gemm_emit_pack(const kiln_gemm *g, const kiln_shape *s, const kiln_device_facts *d,
                         kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t taps = s->filter[0] * s->filter[1] * s->filter[2], across = s->c / s->g * taps;
    plan->packed_bytes = 4 * g->groups * g->rows * g->columns + (g->table ? 16 * g->rows : 0);
    kiln_plan_stage(plan, "gemm_pack.cl", "gemm_pack")->pack = true;
    kiln_define_type(plan, "SRC_TYPE", backward ? s->y_type : s->x_type);
    kiln_define(plan, "D_TABLE", g->table);
    kiln_define(plan, "D_MERGED", g->merged);
    if (g->merged) {
        kiln_gemm_define_merged(g, s, plan);
        kiln_define_axes(plan, "D_PHASES", g->phases);
        kiln_define_axes(plan, "D_TAPS", g->walk.filter);
        kiln_define_axes(plan, "P_FILTER", s->filter);
        kiln_define_axes(plan, "P_DILATION", s->dilation);
    }
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    const int64_t sizes[] = {g->columns, g->walk.dst_c, g->channels, g->walk.src_c, g->rows, taps};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kiln_arg_int(plan, sizes[i]);
    kiln_arg_long(plan, backward ? taps : across);
    kiln_arg_long(plan, backward ? across : taps);
    for (int a = 0; a < 3 && g->table; a++)
        kiln_arg_int(plan, g->walk.filter[a]);
    for (int a = 0; a < 3 && g->table; a++)
        kiln_arg_int(plan, g->move[a]);
    if (g->table)
        kiln_arg_long(plan, g->groups * g->rows * g->columns);
    kiln_grid(plan, kiln_device_group(d, 16), 1, 1, g->columns, g->rows, g->groups);
}

static void define_all(const kiln_shape *s, const kiln_gemm *g, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_tiles_define(s, &g->walk, d, c, plan);
    kiln_define_epilogue(plan, s);
    define_weights(s, g, plan);
    kiln_define(plan, "D_BACKWARD", g->backward);
    kiln_define_axes(plan, "D_STEP", g->step);
    kiln_define_axes(plan, "D_MOVE", g->move);
    kiln_define_axes(plan, "D_JUMP", g->jump);
    kiln_define_axes(plan, "D_GRID", g->grid);
    kiln_define_axes(plan, "D_PHASES", g->phases);
    kiln_define(plan, "D_SPREAD", g->spread);
    kiln_define(plan, "D_MERGED", g->merged);
    kiln_define(plan, "D_FLAT", g->flat);
    kiln_define(plan, "D_TABLE", g->table);
    kiln_define(plan, "D_LOAD", g->load);
    kiln_define(plan, "D_STORE", g->store);
    kiln_pitch_define(&g->src_pitch, "D_SRC", plan);
    kiln_pitch_define(&g->dst_pitch, "D_DST", plan);
}

void kiln_gemm_emit(const kiln_gemm *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, int src, int dst, kiln_plan *plan)
{
    const int split = c->v[TILES_SPLIT];
    const int64_t results = g->groups * g->group_phases * g->walk.dst_c * g->pixels;
    const int sums = split > 1 ? kiln_plan_temp(plan, 4 * split * results) : dst;
    kiln_plan_stage(plan, "gemm.cl", "gemm");
    define_all(s, g, d, c, plan);
    kiln_arg_buffer(plan, src);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, sums);
    if (split == 1)
        kiln_arg_epilogue(plan, s);
    kiln_grid(plan, g->tiles.items, 1, 1, g->tiles_m * g->tiles_n * g->tiles.items,
              g->groups * g->group_phases, split);
    if (split == 1)
        return;
    kiln_plan_stage(plan, "gemm.cl", "gemm_sum");
    define_all(s, g, d, c, plan);
    kiln_arg_buffer(plan, sums);
    kiln_arg_buffer(plan, dst);
    kiln_arg_epilogue(plan, s);
    const int64_t local = d->max_group >= 128 && d->max_local[0] >= 128 ? 128 : 1;
    kiln_grid(plan, local, 1, 1, results, 1, 1);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const kiln_shape f = kiln_tiles_fold(s);
    const kiln_gemm g = geometry_of(&f, c);
    kiln_gemm_emit_pack(&g, &f, d, plan);
    kiln_gemm_emit(&g, &f, d, c, g.backward ? KILN_ROLE_Y : KILN_ROLE_X,
                   g.backward ? KILN_ROLE_X : KILN_ROLE_Y, plan);
}

const kiln_solver kiln_solver_gemm = {
    .name = "gemm",
    .id = 1050,
    .algorithm = 5,
    .version = 1,
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
