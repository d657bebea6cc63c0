/* The cores that a bench may use. */
#ifndef BENCH_CPUS_H
#define BENCH_CPUS_H

#include <stdbool.h>

/* Lets the calling thread use all cores that BENCH_CPUS has, as in "0-3,8", or all there are.
 * OpenMP binds the first thread of a process to one core, and processes and threads inherit that.
 */
void cpus_use_all(void);

/* Binds the calling thread to one of those cores. Returns false where it is none of them. */
bool cpus_use(int core);

/* Lets the calling thread use all those cores, if they are more than OpenMP's threads, or the cores
 * that it had when this was called first. A thread that only starts a device's work would otherwise
 * share the core of one of the device's threads while others are idle, as no program does by
 * itself. */
void cpus_place(bool anywhere);

/* Returns how many cores those are. */
int cpus_count(void);

#endif
