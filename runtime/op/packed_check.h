/* Whether packed weights are what a kiln_op_pack() wrote (settings.check_packed). */
#ifndef KILN_PACKED_CHECK_H
#define KILN_PACKED_CHECK_H

#include "op.h"

/* Remembers the contents of packed weights, once the queue has packed them; nothing where the check
 * is off. */
kiln_status kiln_op_mark_packed(kiln_op *op, cl_command_queue queue, const kiln_buffer *packed);

/* Returns KILN_INVALID where no operation of the kiln with this problem, solver and config packed
 * weights like these. Waits for the events and the queue. KILN_OK where the check is off. */
kiln_status kiln_op_check_packed(kiln_op *op, cl_command_queue queue, const kiln_buffer *packed,
                                 cl_uint n_wait, const cl_event *wait);

#endif
