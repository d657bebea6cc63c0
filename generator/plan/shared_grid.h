/* Grids that threads share in one work-group, where PoCL takes longer to dispatch several
 * work-groups than spinning threads take to help. */
#ifndef KILN_SHARED_GRID_H
#define KILN_SHARED_GRID_H

#include "plan.h"

/* Sets the last stage's grid: g0 by g1 by g2 work-groups of one item, for which it should take
 * `ms`. Defines what templates/items.cl wants and adds the last argument of its kernel: call this
 * after all other arguments and defines. A stage that packs the weights receives the same defines
 * where it differs in nothing else, so that one program has both kernels. */
void kiln_grid_shared(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2);
/* The same, but each thread owns one part of the first axis, not of the last one that has several
 * items: for kernels whose items along it are parts of an image. A layer then mostly reads what the
 * same core wrote in the layer before. */
void kiln_grid_parted(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2);

#endif
