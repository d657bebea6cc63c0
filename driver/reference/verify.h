/* Judges a result against the reference.
 *
 * Each element has a bound of its own (bound.h). A result is right when some value within that
 * bound of the exact one rounds to it, to nearest even in the destination's type. So saturation and
 * overflow to infinity are right where they are due. Where the reference is a NaN or an infinity,
 * the result must be the same; where the algorithm may make one of finite numbers, that is right
 * too (nonfinite.h).
 */
#ifndef KILN_VERIFY_H
#define KILN_VERIFY_H

#include "host.h"
#include "kept_sums.h"
#include "reference.h"

#include <stdbool.h>

typedef struct verify_options {
    double amplification; /* of the algorithm (kiln_op_info); 0: 1 */
    bool exact;     /* the data make every sum exact: equality decides (verify_can_be_exact) */
    bool arbitrary; /* the data are not from host_fill_tensor(): take the bound of the worst
                       case, not that of random numbers */
    bool poisoned;  /* the destination held host_poison() before: poison that is left is wrong */
    double max_seconds; /* where the estimate is longer, only a sample is checked; 0: 20 */
    uint64_t seed;      /* of the sample */
    const char *cache;  /* a directory of stored reference results; NULL or "": none */
    /* What calls for the same problem and tensors share: `whole` or, where only a sample is
     * checked, `sample`. The first call computes it. NULL: nothing. Free both with
     * kept_sums_free(). */
    struct verify_kept {
        kept_sums whole, sample;
    } * kept;
} verify_options;

typedef struct verify_result {
    bool ok;
    int64_t checked, total; /* checked < total: a sample (sample.h); of the other elements only that
                               none is poison, nor a NaN that is not due */
    int64_t bad;            /* elements over their bound, or wrongly finite or not finite */
    int64_t untouched;      /* of these, the number that still hold poison */
    int64_t nonfinite;      /* right elements that are a NaN or an infinity */
    double max_abs;         /* largest absolute error (infinite for a wrong NaN) ... */
    int64_t max_abs_at;     /* ... and where (linear index; the first) */
    double got, expected;   /* there; expected is exact, not rounded */
    double max_ulp;         /* in units of the last place of the destination's type */
    double rms;             /* MIOpen's metric: sqrt(sum d^2) / (sqrt(n) * max(|a|, |b|)) */
    double tolerance;       /* MIOpen's for the type and direction; printed only */
    double bound;           /* the bound of the worst element, last rounding included */
    double worst;           /* largest error / bound over all elements: > 1 fails */
} verify_result;

/* Judge a destination and a bias gradient; `got` is a plain array. */
verify_result verify_destination(const kiln_problem *problem, const reference_tensors *t,
                                 const void *got, const verify_options *options);
verify_result verify_bias_gradient(const kiln_problem *problem, const void *y, const float *got,
                                   const verify_options *options);

/* Returns whether data of `fill` make every result exact: integers, an epilogue that rounds
 * nothing, an algorithm that only sums products. */
bool verify_can_be_exact(const kiln_problem *problem, host_fill fill, double amplification);

#endif
