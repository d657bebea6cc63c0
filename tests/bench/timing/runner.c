/* Samples the times of a contender until other processes leave it alone. */
#include "runner.h"

#include "tests/bench/base/cpus.h"
#include "tests/bench/base/stats.h"

#include <math.h>
#include <unistd.h>

enum { SAMPLES = 256, MAX_BATCH = 200 };

/* Sleep between turns, in seconds. Threads of OpenMP's runtime spin for some milliseconds after
 * their work, which the next contender must not pay for. A process that has slept is also the first
 * to get a CPU that others want. */
static const double settle = 0.008;

/* The length of a batch of runs: long enough to hide the wait for its end, short enough to end
 * before the system's scheduler lets another process run. */
static const double batch_seconds = 0.005;

/* A turn that others disturb may last this many times its length. */
static const double patience = 12;

/* The share of a sample's time that all its threads together may wait for a CPU, beyond the least
 * that was seen: a thread that enqueues short kernels is in the way of the threads that run them.
 */
static const double quiet = 0.05, own_wait = 0.25;

/* Threads that had this share of all CPUs waited for one another, as kiln's threads that look for
 * work do while another enqueues it: other processes hardly had a CPU. */
static const double all = 0.95;

/* A thread that gets no CPU until the others have done its share does not count as waiting.
 * Instead, fewer CPUs are at work than this share of the number that the contender can keep busy.
 */
static const double busy = 0.8;

typedef struct sample {
    double seconds;      /* of one run; negative: it failed */
    double waited, cpus; /* over the sample's time */
} sample;

runner runner_new(contender *c)
{
    return (runner){.c = c, .waited = own_wait};
}

static sample take_sample(runner *who, int runs)
{
    contender *c = who->c;
    bool fine = true;
    double waited = stats_waited(), ran = stats_ran(), start = stats_now();
    for (int i = 0; i < runs; i++)
        fine = fine && c->calls->enqueue(c);
    fine = c->calls->finish(c) && fine;
    double seconds = stats_now() - start;
    sample s = {.seconds = fine ? seconds / runs : -1, .cpus = (stats_ran() - ran) / seconds};
    s.waited = (stats_waited() - waited) / seconds;
    who->cpus = fmax(who->cpus, s.cpus);
    who->waited = fmin(who->waited, s.waited);
    return s;
}

static bool is_quiet(const runner *who, const sample *s)
{
    return (s->waited < who->waited + quiet && s->cpus > busy * who->cpus) ||
           s->cpus > all * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The first run of a contender may take this many seconds longer than the others: it touches memory
 * and wakes threads. */
static const double first_run = 0.02;

double runner_glance(runner *who, double enough, bool *calm)
{
    enum { GLANCES = 12, ENOUGH = 3 };
    double best = HUGE_VAL, best_quiet = HUGE_VAL, spent = 0;
    int n = 0;
    cpus_place(who->c->starts_only);
    stats_sleep(settle);
    /* A first run of half a second may be slow because it touched memory. */
    for (int i = 0; i < GLANCES && n < ENOUGH && spent < (i < 2 ? 2 : 0.5); i++) {
        sample s = take_sample(who, 1);
        if (s.seconds < 0)
            return -1;
        best = fmin(best, s.seconds);
        spent += s.seconds;
        if (is_quiet(who, &s)) {
            best_quiet = fmin(best_quiet, s.seconds);
            n++;
            if (s.seconds > enough + first_run)
                break;
        } else {
            stats_sleep(settle);
        }
    }
    *calm = n > 0;
    return n ? best_quiet : best;
}

double runner_take_turn(runner *who, const turns_plan *plan, bool *calm)
{
    double samples[SAMPLES];
    sample best = {.waited = HUGE_VAL};
    bool warm = false;
    int n = 0, batch = 1;
    cpus_place(who->c->starts_only);
    if (!plan->latency)
        batch = (int)fmin(fmax(batch_seconds / who->expected, 1), MAX_BATCH);
    double start = stats_now(), passed = 0;
    while (n < SAMPLES && passed < (n ? 1 : patience) * plan->seconds) {
        if (!warm) {
            stats_sleep(settle);
            if (who->expected < plan->seconds && take_sample(who, batch).seconds < 0)
                return -1;
        }
        sample s = take_sample(who, batch);
        if (s.seconds < 0)
            return -1;
        warm = is_quiet(who, &s);
        if (warm)
            samples[n++] = s.seconds * 1e3;
        if (s.waited < best.waited)
            best = s;
        passed = stats_now() - start;
    }
    *calm = n > 0;
    return n ? stats_median(samples, n) : best.seconds * 1e3;
}
