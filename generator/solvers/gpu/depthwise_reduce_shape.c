/* Computes the pieces of strips of depthwise_reduce, and what an item's piece meets. */
#include "depthwise_reduce.h"

#include "generator/base/integers.h"

kiln_depthwise_reduce kiln_depthwise_reduce_of(const kiln_shape *s, const kiln_config *c)
{
    const int64_t rows = c->v[REDUCE_ROWS], cols = c->v[REDUCE_COLS];
    kiln_depthwise_reduce g = {.taps = s->filter[0] * s->filter[1] * s->filter[2]};
    g.pairs = s->k * (s->c / s->g);
    g.pieces = s->n * s->out[0] * divide_up(s->out[1], rows) * divide_up(s->out[2], cols);
    g.window = (rows - 1) * s->stride[1] + (s->filter[1] - 1) * s->dilation[1] + 1;
    g.columns = cols == 1 ? s->filter[2]
                          : (cols - 1) * s->stride[2] + (s->filter[2] - 1) * s->dilation[2] + 1;
    g.sharers = c->v[REDUCE_GROUP] / (c->v[REDUCE_CHANNELS] / c->v[REDUCE_VECTOR]);
    g.local_bytes = 4 * g.taps * c->v[REDUCE_CHANNELS] *
                    (g.sharers + g.sharers / 8 + g.sharers / 64 + g.sharers / 512 + 1);
    return g;
}
