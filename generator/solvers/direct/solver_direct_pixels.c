/* The direct solver with pixels as the vector that copies no whole tensor: items copy pieces of a
 * plain source to local memory and sum all of their channels from them. Forward and backward data.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"

#include "direct_pixels.h"

#include <math.h>
#include <string.h>

enum { USUAL_TILE = 28, MOST_TILE = 128, MOST_CHUNK = 64, MOST_PARTS = 16, MOST_BLOCKS = 4096 };

static const kiln_param params[PIXELS_PARAMS] = {
    [PIXELS_VEC] = {"T_VEC", 3, {4, 8, 16}, 0, 0},
    [PIXELS_K] = {"T_K", 6, {1, 3, 4, 6, 8, 12}, 1, 16},
    [PIXELS_PIX] = {"T_PIX", 6, {1, 2, 3, 4, 5, 7}, 1, 8},
    [PIXELS_TILE] = {"T_TILE", 5, {4, 14, 28, 56, 112}, 1, 1024},
    [PIXELS_BLOCKS] = {"T_BLOCKS", 5, {1, 2, 4, 16, 64}, 1, MOST_BLOCKS},
    [PIXELS_C] = {"T_C", 3, {4, 16, 64}, 1, 4096},
};

/* Legal if any config is. */
static const kiln_config smallest = {{[PIXELS_VEC] = 4,
                                      [PIXELS_K] = 1,
                                      [PIXELS_PIX] = 1,
                                      [PIXELS_TILE] = 1,
                                      [PIXELS_BLOCKS] = 1,
                                      [PIXELS_C] = 1}};

/* ---- what it can do ---- */

static bool exceeds(const kiln_direct_pixels *g, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int *v = c->v;
    if (v[PIXELS_K] * v[PIXELS_PIX] > 64)
        return kiln_no(why, "a tile of %d channels and %d vectors is too large for registers",
                       v[PIXELS_K], v[PIXELS_PIX]);
    if (v[PIXELS_K] > g->dst_c)
        return kiln_no(why, "T_K is %d, but a group has only %lld channels", v[PIXELS_K],
                       (long long)g->dst_c);
    if (v[PIXELS_PIX] > v[PIXELS_TILE])
        return kiln_no(why, "T_PIX is %d, but a tile has at most T_TILE=%d vectors", v[PIXELS_PIX],
                       v[PIXELS_TILE]);
    return kiln_direct_keeps_too_much(g->scratch, "the source and of sums", d, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_direct_pixels g = kiln_direct_pixels_of(s, d, c);
    return exceeds(&g, d, c, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    if (kiln_direct_pixels_order_x(s) == KILN_CHANNELS_ELSEWHERE ||
        kiln_direct_pixels_order_y(s) == KILN_CHANNELS_ELSEWHERE)
        return kiln_no(why,
                       "it works on the layouts NCHW and NHWC and their 1-D and 3-D kin; x and y "
                       "are %s and %s",
                       s->x_layout, s->y_layout);
    return kiln_reject_but_cpu(d, why) || kiln_lines_too_large(s, why) ||
           illegal(self, s, d, &smallest, why);
}

/* Whether sums, the vectors of a tap and a weight have registers. */
static bool fits_registers(const kiln_device_facts *d, int k, int pix)
{
    return k * pix + pix + 1 <= kiln_blocked_registers(d);
}

/* Whether the value that a search tries before this one does the same. */
static bool is_same(const kiln_shape *s, const kiln_device_facts *d, const kiln_direct_pixels *g,
                    const kiln_config *c, int i)
{
    kiln_config before = *c;
    for (int j = 0; j < params[i].nvalues && params[i].value[j] < c->v[i]; j++)
        before.v[i] = params[i].value[j];
    if (before.v[i] == c->v[i] || before.v[PIXELS_TILE] < before.v[PIXELS_PIX])
        return false;
    const kiln_direct_pixels b = kiln_direct_pixels_of(s, d, &before);
    return b.rows == g->rows && b.cols == g->cols && b.parts == g->parts && b.chunk == g->chunk;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    const int64_t little = 2 << 10; /* elements */
    const kiln_direct_pixels g = kiln_direct_pixels_of(s, d, c);
    /* Loads outweigh the sums of a small tile, and half a vector takes a whole one's time. */
    const int few_sums = d->simd_floats >= 16 ? 12 : 6;
    const bool few = v[PIXELS_K] * v[PIXELS_PIX] < few_sums && v[PIXELS_K] < g.dst_c;
    const bool narrow = 2 * v[PIXELS_VEC] < d->simd_floats || v[PIXELS_VEC] > d->simd_floats;
    const bool short_chunk = g.chunk < 16 && g.chunk < g.src_c && g.scratch < little;
    return narrow || few || short_chunk || !fits_registers(d, v[PIXELS_K], v[PIXELS_PIX]) ||
           is_same(s, d, &g, c, PIXELS_TILE) || is_same(s, d, &g, c, PIXELS_BLOCKS) ||
           is_same(s, d, &g, c, PIXELS_C);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_direct_pixels g = kiln_direct_pixels_of(s, d, c);
    return kiln_direct_pixels_ms(self, &g, s, d, c);
}

/* ---- a guess ---- */

/* Returns the blocks of `k` channels that each of `parts` items computes. */
static int blocks_of(const kiln_direct_pixels *p, int k, int64_t parts)
{
    const int64_t blocks = divide_up(divide_up(p->dst_c, k), parts);
    return (int)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
}

/* Expects the number of parts of the channels in T_BLOCKS. */
static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    int *v = c->v;
    kiln_direct_pixels *p = g->own;
    if (!fits_registers(g->d, v[PIXELS_K], v[PIXELS_PIX]))
        return INFINITY;
    if (v[PIXELS_TILE] < v[PIXELS_PIX])
        v[PIXELS_TILE] = v[PIXELS_PIX];
    v[PIXELS_BLOCKS] = blocks_of(p, v[PIXELS_K], v[PIXELS_BLOCKS]);
    kiln_direct_pixels_set(p, c);
    return exceeds(p, g->d, c, NULL) ? INFINITY : kiln_direct_pixels_ms(g->self, p, g->s, g->d, c);
}

static void guess_registers(kiln_guess *g, int tile)
{
    const kiln_direct_pixels *p = g->own;
    const kiln_range range[] = {kiln_doubled(PIXELS_VEC, 4, (int)least_of(16, g->d->simd_floats)),
                                kiln_each(PIXELS_K, 1, (int)least_of(16, p->dst_c)),
                                kiln_each(PIXELS_PIX, 1, 8)};
    kiln_config start = g->best;
    const int *v = g->best.v;
    start.v[PIXELS_TILE] = tile;
    start.v[PIXELS_BLOCKS] = (int)divide_up(divide_up(p->dst_c, v[PIXELS_K]), v[PIXELS_BLOCKS]);
    kiln_config_best(g, &start, range, sizeof range / sizeof *range);
}

static void guess_tiles(kiln_guess *g)
{
    const kiln_direct_pixels *p = g->own;
    int tile[MOST_TILE], tiles = 0, chunk[MOST_CHUNK], chunks = 0;
    for (int t = g->best.v[PIXELS_PIX]; t <= MOST_TILE; t += (t + 2) / 3)
        tile[tiles++] = t;
    for (int most = (int)least_of(p->src_c, MOST_CHUNK); most >= 1; most /= 2)
        chunk[chunks++] = most;
    const kiln_range range[] = {kiln_listed(PIXELS_TILE, tile, tiles),
                                kiln_doubled(PIXELS_BLOCKS, 1, MOST_PARTS),
                                kiln_listed(PIXELS_C, chunk, chunks)};
    const kiln_config start = g->best;
    kiln_config_best(g, &start, range, sizeof range / sizeof *range);
}

/* Guesses tiles of registers, then tiles of pixels and parts of the channels for these, and both
 * once more. */
static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_direct_pixels p = kiln_direct_pixels_of(s, d, &smallest);
    kiln_guess g = {
        self, s, d, &p, guessed_ms, smallest, kiln_direct_pixels_ms(self, &p, s, d, &smallest)};
    guess_registers(&g, USUAL_TILE);
    guess_tiles(&g);
    guess_registers(&g, g.best.v[PIXELS_TILE]);
    guess_tiles(&g);
    *c = g.best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_device_facts *d, const kiln_direct_pixels *g,
                       const kiln_config *c, kiln_plan *plan)
{
    const kiln_lines *l = &g->lines;
    kiln_define_types(plan, s);
    if (!s->wide && kiln_direct_packed(s, c->v[PIXELS_K]) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_ROW", c->v[PIXELS_VEC]);
    kiln_define(plan, "D_BACKWARD", s->direction == KILN_BACKWARD_DATA);
    kiln_direct_define_weights(s, plan);
    kiln_define(plan, "D_SRC_COUNT",
                l->n * l->channels * l->source[0] * l->source[1] * l->source[2]);
    kiln_define_axes(plan, "P_SRC", l->source);
    kiln_define_axes(plan, "P_DST", g->dst);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_lines_define(l, plan);
    kiln_define(plan, "D_SRC_LAST", g->src_last);
    kiln_define(plan, "D_DST_LAST", g->dst_last);
    kiln_define(plan, "D_COLS", g->cols);
    kiln_define(plan, "D_PITCH", g->pitch);
    kiln_define(plan, "D_TILES_W", g->tiles_w);
    kiln_define(plan, "D_VECTORS", g->vectors);
    kiln_define(plan, "D_BLOCKS", g->blocks);
    kiln_define(plan, "D_PARTS", g->parts);
    kiln_define(plan, "D_TOGETHER", g->together);
    kiln_define(plan, "D_BF16", d->has_bf16);
    kiln_define(plan, "D_CHUNK", g->chunk);
    kiln_define(plan, "D_KEPT", g->kept);
    kiln_define(plan, "T_ROWS", g->rows);
    kiln_define_params(plan, params, PIXELS_PARAMS, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const kiln_direct_pixels g = kiln_direct_pixels_of(s, d, c);
    kiln_direct_pack_emit(s, c->v[PIXELS_K], g.together, false, plan);
    kiln_plan_fact(plan, "LOCAL_BYTES", 4 * g.scratch);
    kiln_plan_stage(plan, "direct_pixels.cl", "direct_pixels");
    define_all(s, d, &g, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid_shared(plan, d, kiln_direct_pixels_ms(self, &g, s, d, c), g.tiles_h * g.tiles_w,
                     s->n * g.dst[0], s->g * g.parts);
}

const kiln_solver kiln_solver_direct_pixels = {
    .name = "direct_pixels",
    .id = 1014,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PIXELS_PARAMS,
    .fits = kiln_direct_pixels_fits,
    .nfits = 1,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
