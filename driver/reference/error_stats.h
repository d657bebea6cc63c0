/* The errors that the threads of one verification find, and their sum. */
#ifndef KILN_ERROR_STATS_H
#define KILN_ERROR_STATS_H

#include "verify.h"

/* The errors that one thread met. */
typedef struct error_stats {
    int64_t checked, bad, untouched, nonfinite, max_abs_at;
    double max_abs, got, expected, max_ulp, worst, bound;
    double squares, largest; /* of MIOpen's metric */
    char pad[64];            /* keeps the stats of two threads on different cache lines */
} error_stats;

/* Returns an array with one element for each thread, which the caller frees; NULL: out of memory.
 */
error_stats *error_stats_new(void);
/* Notes the error of element `at`, which is `got` and should be `value`. */
void error_stats_note(error_stats *t, int64_t at, double got, double value, double error);
/* Adds up the stats of all threads. */
verify_result error_stats_result(const error_stats *all, const kiln_problem *problem,
                                 int64_t total);

#endif
