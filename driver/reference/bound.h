/* How far a right result may be from the exact one. */
#ifndef KILN_BOUND_H
#define KILN_BOUND_H

#include "kiln_problem.h"

#include <stdbool.h>

/* What all elements of one destination have in common. */
typedef struct bound_rule {
    const kiln_epilogue *epilogue; /* NULL: the sum is the result */
    bool integer;                  /* i8 sources: sums are exact */
    bool arbitrary;                /* false: the data are random numbers */
    double terms;                  /* products in one sum */
    double amplification;          /* factor of the rounding errors, by the algorithm */
    double largest; /* absolute value of the data, where they are arbitrary: what a factor below
                       2^-126, which a device may take for zero, is multiplied by */
    double floor;   /* least magnitude of a sum, for an algorithm that mixes in neighbours' terms */
} bound_rule;

/* Returns a bound on |result - exact result| before the last rounding to the destination's type.
 * `factor` is that of the sum in the activation's argument, `sum` the exact sum of products,
 * `magnitude` the sum of their absolute values, `added` the sum of the absolute values that the
 * epilogue adds, `value` the exact result. */
double bound_error(const bound_rule *rule, double factor, double sum, double magnitude,
                   double added, double value);

/* Returns the distance of neighbouring values of `type` around `value`; 1 for integers. */
double bound_ulp(kiln_type type, double value);

#endif
