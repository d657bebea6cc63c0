/* Layouts, units and costs of blocked backward weights. */
#include "weights_blocked.h"
#include "integers.h"
#include "problem_layout.h"
#include "problem_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- layouts ---- */

/* Blocks no wider than the device's vectors, narrower where only those fit groups. */
int kiln_weights_block(const kiln_shape *s, const kiln_device_facts *d)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    if (x > 1 || y > 1)
        return x > 1 ? x : y;
    int block = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    bool depthwise = s->c == s->g && s->k == s->g;
    while (s->g > 1 && !depthwise && block > 4 && s->k / s->g % block)
        block /= 2;
    return block;
}

/* The layout of dw whose last axis is the lanes of a sum. */
void kiln_weights_w_layout(const kiln_shape *s, kiln_lanes lanes, int block,
                           char text[KILN_LAYOUT_TEXT])
{
    const char *plain = kiln_plain_filter_layout(s->rank);
    int n = snprintf(text, KILN_LAYOUT_TEXT, "%s%do", plain, block);
    if (lanes == LANES_C)
        snprintf(text + n, KILN_LAYOUT_TEXT - (size_t)n, "%di", block);
}

bool kiln_weights_fits(const kiln_shape *s, kiln_lanes lanes, int block)
{
    int64_t c = s->c / s->g, k = s->k / s->g;
    if (lanes == LANES_BOTH)
        return s->g > 1 && c == 1 && k == 1;
    return s->g == 1 || (lanes == LANES_C ? c : k) % block == 0;
}

/* The lanes that waste least. */
static kiln_lanes best_lanes(const kiln_shape *s, int block)
{
    if (kiln_weights_fits(s, LANES_BOTH, block))
        return LANES_BOTH;
    double c = (double)(s->c / s->g), k = (double)(s->k / s->g);
    double by_c = c / (double)round_up(s->c / s->g, block) * k / (double)round_up(s->k / s->g, 4);
    double by_k = k / (double)round_up(s->k / s->g, block);
    if (!kiln_weights_fits(s, LANES_C, block))
        return LANES_K;
    return kiln_weights_fits(s, LANES_K, block) && by_k > 1.1 * by_c ? LANES_K : LANES_C;
}

kiln_lanes kiln_weights_lanes(const kiln_shape *s, int block)
{
    for (int l = LANES_C; l <= LANES_K; l++) {
        char text[KILN_LAYOUT_TEXT];
        kiln_weights_w_layout(s, (kiln_lanes)l, block, text);
        if (strcmp(s->w_layout, text) == 0)
            return l == LANES_K && kiln_weights_fits(s, LANES_BOTH, block) ? LANES_BOTH
                                                                           : (kiln_lanes)l;
    }
    return best_lanes(s, block);
}

void kiln_weights_data_layout(const kiln_shape *s, int block, char text[KILN_LAYOUT_TEXT])
{
    snprintf(text, KILN_LAYOUT_TEXT, "%s%dc", kiln_plain_data_layout(s->rank), block);
}

/* ---- geometry ---- */

/* Of a tensor in blocks of `block` channels, or plain where that is 1. */
static kiln_pitch pitch_of(const int64_t size[3], int64_t channels, int block)
{
    int64_t pixels = size[0] * size[1] * size[2];
    return (kiln_pitch){.image = round_up(channels, block) * pixels,
                        .block = block * pixels,
                        .plane = block * size[1] * size[2],
                        .row = block * size[2],
                        .pixel = block,
                        .channel = block == 1 ? pixels : 1,
                        .neighbours = block,
                        .blocks = divide_up(channels, block)};
}

static bool is_pointwise(const kiln_shape *s)
{
    for (int a = 0; a < 3; a++)
        if (s->filter[a] != 1 || s->stride[a] != 1 || s->pad[a] != 0 || s->pad_end[a] != 0)
            return false;
    return true;
}

/* The largest divisor of `number` that is at most `limit`. */
static int64_t divisor(int64_t number, int64_t limit)
{
    int64_t d = number < limit ? number : limit;
    while (number % d)
        d--;
    return d;
}

/* Where a pixel of dy meets one of x: makes rows of as many pixels as divide an image, up to
 * `limit`; of images of a single pixel, one row. */
static void flatten(kiln_blocked *b, int64_t limit)
{
    int64_t pixels = b->src[0] * b->src[1] * b->src[2], row = divisor(pixels, limit);
    if (row < b->src[KILN_AXIS_W])
        return; /* rows are longer as they are */
    for (int a = 0; a < 3; a++)
        b->src[a] = b->dst[a] = a == KILN_AXIS_W ? row : a == KILN_AXIS_H ? pixels / row : 1;
    b->src_pitch.row = row * b->src_pitch.pixel;
    b->dst_pitch.row = row * b->dst_pitch.pixel;
    if (pixels > 1)
        return;
    b->src[KILN_AXIS_W] = b->dst[KILN_AXIS_W] = b->n;
    b->src_pitch.pixel = b->src_pitch.image;
    b->dst_pitch.pixel = b->dst_pitch.image;
    b->n = 1;
}

kiln_weights_geometry kiln_weights_geometry_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int block = kiln_weights_block(s, d);
    kiln_weights_geometry g = {.lanes = kiln_weights_lanes(s, block),
                               .plain_w =
                                   strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) == 0};
    kiln_blocked *b = &g.b;
    *b = (kiln_blocked){.block = block,
                        .wide = s->wide,
                        .n = s->n,
                        .groups = s->g,
                        .src_c = s->c / s->g,
                        .dst_c = s->k / s->g};
    for (int a = 0; a < 3; a++) {
        b->src[a] = s->in[a];
        b->dst[a] = s->out[a];
        b->filter[a] = s->filter[a];
        b->stride[a] = s->stride[a];
        b->dilation[a] = s->dilation[a];
        b->lead[a] = s->pad[a];
        b->up[a] = 1;
    }
    /* Other plain tensors are put in blocks first. */
    g.plain_x = g.lanes == LANES_K && kiln_layout_block(s->x_layout, s->rank) == 1;
    b->src_pitch = pitch_of(b->src, s->c, g.plain_x ? 1 : block);
    b->dst_pitch = pitch_of(b->dst, s->k, block);
    if (g.plain_x)
        b->src_pitch.block = block * b->src_pitch.channel;
    if (is_pointwise(s))
        flatten(b, 256);
    const int64_t width = b->dst[KILN_AXIS_W];
    g.strip = width > 1024 ? 512 : width;
    g.strips = divide_up(width, g.strip);
    return g;
}

bool kiln_weights_reads_elements(const kiln_weights_geometry *g)
{
    return g->lanes == LANES_K && !g->plain_x;
}

int64_t kiln_weights_units_x(const kiln_weights_geometry *g, const kiln_config *c)
{
    if (g->lanes == LANES_BOTH)
        return 1;
    if (g->lanes == LANES_C)
        return divide_up(g->b.src_c, g->b.block);
    return kiln_weights_reads_elements(g) ? round_up(g->b.src_c, c->v[TILE_X]) : g->b.src_c;
}

int64_t kiln_weights_units_y(const kiln_weights_geometry *g, const kiln_config *c)
{
    if (g->lanes == LANES_BOTH)
        return divide_up(g->b.groups, g->b.block);
    return g->lanes == LANES_C ? round_up(g->b.dst_c, c->v[TILE_Y])
                               : divide_up(g->b.dst_c, g->b.block);
}

int64_t kiln_weights_groups(const kiln_weights_geometry *g)
{
    return g->lanes == LANES_BOTH ? 1 : g->b.groups;
}

/* Units of dy that one item takes. */
int64_t kiln_weights_item_y(const kiln_weights_geometry *g, const kiln_config *c)
{
    return g->lanes == LANES_C ? (int64_t)c->v[BLOCKS] * g->b.block : c->v[BLOCKS];
}

/* Strips of dy, which are whole rows where those are short. */
int64_t kiln_weights_rows(const kiln_weights_geometry *g)
{
    return g->b.dst[0] * g->b.dst[1] * g->b.n * g->strips;
}

int64_t kiln_weights_chunk(const kiln_weights_geometry *g, const kiln_config *c)
{
    int64_t rows = c->v[PIXELS] / g->strip;
    return rows > 1 ? rows : 1;
}

int64_t kiln_weights_part(const kiln_weights_geometry *g, const kiln_config *c)
{
    return divide_up(kiln_weights_rows(g), c->v[PARTS]);
}

int kiln_weights_sums(const kiln_weights_geometry *g, const kiln_device_facts *d,
                      const kiln_config *c)
{
    return c->v[TILE_X] * c->v[TILE_Y] * c->v[TILE_S] * kiln_blocked_vectors(g->b.block, d);
}

/* ---- time ---- */

/* Cycles of one pixel: a multiply-add each, or as many loads. */
static double pixel_cost(const kiln_weights_geometry *g, const kiln_device_facts *d,
                         const kiln_config *c)
{
    double vectors = kiln_blocked_vectors(g->b.block, d), sums = kiln_weights_sums(g, d, c);
    double x = c->v[TILE_X] * c->v[TILE_S], y = c->v[TILE_Y];
    double wide = vectors * (g->lanes == LANES_C ? x : g->lanes == LANES_K ? y : x + y);
    double narrow = g->lanes == LANES_C ? y : g->lanes == LANES_K ? x : 0;
    double loads = wide + 0.5 * narrow, cost = sums > loads ? sums : loads;
    double spare = kiln_blocked_registers(d) - 2 - sums - wide;
    return (cost > 4 ? cost : 4) + 0.1 * loads + 1.2 - (spare < 0 ? 3 * spare : 0);
}

double kiln_weights_predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    kiln_weights_geometry g = kiln_weights_geometry_of(s, d);
    const int *v = c->v;
    double taps = (double)kiln_blocked_meetings(&g.b, 0) / (double)g.b.dst[0] *
                  (double)kiln_blocked_meetings(&g.b, 1) / (double)g.b.dst[1] *
                  (double)g.b.filter[2];
    double tile_taps = g.lanes == LANES_BOTH ? v[TILE_X] * v[TILE_S] : v[TILE_S];
    double tiles_x =
        g.lanes == LANES_BOTH ? 1 : (double)divide_up(kiln_weights_units_x(&g, c), v[TILE_X]);
    double tiles_y = (double)divide_up(kiln_weights_units_y(&g, c), v[TILE_Y]);
    double rows = (double)kiln_weights_rows(&g);
    double chunks = ceil((double)kiln_weights_part(&g, c) / (double)kiln_weights_chunk(&g, c));
    double cycles = kiln_weights_groups(&g) * tiles_x * tiles_y * taps / tile_taps *
                    (rows * ((double)g.strip * pixel_cost(&g, d, c) + 14) +
                     v[PARTS] * chunks * (4 * kiln_weights_sums(&g, d, c) + 40));
    /* The last item of a group may be smaller; cores wait for the others. */
    double per_group = (double)divide_up(kiln_weights_units_y(&g, c), kiln_weights_item_y(&g, c));
    double share =
        fmin((double)kiln_weights_item_y(&g, c) / (double)kiln_weights_units_y(&g, c), 1) /
        ((double)kiln_weights_groups(&g) * v[PARTS]);
    double items = per_group * (double)kiln_weights_groups(&g) * v[PARTS];
    double waves = ceil(items / d->compute_units) * d->compute_units * share;
    int width = g.b.block < d->simd_floats ? d->simd_floats : g.b.block;
    double fma = (double)width / kiln_blocked_vectors(g.b.block, d);
    double ms = waves * cycles * 2 * fma / (0.9 * d->peak_gflops * 1e6);
    double size = (double)kiln_type_size(s->x_type),
           bytes = size * (double)(s->x_count + s->y_count);
    if (kiln_layout_block(s->x_layout, s->rank) == 1 && g.lanes != LANES_K)
        bytes += 2 * size * (double)s->x_count;
    if (kiln_layout_block(s->y_layout, s->rank) == 1)
        bytes += 2 * size * (double)s->y_count;
    bytes += 4.0 * (double)s->w_count * (1 + (v[PARTS] > 1 ? 2.0 * v[PARTS] : 0) + 3.0 * g.plain_w);
    /* What comes after the first launch waits for threads to wake. */
    return ms + bytes / (d->bandwidth_gbs * 1e6) + 0.01 + (v[PARTS] > 1 ? 0.03 : 0);
}
