/* Sizes that follow from a config of backward weights by Winograd, and its predicted time. */
#include "generator/base/integers.h"
#include "generator/geometry/blocked.h"

#include "winograd_weights.h"

#include <math.h>

enum { SIDE = 4 }; /* of a tile of dy */

/* ---- what a config makes of a shape ---- */

static int block_of(const kiln_shape *s, const kiln_device_facts *d)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    int own = d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    return x > 1 ? x : y > 1 ? y : own;
}

kiln_gradient kiln_gradient_of(const kiln_shape *s, const kiln_device_facts *d)
{
    kiln_gradient g = {.block = block_of(s, d)};
    g.c_blocks = divide_up(s->c, g.block);
    g.k_blocks = divide_up(s->k, g.block);
    g.tiles[0] = divide_up(s->out[KILN_AXIS_H], SIDE);
    g.tiles[1] = divide_up(s->out[KILN_AXIS_W], SIDE);
    g.all = s->n * g.tiles[0] * g.tiles[1];
    return g;
}

int64_t kiln_gradient_rows(const kiln_shape *s, const kiln_gradient *g)
{
    return s->n * g->tiles[0];
}

int kiln_gradient_copies(const kiln_config *c)
{
    return c->v[GRADIENT_PARTS] > 1 ? c->v[GRADIENT_PARTS] : 1;
}

int64_t kiln_gradient_part(const kiln_shape *s, const kiln_gradient *g, const kiln_config *c)
{
    return divide_up(kiln_gradient_rows(s, g), kiln_gradient_copies(c));
}

int64_t kiln_gradient_room(const kiln_gradient *g, const kiln_config *c)
{
    return c->v[GRADIENT_ROWS] ? c->v[GRADIENT_ROWS] * g->tiles[1] : g->all;
}

int64_t kiln_gradient_plane(const kiln_gradient *g, int64_t blocks, const kiln_config *c)
{
    return (blocks * kiln_gradient_room(g, c) + 1) * g->block;
}

int64_t kiln_gradient_products(const kiln_gradient *g)
{
    return (g->k_blocks * g->block * g->c_blocks + 1) * g->block;
}

int64_t kiln_gradient_items(const kiln_gradient *g, const kiln_config *c)
{
    return divide_up(g->c_blocks, c->v[GRADIENT_CV]) * (g->k_blocks * g->block / c->v[GRADIENT_K]);
}

/* ---- time ---- */

/* Time of one tile of x and dy in an item, in vector multiply-adds. */
static double step_cost(const kiln_gradient *g, const kiln_device_facts *d, const kiln_config *c)
{
    double vectors = kiln_blocked_vectors(g->block, d);
    double sums = c->v[GRADIENT_K] * c->v[GRADIENT_CV] * vectors,
           wide = c->v[GRADIENT_CV] * vectors;
    double loads = wide + 0.5 * c->v[GRADIENT_K], cost = fmax(sums, loads) + 0.1 * sums;
    cost += 0.3 * wide + 0.05 * c->v[GRADIENT_K];
    double spare = kiln_blocked_registers(d) - 2 - sums - wide;
    return fmax(cost, 8) - (spare < 0 ? 3 * spare : 0);
}

/* The bytes that traffic() counts where an item keeps its products. Tiles of dy come past the tiles
 * of x, which stay in a core's cache if they fit. The next cache delivers a stream of lines that is
 * mostly there in time. */
static double whole_traffic(const kiln_gradient *g, const kiln_device_facts *d,
                            const kiln_config *c)
{
    const double late = 0.04;
    double tile = 4.0 * GRADIENT_ELEMENTS * (double)g->all;
    double u = tile * c->v[GRADIENT_K], v = tile * g->block * c->v[GRADIENT_CV];
    double through = tile * (double)((g->c_blocks + g->k_blocks) * g->block);
    double again = u + (v > d->cpu->fit.held * (double)d->cpu->fit.l2_counted ? v : 0);
    bool held = kiln_device_holds(d, through);
    return (held ? 1 : 2) * through + late * again * (double)kiln_gradient_items(g, c);
}

/* Returns how many bytes go to memory and back besides x, dy and dw. */
static double traffic(const kiln_shape *s, const kiln_gradient *g, const kiln_device_facts *d,
                      const kiln_config *c)
{
    double through =
        (double)(kiln_gradient_plane(g, g->c_blocks, c) + kiln_gradient_plane(g, g->k_blocks, c));
    if (c->v[GRADIENT_PARTS] == 0)
        return whole_traffic(g, d, c);
    double products = (double)kiln_gradient_products(g), element = 4.0 * GRADIENT_ELEMENTS;
    /* Products that no cache holds are read back in as many streams as there are elements. */
    double back = d->cache > 0 && !kiln_device_holds(d, element * products) ? 5 : 1;
    if (c->v[GRADIENT_ROWS] == 0)
        return element * (2 * through + (1 + back) * products);
    double chunks =
        ceil((double)kiln_gradient_part(s, g, c) / c->v[GRADIENT_ROWS]) * c->v[GRADIENT_PARTS];
    double held = element * (through + products);
    /* The cache behind that of a core is four times as fast as memory. */
    const double l2 = (double)d->cpu->fit.l2_counted;
    double missed = held < l2 ? 0 : held < 2 * l2 ? 0.25 : 1;
    return element * (c->v[GRADIENT_PARTS] * products + missed * chunks * (2 * through + products));
}

double kiln_gradient_ms(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c)
{
    kiln_gradient g = kiln_gradient_of(s, d);
    double items = (double)kiln_gradient_items(&g, c) * GRADIENT_ELEMENTS;
    double cycles = items * ((double)g.all * step_cost(&g, d, c) + 60);
    if (c->v[GRADIENT_PARTS] == 0) /* Few large items: one core waits for the other's last. */
        cycles *= 1 + 0.8 * d->compute_units / (double)kiln_gradient_items(&g, c);
    else if (c->v[GRADIENT_ROWS] == 0) /* Each item ends with products on their way to memory. */
        cycles *= 1.08;
    if (c->v[GRADIENT_ROWS])
        cycles += items * ceil((double)kiln_gradient_rows(s, &g) / c->v[GRADIENT_ROWS]) *
                  (3.0 * c->v[GRADIENT_K] * c->v[GRADIENT_CV] + 40);
    const double moves = d->cpu->fit.moves;
    cycles += moves * (double)(g.all * (g.c_blocks * 7 + g.k_blocks * 6)) * GRADIENT_ELEMENTS;
    if (c->v[GRADIENT_ROWS]) /* of the busiest core, times all */
        cycles *= ceil((double)c->v[GRADIENT_PARTS] / d->compute_units) * d->compute_units *
                  (double)kiln_gradient_part(s, &g, c) / (double)kiln_gradient_rows(s, &g);
    cycles += moves * (double)(s->k * g.c_blocks) *
              ((3.0 + kiln_gradient_copies(c)) * GRADIENT_ELEMENTS + 9.0 * g.block);
    int width = g.block < d->simd_floats ? d->simd_floats : g.block;
    double lanes = (double)width / kiln_blocked_vectors(g.block, d);
    const double reached = 0.85; /* of the peak, as fitted to the products of this solver */
    double ms = cycles * 2 * lanes / (reached * d->peak_gflops * 1e6);
    double size = (double)kiln_type_size(s->x_type);
    double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    bytes += traffic(s, &g, d, c);
    if (kiln_layout_block(s->x_layout, s->rank) == 1)
        bytes += 2 * size * (double)s->x_count;
    if (kiln_layout_block(s->y_layout, s->rank) == 1)
        bytes += 2 * size * (double)s->y_count;
    return ms + kiln_device_move_ms(d, bytes) +
           (c->v[GRADIENT_ROWS] ? 2 : 4) * kiln_device_launch_ms(d);
}
