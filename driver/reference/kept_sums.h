/* Sums of the reference that are kept, so that several results are judged by one computation. */
#ifndef KILN_KEPT_SUMS_H
#define KILN_KEPT_SUMS_H

#include "reference.h"

#include <stdbool.h>

/* Start with all zero. */
typedef struct kept_sums {
    int64_t count;
    double *sum, *magnitude; /* one allocation; NULL: nothing is kept */
} kept_sums;

/* Makes room for `count` sums. Returns false without memory. */
bool kept_sums_new(kept_sums *s, int64_t count);
void kept_sums_free(kept_sums *s);

/* Does what reference_sums() does, and fills the sums meanwhile. Returns as reference_sums(). */
bool kept_sums_record(kept_sums *s, const kiln_problem *problem, const reference_tensors *t,
                      contraction_visit *visit, void *user);

/* Visits the sums that are kept, by many threads. */
void kept_sums_replay(const kept_sums *s, contraction_visit *visit, void *user);

/* Does what reference_sums() does: the first call keeps the sums, further calls, which must be for
 * the same problem and tensors, replay them. Where they would take too much memory, each call
 * computes them. */
bool kept_sums_visit(kept_sums *s, const kiln_problem *problem, const reference_tensors *t,
                     contraction_visit *visit, void *user);

#endif
