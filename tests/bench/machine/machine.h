/* The machine that the numbers come from, and its limits. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "driver/base/session.h"

#include <stdio.h>

typedef struct machine {
    char date[32], cpu[128], opencl[400];
    int threads;
    double peak_gflops;   /* fused multiply-adds from registers, all threads */
    double pairs_gflops;  /* the same by products of pairs of bf16; 0: the CPU has none */
    double bandwidth_gbs; /* bytes read and written by a copy far larger than the caches */
    double hand_off_ns;   /* a cache line from one thread's core to another's; 0: one thread */
} machine;

/* Opens the device, by name or NULL for the one that KILN_DEVICE names, with a queue without
 * profiling, and describes the machine. Returns false, with the reason on standard error, where
 * there is none. */
bool machine_open(machine *m, session *s, const char *device);
/* Replaces the queue by one without profiling, as applications have: taking the times of a command
 * costs PoCL a tenth to half of a microsecond, and other drivers more. Returns false, with the
 * reason on standard error, where there is none. */
bool machine_forgo_profiling(session *s);
/* Measures the limits, the best of many rounds; takes about a second. */
void machine_measure(machine *m);
void machine_print(const machine *m, FILE *to);

/* Multiplies and adds as fast as the CPU can, in one thread. Returns the floating-point operations
 * done.
 */
double machine_multiply(int64_t steps);
/* The same by products of pairs of bf16; 0: the CPU has none. */
double machine_multiply_pairs(int64_t steps);

/* Returns the seconds that a cache line takes from one thread's core to another's, on average over
 * a fortieth of a millisecond where the cores are neighbours. */
double machine_hand_off(void);

#endif
