/* The plan of the blocked direct solvers: defines, packed weights and grid. */
#include "generator/base/integers.h"
#include "generator/geometry/pack_channels.h"
#include "generator/plan/shared_grid.h"

#include "direct_blocked.h"

/* Returns the widest of the vectors that a row of `size` elements has room for. */
static int64_t at_most(int64_t size)
{
    return size >= 16 ? 16 : size >= 8 ? 8 : size >= 4 ? 4 : 1;
}

static void define_vectors(const kiln_blocked *b, const kiln_shape *s, const kiln_config *c,
                           kiln_plan *plan)
{
    int64_t lanes = c->v[BLOCKED_LANES], step = kiln_direct_blocked_step(b, s),
            padding = kiln_direct_blocked_padding(b);
    int64_t neighbours = b->src_pitch.neighbours;
    bool rows = b->src_pitch.channel != 1;
    int64_t load = rows                       ? at_most(b->src[KILN_AXIS_W])
                   : b->src_pitch.blocks == 1 ? kiln_direct_blocked_at_once(step)
                                              : kiln_direct_blocked_at_once(gcd(step, neighbours));
    bool over = (b->groups == 1 || b->src_pitch.blocks > 1) && neighbours % load == 0;
    const bool own = kiln_direct_blocked_empty(b, c) * lanes ==
                     padding; /* no vector has channels of two groups */
    bool whole = (b->dst_c + padding) % lanes == 0 && (b->groups == 1 || own);
    kiln_define(plan, "D_GROUPS", b->groups);
    kiln_define(plan, "D_STEP", step);
    kiln_define(plan, "D_STRIP_ROWS", rows);
    kiln_define(plan, "D_STRIP_LOAD", load);
    kiln_define(plan, "D_STRIP_OVER", over);
    kiln_define(plan, "D_DST_PADDED", b->dst_pitch.neighbours * b->dst_pitch.blocks);
    kiln_define(plan, "D_DST_VECTORS", kiln_direct_blocked_vectors(b, c));
    kiln_define(plan, "D_DST_EMPTY", kiln_direct_blocked_empty(b, c));
    kiln_define(plan, "D_PIECE", kiln_direct_blocked_piece(b, lanes));
    kiln_define(plan, "D_WHOLE", whole);
    bool plain = b->dst_pitch.channel != 1;
    kiln_define(plan, "D_PLAIN", plain);
    if (plain)
        kiln_define(plan, "D_ROW", lanes);
}

/* Whether items prefetch the pixels of tiles ahead. Items of later channels then find these pixels
 * in a cache. With more than one tap the pixels are new rows, fetched in parts, one with each tap:
 * this takes a tenth less time where memory is slow, and 2% less where a cache holds the pixels. A
 * plain source has more lines than the sums leave time to fetch. */
static bool fetches_pixels(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                           const kiln_config *c)
{
    const int order = c->v[BLOCKED_ORDER];
    const bool once = order == ORDER_PIXELS && kiln_device_large_l2(d);
    if (b->filter[0] * b->filter[1] * b->filter[2] == 1)
        return (order == ORDER_CHANNELS || order == ORDER_PARTS || once) &&
               kiln_direct_blocked_prefetches(b, s, d);
    const bool dense = b->up[0] * b->up[1] * b->up[2] == 1;
    return kiln_better_fetched(s, d) && b->filter[0] == 1 && dense && b->src_pitch.channel == 1;
}

/* How many elements of the sum ahead weights are prefetched; 0: not at all. Caches of a core do not
 * hold weights from run to run, because in a network the layers before evict them. The processor
 * prefetches weights too, but from memory not as far ahead. Where a weight meets few pixels, loads
 * take most of the time, and prefetches would be more of them. A distance of whole steps stays
 * within a tap: a tile that leaves taps out would else fetch weights that it does not use. */
static int64_t weights_ahead(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                             const kiln_config *c, const kiln_plan *plan)
{
    const int64_t l2_share = d->cpu->fit.l2_counted / 4, few = 6, usual = 128;
    const int64_t step =
        kiln_direct_blocked_step(b, s) * b->filter[0] * b->filter[1] * b->filter[2];
    const bool helps = c->v[BLOCKED_TILE_W] > few && plan->packed_bytes > l2_share;
    if (!is_cpu(d) || d->cache <= 0 || !helps)
        return 0;
    return step <= 2 * usual ? round_up(usual, step) : usual;
}

/* Returns the items along the pixels of an image. */
static int64_t items_of(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    return divide_up(kiln_direct_blocked_tiles(b, c),
                     kiln_direct_blocked_channel_blocking(b, d, c));
}

static void define_all(const kiln_shape *s, const kiln_blocked *b, const kiln_device_facts *d,
                       const kiln_config *c, kiln_plan *plan)
{
    kiln_blocked_borders e = kiln_blocked_borders_of(b, c->v[BLOCKED_TILE_W]);
    blocked_strips how = kiln_direct_blocked_strips(b, s, d, &e, c);
    bool ends = how == STRIPS_NEVER && (e.first || e.last || e.more);
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_blocked_define(b, plan);
    define_vectors(b, s, c, plan);
    kiln_define(plan, "D_TILES", kiln_direct_blocked_tiles(b, c));
    kiln_define(plan, "D_TILES_W", e.tiles);
    kiln_define(plan, "D_TILES_K",
                divide_up(kiln_direct_blocked_vectors(b, c), c->v[BLOCKED_TILE_KV]));
    kiln_define(plan, "D_CHANNEL_BLOCKING", kiln_direct_blocked_channel_blocking(b, d, c));
    kiln_define(plan, "D_CHUNK", kiln_direct_blocked_chunk(b, s, d, c));
    kiln_define(plan, "D_ITEMS",
                c->v[BLOCKED_ORDER] == ORDER_CHANNELS ? kiln_direct_blocked_tiles_k(b, c)
                                                      : items_of(b, d, c));
    kiln_define(plan, "D_PART", kiln_direct_blocked_part(b, d, c));
    kiln_define(plan, "D_STRIP", how);
    kiln_define(plan, "D_TOGETHER", kiln_direct_blocked_together(b, s, d, c));
    kiln_define(plan, "D_ACCUMULATORS", kiln_direct_blocked_accumulators(b, s, d, c));
    kiln_define(plan, "D_VNNI", d->has_vnni);
    kiln_define(plan, "D_BF16", d->has_bf16);
    kiln_define(plan, "D_END", !ends ? 0 : is_cpu(d) ? 1 : 2);
    kiln_define(plan, "D_FIRST", e.first);
    kiln_define(plan, "D_LAST", e.last);
    kiln_define(plan, "D_AHEAD", how == STRIPS_NEVER && fetches_pixels(b, s, d, c));
    kiln_define(plan, "D_WEIGHTS_AHEAD", weights_ahead(b, s, d, c, plan));
    kiln_define_params(plan, kiln_direct_blocked_params, BLOCKED_PARAMS, c);
}

/* Whether two threads halve an image's pixels instead of the channels: each then reads all weights,
 * but only its half of the source, which it mostly wrote itself in the layer before. */
static bool halves_pixels(const kiln_blocked *b, const kiln_config *c, const kiln_plan *plan)
{
    const int64_t pixels = b->src[0] * b->src[1] * b->src[2];
    return c->v[BLOCKED_ORDER] == ORDER_PIXELS && b->n == 1 &&
           plan->packed_bytes < pixels * b->src_c * b->groups * 4;
}

static void emit_pack(const kiln_shape *s, const kiln_blocked *b, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan)
{
    const int64_t vectors = kiln_direct_blocked_vectors(b, c), kv = c->v[BLOCKED_TILE_KV];
    const int together = kiln_direct_blocked_together(b, s, d, c);
    const kiln_packing packing = {.lanes = kv * c->v[BLOCKED_LANES],
                                  .spans = b->groups,
                                  .tiles = divide_up(vectors, kv),
                                  .channels = b->dst_c,
                                  .latest = (vectors - kv) * c->v[BLOCKED_LANES],
                                  .step = kiln_direct_blocked_step(b, s),
                                  .together = together,
                                  .rotated = s->direction == KILN_BACKWARD_DATA,
                                  .corrected = together == 4};
    kiln_pack_channels_emit(s, &packing, plan);
}

void kiln_direct_blocked_emit(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan)
{
    kiln_blocked b = kiln_blocked_of(s);
    const double ms = kiln_direct_blocked_ms(&b, s, d, c);
    b.block = c->v[BLOCKED_LANES];
    bool backward = s->direction == KILN_BACKWARD_DATA;
    const int64_t tiles_k = kiln_direct_blocked_tiles_k(&b, c), items = items_of(&b, d, c);
    emit_pack(s, &b, d, c, plan);

    kiln_plan_stage(plan, "direct_blocked.cl", "direct_blocked");
    define_all(s, &b, d, c, plan);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_PACKED);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    const int64_t part = kiln_direct_blocked_part(&b, d, c);
    const int64_t grids[][3] = {[ORDER_PIXELS] = {items, tiles_k, b.n},
                                [ORDER_CHANNELS] = {tiles_k, items, b.n},
                                [ORDER_IMAGES] = {items, b.n, tiles_k},
                                [ORDER_PARTS] = {items * part, b.n, divide_up(tiles_k, part)}};
    const int64_t *grid = grids[c->v[BLOCKED_ORDER]];
    if (c->v[BLOCKED_GROUP] == 1 && halves_pixels(&b, c, plan))
        kiln_grid_parted(plan, d, ms, grid[0], grid[1], grid[2]);
    else if (c->v[BLOCKED_GROUP] == 1)
        kiln_grid_shared(plan, d, ms, grid[0], grid[1], grid[2]);
    else
        kiln_grid(plan, c->v[BLOCKED_GROUP], 1, 1, grid[0], grid[1], grid[2]);
}
