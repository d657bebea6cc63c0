/* The check that padding holds zero: a plan that counts the cells that do not. */
#ifndef KILN_PADDING_H
#define KILN_PADDING_H

#include "plan.h"

/* Fills the plan that looks at x, which has the layout, and adds to the int y. *cells counts the
 * layout's padding. False, with the reason, when the layout makes no sense. */
bool kiln_padding_plan(const kiln_padded *padded, kiln_plan *plan, int64_t *cells, char *why);

#endif
