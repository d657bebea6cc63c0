/* Which calls of an operation can follow others, without a command of their own. */
#ifndef KILN_OP_BATCH_H
#define KILN_OP_BATCH_H

#include "runtime/op/op.h"

/* Those of launches of one work-group, in addresses of buffers that stay, if they wait for nothing
 * and nobody wants an event of them. Under op->lock, as are those below, after kiln_op_bind(). */
bool kiln_op_may_follow(const kiln_op *op, kiln_phase phase);

/* Whether such a call is under way. */
bool kiln_op_follow(kiln_op *op, cl_command_queue queue, kiln_phase phase);

/* Around the launches of one that is not: *asked tells whether they are asked what they do, and
 * want an event each. `events`: of the stages; NULL: nothing was launched. */
kiln_status kiln_op_ask(kiln_op *op, kiln_phase phase, bool *asked);
kiln_status kiln_op_asked(kiln_op *op, kiln_phase phase, const cl_event *events);

#endif
