/* Runs one direction of a request. */
#ifndef KILN_DIRECTION_H
#define KILN_DIRECTION_H

#include "driver/base/session.h"

#include "dump.h"
#include "request.h"

/* Plans, computes, verifies, times and reports, as the flags say; adds the files of --dump_output
 * to `dumps`. Returns an exit status, CONV_INTERRUPTED after Ctrl-C in a search. */
int direction_run(const session *s, const request *q, kiln_direction direction, dumps *dumps);

/* Runs a tiny convolution, as MIOpen does for -w 2, to keep the library's start out of the times.
 */
void direction_warm_up(const session *s, const request *q);

#endif
