/* How long the solver gemm takes: rounds of tiles on the device's units, or moving the tensors. */
#include "gemm.h"

#include "generator/base/integers.h"

#include <math.h>

/* Multiply-adds are in flight for that many cycles: a unit wants this many items, each with its own
 * sums, to be busy. */
enum { BUSY_ITEMS = 512 };

/* Of the multiply-adds of an item's tile, how many a step's reads and addresses leave room for. */
static double reached(const kiln_gemm *g, const kiln_config *c)
{
    const double sums = c->v[GEMM_TM] * c->v[GEMM_TN],
                 reads = (c->v[GEMM_TM] + c->v[GEMM_TN]) / 4.0;
    const double brought = (double)(c->v[GEMM_BM] + c->v[GEMM_BN]) / (double)g->items;
    const double addresses = g->load == GEMM_ONE ? 3 : 1;
    return sums /
           (sums + 2 * reads + addresses * brought * (g->flat ? 3 : 1) + 16.0 / c->v[GEMM_BK]);
}

double kiln_gemm_ms(const kiln_gemm *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c)
{
    const int split = c->v[GEMM_SPLIT];
    const double units = d->compute_units;
    const double tiles = (double)(g->tiles_m * g->tiles_n * g->groups * g->all_phases) * split;
    const double step = (double)c->v[GEMM_BM] * c->v[GEMM_BN] * c->v[GEMM_BK];
    /* As many groups as a unit has local memory for run side by side. */
    const double beside =
        fmax(1, fmin(floor(2.0 * BUSY_ITEMS / (double)g->items),
                     floor((double)d->local_memory * 2 / (double)g->local_bytes)));
    const double rounds = ceil(tiles / (units * beside)),
                 last = tiles - (rounds - 1) * units * beside;
    const double of_last = fmax(1, ceil(last / units)); /* groups beside one another in it */
    const double full = fmin(1, beside * (double)g->items / BUSY_ITEMS);
    const double in_last = fmin(1, of_last * (double)g->items / BUSY_ITEMS);
    const double work = (rounds - 1) * beside / full + of_last / in_last;
    const double unit_ms = d->peak_gflops * 1e6 / units / 2; /* multiply-adds a ms */
    const double steps = ceil((double)g->steps / split) + 4;
    const double compute = work * steps * step / (unit_ms * reached(g, c));

    const double size = (double)kiln_type_size(s->x_type);
    double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    double ms = compute;
    if (split > 1) {
        const double parts =
            4.0 * split * (double)(g->groups * g->all_phases * g->dst_c * g->pixels);
        ms += kiln_device_launch_ms(d) / 3 + parts / (d->bandwidth_gbs * 1e6);
    }
    return fmax(ms, bytes / (d->bandwidth_gbs * 1e6)) + kiln_device_launch_ms(d) / 3;
}
