/* The memory objects that the stages of an operation work on. */
#ifndef KILN_BIND_H
#define KILN_BIND_H

#include "op.h"

/* Checks the caller's buffers. Asks OpenCL of each, and changes nothing. */
kiln_status kiln_op_check_buffers(const kiln_op *op, const kiln_buffers *buffers, kiln_phase phase);

/* Checks the caller's buffers, fills op->bound.mem[role] for everything that the stages of `phase`
 * may name, and gives it to their kernels. Does nothing where the call before was given the same
 * buffers and no memory object has ended since. Under op->lock. kiln_op_bind_end() follows, even
 * after a failure; between the two no other operation is bound but to whole memory objects. */
kiln_status kiln_op_bind(kiln_op *op, const kiln_buffers *buffers, kiln_phase phase);

/* Ends what kiln_op_bind() began, after the launches. Under op->lock. */
void kiln_op_bind_end(kiln_op *op);

/* For an operation that ends. */
void kiln_op_close_windows(kiln_op *op);

#endif
