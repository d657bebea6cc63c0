/* Contenders run in turns, so that other load on the machine affects all of them alike.
 *
 * A sample counts when its threads hardly waited for a CPU. Where other processes leave no such
 * sample within reasonable time, the turn takes the least disturbed one and is marked. A turn is
 * also marked when the machine is not at full speed after it, or when it is much slower than the
 * other turns of the contender.
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "tests/bench/peers/contender.h"

enum { TURNS_CONTENDERS = 15, TURNS_ROUNDS = 64 };

typedef struct turns_plan {
    int rounds;     /* at most TURNS_ROUNDS; brief or scattered operations get more */
    double seconds; /* of one turn; a run that takes longer is a turn of its own */
    bool latency;   /* wait for each run; else for a batch of them */
    /* Where not 0: a contender that takes this many times as long as the best one, the first left
     * aside, has lost after a round. */
    double hopeless;
    int bystanders; /* the number of contenders at the end that no other loses to */
} turns_plan;

/* The result of one contender: a time for each round, in ms. Slow contenders take only the first
 * rounds.
 */
typedef struct turns_times {
    int rounds;
    double round[TURNS_ROUNDS];
    bool quiet[TURNS_ROUNDS]; /* false: the round was disturbed */
    int disturbed;            /* the number of rounds that were not quiet */
    int slow;  /* of these, at the end of which the machine was below its full speed */
    double ms; /* median of the quiet rounds, or of all where none was quiet */
} turns_times;

/* Takes the times of `n` contenders. Returns false where a run failed. */
bool turns_take(contender *const *c, int n, const turns_plan *plan, turns_times *times);

/* Returns a first impression in ms: the best of a few runs, of quiet runs if there are any; a
 * single run where it takes so long that `enough_ms` is out of reach. Negative: a run failed. */
double turns_glance(contender *c, double enough_ms, bool *calm);

/* Returns how much faster a is: the median of b's time over a's in rounds that were quiet for both,
 * or the ratio of their medians where there is no such round. */
double turns_ratio(const turns_times *a, const turns_times *b);

/* Returns whether one of the two had no quiet round, so that their ratio says little. */
bool turns_doubtful(const turns_times *a, const turns_times *b);

#endif
