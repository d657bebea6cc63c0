/* One problem's buffers and queue, on which candidates are run, verified and timed. */
#ifndef KILN_BENCH_H
#define KILN_BENCH_H

#include "runtime/op/op.h"

typedef struct kiln_bench {
    kiln *k;
    const kiln_problem *problem; /* checked */
    cl_command_queue queue;      /* with profiling */
    kiln_buffers buffers;        /* with a workspace that grows as candidates need it; no packed */
    size_t workspace_size;
    double deadline; /* by kiln_run_seconds(); 0: none */
    int runs, most;  /* samples of a candidate: at least, at most */
    double *samples; /* at least `most` of them */
    int (*verify)(void *user, const kiln_op *op, double *error);
    void *user;
    double build_seconds, error; /* of the last candidate: to make its programs; verify's word */
} kiln_bench;

typedef struct kiln_times {
    double ms, iqr; /* median; (upper - lower quartile) / median */
    int runs;
} kiln_times;

/* Returns the times of `n` samples, which it sorts. */
kiln_times kiln_times_of(double *samples, int n);

/* How much is to be measured. */
typedef struct kiln_effort {
    double ms;       /* all samples together */
    int least, most; /* samples */
    double limit; /* an operation that takes longer in every one of its first samples is not timed
                     further; 0: no limit */
} kiln_effort;

/* Fills `samples` with the time of a launch in ms, `*n` times, with weights packed beforehand.
 * Samples of a short operation are means of launches in a row, as in a network. */
kiln_status kiln_bench_time(kiln_bench *b, kiln_op *op, const kiln_effort *effort, double *samples,
                            int *n);

/* What kiln_bench_measure() returns beside the verdicts of kiln_trial: the deadline came while the
 * candidate was compiled, and it was not run. */
enum { KILN_BENCH_LATE = -1 };
/* And that nobody can judge the candidate: there is no memory for it now, or the device answers
 * nothing any more. */
enum { KILN_BENCH_NO_MEMORY = -2, KILN_BENCH_LOST = -3 };

/* Returns whether the deadline has come. */
bool kiln_bench_is_late(const kiln_bench *b);

/* Creates the operation, poisons the destination, runs and verifies, then times it: once or three
 * times if none of them takes less than `worth` ms (0: no limit), else for some milliseconds.
 * Returns the verdict of kiln_trial, with the reason of a failure in kiln_last_error(). *op is the
 * caller's to release, NULL where there is none. */
int kiln_bench_measure(kiln_bench *b, const kiln_solver *solver, const kiln_config *config,
                       double worth, kiln_op **op, kiln_times *times);

#endif
