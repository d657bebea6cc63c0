/* How far a right result may be from the exact one. */
#ifndef KILN_BOUND_H
#define KILN_BOUND_H

#include "kiln_problem.h"

#include <stdbool.h>

/* What the bound of every element of one destination has in common. */
typedef struct bound_rule {
    const kiln_epilogue *epilogue; /* NULL: the sum is the result */
    bool integer;                  /* i8 sources: sums are exact */
    bool arbitrary;                /* the data may be anything; else they are random numbers */
    double terms;                  /* products in one sum */
    double amplification;          /* of rounding errors by the algorithm */
    double floor; /* least magnitude of a sum, where an algorithm mixes in its neighbours' terms */
} bound_rule;

/* A bound on |result - exact result| before the last rounding to the destination's type. `sum` is
 * the exact sum of products, `magnitude` that of their absolute values, `added` that of what the
 * epilogue adds to them, `value` the exact result. */
double bound_error(const bound_rule *rule, double sum, double magnitude, double added,
                   double value);

/* The distance of two neighbouring values of `type` around `value`; 1 for integers. */
double bound_ulp(kiln_type type, double value);

#endif
