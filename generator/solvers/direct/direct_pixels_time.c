/* Predicts the time of the direct solver whose vectors are pixels, in vector multiply-adds. */
#include "generator/base/integers.h"

#include "direct_pixels.h"
#include "direct_pixels_fit.h"

#include <math.h>

/* Cycles to copy the pieces of an item: vectors of pixels, or squares of pixels by channels; and to
 * make pairs of them. */
static double fill_cycles(const kiln_direct_pixels_numbers *k, const kiln_direct_pixels *g,
                          const kiln_config *c)
{
    const kiln_lines *l = &g->lines;
    const int64_t step = l->step[KILN_AXIS_W], vec = c->v[PIXELS_VEC];
    const double squares = (double)round_up(g->src_c, vec) / (double)g->src_c;
    const double each = g->src_last ? k->square * squares
                        : step == 1 ? k->copy
                        : step == 2 ? k->copy_second
                                    : k->copy_apart * (double)vec;
    const double merge = g->together > 1 ? k->merge : 0;
    const double rows = (double)(l->slots[KILN_AXIS_H] * l->slots[KILN_AXIS_W] *
                                 (g->rows + l->reach[KILN_AXIS_H]) * g->filter[0]);
    return (double)g->src_c * rows * ((each + merge) * (double)divide_up(g->pitch, vec) + k->row);
}

/* Cycles to add up the sums of T_PIX vectors and to move them. Loads that are not aligned count
 * twice. */
static double sums_cycles(const kiln_direct_pixels_numbers *n, const kiln_direct_pixels *g,
                          const kiln_config *c)
{
    const double k = c->v[PIXELS_K], pix = c->v[PIXELS_PIX];
    const double taps = (double)(g->filter[0] * g->filter[1] * g->filter[2]);
    const double sums = k * pix, loads = 2 * pix + k;
    const double step = fmax(fmax(sums, loads), n->least) + n->operand * (pix + k);
    const double chunks = (double)divide_up(g->src_c, g->chunk);
    return (double)divide_up(g->src_c, g->together) * taps * step +
           chunks * (double)g->phases * (n->carry * sums + n->chunk);
}

/* Cycles to store a block's sums, one by one where they are no neighbours. */
static double store_cycles(const kiln_direct_pixels_numbers *k, const kiln_direct_pixels *g,
                           const kiln_config *c, bool scattered)
{
    const double vectors = (double)divide_up(g->cols, c->v[PIXELS_VEC]);
    const double each = g->dst_last ? k->put_last : scattered ? k->put_apart : 0;
    const double row =
        g->dst_last || scattered ? each * (double)g->cols : k->put * vectors + k->put_row;
    return (double)(g->rows * g->phases * c->v[PIXELS_K]) * row;
}

/* Time to move the tensors. A core reads a line of the destination before it writes a part of it,
 * unless the last cache holds the line. */
static double move_ms(const kiln_direct_pixels_numbers *k, const kiln_shape *s,
                      const kiln_device_facts *d)
{
    const double size = (double)kiln_type_size(s->x_type);
    const double to = size * (double)(s->direction == KILN_FORWARD ? s->y_count : s->x_count);
    const double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    return kiln_device_holds(d, bytes) ? k->held * kiln_device_move_ms(d, bytes)
                                       : kiln_device_move_ms(d, bytes + to);
}

const kiln_fit *const kiln_direct_pixels_fits[1] = {&direct_pixels_fit};

double kiln_direct_pixels_ms(const kiln_solver *self, const kiln_direct_pixels *g,
                             const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const kiln_direct_pixels_numbers *k = self->fits[0]->numbers;
    const bool scattered = g->phases > 1 && s->stride[KILN_AXIS_W] > 1;
    const double blocks = (double)g->blocks / (double)g->parts;
    const double passes = (double)(g->vectors / c->v[PIXELS_PIX]);
    const double item = fill_cycles(k, g, c) + blocks * passes * sums_cycles(k, g, c) +
                        blocks * store_cycles(k, g, c, scattered) + k->item;
    const double items =
        (double)(g->tiles_h * g->tiles_w * g->dst[0] * g->n) * (double)(g->groups * g->parts);
    const double whole = (double)divide_up((int64_t)items, d->compute_units) * d->compute_units;
    const int vec = c->v[PIXELS_VEC], lanes = vec < d->simd_floats ? d->simd_floats : vec;
    return (items + whole) / 2 * item * 2 * lanes / (d->cpu->fit.reached * d->peak_gflops * 1e6) +
           move_ms(k, s, d) + kiln_device_launch_ms(d);
}
