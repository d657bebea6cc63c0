/* The blocked depthwise solver, for CPUs: groups no wider than a vector of channels. Channels are
 * neighbours in memory, or items transpose plain tensors. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/pack_channels.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"

#include "depthwise_blocked.h"

#include <math.h>
#include <string.h>

/* Most pixels of a row of a tile, and most where taps are unrolled. */
enum { WIDEST = 28, WIDEST_UNROLLED = 20 };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 11, {1, 2, 4, 5, 6, 7, 8, 10, 12, 14, 28}, 1, WIDEST},
    [TILE_H] = {"T_H", 4, {1, 2, 3, 4}, 1, 16},
    [TILES] = {"T_TILES", 6, {1, 2, 4, 7, 14, 28}, 1, 4096},
    [STREAM] = {"T_STREAM", 2, {0, 1}, 0, 0},
};

/* Most pixels of a tile, beyond which the compiler takes long or gives up, and most bytes that an
 * item may keep of plain tensors on its stack. */
enum { MOST_PHASES = 64, MOST_BYTES = 256 << 10 };

static bool reject_plain(const kiln_shape *s, const kiln_blocked *b, kiln_why *why)
{
    const kiln_config least = {.v = {1, 1, 1, 0}};
    if (s->in[0] * s->out[0] * s->filter[0] > 1)
        return kiln_no(why, "it works on images of one plane where the layouts are plain");
    if (b->block > b->dst_c * b->groups || b->block > b->src[1] * b->src[2])
        return kiln_no(why,
                       "it turns squares of %d channels by %d pixels; an image has %lld by %lld",
                       b->block, b->block, (long long)(b->dst_c * b->groups),
                       (long long)(b->src[1] * b->src[2]));
    if (kiln_depthwise_kept(b, &least) > MOST_BYTES)
        return kiln_no(why, "an item would keep %lld bytes of plain tensors; the limit is %d",
                       (long long)kiln_depthwise_kept(b, &least), MOST_BYTES);
    return false;
}

/* ---- what it can do ---- */

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_reject_but_cpu(d, why))
        return true;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    const bool plain = kiln_shape_is_plain_layout(s);
    if ((!plain && kiln_depthwise_layouts(s, d, why)) || kiln_blocked_too_large(s, why))
        return true;
    kiln_blocked b = kiln_depthwise_of(s, d);
    if (b.groups == 1 || b.src_c != b.dst_c || b.src_c >= b.block || b.block % b.src_c)
        return kiln_no(why,
                       "it takes groups of equally many channels on both sides, fewer than the %d "
                       "of a vector and a divisor of it; these are %lld groups of %lld and %lld",
                       b.block, (long long)b.groups, (long long)b.src_c, (long long)b.dst_c);
    if (b.up[KILN_AXIS_H] > MOST_PHASES / b.up[KILN_AXIS_W])
        return kiln_no(why, "strides of %lld and %lld are too large for its backward data",
                       (long long)b.up[KILN_AXIS_H], (long long)b.up[KILN_AXIS_W]);
    return plain && reject_plain(s, &b, why);
}

static bool reject_tile(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c,
                        kiln_why *why)
{
    const depthwise_span h = kiln_depthwise_span(b, c, KILN_AXIS_H),
                         w = kiln_depthwise_span(b, c, KILN_AXIS_W);
    if (w.pixels - b->up[KILN_AXIS_W] >= b->dst[KILN_AXIS_W] ||
        h.pixels - b->up[KILN_AXIS_H] >= b->dst[KILN_AXIS_H])
        return kiln_no(why, "a tile has %lld rows of %lld pixels, but an image only %lld of %lld",
                       (long long)h.pixels, (long long)w.pixels, (long long)b->dst[KILN_AXIS_H],
                       (long long)b->dst[KILN_AXIS_W]);
    if (c->v[TILES] > h.tiles)
        return kiln_no(why, "T_TILES is %d, but an image has only %lld rows of tiles", c->v[TILES],
                       (long long)h.tiles);
    if (c->v[TILE_H] * c->v[TILE_W] > MOST_PHASES)
        return kiln_no(why, "a tile of %d times %d is too large for registers", c->v[TILE_H],
                       c->v[TILE_W]);
    if (kiln_shape_is_plain_layout(s) && kiln_depthwise_kept(b, c) > MOST_BYTES)
        return kiln_no(why, "an item would keep %lld bytes of plain tensors; the limit is %d",
                       (long long)kiln_depthwise_kept(b, c), MOST_BYTES);
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const kiln_blocked b = kiln_depthwise_of(s, d);
    return reject_tile(s, &b, c, why);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const kiln_blocked b = kiln_depthwise_of(s, d);
    return kiln_depthwise_predict(self, s, d, &b, c);
}

/* ---- configs ---- */

/* Tiles whose taps are unrolled need registers for weights. */
static bool is_too_wide(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                        const kiln_config *c)
{
    return c->v[TILE_W] > WIDEST_UNROLLED && kiln_depthwise_unrolls(s, d, b, c);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    const depthwise_span h = kiln_depthwise_span(&b, c, KILN_AXIS_H),
                         w = kiln_depthwise_span(&b, c, KILN_AXIS_W);
    if (w.tiles * w.pixels * 3 > b.dst[KILN_AXIS_W] * 4 ||
        h.tiles * h.pixels * 3 > b.dst[KILN_AXIS_H] * 4)
        return true;
    int64_t items = kiln_depthwise_strips(&b, c) * b.dst[0] * kiln_depthwise_vectors(&b) * b.n;
    return h.pixels * w.pixels > kiln_blocked_registers(d) || is_too_wide(s, d, &b, c) ||
           (c->v[TILES] > 1 && items < 2 * d->compute_units) ||
           (c->v[STREAM] &&
            (kiln_shape_out_type(s) != KILN_F32 || !kiln_depthwise_whole(s, &b, c)));
}

/* Expects in T_TILES how many strips an image is cut into. */
static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const kiln_blocked *b = g->own;
    const int64_t tiles = kiln_depthwise_span(b, c, KILN_AXIS_H).tiles;
    if (c->v[TILES] > tiles || divide_up(tiles, c->v[TILES]) > params[TILES].max)
        return INFINITY;
    c->v[TILES] = (int)divide_up(tiles, c->v[TILES]);
    if (is_too_wide(g->s, g->d, b, c) || reject_tile(g->s, b, c, NULL))
        return INFINITY;
    c->v[STREAM] = kiln_better_streamed(g->s, g->d) && kiln_depthwise_whole(g->s, b, c);
    return kiln_depthwise_predict(g->self, g->s, g->d, b, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    const kiln_config smallest = {.v = {1, 1, 1, 0}};
    /* Higher tiles have won nowhere: a core prefetches few rows. */
    const kiln_range range[] = {kiln_each(TILE_H, 1, 2), kiln_each(TILE_W, 1, WIDEST),
                                kiln_each(TILES, 1, 32)};
    kiln_guess g = {
        self, s, d, &b, guessed_ms, smallest, kiln_depthwise_predict(self, s, d, &b, &smallest)};
    kiln_config_best(&g, &smallest, range, sizeof range / sizeof *range);
    *c = g.best;
}

/* ---- the plan ---- */

/* Whether an item prefetches source rows. A core does so itself where an item goes through rows in
 * their order, and is fast enough where the last cache holds them: with a stride of 2, tensors of 4
 * to 14 MB take up to a tenth less time without prefetches, tensors of 22 MB and more up to a
 * quarter more. */
static bool fetches(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                    const kiln_config *c)
{
    if (kiln_shape_is_plain_layout(s))
        return kiln_better_fetched(s, d);
    const bool tiled = kiln_depthwise_span(b, c, KILN_AXIS_W).tiles > 1;
    return kiln_tensors_exceed(s, d, 0.5) && (tiled || kiln_better_streamed(s, d));
}

static void define_plain(const kiln_blocked *b, const kiln_config *c, kiln_plan *plan)
{
    const int64_t rows = c->v[TILES] * kiln_depthwise_span(b, c, KILN_AXIS_H).pixels;
    const int64_t down = rows * b->stride[KILN_AXIS_H] / b->up[KILN_AXIS_H] * b->src[KILN_AXIS_W];
    kiln_define(plan, "D_ROW", b->block);
    kiln_define(plan, "D_ROWS", kiln_depthwise_rows(b, c));
    kiln_define(plan, "D_NEXT_ITEM",
                kiln_depthwise_strips(b, c) > 1 ? down : b->block * b->src_pitch.channel);
}

/* Sums of bytes are floats where there are not too many products: these are exact too, and have a
 * multiply-add. */
static bool sums_floats(const kiln_shape *s, const kiln_blocked *b, int together)
{
    const int64_t products = b->filter[0] * b->filter[1] * b->filter[2] * b->src_c;
    const kiln_type source = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
    return source == KILN_I8 && together == 1 && products <= 1024;
}

static void define_all(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_depthwise_define(b, plan);
    kiln_define(plan, "D_GROUP", b->src_c);
    const int together = kiln_depthwise_together(s, d, b, c);
    kiln_define(plan, "D_TOGETHER", together);
    kiln_define(plan, "D_VNNI", together > 1);
    kiln_define(plan, "D_BF16", d->has_bf16);
    kiln_define(plan, "D_UNROLL", kiln_depthwise_unrolls(s, d, b, c));
    kiln_define(plan, "D_STRIPS", kiln_depthwise_strips(b, c));
    kiln_define(plan, "D_AHEAD", fetches(s, d, b, c));
    kiln_define(plan, "D_FLOAT", sums_floats(s, b, together));
    kiln_define_params(plan, params, PARAMS, c);
    kiln_define(plan, "D_PLAIN", kiln_shape_is_plain_layout(s));
    if (kiln_shape_is_plain_layout(s))
        define_plain(b, c, plan);
}

static void emit_pack(const kiln_shape *s, const kiln_blocked *b, int together, kiln_plan *plan)
{
    const int64_t vectors = kiln_depthwise_vectors(b), channels = b->groups * b->dst_c;
    const bool earlier = b->dst_pitch.neighbours % b->block != 0;
    const kiln_packing packing = {.lanes = b->block,
                                  .spans = 1,
                                  .tiles = vectors,
                                  .channels = channels,
                                  .latest = (earlier ? channels : vectors * b->block) - b->block,
                                  .step = b->src_c,
                                  .together = together,
                                  .rotated = s->direction == KILN_BACKWARD_DATA,
                                  .corrected = together > 1,
                                  .floats = sums_floats(s, b, together)};
    kiln_pack_channels_emit(s, &packing, plan);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_blocked b = kiln_depthwise_of(s, d);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    emit_pack(s, &b, kiln_depthwise_together(s, d, &b, c), plan);

    kiln_plan_stage(plan, "depthwise_blocked.cl", "depthwise_blocked");
    define_all(s, d, &b, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    (b.n == 1 ? kiln_grid_parted : kiln_grid_shared)(
        plan, d, kiln_depthwise_predict(self, s, d, &b, c), kiln_depthwise_strips(&b, c) * b.dst[0],
        kiln_depthwise_vectors(&b), b.n);
}

const kiln_solver kiln_solver_depthwise_blocked = {
    .name = "depthwise_blocked",
    .id = 1011,
    .algorithm = 1,
    .version = 4,
    .params = params,
    .nparams = PARAMS,
    .fits = kiln_depthwise_blocked_fits,
    .nfits = 1,
    .prefer = kiln_depthwise_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
