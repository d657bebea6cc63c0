/* Times the best candidates again in turns, so that a drift of the machine meets all alike. */
#include "runtime/op/op.h"

#include "tuner.h"

#include <string.h>
#include <time.h>

/* How long the rounds before the grids take. Rounds are for operations of which all turns fit into
 * that time: the trial of a longer operation is no single moment. */
static const double firsts_ms = 20;
/* Rows tell in how many turns they won: kiln_row_wins() wants so many. */
enum { TURNS = KILN_ROW_TURNS };

/* How many seconds the final rounds wait until the machine is as fast as it was. A slow machine
 * does not slow all candidates alike: one work-group has no use for a second core. */
static const double patience = 2, rest = 0.05;

int kiln_rounds_turns(const kiln_tuner *t)
{
    return t->bench.most < TURNS ? t->bench.most : TURNS;
}

/* What the finalists took in turns. */
typedef struct taken {
    double ms[KILN_FINALISTS][TURNS]; /* medians */
    int turns, runs[KILN_FINALISTS];
    bool bad[KILN_FINALISTS];
} taken;

/* Ends with the turn in which the deadline comes. */
static void take(kiln_tuner *t, double ms, taken *of)
{
    kiln_bench *b = &t->bench;
    const kiln_finalists *f = &t->found;
    const int turns = kiln_rounds_turns(t);
    const kiln_effort effort = {ms / turns, 1, b->most / turns, 0};
    for (; of->turns < turns && !(of->turns > 0 && kiln_bench_is_late(b)); of->turns++)
        for (int i = 0; i < f->nfinalists; i++) {
            double *samples = &b->samples[i * b->most + of->runs[i]];
            kiln_op *op = f->finalist[i].op;
            int n;
            if (op && !of->bad[i])
                of->bad[i] = kiln_bench_time(b, op, &effort, samples, &n) != KILN_OK;
            if (!op || of->bad[i])
                continue;
            of->ms[i][of->turns] = kiln_times_of(samples, n).ms;
            of->runs[i] += n;
        }
}

/* Returns the place of the guess among the finalists; -1: it is none, or did not run. */
static int place_of_guess(const kiln_finalists *f, const taken *of)
{
    for (int i = 0; i < f->nfinalists; i++)
        if (f->finalist[i].index == f->guess && f->finalist[i].op && !of->bad[i])
            return i;
    return -1;
}

static void rounds(kiln_tuner *t, double ms)
{
    kiln_bench *b = &t->bench;
    kiln_finalists *f = &t->found;
    taken of = {.turns = 0};
    take(t, ms, &of);
    const int guess = place_of_guess(f, &of);
    kiln_result before[KILN_FINALISTS];
    int n = f->nfinalists;
    memcpy(before, f->finalist, (size_t)n * sizeof *before);
    f->nfinalists = 0;
    for (int i = 0; i < n; i++) {
        if (of.bad[i]) {
            kiln_op_release(before[i].op);
            continue;
        }
        if (before[i].op) {
            before[i].times = kiln_times_of(&b->samples[i * b->most], of.runs[i]);
            if (guess >= 0)
                before[i].win = kiln_win_of(of.ms[i], of.ms[guess], of.turns);
            t->list.at[before[i].index].measured = before[i].times.ms;
        }
        kiln_finalists_place(f, &before[i]);
    }
}

void kiln_rounds_first(kiln_tuner *t)
{
    if (t->found.nfinalists > 1 &&
        t->found.finalist[0].times.ms * kiln_rounds_turns(t) <= firsts_ms)
        rounds(t, firsts_ms);
}

void kiln_rounds_final(kiln_tuner *t)
{
    const double until = kiln_run_seconds() + patience;
    rounds(t, kiln_final_ms);
    while (kiln_pace_was_slow(t) && kiln_run_seconds() < until && !kiln_bench_is_late(&t->bench)) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(rest * 1e9)}, NULL);
        rounds(t, kiln_final_ms);
    }
}
