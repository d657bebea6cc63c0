/* Grids that a team of threads goes through in one work-group, where PoCL's dispatch of several
 * takes longer than threads that look for work take to help. */
#ifndef KILN_SHARED_GRID_H
#define KILN_SHARED_GRID_H

#include "plan.h"

/* The last stage's grid, of groups of one item: g0 by g1 by g2 of them, which it should take `ms`
 * for. Defines what templates/items.cl wants, with the last argument of its kernel: add it after
 * the others. */
void kiln_grid_shared(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0, int64_t g1,
                    int64_t g2);

#endif
