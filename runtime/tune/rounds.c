/* Times the best candidates again in turns, so that a drift of the machine meets all alike. */
#include "runtime/op/op.h"

#include "tuner.h"

#include <string.h>
#include <time.h>

/* How long the rounds before the grids take. Rounds are for operations of which all turns fit into
 * that time: the trial of a longer operation is no single moment. */
static const double firsts_ms = 20;
enum { TURNS = 6 };

/* How many seconds the final rounds wait until the machine is as fast as it was. A slow machine
 * does not slow all candidates alike: one work-group has no use for a second core. */
static const double patience = 2, rest = 0.05;

int kiln_rounds_turns(const kiln_tuner *t)
{
    return t->bench.most < TURNS ? t->bench.most : TURNS;
}

/* Ends with the turn in which the deadline comes. */
static void rounds(kiln_tuner *t, double ms)
{
    kiln_bench *b = &t->bench;
    kiln_finalists *f = &t->found;
    const int turns = kiln_rounds_turns(t);
    const kiln_effort effort = {ms / turns, 1, b->most / turns, 0};
    int runs[KILN_FINALISTS] = {0};
    bool bad[KILN_FINALISTS] = {false};
    for (int turn = 0; turn < turns && !(turn > 0 && kiln_bench_is_late(b)); turn++)
        for (int i = 0; i < f->nfinalists; i++) {
            int n;
            bad[i] = bad[i] || kiln_bench_time(b, f->finalist[i].op, &effort,
                                               &b->samples[i * b->most + runs[i]], &n) != KILN_OK;
            runs[i] += bad[i] ? 0 : n;
        }
    kiln_result before[KILN_FINALISTS];
    int n = f->nfinalists;
    memcpy(before, f->finalist, (size_t)n * sizeof *before);
    f->nfinalists = 0;
    for (int i = 0; i < n; i++) {
        if (bad[i]) {
            kiln_op_release(before[i].op);
            continue;
        }
        before[i].times = kiln_times_of(&b->samples[i * b->most], runs[i]);
        t->list.at[before[i].index].measured = before[i].times.ms;
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
    const double until = kiln_clock_seconds() + patience;
    rounds(t, kiln_final_ms);
    while (kiln_pace_was_slow(t) && kiln_clock_seconds() < until &&
           !kiln_bench_is_late(&t->bench)) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(rest * 1e9)}, NULL);
        rounds(t, kiln_final_ms);
    }
}
