/* The rows of a comparison: prints each, writes it as JSON, and sums up class by class. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"

#include "turns.h"

/* One contender of a row. */
typedef struct result {
    char name[32], detail[240];
    turns_times times;
    double ratio; /* kiln's speed over this contender's */
} result;

typedef struct row {
    const char *class_name;
    const work *work;
    result result[TURNS_CONTENDERS];
    int count; /* the first is kiln */
    int rival; /* index of the fastest peer; 0: there is none */
} row;

typedef struct results {
    const machine *machine;
    FILE *json; /* NULL: none */
    int rounds, disturbed, slow;
} results;

void results_start(results *r, const machine *m, FILE *json);
void results_row(results *r, const row *row);
/* Reports a row that could not be measured, and why. */
void results_skip(const results *r, const char *class_name, const work *w, const char *why);
/* Reports how many turns other processes disturbed, and that an interrupted run ended within the
 * last of the `begun` layers, out of `of`. */
void results_end(const results *r, int begun, int of, bool interrupted);
/* Reports a class. `of` is "", or what is compared with the peers in the place of kiln; `doubtful`
 * rows are not in the mean. */
void results_class(const results *r, const char *class_name, const char *of, const stats_mean *mean,
                   int doubtful);

#endif
