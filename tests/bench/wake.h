/* What it costs to wake another thread. */
#ifndef BENCH_WAKE_H
#define BENCH_WAKE_H

#include <stdbool.h>

/* Microseconds, medians: for the one that wakes, and from there until the other runs. */
typedef struct wake {
    double call, until_runs;
} wake;

/* Between two OpenMP threads. The other has waited for `gap_us`: on a condition variable, as PoCL's
 * threads do, or spinning. */
wake wake_measure(double gap_us, bool spins);

#endif
