/* The layouts of a request's problem. */
#ifndef KILN_REQUEST_LAYOUTS_H
#define KILN_REQUEST_LAYOUTS_H

#include "driver/flags.h"

/* Those of x, w and y, where the flags name any. */
kiln_status request_layouts(const flags *f, kiln_problem *p, char *why);

/* After kiln_problem_check() refused *p: puts the flag before the reason if that is about the
 * layout which the flag names. */
void request_layouts_blame(const flags *f, const kiln_problem *p, char *why);

#endif
