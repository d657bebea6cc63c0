/* Times of an operation. */
#ifndef KILN_MEASURE_H
#define KILN_MEASURE_H

#include "report.h"

/* Runs the op --iter times with packed weights, less often if --limit-ms is used up, and fills *t
 * but for t->create. */
kiln_status measure_op(kiln_op *op, const session *s, const kiln_buffers *buffers, const flags *f,
                       timing *t, char *why);

/* The host's clock. */
double now_ms(void);

#endif
