/* The machine that the numbers come from, and how fast it could be. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "driver/session.h"

#include <stdio.h>

typedef struct machine {
    char date[32], cpu[128], opencl[400];
    int threads;
    double peak_gflops;   /* fused multiply-adds from registers, all threads */
    double bandwidth_gbs; /* a copy's bytes read and written, far outside the caches */
    double hand_off_ns;   /* a cache line from one thread's core to another's; 0: one thread */
} machine;

/* Opens the CPU, with a queue without profiling, and describes it. False, with the reason on
 * standard error, where there is none. */
bool machine_open(machine *m, session *s);
/* Takes about a second: the best of many rounds. */
void machine_measure(machine *m);
void machine_print(const machine *m, FILE *to);

/* Bytes of memory that processes may still take; HUGE_VAL where the system does not tell. */
double machine_free_memory(void);

/* Multiply-adds as fast as the CPU can, one thread; returns floating-point operations done. */
double machine_multiply(int64_t steps);

/* Seconds that a cache line takes from one thread's core to another's, on average over a fortieth
 * of a millisecond, where cores are neighbours. */
double machine_hand_off(void);

#endif
