/* Geometry of the solver for first layers, and its predicted time. */
#include "generator/base/integers.h"

#include "first_layer.h"

#include <math.h>

static kiln_first_layer of_shape(const kiln_shape *s, const kiln_device_facts *d)
{
    const int h = KILN_AXIS_H, w = KILN_AXIS_W;
    const kiln_blocked b = kiln_blocked_of(s);
    const bool last = kiln_order_of(&b.src_pitch, s->in, s->c) == KILN_CHANNELS_LAST;
    const int64_t across = last ? s->c : 1;
    kiln_first_layer g = {.plain = b.dst_pitch.channel != 1,
                          .walk = *s,
                          .dst_pitch = b.dst_pitch,
                          .planes = s->c / across,
                          .apart_h = 1,
                          .apart_w = 1,
                          .k = b.dst_pitch.neighbours * b.dst_pitch.blocks,
                          .last = across - 1,
                          .may_pair = kiln_direct_together(s, d, 16) == 2};
    for (int a = 0; a < 3; a++)
        g.dst[a] = s->out[a];
    if (!g.plain) {
        g.apart_h = s->stride[h];
        g.apart_w = s->stride[w] * across;
        g.walk.stride[h] = g.walk.stride[w] = 1;
        g.walk.in[w] *= across;
        g.walk.pad[w] *= across;
        g.walk.dilation[w] *= across;
    }
    g.lines = kiln_lines_of(&g.walk);
    return g;
}

/* Returns the columns of a row of a piece besides the columns of the first destination column. */
static int64_t beyond(const kiln_first_layer *g)
{
    return g->lines.reach[KILN_AXIS_W] + g->last;
}

/* Returns the columns of a tile: equal parts of a row, in tiles of registers, or the whole row.
 * Pieces stay within 32 KiB, a first-level cache and the least local memory that devices have. */
static int64_t cols_of(const kiln_first_layer *g, int64_t vec, int64_t lines)
{
    const int64_t most_elements = 8 << 10;
    const int64_t w = g->dst[KILN_AXIS_W];
    const int64_t pitch =
        (most_elements / g->planes / g->walk.filter[KILN_AXIS_D] - 2 * vec) / lines;
    const int64_t most = (pitch - 1 - beyond(g)) / g->apart_w + 1;
    if (w <= most)
        return w;
    const int64_t tiles = most < g->tile_pix ? 1 : most / g->tile_pix;
    const int64_t parts = divide_up(w, tiles * g->tile_pix);
    const int64_t cols = round_up(divide_up(w, parts), g->tile_pix);
    return cols < w ? cols : w;
}

void kiln_first_layer_set(kiln_first_layer *g, const kiln_config *c)
{
    const int *v = c->v;
    const kiln_lines *l = &g->lines;
    const int64_t vec = v[FIRST_VEC];
    g->tile_k = v[FIRST_K] * (g->plain ? 1 : vec);
    g->tile_pix = v[FIRST_PIX] * (g->plain ? vec : 1);
    g->blocks = divide_up(g->k, g->tile_k);
    g->rows = product_of(v[FIRST_ROWS] - 1, g->apart_h) + 1 + l->reach[KILN_AXIS_H];
    g->tiles_h = divide_up(g->dst[KILN_AXIS_H], v[FIRST_ROWS]);
    const int64_t lines = product_of(l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W], g->rows);
    g->cols = cols_of(g, vec, lines);
    g->tiles_w = divide_up(g->dst[KILN_AXIS_W], g->cols);
    const int64_t last = g->plain ? round_up(g->cols, g->tile_pix) : g->cols;
    g->pitch = product_of(last - 1, g->apart_w) + 1 + beyond(g);
    g->piece = round_up(product_of(lines, g->pitch) + vec, vec);
    g->together = g->may_pair && vec == 16 ? 2 : 1;
    g->channel = g->last ? g->together : product_of(g->walk.filter[KILN_AXIS_D], g->piece);
    g->scratch = product_of(product_of(g->planes, g->walk.filter[KILN_AXIS_D]), g->piece) +
                 (g->together > 1 ? vec : 0);
}

kiln_first_layer kiln_first_layer_of(const kiln_shape *s, const kiln_device_facts *d,
                                     const kiln_config *c)
{
    kiln_first_layer g = of_shape(s, d);
    kiln_first_layer_set(&g, c);
    return g;
}

/* ---- time, in cycles of a vector multiply-add, as measured on a double-pumped core ---- */

/* Cycles to copy an item's pieces: vectors as they are, every other element, or each element; and
 * to make pairs of them. */
static double fill_cycles(const kiln_first_layer *g, const kiln_config *c)
{
    const kiln_lines *l = &g->lines;
    const int64_t step = l->step[KILN_AXIS_W], vec = c->v[FIRST_VEC];
    const double each = step == 1 ? 3 : step == 2 ? 4.5 : 3.2 * (double)vec;
    const double rows = (double)(l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W] * g->rows) *
                        (double)(g->planes * g->walk.filter[KILN_AXIS_D]);
    const double merge = g->together == 1 ? 0 : g->last ? 4 : 1.5;
    return rows * ((each + merge) * (double)divide_up(g->pitch, vec) + 8);
}

/* Cycles of a tile. Fewer than eight sums wait for one another. If there are many sums, or several
 * vectors of pixels, compilers move some of them between registers: 16 sums took a twentieth less
 * time than 28, one vector of pixels a tenth less than two. */
static double tile_cycles(const kiln_first_layer *g, const kiln_device_facts *d,
                          const kiln_config *c)
{
    const double k = c->v[FIRST_K], pix = c->v[FIRST_PIX], sums = k * pix;
    const double loads = d->cpu->fit.load * (g->plain ? 2 * pix + k : pix + k);
    const double moved = g->plain && pix > 1 ? 1.12 : sums > 16 ? 1.04 : 1;
    const double step = fmax(fmax(sums * moved, loads), 8) + 0.02 * loads;
    const int64_t steps = divide_up(g->walk.c, g->together);
    return (double)(steps * kiln_direct_taps(&g->walk)) * step + 0.6 * sums + 4;
}

/* Time to move the tensors that sums do not hide. */
static double move_ms(const kiln_shape *s, const kiln_device_facts *d)
{
    const double size = (double)kiln_type_size(s->x_type);
    const double bytes = size * (double)(s->x_count + s->y_count);
    return (kiln_device_holds(d, bytes) ? 0.2 : 0.5) * kiln_device_move_ms(d, bytes);
}

double kiln_first_layer_ms(const kiln_first_layer *g, const kiln_shape *s,
                           const kiln_device_facts *d, const kiln_config *c)
{
    const int vec = c->v[FIRST_VEC], lanes = vec < d->simd_floats ? d->simd_floats : vec;
    const double tiles = (double)(g->dst[KILN_AXIS_H] * g->blocks * g->tiles_w) *
                         (double)divide_up(g->cols, g->tile_pix);
    const double items = (double)(s->n * g->dst[0]) * (double)(g->tiles_h * g->tiles_w);
    const double cycles = (double)(s->n * g->dst[0]) * tiles * tile_cycles(g, d, c) +
                          items * (fill_cycles(g, c) + 60);
    /* In the end, cores wait for half of another core's item on average. */
    const double waits = 1 + 0.5 * d->compute_units / items;
    return waits * cycles * 2 * lanes / (d->cpu->fit.reached * d->peak_gflops * 1e6) +
           move_ms(s, d) + kiln_device_launch_ms(d);
}
