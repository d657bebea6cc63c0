/* The cost of waking another thread. */
#ifndef BENCH_WAKE_H
#define BENCH_WAKE_H

#include <stdbool.h>

/* Medians in microseconds: the time of the waking call, and from there until the other thread runs.
 */
typedef struct wake {
    double call, until_runs;
} wake;

/* Measures between two OpenMP threads. The other one has waited for `gap_us`: on a condition
 * variable, as PoCL's threads do, or spinning. */
wake wake_measure(double gap_us, bool spins);

#endif
