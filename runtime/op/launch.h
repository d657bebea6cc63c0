/* Launches one stage of an operation. */
#ifndef KILN_LAUNCH_H
#define KILN_LAUNCH_H

#include "op.h"

/* Enqueues stage `i` on the memory objects that kiln_op_bind() found, behind the `n_wait` events of
 * `wait`. *done (if not NULL) receives its event. Under op->lock. */
kiln_status kiln_op_launch(kiln_op *op, int i, cl_command_queue queue, cl_uint n_wait,
                           const cl_event *wait, cl_event *done);

#endif
