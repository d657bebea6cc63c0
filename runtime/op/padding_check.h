/* The debugging check that no stage leaves anything but zero in padding. */
#ifndef KILN_PADDING_CHECK_H
#define KILN_PADDING_CHECK_H

#include "op.h"

/* Compiles the checks of the plan's padded tensors, if the kiln checks padding. */
kiln_status kiln_op_make_checks(kiln_op *op);
void kiln_op_free_checks(kiln_op *op);

/* Checks the padding of what `stage` wrote (-1: of what the caller gave) and waits for the answer.
 * Returns KILN_WRONG, naming tensor, layout and stage, where padding is not zero. */
kiln_status kiln_op_check_padding(kiln_op *op, cl_command_queue queue, const cl_mem *mem,
                                  int stage);

#endif
