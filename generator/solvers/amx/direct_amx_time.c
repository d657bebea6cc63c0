/* Predicts the time of the direct solver by AMX, in cycles of a core. */
#include "generator/base/integers.h"

#include "direct_amx.h"

#include <math.h>

/* Cycles to copy an item's piece. */
static double fill_cycles(const kiln_direct_amx *g)
{
    const double each = g->pixel * g->size < AMX_ROW_BYTES ? 4 : 3;
    return each * (double)(g->plane * g->blocks * g->b.filter[0]);
}

/* Cycles to sum up `down` tiles of positions by `across` vectors: a row of a tile takes one, unless
 * loads take longer. The second cache has the piece and the weights where the first is too small.
 */
static double sums_cycles(const kiln_direct_amx *g, const kiln_device_facts *d, double down,
                          double across)
{
    const double rows = (double)g->tile_rows, bytes = (double)kiln_direct_amx_step_bytes(g);
    const double lines = down * rows + across * bytes / 4;
    const double held = (double)(g->piece * g->size) + (double)g->steps * across * 16 * bytes;
    const double each = held < 1.2 * (double)d->cpu->l1_bytes ? 0.6 : 1.3;
    return (double)g->steps * fmax(down * across * rows, each * lines) + 50;
}

/* Cycles to store a vector of each position. */
static double put_cycles(const kiln_direct_amx *g)
{
    const int64_t rest = g->b.dst_c % AMX_CHANNELS;
    return (g->b.groups > 1 && rest ? 16 : 8) * (double)(g->rows * g->cols);
}

static double item_cycles(const kiln_direct_amx *g, const kiln_device_facts *d)
{
    const double across = (double)g->vectors / (double)g->pairs;
    const double passes = (double)(g->tiles / 2) * sums_cycles(g, d, 2, across) +
                          (double)(g->tiles % 2) * sums_cycles(g, d, 1, across);
    const double pairs = (double)g->pairs / (double)g->parts;
    return fill_cycles(g) + pairs * (passes + across * put_cycles(g)) + 200;
}

double kiln_direct_amx_ms(const kiln_direct_amx *g, const kiln_shape *s, const kiln_device_facts *d)
{
    const kiln_blocked *b = &g->b;
    const double items = (double)(g->tiles_h * g->tiles_w * b->dst[0]) * (double)b->n *
                         (double)(b->groups * g->parts);
    const double units = d->compute_units;
    const double whole = (double)divide_up((int64_t)items, d->compute_units) * units;
    const double flops = 2 * d->cpu->sums * kiln_device_unit_floats(d); /* of f32, in a cycle */
    const double bytes = (double)g->size * (double)(b->src_pitch.cells + b->dst_pitch.cells) +
                         (double)g->size * (double)s->w_count;
    const double share = kiln_device_holds(d, bytes) ? 0.2 : 0.7;
    return (items + whole) / 2 * item_cycles(g, d) * flops / (d->peak_gflops * 1e6) +
           share * kiln_device_move_ms(d, bytes) + kiln_device_launch_ms(d);
}
