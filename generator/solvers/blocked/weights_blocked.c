/* Computes layouts, units and predicted time of blocked backward weights. */
#include "weights_blocked.h"

#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/sum_parts.h"
#include "generator/problem/problem_layout.h"

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
    while (s->g > 1 && block > 4 && s->k / s->g % block)
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
    return s->g == 1 || (lanes == LANES_C ? s->c : s->k) / s->g % block == 0;
}

/* The lanes that waste least. */
static kiln_lanes best_lanes(const kiln_shape *s, int block)
{
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
            return (kiln_lanes)l;
    }
    return best_lanes(s, block);
}

void kiln_weights_data_layout(const kiln_shape *s, int block, char text[KILN_LAYOUT_TEXT])
{
    snprintf(text, KILN_LAYOUT_TEXT, "%s%dc", kiln_plain_data_layout(s->rank), block);
}

/* ---- geometry ---- */

/* Returns the pitch of a tensor in blocks of `block` channels, or plain where that is 1. */
static kiln_pitch pitch_of(int64_t images, const int64_t size[3], int64_t channels, int block)
{
    int64_t pixels = size[0] * size[1] * size[2], image = round_up(channels, block) * pixels;
    return (kiln_pitch){.image = image,
                        .cells = images * image,
                        .block = block * pixels,
                        .plane = block * size[1] * size[2],
                        .row = block * size[2],
                        .pixel = block,
                        .channel = block == 1 ? pixels : 1,
                        .neighbours = block,
                        .blocks = divide_up(channels, block)};
}

/* Where a pixel of dy meets one pixel of x, makes an image one row, and images of a single pixel
 * one row together. */
static void flatten(kiln_blocked *b)
{
    int64_t pixels = b->src[0] * b->src[1] * b->src[2];
    for (int a = 0; a < 3; a++)
        b->src[a] = b->dst[a] = a == KILN_AXIS_W ? pixels : 1;
    if (pixels > 1)
        return;
    b->src[KILN_AXIS_W] = b->dst[KILN_AXIS_W] = b->n;
    b->src_pitch.pixel = b->src_pitch.image;
    b->dst_pitch.pixel = b->dst_pitch.image;
    b->n = 1;
}

static bool moves_w(const kiln_shape *s, int block)
{
    char w[KILN_LAYOUT_TEXT];
    kiln_weights_w_layout(s, kiln_weights_lanes(s, block), block, w);
    return strcmp(s->w_layout, w) != 0;
}

kiln_weights_geometry kiln_weights_geometry_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int block = kiln_weights_block(s, d);
    const bool pairs = d->has_bf16 && s->x_type == KILN_BF16 && block == 16;
    kiln_weights_geometry g = {.lanes = kiln_weights_lanes(s, block),
                               .together = pairs && s->math != KILN_MATH_EXACT ? 2 : 1,
                               .moves_w = moves_w(s, block)};
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
    /* Stages put other plain tensors in blocks first. */
    g.plain_x = g.lanes == LANES_K && kiln_layout_block(s->x_layout, s->rank) == 1;
    b->src_pitch = pitch_of(b->n, b->src, s->c, g.plain_x ? 1 : block);
    b->dst_pitch = pitch_of(b->n, b->dst, s->k, block);
    if (g.plain_x)
        b->src_pitch.block = block * b->src_pitch.channel;
    if (kiln_shape_is_pointwise(s))
        flatten(b);
    return g;
}

bool kiln_weights_reads_elements(const kiln_weights_geometry *g)
{
    return g->lanes == LANES_K && !g->plain_x;
}

int64_t kiln_weights_units_x(const kiln_weights_geometry *g, const kiln_config *c)
{
    if (g->lanes == LANES_C)
        return divide_up(g->b.src_c, g->b.block);
    return kiln_weights_reads_elements(g) ? round_up(g->b.src_c, c->v[TILE_X]) : g->b.src_c;
}

int64_t kiln_weights_units_y(const kiln_weights_geometry *g, const kiln_config *c)
{
    return g->lanes == LANES_C ? round_up(g->b.dst_c, c->v[TILE_Y])
                               : divide_up(g->b.dst_c, g->b.block);
}

static int64_t tiles_x(const kiln_weights_geometry *g, const kiln_config *c)
{
    return divide_up(kiln_weights_units_x(g, c), c->v[TILE_X]);
}

static int64_t tiles_y(const kiln_weights_geometry *g, const kiln_config *c)
{
    return divide_up(kiln_weights_units_y(g, c), c->v[TILE_Y]);
}

int64_t kiln_weights_item_x(const kiln_weights_geometry *g, const kiln_config *c)
{
    return divide_up(tiles_x(g, c), c->v[CUTS_X]) * c->v[TILE_X];
}

int64_t kiln_weights_item_y(const kiln_weights_geometry *g, const kiln_config *c)
{
    return divide_up(tiles_y(g, c), c->v[CUTS_Y]) * c->v[TILE_Y];
}

int64_t kiln_weights_strip(const kiln_weights_geometry *g, const kiln_config *c)
{
    const int64_t width = g->b.dst[KILN_AXIS_W], most = c->v[PIXELS];
    for (int64_t strip = most < width ? most : width; strip > most / 2; strip--)
        if (width % strip == 0)
            return strip;
    return divide_up(width, divide_up(width, most));
}

int64_t kiln_weights_rows(const kiln_weights_geometry *g, const kiln_config *c)
{
    return g->b.dst[0] * g->b.dst[1] * g->b.n *
           divide_up(g->b.dst[KILN_AXIS_W], kiln_weights_strip(g, c));
}

int64_t kiln_weights_chunk(const kiln_weights_geometry *g, const kiln_config *c)
{
    return c->v[PIXELS] / kiln_weights_strip(g, c);
}

int64_t kiln_weights_part(const kiln_weights_geometry *g, const kiln_config *c)
{
    return divide_up(kiln_weights_rows(g, c), c->v[PARTS]);
}

int kiln_weights_sums(const kiln_weights_geometry *g, const kiln_device_facts *d,
                      const kiln_config *c)
{
    return c->v[TILE_X] * c->v[TILE_Y] * c->v[TILE_S] * kiln_blocked_vectors(g->b.block, d);
}

/* ---- time ---- */

/* Returns how many vectors a tile loads at a pixel. */
static double wide_loads(const kiln_weights_geometry *g, const kiln_device_facts *d,
                         const kiln_config *c)
{
    int units = g->lanes == LANES_C ? c->v[TILE_X] * c->v[TILE_S] : c->v[TILE_Y];
    return (double)kiln_blocked_vectors(g->b.block, d) * units;
}

static double spare_registers(const kiln_weights_geometry *g, const kiln_device_facts *d,
                              const kiln_config *c)
{
    return kiln_blocked_registers(d) - 2 - kiln_weights_sums(g, d, c) - wide_loads(g, d, c);
}

/* Cycles of a tile at one pixel: as many as it has multiply-adds, half of them for each of a pair,
 * or loads. */
static double pixel_cost(const kiln_weights_geometry *g, const kiln_device_facts *d,
                         const kiln_config *c)
{
    double sums = (double)kiln_weights_sums(g, d, c) / g->together;
    double spare = spare_registers(g, d, c);
    double narrow = g->lanes == LANES_C ? c->v[TILE_Y] : c->v[TILE_X] * c->v[TILE_S];
    double loads = wide_loads(g, d, c) + 0.75 * narrow, cost = fmax(fmax(sums, loads), 4);
    /* Where a wide multiply-add takes half a cycle loads count for more, most of all if each load
     * is from a stream of its own. */
    if (!kiln_device_double_pumped(d)) {
        const int streams = g->lanes == LANES_C ? c->v[TILE_X] : c->v[TILE_Y];
        cost = fmax(cost, wide_loads(g, d, c) + d->cpu->fit.load_of_bank * narrow) +
               0.9 * (streams * (double)g->b.stride[KILN_AXIS_W] - 1);
    }
    return cost + 0.1 * loads + 1 + (spare < 6 ? 0.3 * (6 - spare) : 0) -
           (spare < 0 ? 3 * spare : 0);
}

/* Time of one item, in vector multiply-adds. Sums that no register is left for cost time in each
 * chunk too, as a tile of one pixel shows. */
static double item_cycles(const kiln_weights_geometry *g, const kiln_device_facts *d,
                          const kiln_config *c)
{
    const int *v = c->v;
    double taps = (double)kiln_blocked_meetings(&g->b, 0) / (double)g->b.dst[0] *
                  (double)kiln_blocked_meetings(&g->b, 1) / (double)g->b.dst[1] *
                  (double)g->b.filter[2] / v[TILE_S];
    double part = (double)kiln_weights_part(g, c), spare = spare_registers(g, d, c);
    double chunks = ceil(part / (double)kiln_weights_chunk(g, c));
    double tile = part * ((double)kiln_weights_strip(g, c) * pixel_cost(g, d, c) + 14) +
                  chunks * (3 * kiln_weights_sums(g, d, c) + fmax(0, -20 * spare) + 40);
    return (double)(kiln_weights_item_x(g, c) / v[TILE_X]) *
           (double)(kiln_weights_item_y(g, c) / v[TILE_Y]) * taps * tile;
}

/* Returns how many bytes all items read and write. */
static double traffic(const kiln_shape *s, const kiln_weights_geometry *g,
                      const kiln_device_facts *d, const kiln_config *c)
{
    const double l2_share = (double)d->cpu->fit.l2_counted / 2; /* the rest is for x and dy */
    const int *v = c->v;
    double size = (double)kiln_type_size(s->x_type), w = 4.0 * (double)s->w_count;
    double bytes = size * ((double)s->x_count * v[CUTS_Y] + (double)s->y_count * v[CUTS_X]);
    double chunks = ceil((double)kiln_weights_part(g, c) / (double)kiln_weights_chunk(g, c));
    double sums = w / ((double)g->b.groups * v[CUTS_X] * v[CUTS_Y]);
    if (sums > l2_share)
        bytes += w * v[PARTS] * 2 * (chunks - 1);
    if (kiln_layout_block(s->x_layout, s->rank) == 1 && g->lanes != LANES_K)
        bytes += 2 * size * (double)s->x_count;
    if (kiln_layout_block(s->y_layout, s->rank) == 1)
        bytes += 2 * size * (double)s->y_count;
    return bytes + w * (1 + (v[PARTS] > 1 ? 2.0 * v[PARTS] : 0));
}

double kiln_weights_predict(const kiln_solver *self, const kiln_shape *s,
                            const kiln_device_facts *d, const kiln_config *c)
{
    kiln_weights_geometry g = kiln_weights_geometry_of(s, d);
    const int *v = c->v;
    /* Narrow vectors take less time where units are narrow, though not in proportion, as measured.
     */
    const int simd = d->simd_floats, unit = kiln_device_unit_floats(d);
    int width = g.b.block >= simd ? g.b.block : unit < simd ? (g.b.block + simd) / 2 : simd;
    double fma = (double)width / kiln_blocked_vectors(g.b.block, d);
    double core = d->peak_gflops / d->compute_units * 1e6;
    const double reached = 0.95; /* of the peak, as fitted to this solver's tiles */
    double item = item_cycles(&g, d, c) * 2 * fma / (reached * core);
    double items = (double)g.b.groups * v[CUTS_X] * v[CUTS_Y] * v[PARTS];
    /* Elements of a dw in another layout are stored one by one, as measured. */
    double stores = g.moves_w ? 8.0 * (double)s->w_count * 2 * fma / (d->peak_gflops * 1e6) : 0;
    double once = (double)(s->x_count + s->y_count) * (double)kiln_type_size(s->x_type);
    /* Half of these bytes are fetched in time. */
    double move = 0.5 * kiln_device_move_ms(d, once) * traffic(s, &g, d, c) / once;
    return ceil(items / d->compute_units) * item + stores + move + kiln_device_launch_ms(d) +
           (v[PARTS] > 1 ? kiln_sum_parts_ms(d, s->w_count, v[PARTS]) : 0);
}
