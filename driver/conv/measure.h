/* Measures the times of an operation. */
#ifndef KILN_MEASURE_H
#define KILN_MEASURE_H

#include "report.h"

/* Runs the op --iter times with packed weights, or until --limit-ms is used up, and fills *t except
 * t->create. On failure returns the status with a sentence in `why`. */
kiln_status measure_op(kiln_op *op, const session *s, const kiln_buffers *buffers, const flags *f,
                       timing *t, char *why);

#endif
