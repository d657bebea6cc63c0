/* One contender in a comparison by turns: takes its samples and keeps what they tell about it. */
#ifndef BENCH_RUNNER_H
#define BENCH_RUNNER_H

#include "turns.h"

/* What is known about a contender. */
typedef struct runner {
    contender *c;
    double expected; /* seconds of one run */
    double cpus;     /* the most CPUs at work in any sample */
    double waited;   /* the least of any sample */
    int rounds;      /* number of rounds that it gets */
} runner;

runner runner_new(contender *c);

/* Returns a first impression in seconds, as turns_glance() does in ms; negative: a run failed. */
double runner_glance(runner *who, double enough, bool *calm);

/* Returns the median time of a run in one turn, in ms; -1: a run failed. *calm tells whether there
 * was an undisturbed sample. */
double runner_take_turn(runner *who, const turns_plan *plan, bool *calm);

#endif
