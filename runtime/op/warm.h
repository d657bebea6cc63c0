/* The launch that has a driver compile what it would compile at the first launch. */
#ifndef KILN_WARM_H
#define KILN_WARM_H

#include "op.h"

/* Launches the op once, packing included, on buffers of its own, whose contents are undefined, and
 * waits for the end. */
kiln_status kiln_op_launch_once(kiln_op *op);

#endif
