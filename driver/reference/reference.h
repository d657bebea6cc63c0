/* The CPU reference: every convolution, in double (which is exact for i8), on all cores.
 *
 * It shares no index code with the generator: it is written from the definition in kiln_problem.h.
 */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H

#include "contraction.h"
#include "kiln_problem.h"

#include <stdbool.h>

/* Plain (NCHW, OIHW) arrays of the problem's types; the one `direction` writes is not read. */
typedef struct reference_tensors {
    const void *x, *w, *y;
    const float *bias;    /* with epilogue.bias, forward only */
    const void *residual; /* with epilogue.beta */
} reference_tensors;

/* For each of `count` destination elements (their linear indices in `index`, or 0 .. count - 1 when
 * it is NULL): the exact result in *value, not yet rounded to the destination's type, and in
 * *magnitude the sum of the absolute values of everything that was added up for it, which error
 * bounds are made of (or a little more: see contraction_part). It is taken before the activation.
 * `problem` must be checked. */
void reference_run(const kiln_problem *problem, const reference_tensors *t, const int64_t *index,
                   int64_t count, double *value, double *magnitude);

/* The same in two steps, for those who need no arrays as large as the destination. First the sums
 * of products of every element, before the epilogue, in no particular order; false when there was
 * no memory and nothing was done (reference_sum() needs none). */
bool reference_sums(const kiln_problem *problem, const reference_tensors *t,
                    contraction_visit *visit, void *user);
/* Those of one element. */
double reference_sum(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                     double *magnitude);
/* Then the epilogue: the result of element `index`, whose sum of products is `sum`; adds to
 * *magnitude what the epilogue adds. */
double reference_finish(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                        double sum, double *magnitude);

/* One of the two tensors that a problem's direction reads. */
typedef struct reference_source {
    kiln_type type;
    const void *data;
    int64_t count;
} reference_source;

/* Lists both of them, in the order y, x, w. */
void reference_sources(const kiln_problem *problem, const reference_tensors *t,
                       reference_source source[2]);

/* The bias gradient of backward weights: sum of dy over everything but the channel, [K]. */
void reference_bias_gradient(const kiln_problem *problem, const void *y, double *value,
                             double *magnitude);

/* The destination: the tensor that the problem's direction writes, 'x', 'w' or 'y'; its number of
 * elements, and their type. */
char reference_destination(const kiln_problem *problem);
int64_t reference_count(const kiln_problem *problem);
kiln_type reference_type(const kiln_problem *problem);

/* Products summed into one element of the destination, products with padding included. */
int64_t reference_terms(const kiln_problem *problem);
/* Multiplications and additions of the whole problem, likewise. */
double reference_flops(const kiln_problem *problem);

#endif
