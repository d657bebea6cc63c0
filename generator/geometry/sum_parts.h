/* Sums of backward weights that several items computed in parts. */
#ifndef KILN_SUM_PARTS_H
#define KILN_SUM_PARTS_H

#include "generator/plan/plan.h"

/* Returns the time to add up `parts` sums of `count` elements in ms, with a launch. Other cores
 * wrote most of the parts. */
double kiln_sum_parts_ms(const kiln_device_facts *d, int64_t count, int64_t parts);
/* Adds the stage that sums the `parts` copies of dw, `count` elements each, in the buffer `from`
 * into `to`. */
void kiln_sum_parts_emit(const kiln_shape *s, const kiln_device_facts *d, int64_t count,
                         int64_t parts, int from, int to, kiln_plan *plan);

#endif
