/* Computes tiles, items and sizes of winograd_int8. */
#include "winograd_int8.h"

#include "generator/base/integers.h"

/* Returns the lanes of a vector: as many as the layouts keep together, else the lanes of the
 * device. */
static int lanes_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    int own = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    return x > 1 ? x : y > 1 ? y : own;
}

kiln_blocked kiln_winograd_int8_blocked(const kiln_shape *s, const kiln_device_facts *d)
{
    kiln_blocked b = kiln_blocked_of(s);
    kiln_pitch *pitch[] = {&b.src_pitch, &b.dst_pitch};
    b.block = lanes_of(s, d);
    for (int i = 0; i < 2; i++)
        if (pitch[i]->blocks == 1)
            pitch[i]->block = b.block * pitch[i]->channel;
    return b;
}

/* The three arrays in local memory, as the template declares them. */
static int64_t local_bytes(const kiln_winograd_int8 *w, const kiln_config *c)
{
    const kiln_blocked *b = &w->b;
    int64_t columns = c->v[INT8_SIDE] * w->run + 2;
    columns = columns > b->block ? columns : b->block;
    int64_t source = w->src_blocks * c->v[WINOGRAD_TILES] + 1,
            sums = c->v[WINOGRAD_KV] * c->v[WINOGRAD_TILES] + 1;
    return (w->elements * (source * 2 + sums * 4) +
            ((c->v[INT8_SIDE] + 2) * columns + b->block) * 2) *
           b->block;
}

kiln_winograd_int8 kiln_winograd_int8_of(const kiln_shape *s, const kiln_device_facts *d,
                                         const kiln_config *c)
{
    const int *v = c->v;
    kiln_winograd_int8 w = {.b = kiln_winograd_int8_blocked(s, d)};
    const kiln_blocked *b = &w.b;
    w.src_blocks = divide_up(b->src_c, b->block);
    w.dst_blocks = divide_up(b->dst_c, b->block);
    w.pairs = divide_up(b->src_c, 2);
    w.elements = (v[INT8_SIDE] + 2) * (v[INT8_SIDE] + 2);
    w.tiles_h = divide_up(b->dst[KILN_AXIS_H], v[INT8_SIDE]);
    w.tiles_w = divide_up(b->dst[KILN_AXIS_W], v[INT8_SIDE]);
    w.tiles = b->n * w.tiles_h * w.tiles_w;
    w.items = divide_up(w.tiles, v[WINOGRAD_TILES]);
    w.run = kiln_winograd_run(w.tiles_w, v[INT8_SIDE], c);
    w.dst_tiles = divide_up(w.dst_blocks, v[WINOGRAD_KV]);
    w.filter_bytes = w.dst_tiles * w.elements * w.pairs * v[WINOGRAD_KV] * b->block * 4;
    w.local_bytes = local_bytes(&w, c);
    return w;
}
