/* How fast the machine is, compared with the moment in which the search began. */
#include "tuner.h"

#include <math.h>

/* How long the best candidate that needs no search is timed again beside each candidate. Where it
 * takes more or less time than in its own trial, beyond noise and the distance of its quartiles
 * then, which all but a fifth of its samples keep to, the machine's speed has changed. */
static const double pace_ms = 3, noise = 0.15;

/* Keeps the least time of the best candidate that needs no search, and returns it. */
static double note_pace(kiln_tuner *t, const kiln_result *first, double ms)
{
    if (t->paced != first->index || t->paced_ms <= 0)
        t->paced_ms = first->times.ms;
    t->paced = first->index;
    t->paced_ms = fmin(t->paced_ms, ms);
    return t->paced_ms;
}

/* The same operation measures the pace for the whole grid: with the best so far, each lucky moment
 * would add to the one before. */
double kiln_pace_of(kiln_tuner *t)
{
    enum { MOST = 5 };
    const kiln_effort effort = {pace_ms, 1, MOST, 0};
    const kiln_result *first = kiln_finalists_first(&t->found);
    double samples[MOST];
    int n;
    if (!first || kiln_bench_time(&t->bench, first->op, &effort, samples, &n) != KILN_OK)
        return 1;
    const double ms = kiln_times_of(samples, n).ms, pace = ms / first->times.ms;
    note_pace(t, first, ms);
    return isnormal(pace) && fabs(log(pace)) > noise + first->times.iqr ? pace : 1;
}

double kiln_pace_between(double before, double after)
{
    if ((before - 1) * (after - 1) <= 0)
        return 1;
    return fabs(log(before)) < fabs(log(after)) ? before : after;
}

bool kiln_pace_was_slow(kiln_tuner *t)
{
    const kiln_result *first = kiln_finalists_first(&t->found);
    return first && log(first->times.ms / note_pace(t, first, first->times.ms)) > noise;
}
