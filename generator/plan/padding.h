/* Plans the check that padding holds zero: the plan counts the cells that do not. */
#ifndef KILN_PADDING_H
#define KILN_PADDING_H

#include "plan.h"

/* Fills the plan that looks at x, which has the layout, and adds the count to the int y. *cells
 * receives how many cells of padding the layout has. Returns false, with the reason, when the
 * layout makes no sense. */
bool kiln_padding_plan(const kiln_padded *padded, const kiln_device_facts *d, kiln_plan *plan,
                       int64_t *cells, char *why);

#endif
