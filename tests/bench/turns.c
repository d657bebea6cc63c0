/* Takes turns. */
#include "turns.h"

#include "stats.h"

#include <math.h>

enum { SAMPLES = 256, MAX_BATCH = 200 };

/* Threads of OpenMP's runtime spin for some milliseconds after their work; whoever comes next must
 * not pay for that. A process that has slept is also the first to get a CPU that others want. */
static const double settle = 0.008;

/* A batch is long enough to hide the wait for its end, and short enough to be over before the
 * system's scheduler lets another process run. */
static const double batch_seconds = 0.0025;

/* A turn may last this many times its length when others are in the way. */
static const double patience = 12;

/* All turns of a slow contender together last this many times what they were meant to. */
static const double tolerance = 8;

/* Of a sample's time, what all its threads together may wait for a CPU. */
static const double quiet = 0.05;

typedef struct sample {
    double seconds; /* of one run; negative: it failed */
    bool quiet;
    double waited; /* share of the time */
} sample;

static sample take_sample(contender *c, int runs)
{
    bool fine = true;
    double waited = stats_waited(), start = stats_now();
    for (int i = 0; i < runs; i++)
        fine = fine && c->calls->enqueue(c);
    fine = c->calls->finish(c) && fine;
    double seconds = stats_now() - start;
    waited = (stats_waited() - waited) / seconds;
    return (sample){fine ? seconds / runs : -1, waited < quiet, waited};
}

double turns_glance(contender *c, bool *calm)
{
    enum { GLANCES = 12, ENOUGH = 3 };
    double best = HUGE_VAL, best_quiet = HUGE_VAL, spent = 0;
    int n = 0;
    stats_sleep(settle);
    for (int i = 0; i < GLANCES && n < ENOUGH && (i == 0 || spent < 0.5); i++) {
        sample s = take_sample(c, 1);
        if (s.seconds < 0)
            return -1;
        best = fmin(best, s.seconds);
        spent += s.seconds;
        if (s.quiet) {
            best_quiet = fmin(best_quiet, s.seconds);
            n++;
        } else {
            stats_sleep(settle);
        }
    }
    *calm = n > 0;
    return (n ? best_quiet : best) * 1e3;
}

/* Median time of a run in one turn, in ms; -1 on failure. */
static double take_turn(contender *c, const turns_plan *plan, double expected, bool *calm)
{
    double samples[SAMPLES];
    sample best = {.waited = HUGE_VAL};
    bool warm = false;
    int n = 0, batch = 1;
    if (!plan->latency)
        batch = (int)fmin(fmax(batch_seconds / expected, 1), MAX_BATCH);
    double start = stats_now(), passed = 0;
    while (n < SAMPLES && passed < (n ? 1 : patience) * plan->seconds) {
        if (!warm) {
            stats_sleep(settle);
            if (expected < plan->seconds && take_sample(c, 1).seconds < 0)
                return -1;
        }
        sample s = take_sample(c, batch);
        if (s.seconds < 0)
            return -1;
        warm = s.quiet;
        if (s.quiet)
            samples[n++] = s.seconds * 1e3;
        if (s.waited < best.waited)
            best = s;
        passed = stats_now() - start;
    }
    *calm = n > 0;
    return n ? stats_median(samples, n) : best.seconds * 1e3;
}

static bool add_round(turns_times *t, contender *c, const turns_plan *plan, double expected)
{
    bool calm;
    double ms = take_turn(c, plan, expected, &calm);
    t->round[t->rounds] = ms;
    t->quiet[t->rounds++] = calm;
    t->disturbed += !calm;
    return ms >= 0;
}

static double median_round(const turns_times *t)
{
    double chosen[TURNS_ROUNDS];
    int n = 0;
    for (int r = 0; r < t->rounds; r++)
        if (t->quiet[r] || t->disturbed == t->rounds)
            chosen[n++] = t->round[r];
    return stats_median(chosen, n);
}

bool turns_take(contender *const *c, int n, const turns_plan *plan, turns_times *times)
{
    int rounds[TURNS_CONTENDERS];
    double expected[TURNS_CONTENDERS];
    for (int i = 0; i < n; i++) {
        bool calm;
        expected[i] = turns_glance(c[i], &calm) * 1e-3;
        if (expected[i] < 0)
            return false;
        double afford = tolerance * plan->rounds * plan->seconds / (expected[i] + plan->seconds);
        rounds[i] = (int)fmin(fmax(afford, 1), plan->rounds);
        times[i].rounds = times[i].disturbed = 0;
    }
    for (int r = 0; r < plan->rounds; r++)
        for (int turn = 0; turn < n; turn++) {
            int i = (turn + r) % n;
            if (r < rounds[i] && !add_round(&times[i], c[i], plan, expected[i]))
                return false;
        }
    for (int i = 0; i < n; i++)
        times[i].ms = median_round(&times[i]);
    return true;
}

double turns_ratio(const turns_times *a, const turns_times *b)
{
    double ratio[TURNS_ROUNDS];
    int n = 0;
    for (int r = 0; r < a->rounds && r < b->rounds; r++)
        if (a->quiet[r] && b->quiet[r])
            ratio[n++] = b->round[r] / a->round[r];
    return n ? stats_median(ratio, n) : b->ms / a->ms;
}

bool turns_doubtful(const turns_times *a, const turns_times *b)
{
    return a->disturbed == a->rounds || b->disturbed == b->rounds;
}
