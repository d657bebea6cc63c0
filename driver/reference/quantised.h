/* Quantised tensors in the reference: by the formulas of kiln_problem.h, in double and in 64-bit
 * integers. */
#ifndef KILN_QUANTISED_H
#define KILN_QUANTISED_H

#include "reference.h"

/* Whether sums of the problem's products are kept modulo 2^32 whatever is made of them. */
bool quantised_wraps(const kiln_problem *problem);
/* Whether x and w are not read as they are: they have zero points, or types of their own. */
bool quantised_widens(const kiln_problem *problem);

/* Return the zero points in force, from the problem or from the tensors. */
int quantised_zero(const kiln_problem *problem, const reference_tensors *t, char tensor);

/* Draw what comes in buffers: w_scales (f32 of 1/4 to 4, or pairs of i32 for factors of about
 * 2^-8 to 2), and a zero point that tensor 'x', 'w' or 'y' can have. */
void quantised_fill(const kiln_problem *problem, uint64_t seed, void *w_scales);
int quantised_draw(const kiln_problem *problem, uint64_t seed, char tensor);

/* Returns the factor of a sum of channel k. */
double quantised_factor(const kiln_problem *problem, const reference_tensors *t, int64_t k);

/* Returns the residual's term of element `index`. */
double quantised_residual(const kiln_problem *problem, const reference_tensors *t, int64_t index);

/* Returns the fixed-point product of a sum of channel k, limited by the activation; y's zero point
 * is not in it. */
double quantised_fixed(const kiln_problem *problem, const reference_tensors *t, int64_t k,
                       double sum);

#endif
