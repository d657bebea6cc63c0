/* A search while it runs: what its parts share. */
#ifndef KILN_TUNER_H
#define KILN_TUNER_H

#include "bench.h"
#include "finalists.h"

enum { KILN_UPCOMING = 24 };

typedef struct kiln_tuner {
    kiln_bench bench;
    const kiln_tune_options *options;
    const kiln_shape *shape;
    kiln_candidates list;
    size_t tried;  /* trials, those of earlier searches included */
    size_t ran;    /* trials that this search began, repeated ones included */
    size_t trials; /* how many there may be */
    double start;  /* by kiln_run_seconds() */
    kiln_finalists found;
    double improved_ms; /* the best time when it last improved, and how many trials of the grids */
    int64_t since;      /* came after that */
    size_t paced;       /* the trial of the candidate that measures the pace */
    double paced_ms;    /* the least time that it took, luck included */
    kiln_trial *upcoming; /* room for what the caller is told of the next trials, or NULL */
    bool stopped;
    bool lacks_means;              /* the machine can build or run nothing now */
    bool lost;                     /* the same of the device, for as long as it is open */
    char lacking[160];             /* what came of that */
    char failure[KILN_ERROR_TEXT]; /* the first one, for the case that nothing works */
} kiln_tuner;

/* How long, in ms, the final rounds time each of the best, unless the caller says how often. */
static const double kiln_final_ms = 60;

/* pace.c */

/* Returns how much slower the machine is than it was: it may be virtual, and slow for seconds. */
double kiln_pace_of(kiln_tuner *t);
/* Returns the pace between two moments: a change that is over at the second one was a hitch. */
double kiln_pace_between(double before, double after);
/* Returns whether the last rounds fell into a slow time. */
bool kiln_pace_was_slow(kiln_tuner *t);

/* recall.c */

/* Puts the fastest results of earlier searches among the finalists, without operations: they are
 * what the search has to beat, and its winners where it ends before it has repeated them. */
void kiln_recall(kiln_tuner *t);
/* Repeats the trials of the best that needs no search, which measures the pace, and of the guess.
 */
void kiln_recall_pace(kiln_tuner *t);
/* Repeats the trials of all other finalists, for the final rounds. */
void kiln_recall_rest(kiln_tuner *t);
/* Forgets by how much repeated trials were slower, in a search that stopped before its final
 * rounds: one moment is as good as another. */
void kiln_recall_times(kiln_tuner *t);

/* rounds.c */

/* Returns in how many turns the finalists are timed. */
int kiln_rounds_turns(const kiln_tuner *t);
/* Time the finalists again in turns: before the grids, and at the end. */
void kiln_rounds_first(kiln_tuner *t);
void kiln_rounds_final(kiln_tuner *t);

/* trial.c */

/* Returns whether a candidate is to be tried: no earlier search has, and it is not so slow by its
 * prediction that a search under a limit of time leaves it out. */
bool kiln_trial_is_due(const kiln_tuner *t, size_t index);
/* Tries a candidate, and tells the caller before and after. Returns false where it could not be
 * judged: the time was over, or the machine lacks the means. */
bool kiln_trial_run(kiln_tuner *t, size_t index);
/* Fills what the caller is told about a trial and about the best so far. */
void kiln_trial_fill(const kiln_tuner *t, const kiln_result *r, kiln_trial *trial);

#endif
