/* The stages of an operation, compiled. */
#ifndef KILN_STAGES_H
#define KILN_STAGES_H

#include "op.h"

/* Returns a new op without a plan; NULL: out of memory. */
kiln_op *kiln_op_new(kiln *k);

/* Compiles the plan's stages, sets their scalar arguments, and makes the plan's images. `takes_ns`
 * as for kiln_op_compile(). */
kiln_status kiln_op_build(kiln_op *op, int64_t takes_ns);

/* Releases everything that an op has but its checks of padding. */
void kiln_op_free(kiln_op *op);

#endif
