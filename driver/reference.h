/* The CPU reference: every convolution, in double (exact integers for i8), on all cores.
 *
 * It shares no index code with the generator: it is written from the definition in kiln_problem.h.
 */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H

#include "kiln_problem.h"

/* Plain (NCHW, OIHW) arrays of the problem's types; the one `direction` writes is not read. */
typedef struct reference_tensors {
    const void *x, *w, *y;
    const float *bias; /* with epilogue.bias, forward only */
    const void *residual; /* with epilogue.beta */
} reference_tensors;

/* For each of `count` destination elements (their linear indices in `index`, or 0 .. count - 1 when
 * it is NULL): the exact result in *value, not yet rounded to the destination's type, and in
 * *magnitude the sum of the absolute values of everything that was added up for it, which error
 * bounds are made of. `problem` must be checked. */
void reference_run(const kiln_problem *problem, const reference_tensors *t, const int64_t *index,
                   int64_t count, double *value, double *magnitude);

/* The bias gradient of backward weights: sum of dy over everything but the channel, [K]. */
void reference_bias_gradient(const kiln_problem *problem, const void *y, double *value,
                             double *magnitude);

#endif
