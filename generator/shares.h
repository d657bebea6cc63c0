/* In how many shares the two cores of a CPU take the items of a short launch. */
#ifndef KILN_SHARES_H
#define KILN_SHARES_H

#include "plan.h"

/* The number of work-groups that `items` equal items which take one core `all_us` microseconds are
 * dealt to; 0: each is one of its own. */
int64_t kiln_shares(const kiln_device_facts *d, double all_us, int64_t items);

/* kiln_grid() for a kernel that goes through its items by items.cl, in groups of one: `ms` is the
 * time predicted of the launch. Where that is short the grid has one axis, of all items, and the
 * stage says how many shares these may be launched as. */
void kiln_grid_shared(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2);

#endif
