/* Rows of a comparison: printed as they come, written as JSON, summed up class by class. */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "machine.h"
#include "stats.h"
#include "turns.h"

/* One contender of a row. */
typedef struct result {
    char name[32], detail[240];
    turns_times times;
    double ratio; /* kiln's speed over this one's */
} result;

typedef struct row {
    const char *class_name;
    const work *work;
    result result[TURNS_CONTENDERS];
    int count; /* the first is kiln */
    int rival; /* the fastest of the peers that decide; 0: there is none */
} row;

typedef struct results {
    const machine *machine;
    FILE *json; /* NULL: none */
    int rounds, disturbed;
} results;

void results_start(results *r, const machine *m, FILE *json);
void results_row(results *r, const row *row);
/* A row that could not be measured, and why. */
void results_skip(const results *r, const char *class_name, const work *w, const char *why);
/* How far other processes were in the way, and whether all of `of` layers were compared: a run that
 * was interrupted ended within the last that it had begun. */
void results_end(const results *r, int begun, int of, bool interrupted);
/* `of` is "", or what else than kiln is compared with the peers; `doubtful` rows are not in the
 * mean. */
void results_class(const results *r, const char *class_name, const char *of, const stats_mean *mean,
                   int doubtful);

#endif
