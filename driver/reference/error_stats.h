/* What the threads of one verification have seen. */
#ifndef KILN_ERROR_STATS_H
#define KILN_ERROR_STATS_H

#include "verify.h"

/* Of one thread. */
typedef struct error_stats {
    int64_t checked, bad, untouched, max_abs_at;
    double max_abs, got, expected, max_ulp, worst, bound;
    double squares, largest; /* of MIOpen's metric */
    char pad[64];            /* keeps two threads' stats on different cache lines */
} error_stats;

/* One for each thread, which the caller frees; NULL: out of memory. */
error_stats *error_stats_new(void);
/* An element whose right value is `value`, and its error. */
void error_stats_note(error_stats *t, int64_t at, double got, double value, double error);
/* Those of all threads together. */
verify_result error_stats_result(const error_stats *all, const kiln_problem *problem,
                                 int64_t total);

#endif
