/* Whether the machine runs at its full speed.
 *
 * A virtual machine may have half of it for seconds, when its host gives the other hardware thread
 * of a core to someone else, and no count shows it; plain multiply-adds do. Its two cores may also
 * be moved apart, to where they share no cache: whatever threads hand to one another then takes
 * five times as long, and operations of some microseconds twice. */
#ifndef BENCH_STEADY_H
#define BENCH_STEADY_H

#include <stdbool.h>

/* Multiplies on all CPUs for a tenth of a millisecond: whether each was about as fast as any has
 * been so far, and a cache line, where there are two of them, as fast between them. Threads of
 * OpenMP's runtime spin for a while after it. */
bool steady_now(void);

/* Looks again and again until it is so, or `seconds` have passed. */
bool steady_wait(double seconds);

#endif
