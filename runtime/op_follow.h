/* Which calls of an operation can follow others, without a command of their own. */
#ifndef KILN_OP_FOLLOW_H
#define KILN_OP_FOLLOW_H

#include "op.h"

/* Those of one launch of one work-group, in addresses of buffers that stay, that wait for nothing
 * and that nobody wants an event of. The stage that they run, or -1; under op->lock, as are those
 * below, after kiln_op_bind(). */
int kiln_op_followable(const kiln_op *op, kiln_phase phase);

/* Whether the call of such a stage is under way. */
bool kiln_op_follow(kiln_op *op, cl_command_queue queue);

/* Around the launch of one that is not: *asked tells whether it is asked, and wants an event. */
kiln_status kiln_op_ask(kiln_op *op, int stage, bool *asked);
kiln_status kiln_op_asked(kiln_op *op, int stage, cl_event done);

#endif
