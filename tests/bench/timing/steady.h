/* Whether the machine runs at its full speed.
 *
 * A virtual machine may run at half speed for seconds, when its host gives the other hardware
 * thread of a core to another machine. No counter shows that, but plain multiply-adds do. The host
 * may also move the two cores to where they share no cache: then a hand-off between threads takes
 * five times as long, and an operation of some microseconds twice as long. */
#ifndef BENCH_STEADY_H
#define BENCH_STEADY_H

#include <stdbool.h>

/* Multiplies on all CPUs for a tenth of a millisecond. Returns whether each CPU was about as fast
 * as the fastest so far and, of two CPUs, whether a cache line went between them as fast as usual.
 * Threads of OpenMP's runtime spin for a while after it. */
bool steady_now(void);

/* Repeats steady_now() until it returns true or `seconds` have passed. */
bool steady_wait(double seconds);

#endif
