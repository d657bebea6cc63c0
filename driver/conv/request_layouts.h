/* The layouts that flags name for a problem. */
#ifndef KILN_REQUEST_LAYOUTS_H
#define KILN_REQUEST_LAYOUTS_H

#include "driver/base/flags.h"

/* Sets the layouts of x, w and y that the flags name. */
kiln_status request_layouts(const flags *f, kiln_problem *p, char *why);

/* Call after kiln_problem_check() refused *p for the reason `why`. Where the reason is a layout
 * that a flag names, puts the flag before it. */
void request_layouts_blame(const flags *f, const kiln_problem *p, char *why);

#endif
