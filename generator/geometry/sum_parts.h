/* Adding up the partial sums of backward weights that several items computed apart. */
#ifndef KILN_SUM_PARTS_H
#define KILN_SUM_PARTS_H

#include "generator/plan/plan.h"

/* What it takes to add up `parts` sums of `count` elements, which other cores have, with a launch.
 */
double kiln_sum_parts_ms(const kiln_device_facts *d, int64_t count, int64_t parts);
/* Adds the stage that sums the `parts` copies of dw, `count` elements each, in the buffer `from`
 * into `to`. */
void kiln_sum_parts_emit(const kiln_shape *s, const kiln_device_facts *d, int64_t count,
                         int64_t parts, int from, int to, kiln_plan *plan);

#endif
