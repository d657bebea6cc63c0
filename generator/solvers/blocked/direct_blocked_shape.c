/* Decides which shapes the blocked direct solvers take, and what a config makes of one: vectors,
 * tiles, strips, channel blocking. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/problem/problem_layout.h"

#include "direct_blocked.h"

#include <string.h>

static int channel_axes(const kiln_layout *layout)
{
    int n = 0;
    for (int a = 0; a < layout->naxes; a++)
        n += layout->axis[a].dim == 1;
    return n;
}

/* NC/16HW16 of few channels lies in memory as NHWC does. The spelling of the layout decides, so
 * that layers of any number of channels have the same solver. */
bool kiln_direct_blocked_is_last(const kiln_shape *s, char tensor)
{
    const char *layout = tensor == 'x' ? s->x_layout : s->y_layout;
    kiln_storage t;
    char why[KILN_ERROR_TEXT];
    if (kiln_layout_is_any(layout) || !kiln_shape_storage(s, tensor, layout, &t, why))
        return false;
    const kiln_axis *inner = &t.layout.axis[t.layout.naxes - 1];
    const kiln_pitch p = kiln_pitch_of(s, tensor);
    return inner->dim == 1 && inner->div == 1 && p.blocks == 1 && channel_axes(&t.layout) == 1;
}

bool kiln_direct_blocked_refuses(const kiln_shape *s, kiln_why *why)
{
    const char *filter = kiln_plain_filter_layout(s->rank);
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (strcmp(s->w_layout, filter) != 0)
        return kiln_no(why, "it packs weights from the layout %s; these are %s", filter,
                       s->w_layout);
    const kiln_blocked b = kiln_blocked_of(s);
    const int w = KILN_AXIS_W;
    if (b.dst[w] < b.up[w])
        return kiln_no(why, "a row of %lld pixels is shorter than the stride, %lld",
                       (long long)b.dst[w], (long long)b.up[w]);
    return kiln_blocked_too_large(s, why);
}

int64_t kiln_direct_blocked_padding(const kiln_blocked *b)
{
    return b->dst_pitch.neighbours * b->dst_pitch.blocks - b->dst_c * b->groups;
}

int64_t kiln_direct_blocked_vectors(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(b->dst_c + kiln_direct_blocked_padding(b), c->v[BLOCKED_LANES]) -
           kiln_direct_blocked_empty(b, c);
}

int64_t kiln_direct_blocked_empty(const kiln_blocked *b, const kiln_config *c)
{
    const int64_t lanes = c->v[BLOCKED_LANES];
    if (b->dst_pitch.neighbours % lanes || (b->groups > 1 && b->dst_c % lanes))
        return 0;
    return (b->dst_c + kiln_direct_blocked_padding(b)) / lanes - divide_up(b->dst_c, lanes);
}

int64_t kiln_direct_blocked_at_once(int64_t most)
{
    return most % 16 == 0 ? 16 : most % 8 == 0 ? 8 : most % 4 == 0 ? 4 : 1;
}

int64_t kiln_direct_blocked_piece(const kiln_blocked *b, int64_t lanes)
{
    const kiln_pitch *p = &b->dst_pitch;
    if (p->blocks == 1)
        return lanes;
    return kiln_direct_blocked_at_once(
        gcd(gcd(lanes, p->neighbours), b->groups > 1 ? b->dst_c : lanes));
}

static kiln_type source_type(const kiln_shape *s)
{
    return s->direction == KILN_FORWARD ? s->x_type : s->y_type;
}

/* With one tap, steps of two blocks of eight floats took 3 % longer than steps of one (NCHW8c on
 * AVX2), and only the first of the two was prefetched. More taps, and strips, share what begins a
 * step. */
int64_t kiln_direct_blocked_step(const kiln_blocked *b, const kiln_shape *s)
{
    enum { STEP = 16, ONE_TAP = 8 };
    const kiln_pitch *p = &b->src_pitch;
    const bool aligned = b->groups == 1 || b->src_c % p->neighbours == 0;
    const bool one_tap = b->filter[0] * b->filter[1] * b->filter[2] == 1;
    if (p->blocks > 1 && aligned && one_tap && p->neighbours == ONE_TAP &&
        source_type(s) == KILN_F32)
        return ONE_TAP;
    if (p->blocks == 1 || (aligned && STEP % p->neighbours == 0))
        return STEP;
    return gcd(aligned ? p->neighbours : gcd(b->src_c, p->neighbours), STEP);
}

int kiln_direct_blocked_sums(const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV] *
           kiln_blocked_vectors(c->v[BLOCKED_LANES], d);
}

/* Four sums have one accumulator each: 120, 480 and 960 channels on one pixel took a third or more
 * longer with two accumulators where units take whole vectors. */
int kiln_direct_blocked_accumulators(const kiln_blocked *b, const kiln_shape *s,
                                     const kiln_device_facts *d, const kiln_config *c)
{
    const int few = 4, sums = c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV];
    return is_cpu(d) && sums < few && kiln_direct_blocked_step(b, s) >= 2 * few ? few : 1;
}

int64_t kiln_direct_blocked_tiles(const kiln_blocked *b, const kiln_config *c)
{
    const int w = KILN_AXIS_W;
    return b->dst[0] * b->dst[1] * b->up[w] *
           divide_up(divide_up(b->dst[w], b->up[w]), c->v[BLOCKED_TILE_W]);
}

int64_t kiln_direct_blocked_tiles_k(const kiln_blocked *b, const kiln_config *c)
{
    return b->groups * divide_up(kiln_direct_blocked_vectors(b, c), c->v[BLOCKED_TILE_KV]);
}

/* Bytes of the weights of one source channel and one tile of channels. */
static int64_t weight_bytes(const kiln_blocked *b, const kiln_config *c)
{
    const int64_t taps = b->filter[0] * b->filter[1] * b->filter[2];
    return taps * c->v[BLOCKED_TILE_KV] * c->v[BLOCKED_LANES] * 4;
}

/* Half of the cache is left to pixels and sums. Parts have the same size, as threads share them. */
int64_t kiln_direct_blocked_part(const kiln_blocked *b, const kiln_device_facts *d,
                                 const kiln_config *c)
{
    const int64_t cache = d->core_cache;
    const int64_t tiles = kiln_direct_blocked_tiles_k(b, c);
    const int64_t most = cache / 2 / (b->src_c * weight_bytes(b, c));
    return divide_up(tiles, divide_up(tiles, most > 1 ? most : 1));
}

/* Channels are blocked where the weights of a tile of channels are more bytes than `held`. A chunk
 * of them is `chunk` bytes at most, and up to `sums` vectors of sums wait. */
typedef struct blocking_limits {
    int64_t held, chunk, sums;
} blocking_limits;

/* Weights of a tile of channels that a second-level cache does not hold from one tile of pixels to
 * the next are read from the last-level cache once for each tile of pixels. With channel blocking,
 * sums wait in the first-level cache, which has room for several tiles of any legal config. With a
 * filter of one tap, the second-level cache holds the pixels besides: 4096 to 2048 channels at 7x7,
 * plain, took 3.2 ms instead of 2.5. With few channels in a chunk and a small tile, the sums are
 * moved more than they are added to. Where a core's units take whole vectors and a weight meets few
 * pixels, weights had better stay in the first-level cache: 512 channels at 7x7, 3x3, take 0.40 ms
 * instead of 0.43. All limits were fitted with caches of 32 KiB and 1 MiB. */
static blocking_limits limits_of_blocking(const kiln_blocked *b, const kiln_device_facts *d,
                                          const kiln_config *c)
{
    const int few = 8;
    if (b->filter[0] * b->filter[1] * b->filter[2] == 1)
        return (blocking_limits){400 << 10, 384 << 10, 400};
    if (c->v[BLOCKED_TILE_W] > few || kiln_device_double_pumped(d))
        return (blocking_limits){700 << 10, 384 << 10, 400};
    return (blocking_limits){64 << 10, 40 << 10, 128};
}

int64_t kiln_direct_blocked_channel_blocking(const kiln_blocked *b, const kiln_device_facts *d,
                                             const kiln_config *c)
{
    const int64_t items_of_core = 8;
    const blocking_limits most = limits_of_blocking(b, d, c);
    if (!is_cpu(d) || b->src_c * weight_bytes(b, c) <= most.held)
        return 1;
    const int64_t tiles = kiln_direct_blocked_tiles(b, c);
    const int64_t others = kiln_direct_blocked_tiles_k(b, c) * b->n;
    const int64_t least = divide_up(items_of_core * d->compute_units, others);
    const int64_t own = c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV];
    const int64_t parts = divide_up(tiles, own < most.sums ? most.sums / own : 1);
    return divide_up(tiles, parts < least ? least : parts);
}

int64_t kiln_direct_blocked_chunk(const kiln_blocked *b, const kiln_shape *s,
                                  const kiln_device_facts *d, const kiln_config *c)
{
    const int64_t step = kiln_direct_blocked_step(b, s), usual = 128;
    if (kiln_direct_blocked_channel_blocking(b, d, c) == 1)
        return b->src_c;
    const int64_t most = limits_of_blocking(b, d, c).chunk / weight_bytes(b, c);
    const int64_t channels = most < usual ? most : usual;
    return channels < step ? step : channels / step * step;
}

/* Four bytes at a time need the one vector type of VNNI, and an offset that applies to all pixels
 * alike: with several classes of pixels, taps differ. */
int kiln_direct_blocked_together(const kiln_blocked *b, const kiln_shape *s,
                                 const kiln_device_facts *d, const kiln_config *c)
{
    if (!is_cpu(d))
        return 1;
    if (s->w_type == KILN_BF16)
        return d->has_bf16 && c->v[BLOCKED_LANES] == 16 && s->math != KILN_MATH_EXACT ? 2 : 1;
    if (s->w_type != KILN_I8)
        return 1;
    bool one_class = b->up[0] == 1 && b->up[1] == 1 && b->up[2] == 1;
    return d->has_vnni && c->v[BLOCKED_LANES] == 16 && one_class ? 4 : 2;
}

/* Each unrolled tap is a copy of the code of a tile. A strip is private memory, which is slow on a
 * GPU. */
blocked_strips kiln_direct_blocked_strips(const kiln_blocked *b, const kiln_shape *s,
                                          const kiln_device_facts *d, const kiln_blocked_borders *e,
                                          const kiln_config *c)
{
    if (!is_cpu(d))
        return STRIPS_NEVER;
    if (source_type(s) != KILN_F32)
        return STRIPS_ALWAYS;
    if (!e->first && !e->last && !e->more)
        return STRIPS_NEVER;
    int64_t copies = b->filter[KILN_AXIS_W] * c->v[BLOCKED_TILE_W] * c->v[BLOCKED_TILE_KV];
    return e->more || copies > 220 ? STRIPS_AT_BORDERS : STRIPS_NEVER;
}
