/* Judges a result against the reference. */
#ifndef KILN_VERIFY_H
#define KILN_VERIFY_H

#include "reference.h"

#include <stdbool.h>

typedef struct verify_options {
    double amplification; /* of the algorithm (kiln_op_info) */
    bool exact; /* the data make every sum exact: equality decides */
    bool poisoned; /* the destination held host_poison() before: a poison left over fails */
    double max_seconds; /* above that estimate only a sample is checked; 0: 20 */
    uint64_t seed; /* of the sample */
} verify_options;

typedef struct verify_result {
    bool ok;
    int64_t checked, total; /* checked < total: a seeded sample plus all borders */
    int64_t bad; /* elements over their bound, or not finite */
    double max_abs; /* largest absolute error ... */
    int64_t max_abs_at; /* ... and where (linear index; the first) */
    double got, expected; /* there */
    double max_ulp; /* in units of the last place of the destination's type */
    double rms; /* MIOpen's metric: sqrt(sum d^2) / (sqrt(n) * max(|a|, |b|)) */
    double tolerance; /* MIOpen's for the type and direction; printed, does not decide */
    double bound; /* the a-priori bound at the worst element */
    double worst; /* largest error / bound over all elements: > 1 fails */
} verify_result;

/* `got` is a plain array of the destination. */
verify_result verify_destination(const kiln_problem *problem, const reference_tensors *t,
                                 const void *got, const verify_options *options);
verify_result verify_bias_gradient(const kiln_problem *problem, const void *y, const float *got,
                                   const verify_options *options);

#endif
