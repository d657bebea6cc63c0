/* The tensors of a convolution over two axes, in any layout, with guards around them.
 *
 * A test fills `plain`, which is uploaded in the tensor's layout; results come back to `plain`.
 * Call these functions inside Check tests.
 */
#ifndef PLACED_H
#define PLACED_H

#include "kiln_layout.h"
#include "support.h"

typedef struct placed_tensor {
    kiln_storage storage;
    float *plain, *stored; /* `stored` has guards before and after */
    cl_mem mem;
} placed_tensor;

/* Makes x, w and y of a checked problem, with plain elements zero. */
void placed_make(placed_tensor t[3], const kiln_problem *p);
void placed_free(placed_tensor *t);

/* Uploads plain elements; poison where the tensor is to be written. */
void placed_upload(const support_device *d, placed_tensor *t, bool written);
/* Downloads plain elements. Fails the test where padding is not zero or guards were written. */
void placed_download(const support_device *d, placed_tensor *t);

/* Runs the op on the tensors and waits. */
void placed_enqueue(const support_device *d, kiln_op *op, const kiln_op_info *info,
                    const placed_tensor t[3]);

#endif
