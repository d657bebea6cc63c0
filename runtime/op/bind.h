/* The memory objects that the stages of an operation work on. */
#ifndef KILN_BIND_H
#define KILN_BIND_H

#include "op.h"

/* Checks the caller's buffers. Asks OpenCL of each, and changes nothing. */
kiln_status kiln_op_check_buffers(const kiln_op *op, const kiln_buffers *buffers, kiln_phase phase);

/* Checks the caller's buffers, fills op->bound.mem[role] for everything that the stages of `phase`
 * may name, and gives it to their kernels. Does nothing where the call before was given the same
 * buffers and no memory object has ended since. Under op->lock. */
kiln_status kiln_op_bind(kiln_op *op, const kiln_buffers *buffers, kiln_phase phase);

/* Releases what the operation has of the caller's memory objects; the next call binds anew. Under
 * op->lock, or where no other thread has the operation. */
void kiln_op_unbind(kiln_op *op);

/* Releases a window's memory objects. */
void kiln_window_close(kiln_window *window);

#endif
