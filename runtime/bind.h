/* The memory objects that the stages of an operation work on. */
#ifndef KILN_BIND_H
#define KILN_BIND_H

#include "op.h"

/* Checks the caller's buffers and fills mem[role] for everything that the stages may name, those
 * that pack weights alone where `packing`. Under op->lock. */
kiln_status kiln_op_bind(kiln_op *op, const kiln_buffers *buffers, bool packing,
                         cl_mem mem[KILN_MAX_ROLES]);

/* Lets go of a window's memory objects. */
void kiln_window_close(kiln_window *window);

#endif
