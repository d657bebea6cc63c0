/* Decides which configs of the blocked direct solvers are legal, which a search tries and which is
 * guessed. */
#include "generator/base/integers.h"
#include "generator/plan/config_best.h"

#include "direct_blocked.h"

#include <math.h>

const kiln_param kiln_direct_blocked_params[BLOCKED_PARAMS] = {
    [BLOCKED_TILE_W] = {"T_W", 14, {2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28}, 1, 32},
    [BLOCKED_TILE_KV] = {"T_KV", 5, {1, 2, 3, 4, 5}, 0, 0},
    [BLOCKED_ORDER] =
        {"T_ORDER", 4, {ORDER_PIXELS, ORDER_CHANNELS, ORDER_IMAGES, ORDER_PARTS}, 0, 0},
    [BLOCKED_LANES] = {"T_V", 3, {4, 8, 16}, 0, 0},
    [BLOCKED_GROUP] = {"T_GROUP", 4, {1, 32, 64, 128}, 0, 0},
    [BLOCKED_STREAM] = {"T_STREAM", 2, {0, 1}, 0, 0},
};

/* Pixels of a row whose taps read the same columns. */
static int64_t row_of(const kiln_blocked *b)
{
    return b->dst[KILN_AXIS_W] / b->up[KILN_AXIS_W];
}

static bool does_not_fit(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c,
                         kiln_why *why)
{
    if (c->v[BLOCKED_TILE_W] > row_of(b))
        return kiln_no(why, "T_W is %d, but a row has only %lld pixels", c->v[BLOCKED_TILE_W],
                       (long long)row_of(b));
    if (c->v[BLOCKED_TILE_KV] > kiln_direct_blocked_vectors(b, c))
        return kiln_no(why, "T_KV is %d, but a group has only %lld vectors of %d channels",
                       c->v[BLOCKED_TILE_KV], (long long)kiln_direct_blocked_vectors(b, c),
                       c->v[BLOCKED_LANES]);
    if (is_cpu(d) ? kiln_direct_blocked_sums(d, c) > 2 * kiln_blocked_registers(d)
                  : c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV] * c->v[BLOCKED_LANES] > 256)
        return kiln_no(why, "%d vectors of sums are too many for registers",
                       c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV]);
    if (c->v[BLOCKED_GROUP] > d->max_group || c->v[BLOCKED_GROUP] > d->max_local[0])
        return kiln_no(why, "T_GROUP is %d, more items than the device puts in a group",
                       c->v[BLOCKED_GROUP]);
    return false;
}

bool kiln_direct_blocked_illegal(const kiln_solver *self, const kiln_shape *s,
                                 const kiln_device_facts *d, const kiln_config *c, kiln_why *why)
{
    const kiln_blocked b = kiln_blocked_of(s);
    return does_not_fit(&b, d, c, why);
}

/* Lanes as wide as the vectors of the device, or narrower if a group is. With several groups that
 * begin in the middle of the narrowest vector, the padding of the layout counts, since no vector is
 * empty then. */
static int lanes_for(const kiln_blocked *b, const kiln_device_facts *d)
{
    const bool sums_padding = b->groups > 1 && b->dst_c % 4 != 0;
    int64_t channels = b->dst_c + (sums_padding ? kiln_direct_blocked_padding(b) : 0);
    int lanes = !is_cpu(d) ? 4 : d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    while (lanes > 4 && channels <= lanes / 2)
        lanes /= 2;
    return lanes;
}

/* Half the lanes pay where vectors then have fewer channels of padding, if the CPU takes two half
 * vectors in the time of a wide one. A search tries them on any CPU. */
static bool are_lanes_for(const kiln_blocked *b, const kiln_device_facts *d, int lanes)
{
    const int usual = lanes_for(b, d);
    return lanes == usual || (is_cpu(d) && 2 * lanes == usual && lanes >= 4 &&
                              5 * round_up(b->dst_c, lanes) <= 4 * round_up(b->dst_c, usual));
}

bool kiln_direct_blocked_skip(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_blocked b = kiln_blocked_of(s);
    int64_t size = row_of(&b), width = c->v[BLOCKED_TILE_W];
    if (!are_lanes_for(&b, d, c->v[BLOCKED_LANES]) || (c->v[BLOCKED_GROUP] == 1) != is_cpu(d) ||
        (c->v[BLOCKED_STREAM] && !kiln_better_streamed(s, d)))
        return true;
    if (c->v[BLOCKED_ORDER] == ORDER_PARTS &&
        (!is_cpu(d) || b.n == 1 ||
         kiln_direct_blocked_part(&b, d, c) == kiln_direct_blocked_tiles_k(&b, c)))
        return true;                                   /* the same as another order */
    if (divide_up(size, width) * width * 4 > size * 5) /* tiles overlap much */
        return true;
    int sums = kiln_direct_blocked_sums(d, c), registers = kiln_blocked_registers(d);
    if (!is_cpu(d))
        return c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV] * c->v[BLOCKED_LANES] > 64;
    /* Skips a tile that does not stay in registers, and one that could be larger. */
    return sums + c->v[BLOCKED_TILE_KV] > registers - 1 || (sums < registers / 3 && width < size);
}

/* Returns how many coordinates of the source any tap reads. */
static int64_t touched(const kiln_blocked *b, int a)
{
    const int64_t most = b->dst[a] * b->filter[a];
    return most < b->src[a] ? most : b->src[a];
}

/* The processor itself follows a few blocks of channels, or fewer rows of pixels. With a stride, to
 * fetch whole rows of pixels costs more than it saves. */
bool kiln_direct_blocked_prefetches(const kiln_blocked *b, const kiln_shape *s,
                                    const kiln_device_facts *d)
{
    bool rows = b->src_pitch.channel != 1;
    return kiln_better_fetched(s, d) && b->filter[0] * b->filter[1] * b->filter[2] == 1 &&
           (rows ? b->src_c > 8 && b->stride[2] == 1 : b->src_c > 32);
}

/* With a large second cache a core reads the next one slowly. Either it reads all weights once an
 * image, or all pixels once for each part of the weights that its second cache holds. Returns
 * whether the second way is shorter. The processor follows weights further than pixels, so that
 * pixels count for more. 16 images of 7x7 take 4.7 ms instead of 5.2 from 512 to 2048 channels,
 * and 8.7 instead of 9.6 with a 3x3 filter of 512; with a stride of 2, from 14x14 and 1024 to 2048
 * channels, both ways take as long. */
static bool better_in_parts(const kiln_blocked *b, const kiln_device_facts *d, const kiln_config *c,
                            int64_t weights, int64_t pixels)
{
    const int64_t units = d->compute_units, tiles = kiln_direct_blocked_tiles_k(b, c);
    const int64_t parts = divide_up(tiles, kiln_direct_blocked_part(b, d, c));
    const double pixel_cost = b->stride[KILN_AXIS_W] > 1 ? 6 : 2.5;
    return kiln_device_large_l2(d) && b->src_pitch.channel == 1 && b->n > 1 && parts > 1 &&
           pixel_cost * (double)(pixels * b->n * divide_up(parts, units)) <
               (double)(weights * divide_up(b->n, units));
}

/* Returns whether a core with a large second cache had better read an image's pixels anew for each
 * tile of channels, and its weights once. This pays
 * - where the second cache keeps the image: 256 to 512 channels at 28x28 take 0.97 ms, not 1.06;
 * - where weights are many: 16 images, 1024 to 2048 channels at 14x14, stride 2, 17 ms, not 24;
 * - for a plain source, whose pixels are lines of each channel, if the image is small: 16 images,
 *   1024 to 512 channels at 14x14, 9.4 ms, not 13; but 512 to 256 at 28x28 would take 14, not 11.
 * It does not pay where pixels lie apart (512 to 256 channels at 28x28, stride 2, would take 0.35
 * ms, not 0.32), nor where the first cache holds all weights (16 images, 64 channels at 56x56, 1.18
 * ms, not 1.12). */
static bool rereads_pixels(const kiln_blocked *b, const kiln_device_facts *d, int64_t weights,
                           int64_t pixels, bool dense)
{
    const int64_t first_level = d->cpu->fit.l1_counted, stride = b->stride[KILN_AXIS_W];
    const int64_t taps = b->filter[0] * b->filter[1] * b->filter[2];
    const bool many = weights >= d->core_cache / 2;
    if (!kiln_device_large_l2(d))
        return false;
    if (b->src_pitch.channel == 1)
        return many || (stride == 1 && pixels <= d->core_cache && weights > first_level);
    return taps == 1 && weights > first_level &&
           (pixels * stride <= d->core_cache / 4 || (many && dense && pixels <= d->core_cache / 2));
}

/* Returns which tiles follow one another.
 * Those of all channels: where the pixels of a long sum are then read once (weights are one stream,
 * which the processor fetches ahead; a tile's pixels are many short streams), and where items fetch
 * pixels from memory.
 * Those of all pixels: where the weights of one tile stay in a cache, where each group has pixels
 * of its own, and where the result is at least twice the source, so that it is written in few
 * streams. If weights fill a third of the last cache, or do so with an image and its result, to
 * read them anew for each tile of pixels takes a tenth to twice as long as to read them once an
 * image, or once for all images if a cache holds the images. */
static int order_for(const kiln_blocked *b, const kiln_shape *s, const kiln_device_facts *d,
                     const kiln_config *c)
{
    const int64_t second_level = d->cpu->fit.l2_counted, l2_share = second_level / 4;
    int64_t taps = b->filter[0] * b->filter[1] * b->filter[2];
    int64_t pixels = b->src_c * 4, image = pixels, result = b->dst_c * 4;
    for (int a = 0; a < 3; a++) {
        pixels *= touched(b, a);
        image *= b->src[a];
        result *= b->dst[a];
    }
    const bool dense = taps == 1 && pixels == image;
    int64_t weights = b->src_c * taps * c->v[BLOCKED_TILE_KV] * c->v[BLOCKED_LANES] * 4;
    int64_t own = b->src_c * taps * b->dst_c * 4, all = b->groups * own;
    if (!is_cpu(d))
        return ORDER_CHANNELS;
    if (better_in_parts(b, d, c, all, b->groups * pixels))
        return ORDER_PARTS;
    const bool crowd = all >= d->cache / 5 && all + b->groups * (image + result) >= d->cache / 3;
    if (d->cache > 0 && (all >= d->cache / (dense ? 4 : 3) || crowd))
        return image <= d->cache / 5 / b->n ? ORDER_IMAGES : ORDER_PIXELS;
    if (rereads_pixels(b, d, own, pixels, dense))
        return ORDER_PIXELS;
    const bool far = image * b->n > d->cache / 4 && kiln_direct_blocked_prefetches(b, s, d);
    if ((taps == 1 && c->v[BLOCKED_STREAM]) || far)
        return ORDER_CHANNELS;
    bool expands = b->src_c < 128 && b->dst_c >= 2 * b->src_c;
    if (taps == 1 && 2 * own <= l2_share)
        return expands && dense && image <= second_level ? ORDER_PIXELS : ORDER_CHANNELS;
    /* Where units take whole vectors, one stream of weights for each tile is more than the last
     * cache gives: 512 channels at 7x7, 3x3, took 0.65 ms instead of 0.56. */
    if (!kiln_device_double_pumped(d) && own > second_level)
        return ORDER_PIXELS;
    bool few = taps == 1 ? b->src_c < 256 : b->src_c < 16;
    bool shared = b->groups == 1 && pixels > l2_share;
    return !few && (shared || weights > l2_share) ? ORDER_CHANNELS : ORDER_PIXELS;
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const kiln_blocked *b = g->own;
    if (!are_lanes_for(b, g->d, c->v[BLOCKED_LANES]) || does_not_fit(b, g->d, c, NULL))
        return INFINITY;
    c->v[BLOCKED_ORDER] = order_for(b, g->s, g->d, c);
    return kiln_direct_blocked_ms(b, g->s, g->d, c);
}

void kiln_direct_blocked_guess(const kiln_solver *self, const kiln_shape *s,
                               const kiln_device_facts *d, kiln_config *c)
{
    kiln_blocked b = kiln_blocked_of(s);
    kiln_config start = {.v = {[BLOCKED_TILE_W] = 1, [BLOCKED_TILE_KV] = 1, [BLOCKED_GROUP] = 1}};
    start.v[BLOCKED_LANES] = lanes_for(&b, d);
    /* A core with a large second cache stores a tile sooner through its caches: 16 images, 64 to
     * 256 channels at 56x56, take 5.0 ms instead of 6.0. A search tries both. */
    start.v[BLOCKED_STREAM] = kiln_better_streamed(s, d) && !kiln_device_large_l2(d);
    while (!is_cpu(d) && start.v[BLOCKED_GROUP] < 64 &&
           2 * start.v[BLOCKED_GROUP] <= d->max_local[0])
        start.v[BLOCKED_GROUP] *= 2;
    /* Tiles may be five by five where cores are load-bound, and for pairs of bf16, whose pixels the
     * instruction does not load: square tiles have the fewest loads for their sums. */
    const bool square = d->cpu->fit.load_bound || (d->has_bf16 && s->w_type == KILN_BF16);
    const int lanes[] = {start.v[BLOCKED_LANES], start.v[BLOCKED_LANES] / 2};
    const kiln_range range[] = {kiln_listed(BLOCKED_LANES, lanes, 2),
                                kiln_each(BLOCKED_TILE_KV, 1, square ? 5 : 4),
                                kiln_each(BLOCKED_TILE_W, 1, is_cpu(d) ? 32 : 8)};
    kiln_guess g = {self, s, d, &b, guessed_ms, start, INFINITY};
    kiln_config_best(&g, &start, range, sizeof range / sizeof *range);
    *c = g.best;
}
