/* How long the solver gemm takes: rounds of work-groups on the device's units, or moving the
 * tensors, whichever is longer.
 *
 * The model counts a unit's cycles. Groups that run side by side on a unit take turns: together
 * they need the cycles of all their steps, but one of them alone needs the latency of each step at
 * least. The numbers below were fitted to 183 configs of 13 problems on an H100 (NVIDIA's driver
 * 580.159, 2026-11-27): predictions are within 10 % (standard deviation), and the config predicted
 * to be the fastest has 0.988 of the speed of the fastest one measured, in the mean. */
#include "gemm.h"

#include "generator/base/integers.h"

#include <math.h>

/* What a unit has where the device does not tell. */
enum { UNIT_LANES = 128, UNIT_REGISTERS = 65536, UNIT_ITEMS = 2048, UNIT_GROUPS = 32 };

static const double unit_ghz = 1.755, /* under load */
    own_registers = 42,               /* of an item, besides its sums, operands and pieces */
    read_rate = 129,                  /* operands that a unit reads from local memory in a cycle */
    one_element = 1.8,                /* lanes' cycles to bring an element alone, */
    of_four = 7.6,                    /* an element of a vector of four, */
    flat_factor = 18.4,               /* and for the search of its tap as a factor */
    multiply_add = 0.89, step_latency = 457, term_latency = 6.3, first_and_last_steps = 1.15,
                    overlap = 0.98, /* of a unit's groups with one another */
    second_launch_ms = 0.0018, launch_ms = 0.0039;

/* Work-groups that a unit runs side by side. */
static double beside(const kiln_gemm *g, const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    const int64_t registers = d->gpu.group_registers ? d->gpu.group_registers : UNIT_REGISTERS;
    const int64_t local = d->gpu.unit_local_memory ? d->gpu.unit_local_memory : 4 * d->local_memory;
    const double brought = v[GEMM_BK] * (v[GEMM_BM] + v[GEMM_BN]) / (double)g->items;
    const double own = v[GEMM_TM] * v[GEMM_TN] + v[GEMM_TM] + v[GEMM_TN] + brought + own_registers;
    double groups = fmin(UNIT_GROUPS, floor((double)registers / (own * (double)g->items)));
    groups = fmin(groups, floor((double)UNIT_ITEMS / (double)g->items));
    groups = fmin(groups, floor((double)local / (double)g->local_bytes));
    return fmax(1, groups);
}

/* Cycles that a unit has for one step of a group. */
static double step_cycles(const kiln_gemm *g, const kiln_device_facts *d, const kiln_config *c)
{
    const double lanes = d->gpu.unit_lanes ? d->gpu.unit_lanes : UNIT_LANES;
    const double bm = c->v[GEMM_BM], bn = c->v[GEMM_BN], bk = c->v[GEMM_BK];
    const double tm = c->v[GEMM_TM], tn = c->v[GEMM_TN];
    const double source =
        (g->load == GEMM_ONE ? one_element : of_four) * (g->flat ? flat_factor : 1);
    return multiply_add * bm * bn * bk / lanes + bm * bn * bk * (tm + tn) / (tm * tn) / read_rate +
           bk * (bn * source + bm * of_four) / lanes;
}

static double units_ms(const kiln_gemm *g, const kiln_device_facts *d, const kiln_config *c)
{
    const int split = c->v[GEMM_SPLIT];
    const double units = d->compute_units, most = beside(g, d, c);
    const double tiles = (double)(g->tiles_m * g->tiles_n * g->groups * g->all_phases) * split;
    const double cycles = step_cycles(g, d, c);
    const double latency = step_latency + term_latency * c->v[GEMM_BK];
    const double rounds = floor(tiles / (units * most)), left = tiles - rounds * units * most;
    const double last = ceil(left / units);
    const double a_round = fmax(most * cycles, latency + overlap * most * cycles);
    const double last_round = left > 0 ? fmax(last * cycles, latency + overlap * last * cycles) : 0;
    const double steps = (double)divide_up(g->steps, split) + first_and_last_steps;
    return steps * (rounds * a_round + last_round) / (unit_ghz * 1e6);
}

double kiln_gemm_ms(const kiln_gemm *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c)
{
    const int split = c->v[GEMM_SPLIT];
    const double size = (double)kiln_type_size(s->x_type);
    const double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    const double parts = 8.0 * split * (double)(g->groups * g->all_phases * g->dst_c * g->pixels);
    const double ms = fmax(units_ms(g, d, c), bytes / (d->bandwidth_gbs * 1e6));
    const double sums = split > 1 ? second_launch_ms + parts / (d->bandwidth_gbs * 1e6) : 0;
    return ms + sums + launch_ms;
}
