/* Files of problems, one a line. */
#ifndef KILN_BATCH_H
#define KILN_BATCH_H

#include "conv.h"

/* Runs every line of the request's --batch file; the request's flags are defaults for each. Returns
 * the exit status: 1 if any result was wrong, else the worst. */
int batch_run(const session *s, const request *defaults);

#endif
