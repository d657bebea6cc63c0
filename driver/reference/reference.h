/* The CPU reference: every convolution, in double (which is exact for i8), on all cores. A result
 * of type i32 is the sum modulo 2^32, and so are sums of quantised tensors (quantised.h).
 *
 * The reference shares no index code with the generator: it follows the definition in
 * kiln_problem.h.
 */
#ifndef KILN_REFERENCE_H
#define KILN_REFERENCE_H

#include "contraction.h"
#include "kiln_problem.h"

#include <stdbool.h>

/* Plain (NCHW, OIHW) arrays of the problem's types; the destination is not read. */
typedef struct reference_tensors {
    const void *x, *w, *y;
    const float *bias;    /* with epilogue.bias, forward only */
    const void *residual; /* with epilogue.beta */
    const void *w_scales; /* with the bits of quant.buffers */
    int x_zero, w_zero, y_zero;
    float *x_wide, *w_wide; /* reference_widen() */
} reference_tensors;

/* Makes arrays of x and w as they are multiplied, where that is not as they are stored: less their
 * zero points, or of one type; else sets both to NULL. What computes sums below needs them. Returns
 * false without memory. */
bool reference_widen(const kiln_problem *problem, reference_tensors *t);
void reference_widen_end(reference_tensors *t);

/* Computes `count` elements of the destination: those with the linear indices in `index`, or
 * elements 0 .. count - 1 where `index` is NULL. value[i] is the exact result, not yet rounded to
 * the destination's type, and without reference_offset(). magnitude[i], for error bounds, is the
 * sum of the absolute values of all terms before the activation, or a little more (see
 * contraction_part). `problem` must be checked.
 */
void reference_run(const kiln_problem *problem, const reference_tensors *t, const int64_t *index,
                   int64_t count, double *value, double *magnitude);

/* The same in two steps, without arrays as large as the destination. First, visits the sums of
 * products of every element, before the epilogue, in any order. Returns false, having visited
 * nothing, where there is no memory (reference_sum() needs none). */
bool reference_sums(const kiln_problem *problem, const reference_tensors *t,
                    contraction_visit *visit, void *user);
/* Returns the sum of products of one element. */
double reference_sum(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                     double *magnitude);
/* Returns whether padding decides about one element: it has a product of padding with a NaN or an
 * infinity. The reference leaves out products with padding; a kernel that stores padding as zeros
 * makes a NaN of that product. */
bool reference_pads(const kiln_problem *problem, const reference_tensors *t, int64_t index);
/* Second, returns the result of element `index` from its sum of products, and brings *magnitude
 * from the sum to the result: it adds the magnitudes of the finite terms of the epilogue. */
double reference_finish(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                        double sum, double *magnitude);
/* The same in two steps: returns the activation's argument; applies the activation. */
double reference_argument(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                          double sum, double *magnitude);
double reference_activate(const kiln_problem *problem, const reference_tensors *t, int64_t index,
                          double argument);
/* Returns what is added to a result that has been rounded to an integer: y's zero point. */
int reference_offset(const kiln_problem *problem, const reference_tensors *t);
/* Returns the factor that the sum of element `index` has in the activation's argument. */
double reference_factor(const kiln_problem *problem, const reference_tensors *t, int64_t index);

/* One of the two tensors that a problem's direction reads. */
typedef struct reference_source {
    kiln_type type;
    const void *data;
    int64_t count;
} reference_source;

/* Lists both, in the order y, x, w. */
void reference_sources(const kiln_problem *problem, const reference_tensors *t,
                       reference_source source[2]);

/* Computes the bias gradient of backward weights, out_channels sums of dy over all other indices.
 * The magnitudes are those of the finite terms. */
void reference_bias_gradient(const kiln_problem *problem, const void *y, double *value,
                             double *magnitude);

/* Return the destination, the tensor that the problem's direction writes ('x', 'w' or 'y'); its
 * number of elements; and their type. */
char reference_destination(const kiln_problem *problem);
int64_t reference_count(const kiln_problem *problem);
kiln_type reference_type(const kiln_problem *problem);

/* Returns the number of products in one element of the destination, products with padding included.
 */
int64_t reference_terms(const kiln_problem *problem);
/* Returns the number of multiplications and additions in the whole problem, likewise. */
double reference_flops(const kiln_problem *problem);

#endif
