/* The direct solver by AMX: products of tile registers, on CPUs that have them, of bf16 and int8.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"
#include "generator/problem/problem_layout.h"

#include "direct_amx.h"

#include <math.h>
#include <string.h>

enum { LEAST_TILE = 16, MOST_TILE = 4096, MOST_PARTS = 64 };

static const kiln_param params[AMX_PARAMS] = {
    [AMX_TILE] = {"T_TILE", 8, {32, 64, 128, 256, 384, 512, 1024, 2048}, 1, 1 << 20},
    [AMX_PARTS] = {"T_PARTS", 5, {1, 2, 4, 8, 16}, 1, 4096},
    [AMX_ORDER] = {"T_ORDER", 2, {AMX_POSITIONS_FIRST, AMX_PAIRS_FIRST}, 0, 0},
};

/* Legal if any config is. */
static const kiln_config smallest = {{[AMX_TILE] = 1, [AMX_PARTS] = 1}};

static bool exceeds(const kiln_direct_amx *g, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t bytes = product_of(g->piece, g->size) + AMX_ROW_BYTES;
    return bytes > d->local_memory &&
           kiln_no(why,
                   "an item would keep %lld bytes of the source; the device has %lld bytes of "
                   "local memory",
                   (long long)bytes, (long long)d->local_memory);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_direct_amx g = kiln_direct_amx_of(s, c);
    return exceeds(&g, d, why);
}

/* NHWC; but layouts that the caller named decide. */
static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    static const char *const last[] = {"", "NWC", "NHWC", "NDHWC"};
    if (!kiln_layout_is_any(s->y_layout))
        kiln_prefer_layout(s->x_layout, s->y_layout);
    kiln_prefer_layout(s->x_layout, last[s->rank]);
    kiln_prefer_layout(s->y_layout, s->x_layout);
}

/* Whether a data tensor has vectors of neighbouring channels, wherever a group begins. */
static bool has_vectors(const kiln_pitch *p, int64_t channels, int64_t groups)
{
    if (!p->blocks || p->channel != 1)
        return false;
    return p->blocks == 1 ||
           (p->neighbours % AMX_CHANNELS == 0 && (groups == 1 || channels % AMX_CHANNELS == 0));
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (kiln_reject_but_cpu(d, why))
        return true;
    if (!kiln_shape_suits_amx(s))
        return kiln_no(why, "AMX multiplies bf16 and int8");
    if (!d->has_amx)
        return kiln_no(why, "the CPU lacks AMX, or the system or the compiler does not let kernels "
                            "use it");
    if (s->math == KILN_MATH_EXACT)
        return kiln_no(why, "AMX takes numbers below 2^-126 for zero");
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    const kiln_blocked b = kiln_blocked_of(s);
    if (b.up[0] * b.up[1] * b.up[2] > 1)
        return kiln_no(why, "it does backward data without stride");
    if (!has_vectors(&b.src_pitch, b.src_c, b.groups) ||
        !has_vectors(&b.dst_pitch, b.dst_c, b.groups))
        return kiln_no(why,
                       "it works on layouts of whole pixels, NHWC and its kin, or of blocks of 16 "
                       "channels; the layouts are %s and %s",
                       s->x_layout, s->y_layout);
    if (b.groups > 1 && b.dst_pitch.neighbours * b.dst_pitch.blocks > b.dst_c * b.groups)
        return kiln_no(why, "the layout %s pads the channels of several groups", s->y_layout);
    return kiln_blocked_too_large(s, why) || illegal(self, s, d, &smallest, why);
}

/* Whether a value that a search tries before this one does the same. */
static bool is_same(const kiln_shape *s, const kiln_direct_amx *g, const kiln_config *c, int i)
{
    kiln_config before = *c;
    for (int j = 0; j < params[i].nvalues && params[i].value[j] < c->v[i]; j++)
        before.v[i] = params[i].value[j];
    const kiln_direct_amx b = kiln_direct_amx_of(s, &before);
    return before.v[i] != c->v[i] && b.rows == g->rows && b.cols == g->cols && b.parts == g->parts;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_direct_amx g = kiln_direct_amx_of(s, c);
    return is_same(s, &g, c, AMX_TILE) || is_same(s, &g, c, AMX_PARTS);
}

static double guessed_ms(const kiln_guess *guess, kiln_config *c)
{
    kiln_direct_amx *g = guess->own;
    kiln_direct_amx_set(g, c);
    return exceeds(g, guess->d, NULL) ? INFINITY : kiln_direct_amx_ms(g, guess->s, guess->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    int tile[64], tiles = 0;
    for (int t = LEAST_TILE; t <= MOST_TILE; t += t < 256 ? 16 : t / 8)
        tile[tiles++] = t;
    const kiln_range range[] = {kiln_listed(AMX_TILE, tile, tiles),
                                kiln_doubled(AMX_PARTS, 1, MOST_PARTS),
                                kiln_each(AMX_ORDER, AMX_POSITIONS_FIRST, AMX_PAIRS_FIRST)};
    kiln_direct_amx own = kiln_direct_amx_of(s, &smallest);
    kiln_guess g = {self, s, d, &own, guessed_ms, smallest, INFINITY};
    kiln_config_best(&g, &smallest, range, sizeof range / sizeof *range);
    *c = g.best;
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_direct_amx g = kiln_direct_amx_of(s, c);
    return kiln_direct_amx_ms(&g, s, d, c);
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_direct_amx *g, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(&g->b, plan);
    kiln_define(plan, "D_BF16", 1); /* of every CPU with AMX */
    kiln_define(plan, "D_ROW", AMX_CHANNELS);
    kiln_define(plan, "D_GROUPS", g->b.groups);
    kiln_define(plan, "D_DST_PADDED", g->b.dst_pitch.neighbours * g->b.dst_pitch.blocks);
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    kiln_define(plan, "D_TILE", g->tile_rows);
    kiln_define(plan, "D_STEP_BYTES", g->step * g->size);
    kiln_define(plan, "D_FOLD", g->fold);
    kiln_define(plan, "D_FILTER_ROWS", g->filter_rows);
    kiln_define(plan, "D_PIXEL", g->pixel);
    kiln_define(plan, "D_STEPS_W", g->steps_w);
    kiln_define(plan, "D_DEPTH_BLOCKS", g->blocks);
    kiln_define(plan, "D_DIRECT", g->direct);
    kiln_define_axes(plan, "D_PHASES", g->phases);
    kiln_define(plan, "D_POSITION", g->position);
    kiln_define(plan, "D_PITCH", g->pitch);
    kiln_define(plan, "D_PHASE_ROWS", g->phase_rows);
    kiln_define(plan, "D_PLANE", g->plane);
    kiln_define(plan, "D_PIECE", g->piece);
    kiln_define(plan, "D_PAIRS", g->pairs);
    kiln_define(plan, "D_VECTORS", g->vectors);
    kiln_define(plan, "D_PARTS", g->parts);
    kiln_define(plan, "D_PART", g->part);
    kiln_define(plan, "D_STEPS", g->steps);
    kiln_define(plan, "D_TILES_W", g->tiles_w);
    kiln_define(plan, "T_ROWS", g->rows);
    kiln_define(plan, "T_COLS", g->cols);
    kiln_define(plan, "T_ORDER", c->v[AMX_ORDER]);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_direct_amx g = kiln_direct_amx_of(s, c);
    const double ms = kiln_direct_amx_ms(&g, s, d, c);
    g.b.block = AMX_CHANNELS;
    const int64_t weights = 2 * AMX_CHANNELS * g.step * g.size;
    plan->packed_bytes = g.b.groups * g.pairs * g.steps * weights;
    kiln_plan_stage(plan, "direct_amx.cl", "pack")->pack = true;
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_grid(plan, 1, 1, 1, g.steps, g.b.groups * g.pairs, 1);

    kiln_plan_fact(plan, "LOCAL_BYTES", g.piece * g.size);
    kiln_plan_stage(plan, "direct_amx.cl", "direct_amx");
    define_all(s, &g, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid_shared(plan, d, ms, g.tiles_h * g.tiles_w, g.b.n * g.b.dst[0], g.b.groups * g.parts);
}

const kiln_solver kiln_solver_direct_amx = {
    .name = "direct_amx",
    .id = 1017,
    .algorithm = 1,
    .version = 2,
    .params = params,
    .nparams = AMX_PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
