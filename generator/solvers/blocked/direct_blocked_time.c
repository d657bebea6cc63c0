/* Predicts the time of the blocked direct solvers, to rank their configs and to rank them among
 * other solvers. */
#include "generator/base/integers.h"

#include "direct_blocked.h"

#include <math.h>

/* ---- on a CPU ---- */

/* Returns how many taps along a row a tile of `width` pixels meets, on average over the tiles of a
 * row. The last tile is counted as if it began where the one before it ends. */
static double taps_of_tile(const kiln_blocked *b, int64_t width)
{
    const int a = KILN_AXIS_W;
    if (b->up[a] > 1)
        return (double)b->filter[a] / (double)b->up[a];
    const int64_t tiles = divide_up(b->dst[a], width), apart = width * b->stride[a];
    const int64_t reach = apart - b->stride[a];
    int64_t all = 0;
    for (int64_t tap = 0; tap < b->filter[a]; tap++) {
        /* 0 <= tile * apart + at + reach, and tile * apart + at < the source's columns */
        const int64_t at = tap * b->dilation[a] - b->lead[a];
        const int64_t begin = divide_up(-at - reach, apart), end = divide_up(b->src[a] - at, apart);
        const int64_t from = begin < 0 ? 0 : begin, to = end > tiles ? tiles : end;
        all += to > from ? to - from : 0;
    }
    return (double)all / (double)tiles;
}

/* Returns how many taps along an axis meet the source, on average over the destination. */
static double taps_of_axis(const kiln_blocked *b, int a)
{
    return (double)kiln_blocked_meetings(b, a) / (double)b->dst[a];
}

/* Returns how many taps a tile computes of each source channel, on average. Along a row these are
 * all taps that any of its pixels meets if `whole_w`, else the average over its pixels. */
static double taps_of(const kiln_blocked *b, const kiln_config *c, bool whole_w)
{
    return taps_of_axis(b, 0) * taps_of_axis(b, 1) *
           (whole_w ? taps_of_tile(b, c->v[BLOCKED_TILE_W]) : taps_of_axis(b, KILN_AXIS_W));
}

/* Cycles of pixels that lie a power of two apart: their lines share few sets of the first cache,
 * and leave it before their next channel is read. As measured. */
static double conflict_cycles(const kiln_blocked *b, const kiln_device_facts *d,
                              const kiln_config *c)
{
    const int64_t line = d->cpu->line_bytes, ways = d->cpu->fit.l1_ways_counted;
    const int64_t sets = d->cpu->fit.l1_counted / line / ways;
    int64_t apart = b->src_pitch.pixel * b->stride[KILN_AXIS_W] * 4;
    if (apart % line != 0)
        return 0;
    double share = (double)(c->v[BLOCKED_TILE_W] * gcd(apart / line, sets)) / (double)sets;
    return share > ways ? 0.17 * (share - ways) * c->v[BLOCKED_TILE_W] : 0;
}

/* Time of a vector in that of a whole one: the vector takes as many turns of a unit as it has parts
 * of a unit's width, at least one. */
static double turn_of(const kiln_device_facts *d, const kiln_config *c)
{
    int lanes = c->v[BLOCKED_LANES], unit = kiln_device_unit_floats(d);
    if (lanes >= d->simd_floats)
        return 1;
    return (double)(lanes > unit ? lanes : unit) / d->simd_floats;
}

/* Multiply-adds of whole vectors that have begun when the result of the first one is there. */
static double sums_under_way(const kiln_device_facts *d)
{
    return d->cpu->sum_latency * d->cpu->sums * kiln_device_unit_floats(d) / d->simd_floats;
}

/* Cycles of a vector of products, and of one for which no register is left. */
typedef struct product_cost {
    double each, over;
} product_cost;

/* Cycles of a tile for one tap and one element of the sum over channels: one for each vector of
 * sums. All numbers here are measured. Fewer sums than are under way wait for one another. If one
 * register is left the tile takes 2 % more; if none is, the compiler moves one sum; sums that have
 * no register go through memory. Weights are used once a tile and come from further away than
 * pixels. Pairs of bytes take two instructions a vector: 3x3 tiles of them took 1.4 times as long.
 * Sums of four bytes and of pairs of bf16 are overwritten in place: one register too few costs many
 * copies. */
static double tap_cycles(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                         const kiln_config *c)
{
    static const product_cost costs[] = {[1] = {1, 3}, [2] = {1.4, 3}, [4] = {1.1, 10}},
                              bf16_pairs = {1.1, 10};
    const int together = kiln_direct_blocked_together(b, s, d, c);
    const product_cost cost =
        together == 2 && s->w_type == KILN_BF16 ? bf16_pairs : costs[together];
    double sums = kiln_direct_blocked_sums(d, c);
    double weights = c->v[BLOCKED_TILE_KV] * kiln_blocked_vectors(c->v[BLOCKED_LANES], d);
    double over = sums + weights + 1 - kiln_blocked_registers(d);
    double moved = over >= 0 ? 1 + cost.over * over : over == -1 ? 0.6 : 0;
    /* A tile of one pixel waits for its weights: a vector takes two cycles from the second cache.
     * Where no tile can have more pixels all wait alike, which was not measured. */
    bool lone = c->v[BLOCKED_TILE_W] == 1 && b->dst[KILN_AXIS_W] >= 2 * b->up[KILN_AXIS_W];
    double least = fmax(lone && weights > 2 ? 2 * weights : 0, sums_under_way(d));
    const double turn = turn_of(d, c);
    double loads = 0, begin = 0;
    if (!kiln_device_double_pumped(d)) {
        /* Loads are as many a cycle as multiply-adds, or fewer: pixels that are a line apart are in
         * the same bank of a cache. A pixel that is multiplied once is loaded by the multiply-add,
         * for which 1.06 was measured. */
        loads = (weights > 1 ? d->cpu->fit.load_of_bank : 1.06) * (c->v[BLOCKED_TILE_W] + weights);
        begin = 0.8;
    } else if (turn < 1 && c->v[BLOCKED_TILE_KV] == 1) {
        /* Two sums at a time need more pixels than a cycle loads, unless each pixel is multiplied
         * several times. */
        loads = 1.08 * cost.each * fmax(sums, least);
    }
    double multiply = cost.each * fmax(sums, least);
    multiply = d->cpu->fit.sum_beside_loads * multiply +
               d->cpu->fit.load_beside_sums * (c->v[BLOCKED_TILE_W] + weights);
    if (d->cpu->fit.load_bound && over == 1) /* multiply-adds load the pixels */
        moved = 1.5;
    return turn * (fmax(loads, multiply) + 0.2 * weights + moved + begin) +
           conflict_cycles(b, d, c);
}

/* Cycles in which a tile copies pixels to a strip, on average over all tiles. */
static double strip_cycles(const kiln_blocked *b, const kiln_blocked_borders *e, blocked_strips how,
                           const kiln_config *c)
{
    if (how == STRIPS_NEVER)
        return 0;
    double share = how == STRIPS_ALWAYS || e->more || e->tiles < 3 ? 1 : 2.0 / (double)e->tiles;
    double rows = taps_of_axis(b, 0) * taps_of_axis(b, 1);
    /* A single tap leaves out the pixels between its own. */
    double apart = b->filter[KILN_AXIS_W] == 1 ? 1 : (double)b->stride[KILN_AXIS_W];
    double pixels = c->v[BLOCKED_TILE_W] * apart;
    if (b->src_pitch.channel != 1) /* vectors of 16 pixels of a channel */
        return share * rows * 5.0 * (1 + pixels / 16) * (double)b->src_c;
    return share * rows * 3.0 * pixels * (double)divide_up(b->src_c, 16);
}

/* Whether sums are so long that they hide the beginning of a tile and the end of the one before. */
static bool has_taps(const kiln_blocked *b)
{
    return b->filter[0] * b->filter[1] * b->filter[2] > 1;
}

/* Cycles to store a vector of sums, as measured. For a plain destination vectors of channels become
 * vectors of pixels, or with a stride single pixels. Narrow vectors take longer. Sums of several
 * taps hide half of the time if a core's cache holds the result; if it does not, vectors that begin
 * anywhere in a line take more. Where the channels of a vector lie apart, because a group begins in
 * the middle of a block, each piece is loaded again. */
static double store_cycles(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c)
{
    const int64_t line = d->cpu->line_bytes / 4, most_held = 4 * d->cpu->fit.l2_counted;
    if (b->dst_pitch.channel == 1)
        return 2.0 *
               (double)(c->v[BLOCKED_LANES] / kiln_direct_blocked_piece(b, c->v[BLOCKED_LANES]));
    if (b->up[KILN_AXIS_W] > 1)
        return 2.2 * c->v[BLOCKED_LANES];
    int64_t plane = b->dst[0] * b->dst[1] * b->dst[2];
    const bool held = 4 * b->n * b->groups * b->dst_c * plane <= most_held;
    const double whole = held && has_taps(b) ? 4 : 8, unaligned = !held && plane % line ? 20 : 0;
    return unaligned + (c->v[BLOCKED_LANES] == 16 ? whole : 10);
}

/* A plain source's next channel is on another page, the larger its planes, where no prefetcher
 * expects it. A strip is filled in that time. Where cores are load-bound narrow tiles of large
 * planes wait most: 512 to 256 channels at 56x56 took 11.3 ms with six pixels and 7.6 with
 * fourteen. */
static double page_cycles(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c,
                          blocked_strips how)
{
    const kiln_core_pages *p = &d->cpu->fit.page;
    const double share = 4.0 * (double)b->src_pitch.channel / (double)d->cpu->page_bytes;
    const double narrow = fmax(14 - c->v[BLOCKED_TILE_W], 0);
    if (b->src_pitch.channel == 1 || how != STRIPS_NEVER)
        return 0;
    const double each =
        share < 1 ? p->begin + p->slope * share + p->square * share * share + p->narrow * narrow
                  : p->far + p->far_narrow * narrow;
    return each * (double)b->src_c;
}

static double tile_cycles(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                          const kiln_config *c)
{
    kiln_blocked_borders e = kiln_blocked_borders_of(b, c->v[BLOCKED_TILE_W]);
    blocked_strips how = kiln_direct_blocked_strips(b, s, d, &e, c);
    double taps = taps_of(b, c, how != STRIPS_NEVER);
    int64_t elements = divide_up(b->src_c, kiln_direct_blocked_together(b, s, d, c));
    /* A loop over so few elements shows its beginning and end, as measured. Plain sources are read
     * by strips. */
    const bool few = elements < 8 && b->groups == 1 && b->src_pitch.channel == 1;
    const double each = tap_cycles(b, s, d, c) + (few ? 1.2 : 0);
    return taps * each * (double)elements + strip_cycles(b, &e, how, c) +
           page_cycles(b, d, c, how) + store_cycles(b, d, c) * kiln_direct_blocked_sums(d, c) +
           (has_taps(b) ? 20 : 60);
}

/* Returns how many tiles have pixels. A class of pixels that is smaller than another may have fewer
 * tiles than there is room for. */
static int64_t working_tiles(const kiln_blocked *b, const kiln_config *c)
{
    const int64_t up = b->up[KILN_AXIS_W], pixels = b->dst[KILN_AXIS_W];
    const int64_t larger = pixels % up, least = divide_up(pixels / up, c->v[BLOCKED_TILE_W]);
    return b->dst[0] * b->dst[1] *
           (larger * divide_up(pixels / up + 1, c->v[BLOCKED_TILE_W]) + (up - larger) * least);
}

/* Rounds of items that cores take, one item a core. Each core takes its next item when it is ready,
 * so that the number is counted halfway between an even share and whole rounds. */
static double rounds_of(double items, double cores)
{
    double whole = (double)divide_up((int64_t)items, (int64_t)cores);
    return (items / cores + whole) / 2;
}

static double cpu_ms(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                     const kiln_config *c)
{
    int lanes = c->v[BLOCKED_LANES];
    double vector =
        lanes < d->simd_floats ? d->simd_floats : (double)lanes / kiln_blocked_vectors(lanes, d);
    double items = (double)(working_tiles(b, c) * kiln_direct_blocked_tiles_k(b, c)) * (double)b->n;
    double cycles = rounds_of(items, d->compute_units) * d->compute_units * tile_cycles(b, s, d, c);
    double size = (double)kiln_type_size(s->x_type);
    /* Tensors with the padding of their layouts, which lies in the same lines. */
    double bytes =
        size * (double)(b->src_pitch.cells + b->dst_pitch.cells) + 4.0 * (double)s->w_count;
    /* Sums hide most of the way to a cache, and of lines that are fetched ahead. They do not hide
     * lines that are fetched because a store writes a part of them. */
    bool held = kiln_device_holds(d, bytes), plain = b->dst_pitch.channel != 1;
    bool ahead = b->filter[0] * b->filter[1] * b->filter[2] == 1 &&
                 c->v[BLOCKED_ORDER] == ORDER_CHANNELS && !plain;
    double share = held ? 0.2 : ahead ? 0.4 : 1;
    if (plain && !held && !c->v[BLOCKED_STREAM])
        bytes += size * (double)b->dst_pitch.cells;
    return cycles * 2 * vector / (d->cpu->fit.reached * d->peak_gflops * 1e6) +
           share * kiln_device_move_ms(d, bytes) + kiln_device_launch_ms(d);
}

/* ---- elsewhere ---- */

/* Neighbouring items read weights that lie apart, which leaves a GPU a tenth of its speed. */
static double gpu_ms(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                     const kiln_config *c)
{
    double v = c->v[BLOCKED_TILE_KV] * c->v[BLOCKED_LANES], w = c->v[BLOCKED_TILE_W];
    double per_tap = (v * w + 4 * v + w) * (double)b->src_c;
    int64_t first = kiln_direct_blocked_tiles(b, c), second = kiln_direct_blocked_tiles_k(b, c);
    int64_t *along = c->v[BLOCKED_ORDER] == ORDER_CHANNELS ? &second : &first;
    *along = round_up(*along, c->v[BLOCKED_GROUP]);
    double items = (double)(first * second * b->n);
    double least = 1024.0 * d->compute_units;
    items = items < least ? least : items;
    double flops = items * taps_of(b, c, true) * per_tap * 2 / 0.1;
    double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count) +
                   2.0 * (double)s->w_count;
    return flops / (d->peak_gflops * 1e6) + bytes / (d->bandwidth_gbs * 1e6) +
           kiln_device_rough_launch_ms(d);
}

double kiln_direct_blocked_ms(const kiln_blocked *b, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c)
{
    return is_cpu(d) ? cpu_ms(b, s, d, c) : gpu_ms(b, s, d, c);
}

double kiln_direct_blocked_predict(const kiln_solver *self, const kiln_shape *s,
                                   const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_blocked b = kiln_blocked_of(s);
    return kiln_direct_blocked_ms(&b, s, d, c);
}
