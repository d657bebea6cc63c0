/* Judges a result against the reference.
 *
 * Each element has a bound of its own (bound.h), and a result is right when it is what some value
 * within that bound of the exact one rounds to: in the destination's type, to nearest even, so that
 * saturation and overflow to infinity are right where they are due. A NaN never is.
 */
#ifndef KILN_VERIFY_H
#define KILN_VERIFY_H

#include "host.h"
#include "reference.h"

#include <stdbool.h>

typedef struct verify_options {
    double amplification; /* of the algorithm (kiln_op_info); 0: 1 */
    bool exact;     /* the data make every sum exact: equality decides (verify_can_be_exact) */
    bool arbitrary; /* the data are not from host_fill_tensor(): the worst case bounds the error,
                       not what is likely for random numbers */
    bool poisoned;  /* the destination held host_poison() before: a poison left over fails */
    double max_seconds; /* above that estimate only a sample is checked; 0: 20 */
    uint64_t seed;      /* of the sample */
    const char *cache;  /* a directory of stored reference results; NULL or "": none */
} verify_options;

typedef struct verify_result {
    bool ok;
    int64_t checked, total; /* checked < total: a seeded sample plus all borders of the image, for
                               the rest only that there is no NaN and no poison */
    int64_t bad;            /* elements over their bound, or not finite */
    int64_t untouched;      /* of these, those that still hold the poison */
    double max_abs;         /* largest absolute error (infinite for a NaN) ... */
    int64_t max_abs_at;     /* ... and where (linear index; the first) */
    double got, expected;   /* there; expected is exact, not rounded */
    double max_ulp;         /* in units of the last place of the destination's type */
    double rms;             /* MIOpen's metric: sqrt(sum d^2) / (sqrt(n) * max(|a|, |b|)) */
    double tolerance;       /* MIOpen's for the type and direction; printed, does not decide */
    double bound;           /* the a-priori bound at the worst element, last rounding included */
    double worst;           /* largest error / bound over all elements: > 1 fails */
} verify_result;

/* `got` is a plain array of the destination. */
verify_result verify_destination(const kiln_problem *problem, const reference_tensors *t,
                                 const void *got, const verify_options *options);
verify_result verify_bias_gradient(const kiln_problem *problem, const void *y, const float *got,
                                   const verify_options *options);

/* Whether data of `fill` make every result exact: integers, through an epilogue that rounds nothing
 * and an algorithm that only sums up products. */
bool verify_can_be_exact(const kiln_problem *problem, host_fill fill, double amplification);

#endif
