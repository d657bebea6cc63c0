/* The direct solver for few source channels, as in the first layer of a network: items copy rows of
 * all source channels to local memory, and keep sums in registers from the first product to the
 * last. Forward. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/blocked.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"
#include "generator/problem/problem_layout.h"

#include "first_layer.h"

#include <math.h>
#include <string.h>

enum { MOST_CHANNELS = 16, MOST_ROWS = 64 };

static const kiln_param params[FIRST_PARAMS] = {
    [FIRST_VEC] = {"T_VEC", 3, {4, 8, 16}, 0, 0},
    [FIRST_K] = {"T_K", 8, {1, 2, 3, 4, 5, 6, 8, 13}, 1, 16},
    [FIRST_PIX] = {"T_PIX", 14, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 28}, 1, 32},
    [FIRST_ROWS] = {"T_ROWS", 5, {1, 2, 4, 8, 16}, 1, MOST_ROWS},
    [FIRST_STREAM] = {"T_STREAM", 2, {0, 1}, 0, 0},
};

/* Legal if any config is. */
static const kiln_config smallest = {
    {[FIRST_VEC] = 4, [FIRST_K] = 1, [FIRST_PIX] = 1, [FIRST_ROWS] = 1}};

/* ---- what it can do ---- */

static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    kiln_prefer_layout(s->x_layout, kiln_plain_data_layout(s->rank));
    if (kiln_blocked_of(s).src_pitch.channel == 1)
        kiln_prefer_layout(s->y_layout, s->x_layout);
    kiln_blocked_prefer(s, d, true);
}

static bool exceeds(const kiln_first_layer *g, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int *v = c->v;
    if (v[FIRST_K] * v[FIRST_PIX] > 64)
        return kiln_no(why, "%d vectors of sums are too many for registers",
                       v[FIRST_K] * v[FIRST_PIX]);
    if (!g->plain && v[FIRST_PIX] > g->dst[KILN_AXIS_W])
        return kiln_no(why, "T_PIX is %d, but a row has only %lld pixels", v[FIRST_PIX],
                       (long long)g->dst[KILN_AXIS_W]);
    if (!g->plain && g->dst_pitch.blocks > 1 && g->dst_pitch.neighbours % v[FIRST_VEC] != 0)
        return kiln_no(why, "T_VEC is %d, but only %lld channels lie together", v[FIRST_VEC],
                       (long long)g->dst_pitch.neighbours);
    return kiln_direct_keeps_too_much(g->scratch, "the source", d, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_first_layer g = kiln_first_layer_of(s, d, c);
    return exceeds(&g, d, c, why);
}

static bool reject_layouts(const kiln_shape *s, kiln_why *why)
{
    const char *filter = kiln_plain_filter_layout(s->rank);
    const kiln_blocked b = kiln_blocked_of(s);
    const kiln_order from = kiln_order_of(&b.src_pitch, s->in, s->c);
    const kiln_pitch *to = &b.dst_pitch;
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    if (from == KILN_CHANNELS_ELSEWHERE || to->blocks == 0 ||
        (to->channel != 1 && (to->pixel != 1 || from == KILN_CHANNELS_LAST)))
        return kiln_no(why,
                       "it reads NCHW, to write that, NHWC or NC/16HW16 and their kin, or NHWC, to "
                       "write all but the first; x and y are %s and %s",
                       s->x_layout, s->y_layout);
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (s->direction != KILN_FORWARD)
        return kiln_no(why, "it does forward");
    if (s->g != 1 || s->c > MOST_CHANNELS)
        return kiln_no(why,
                       "it takes one group of at most %d channels; these are %lld channels in %lld",
                       MOST_CHANNELS, (long long)s->c, (long long)s->g);
    if (kiln_direct_taps(s) == 1)
        return kiln_no(why, "a filter of one tap reads each element once; others take it in place");
    if (kiln_type_is_integer(s->x_type))
        return kiln_no(why, "it multiplies floats; direct_blocked and nhwc_direct take bytes");
    /* Up to 255 channels of the last tile may be padding. */
    if (s->w_count > INT32_MAX || s->w_count + 255 * s->c * kiln_direct_taps(s) > INT32_MAX)
        return kiln_no(why, "packed weights have 2^31 elements or more");
    if (reject_layouts(s, why) || kiln_reject_but_cpu(d, why) || kiln_blocked_too_large(s, why))
        return true;
    const kiln_first_layer g = kiln_first_layer_of(s, d, &smallest);
    return kiln_lines_too_large(&g.walk, why) || exceeds(&g, d, &smallest, why);
}

/* Whether sums and the operands of a product have registers. */
static bool fits_registers(const kiln_first_layer *g, const kiln_device_facts *d,
                           const kiln_config *c)
{
    const int k = c->v[FIRST_K], pix = c->v[FIRST_PIX];
    return k * pix + (g->plain ? pix : k) + 1 <= kiln_blocked_registers(d);
}

/* ---- a guess ---- */

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    kiln_first_layer *f = g->own;
    if (!fits_registers(f, g->d, c))
        return INFINITY;
    kiln_first_layer_set(f, c);
    return exceeds(f, g->d, c, NULL) ? INFINITY : kiln_first_layer_ms(f, g->s, g->d, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_first_layer f = kiln_first_layer_of(s, d, &smallest);
    const kiln_config start = {{[FIRST_STREAM] = kiln_better_streamed(s, d)}};
    const int64_t most = 2 * f.dst[KILN_AXIS_H];
    const kiln_range range[] = {
        kiln_doubled(FIRST_VEC, 4, d->simd_floats < 16 ? d->simd_floats : 16),
        kiln_each(FIRST_K, 1, 16), kiln_each(FIRST_PIX, 1, 32),
        kiln_doubled(FIRST_ROWS, 1, most > 16 ? 16 : (int)most - 1)};
    kiln_guess g = {self, s, d, &f, guessed_ms, smallest, kiln_first_layer_ms(&f, s, d, &smallest)};
    kiln_config_best(&g, &start, range, sizeof range / sizeof *range);
    *c = g.best;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    const kiln_first_layer g = kiln_first_layer_of(s, d, c);
    /* Loads outweigh the sums of a small tile, and half a vector takes a whole one's time. */
    const int least = kiln_blocked_registers(d) / 3;
    const bool few = v[FIRST_K] * v[FIRST_PIX] < least;
    const bool narrow = 2 * v[FIRST_VEC] < d->simd_floats || v[FIRST_VEC] > d->simd_floats;
    const bool high = v[FIRST_ROWS] > 1 && v[FIRST_ROWS] >= 2 * g.dst[KILN_AXIS_H];
    const bool streamed = v[FIRST_STREAM] && !kiln_better_streamed(s, d);
    return few || narrow || high || streamed || !fits_registers(&g, d, c);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_first_layer g = kiln_first_layer_of(s, d, c);
    return kiln_first_layer_ms(&g, s, d, c);
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_device_facts *d, const kiln_first_layer *g,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_define_types(plan, s);
    if (!s->wide && g->dst_pitch.cells > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_B", c->v[FIRST_VEC]);
    kiln_define(plan, "D_ROW", c->v[FIRST_VEC]);
    kiln_define(plan, "D_BACKWARD", 0);
    kiln_define(plan, "D_PLAIN", g->plain);
    kiln_define(plan, "D_SRC_C", s->c);
    kiln_define(plan, "D_SRC_PLANES", g->planes);
    kiln_define(plan, "D_SRC_COUNT", s->x_count);
    kiln_define(plan, "D_TAPS", kiln_direct_taps(s));
    kiln_define_axes(plan, "P_SRC", g->walk.in);
    kiln_define_axes(plan, "P_DST", g->dst);
    kiln_define_axes(plan, "P_FILTER", g->walk.filter);
    kiln_define_axes(plan, "P_STRIDE", g->walk.stride);
    kiln_define_axes(plan, "P_DILATION", g->walk.dilation);
    kiln_define_axes(plan, "P_PAD", g->walk.pad);
    kiln_lines_define(&g->lines, plan);
    kiln_define(plan, "D_STEPS", divide_up(s->c, g->together));
    kiln_define(plan, "D_TOGETHER", g->together);
    kiln_define(plan, "D_BF16", d->has_bf16);
    kiln_define(plan, "D_CHANNEL", g->channel);
    kiln_define(plan, "D_APART_H", g->apart_h);
    kiln_define(plan, "D_APART_W", g->apart_w);
    kiln_pitch_define(&g->dst_pitch, "D_DST", plan);
    kiln_define(plan, "D_CHANNELS", s->k);
    kiln_define(plan, "D_DST_PADDED", g->dst_pitch.neighbours * g->dst_pitch.blocks);
    kiln_define(plan, "D_BLOCKS", g->blocks);
    kiln_define(plan, "D_TILES_W", g->tiles_w);
    kiln_define(plan, "D_COLS", g->cols);
    kiln_define(plan, "D_ROWS", g->rows);
    kiln_define(plan, "D_PITCH", g->pitch);
    kiln_define(plan, "D_PIECE", g->piece);
    kiln_define_params(plan, params, FIRST_PARAMS, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const kiln_first_layer g = kiln_first_layer_of(s, d, c);
    kiln_direct_pack_emit(s, (int)g.tile_k, g.together, true, plan);
    kiln_plan_fact(plan, "LOCAL_BYTES", 4 * g.scratch);
    kiln_plan_stage(plan, "first_layer.cl", "first_layer");
    define_all(s, d, &g, c, plan);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid_shared(plan, d, kiln_first_layer_ms(&g, s, d, c), g.tiles_h * g.tiles_w,
                     s->n * g.dst[0], 1);
}

const kiln_solver kiln_solver_first_layer = {
    .name = "first_layer",
    .id = 1015,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = FIRST_PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
