/* The cores that a bench may use. */
#ifndef BENCH_CPUS_H
#define BENCH_CPUS_H

/* Lets the calling thread use all cores that BENCH_CPUS has, as in "0-3,8", or all there are.
 * OpenMP binds the first thread of a process to one core, and processes and threads inherit that.
 */
void cpus_use_all(void);

/* Returns how many cores those are. */
int cpus_count(void);

#endif
