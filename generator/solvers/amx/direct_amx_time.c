/* Predicts the time of the direct solver by AMX, in cycles of a core. */
#include "generator/base/integers.h"

#include "direct_amx.h"

#include <math.h>

/* Cycles to copy an item's piece, line by line. */
static double fill_cycles(const kiln_direct_amx *g)
{
    if (g->direct) /* its lines come from beyond the first cache all the same */
        return (double)(g->cols * g->pixel * g->size) / AMX_ROW_BYTES;
    const double lines = (double)divide_up(g->pixel * g->size, AMX_ROW_BYTES);
    const double each = g->b.src_c <= 4                      ? 2 * (double)g->fold
                        : g->pixel * g->size < AMX_ROW_BYTES ? 4 * (double)g->fold
                                                             : 2 * lines;
    return each * (double)(g->plane * g->blocks * g->b.filter[0]);
}

/* Cycles to load a row of a tile again, by the bytes that were read since. */
static double load_cycles(const kiln_device_facts *d, double bytes)
{
    return bytes < 1.3 * (double)d->cpu->fit.l1_counted ? 0.6
           : bytes < 1.5 * (double)d->core_cache        ? 1.4
                                                        : 3;
}

/* Cycles of the sums of an item: those of a row of a tile take one, unless loads take longer. The
 * first operand of an order stays near, in the first cache if it is small enough; all of the other
 * one is read again each time. */
static double sums_cycles(const kiln_direct_amx *g, const kiln_device_facts *d,
                          const kiln_config *c)
{
    const double rows = (double)g->tile_rows, pairs = (double)g->part;
    const double across = (double)g->vectors / (double)g->pairs;
    const double twos = (double)divide_up(g->tiles, 2), down = (double)g->tiles / twos;
    const double row = (double)(g->step * g->size), weights = across * row / 4;
    const double panel = (double)g->steps * weights * 64;
    const kiln_blocked *b = &g->b;
    const double all = (double)((g->direct ? g->cols * g->pixel : g->piece) * g->size);
    const double lines =
        fmin((double)(b->filter[0] * g->filter_rows * g->blocks) *
                 (down * rows * (double)g->phases[KILN_AXIS_W] + (double)b->filter[KILN_AXIS_W]),
             all);
    const double window = lines * (double)(g->pixel * g->size);
    const bool first = c->v[AMX_ORDER] == AMX_POSITIONS_FIRST;
    const double of_piece = load_cycles(d, first ? all + (twos > 1 ? panel : 0) : window + 2 * row);
    const double of_weights =
        load_cycles(d, first ? (twos > 1 ? panel + window : 1e9) : pairs * panel + window);
    const double loads = down * rows * of_piece + weights * of_weights;
    return pairs * twos * ((double)g->steps * fmax(down * across * rows, loads) + 60);
}

/* Cycles to store an item's results, a vector of each position, or a part of one. */
static double put_cycles(const kiln_direct_amx *g)
{
    const double parts = g->b.dst_c % AMX_CHANNELS ? 10 : 0;
    const double across = (double)g->vectors / (double)g->pairs;
    return (double)(g->part * g->rows * g->cols) * (4 * across + parts);
}

/* Cycles for lines of memory that have channels of two parts, which two cores store at the same
 * time: each takes the line from the other one. x86 fetches lines by twos. 40 to 240 channels of
 * bf16 at 28x28 in two parts took 52 us on two cores, in one 19 to 28. */
static double taken_cycles(const kiln_direct_amx *g, const kiln_shape *s)
{
    enum { LINES = 128 };
    const int64_t size = (int64_t)kiln_type_size(kiln_shape_out_type(s));
    const kiln_pitch *dst = &g->b.dst_pitch;
    const bool apart =
        dst->pixel * size % LINES == 0 && g->part * 2 * AMX_CHANNELS * size % LINES == 0;
    return g->parts == 1 || dst->blocks > 1 || apart ? 0 : 100 * (double)(g->rows * g->cols);
}

static double item_cycles(const kiln_direct_amx *g, const kiln_shape *s, const kiln_device_facts *d,
                          const kiln_config *c)
{
    return fill_cycles(g) + sums_cycles(g, d, c) + put_cycles(g) + taken_cycles(g, s) + 300;
}

double kiln_direct_amx_ms(const kiln_direct_amx *g, const kiln_shape *s, const kiln_device_facts *d,
                          const kiln_config *c)
{
    const kiln_blocked *b = &g->b;
    const double items = (double)(g->tiles_h * g->tiles_w * b->dst[0]) * (double)b->n *
                         (double)(b->groups * g->parts);
    const double units = d->compute_units;
    const double whole = (double)divide_up((int64_t)items, d->compute_units) * units;
    /* Halfway between an even share and whole rounds; and a core waits while another, which may
     * have been held up, ends its last item. */
    const double rounds = (items + whole) / 2 + 0.15 * units;
    const double flops = 2 * d->cpu->sums * kiln_device_unit_floats(d); /* of f32, in a cycle */
    const double bytes = (double)g->size * (double)(b->src_pitch.cells + b->dst_pitch.cells) +
                         (double)g->size * (double)s->w_count;
    const double share = kiln_device_holds(d, bytes) ? 0.2 : 0.7;
    return rounds * item_cycles(g, s, d, c) * flops / (d->peak_gflops * 1e6) +
           share * kiln_device_move_ms(d, bytes) + kiln_device_launch_ms(d);
}
