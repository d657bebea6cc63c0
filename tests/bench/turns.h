/* Contenders run in turns, so that whatever else the machine does meets all of them alike.
 *
 * A sample counts when its threads hardly waited for a CPU. Where other processes leave no such
 * sample within reasonable time, the least disturbed one stands for the turn, and the turn is
 * marked. So is one after which the machine is not at full speed, and one much slower than the same
 * contender's others.
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "contender.h"

enum { TURNS_CONTENDERS = 15, TURNS_ROUNDS = 64 };

typedef struct turns_plan {
    int rounds;     /* at most TURNS_ROUNDS; operations that are brief or scatter get more */
    double seconds; /* of one turn; a run that takes longer is a turn of its own */
    bool latency;   /* wait for each run; else for a batch of them */
    /* Where not 0: a contender that takes this many times as long as the best of those behind the
     * first has lost after a round. */
    double hopeless;
    int bystanders; /* the last so many: nobody loses to them */
} turns_plan;

/* What came of one contender: a time for each round, in ms. Slow ones take fewer rounds, always the
 * first ones. */
typedef struct turns_times {
    int rounds;
    double round[TURNS_ROUNDS];
    bool quiet[TURNS_ROUNDS]; /* false: others were in the way */
    int disturbed;            /* how many of the rounds were not quiet */
    double ms;                /* median of the quiet rounds; of all where none was */
} turns_times;

/* False when a run failed. */
bool turns_take(contender *const *c, int n, const turns_plan *plan, turns_times *times);

/* A first impression, in ms: the best of a few runs, of the quiet ones if there are; of one run
 * where that took so long that `enough_ms` is out of reach. Negative when one failed. */
double turns_glance(contender *c, double enough_ms, bool *calm);

/* How much faster a is: the median of b's time over a's, of the rounds that were quiet for both;
 * where there is none, of their medians. */
double turns_ratio(const turns_times *a, const turns_times *b);

/* Whether one of the two had no quiet round, so that their ratio says little. */
bool turns_doubtful(const turns_times *a, const turns_times *b);

#endif
