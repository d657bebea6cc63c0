/* The tensors of a convolution over two axes, in any layout, with guards around them.
 *
 * What a test puts into `plain` is uploaded as its layout has it; what a kernel wrote comes back
 * there. Call these inside Check tests.
 */
#ifndef PLACED_H
#define PLACED_H

#include "kiln_layout.h"
#include "support.h"

typedef struct placed_tensor {
    kiln_storage storage;
    float *plain, *stored; /* the second with guards before and after */
    cl_mem mem;
} placed_tensor;

/* x, w and y of a checked problem, plain elements zero. */
void placed_make(placed_tensor t[3], const kiln_problem *p);
void placed_free(placed_tensor *t);

/* Stored cells from plain elements; poison for what is to be written. */
void placed_upload(const support_device *d, placed_tensor *t, bool written);
/* Plain elements from stored cells. Fails the test where padding is not zero, or guards were
 * written. */
void placed_download(const support_device *d, placed_tensor *t);

/* Runs the op on them, and waits. */
void placed_enqueue(const support_device *d, kiln_op *op, const kiln_op_info *info,
                    const placed_tensor t[3]);

#endif
