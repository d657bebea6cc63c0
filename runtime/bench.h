/* One problem's buffers and queue, on which candidates are run, verified and timed. */
#ifndef KILN_BENCH_H
#define KILN_BENCH_H

#include "kiln_internal.h"

typedef struct kiln_bench {
    kiln *k;
    const kiln_problem *problem; /* checked */
    cl_command_queue queue;      /* with profiling */
    kiln_buffers buffers;        /* with a workspace that grows as candidates need it */
    size_t workspace_size;
    int runs, most;  /* timed launches of a candidate: at least, at most */
    double *samples; /* at least `most` of them */
    int (*verify)(void *user, const kiln_op *op);
    void *user;
} kiln_bench;

typedef struct kiln_times {
    double ms, spread; /* median; (90th - 10th percentile) / median */
    int runs;
} kiln_times;

/* Sorts the samples. */
kiln_times kiln_times_of(double *samples, int n);

/* How many launches of `ms` each make up `enough` ms, within the bench's limits. */
int kiln_bench_rounds(const kiln_bench *b, double ms, double enough);

/* Creates the operation, poisons the destination, runs and verifies, then times it: two or three
 * times if none of them takes less than `worth` ms (0: no limit), else for some milliseconds.
 * Returns the verdict of kiln_trial, with the reason of a failure in kiln_last_error(). *op is the
 * caller's to release, NULL where there is none. */
int kiln_bench_measure(kiln_bench *b, const kiln_solver *solver, const kiln_config *config,
                       double worth, kiln_op **op, kiln_times *times);

#endif
