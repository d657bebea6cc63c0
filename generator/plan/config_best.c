/* Goes through ranges of parameter values and keeps the config with the least predicted time. */
#include "config_best.h"

#include <math.h>

double kiln_legal_ms(const kiln_guess *g, kiln_config *c)
{
    return g->self->illegal(g->self, g->s, g->d, c, NULL)
               ? INFINITY
               : g->self->predict(g->self, g->s, g->d, c);
}

static void consider(kiln_guess *g, kiln_config next)
{
    const double ms = g->ms(g, &next);
    if (ms < g->best_ms) {
        g->best_ms = ms;
        g->best = next;
    }
}

/* Changes the values of *next that the ranges are about. */
static void try_ranges(kiln_guess *g, kiln_config *next, const kiln_range *range, int nranges)
{
    if (nranges == 0) {
        consider(g, *next);
        return;
    }
    for (int i = 0; i < range->nvalues; i++) {
        next->v[range->param] = range->value[i];
        try_ranges(g, next, range + 1, nranges - 1);
    }
    for (int v = range->first; v <= range->last; v += range->step ? range->step : v) {
        next->v[range->param] = v;
        try_ranges(g, next, range + 1, nranges - 1);
    }
}

void kiln_config_best(kiln_guess *g, const kiln_config *start, const kiln_range *range, int nranges)
{
    kiln_config next = *start;
    try_ranges(g, &next, range, nranges);
}
