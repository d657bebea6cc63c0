/* The memory objects that the stages of an operation work on. */
#ifndef KILN_BIND_H
#define KILN_BIND_H

#include "op.h"

/* Checks the caller's buffers, fills op->bound.mem[role] for everything that the stages of `phase`
 * may name, and gives it to their kernels; nothing of that where the call before was given the same
 * and no memory object has ended since. `queue` tells the addresses of buffers that stay. Under
 * op->lock. */
kiln_status kiln_op_bind(kiln_op *op, const kiln_buffers *buffers, kiln_phase phase,
                         cl_command_queue queue);

/* Lets go of a window's memory objects. */
void kiln_window_close(kiln_window *window);

#endif
