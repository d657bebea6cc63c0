/* Files of problems, one per line. */
#ifndef KILN_BATCH_H
#define KILN_BATCH_H

#include "conv.h"

/* Runs every line of the request's --batch file; the request's flags are defaults for each line.
 * Returns the exit status: 1 if a result was wrong, else the largest; CONV_INTERRUPTED after
 * Ctrl-C.
 */
int batch_run(const session *s, const request *defaults);

#endif
