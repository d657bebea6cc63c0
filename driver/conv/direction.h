/* Runs one direction of a request. */
#ifndef KILN_DIRECTION_H
#define KILN_DIRECTION_H

#include "driver/session.h"

#include "dump.h"
#include "request.h"

/* Plans, computes, verifies, times and reports, as the flags say; keeps in `dumps` what is to be
 * dumped. Returns an exit status, CONV_INTERRUPTED after Ctrl-C in a search. */
int direction_run(const session *s, const request *q, kiln_direction direction, dumps *dumps);

/* MIOpen's -w 2: a tiny convolution first, so that the library's own start is not in any time. */
void direction_warm_up(const session *s, const request *q);

#endif
