/* Computes layouts and tiles of the direct solver with pixels as the vector. */
#include "generator/base/integers.h"
#include "generator/geometry/blocked.h"

#include "direct_pixels.h"

/* ---- layouts ---- */

kiln_order kiln_direct_pixels_order_x(const kiln_shape *s)
{
    const kiln_blocked b = kiln_blocked_of(s);
    return kiln_order_of(s->direction == KILN_BACKWARD_DATA ? &b.dst_pitch : &b.src_pitch, s->in,
                         s->c);
}

kiln_order kiln_direct_pixels_order_y(const kiln_shape *s)
{
    const kiln_blocked b = kiln_blocked_of(s);
    return kiln_order_of(s->direction == KILN_BACKWARD_DATA ? &b.src_pitch : &b.dst_pitch, s->out,
                         s->k);
}

/* ---- geometry ---- */

static kiln_shape flattened(const kiln_shape *s)
{
    kiln_shape flat = *s;
    if (!kiln_shape_is_pointwise(s))
        return flat;
    for (int a = 0; a < 3; a++)
        flat.in[a] = flat.out[a] = a == KILN_AXIS_W ? s->in[0] * s->in[1] * s->in[2] : 1;
    return flat;
}

static kiln_direct_pixels of_shape(const kiln_shape *s, const kiln_device_facts *d)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const kiln_shape flat = flattened(s);
    const bool x_last = kiln_direct_pixels_order_x(s) == KILN_CHANNELS_LAST;
    const bool y_last = kiln_direct_pixels_order_y(s) == KILN_CHANNELS_LAST;
    kiln_direct_pixels g = {
        .lines = kiln_lines_of(&flat),
        .n = s->n,
        .groups = s->g,
        .dst_c = kiln_direct_dst_channels(s),
        .src_c = kiln_direct_src_channels(s),
        .phases = backward ? s->stride[KILN_AXIS_H] * s->stride[KILN_AXIS_W] : 1,
        .src_last = backward ? y_last : x_last,
        .dst_last = backward ? x_last : y_last,
        .may_pair = kiln_direct_together(s, d, 16) == 2,
    };
    for (int a = 0; a < 3; a++) {
        g.dst[a] = backward ? flat.in[a] : flat.out[a];
        g.filter[a] = s->filter[a];
    }
    return g;
}

/* A tile is as many rows as fit T_TILE vectors, in equal numbers over the image, or a part of one
 * row. */
static void set_tile(kiln_direct_pixels *g, const int *v)
{
    const kiln_lines *l = &g->lines;
    const int64_t w = l->grid[KILN_AXIS_W], h = l->grid[KILN_AXIS_H];
    const int64_t most = (int64_t)v[PIXELS_TILE] * v[PIXELS_VEC], line = l->line[KILN_AXIS_W];
    if (w > most) {
        g->rows = 1;
        g->cols = round_up(divide_up(w, divide_up(w, most)), v[PIXELS_VEC]);
        g->pitch = g->cols + l->reach[KILN_AXIS_W];
    } else {
        const int64_t rows = (most - w) / line + 1;
        g->rows = divide_up(h, divide_up(h, rows));
        g->cols = w;
        g->pitch = line;
    }
    g->tiles_h = divide_up(h, g->rows);
    g->tiles_w = divide_up(w, g->cols);
    g->vectors =
        round_up(divide_up((g->rows - 1) * g->pitch + g->cols, v[PIXELS_VEC]), v[PIXELS_PIX]);
}

void kiln_direct_pixels_set(kiln_direct_pixels *g, const kiln_config *c)
{
    const int *v = c->v;
    const kiln_lines *l = &g->lines;
    const int64_t vec = v[PIXELS_VEC];
    set_tile(g, v);
    g->blocks = divide_up(g->dst_c, v[PIXELS_K]);
    g->parts = divide_up(g->blocks, v[PIXELS_BLOCKS]);
    g->together = g->may_pair && vec == 16 ? 2 : 1;
    g->chunk = least_of(round_up(v[PIXELS_C], g->together), g->src_c);
    g->kept = g->chunk < g->src_c ? least_of(v[PIXELS_BLOCKS], g->blocks) : 1;
    const int64_t slots = l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W];
    const int64_t lines = product_of(slots, g->rows + l->reach[KILN_AXIS_H]);
    g->piece = round_up(product_of(lines, g->pitch) + vec, vec);
    const int64_t sums = product_of(product_of(g->kept * v[PIXELS_K], g->vectors), g->phases);
    const int64_t behind = divide_up(l->reach[KILN_AXIS_W], vec) + v[PIXELS_PIX] + 1;
    g->scratch = product_of(sums + behind, vec) +
                 product_of(product_of(g->chunk, g->filter[KILN_AXIS_D]), g->piece);
}

kiln_direct_pixels kiln_direct_pixels_of(const kiln_shape *s, const kiln_device_facts *d,
                                         const kiln_config *c)
{
    kiln_direct_pixels g = of_shape(s, d);
    kiln_direct_pixels_set(&g, c);
    return g;
}
