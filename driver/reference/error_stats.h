/* What the threads of one verification have seen. */
#ifndef KILN_TALLY_H
#define KILN_TALLY_H

#include "verify.h"

/* Of one thread. */
typedef struct tally {
    int64_t checked, bad, untouched, max_abs_at;
    double max_abs, got, expected, max_ulp, worst, bound;
    double squares, largest; /* of MIOpen's metric */
    char pad[64];            /* keeps two threads' tallies on different cache lines */
} tally;

/* One for each thread, which the caller frees; NULL: out of memory. */
tally *tallies_new(void);
/* An element whose right value is `value`, and its error. */
void tally_note(tally *t, int64_t at, double got, double value, double error);
/* Those of all threads together. */
verify_result tally_result(const tally *all, const kiln_problem *problem, int64_t total);

#endif
