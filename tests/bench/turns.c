/* Times contenders in turns. */
#include "turns.h"

#include "stats.h"
#include "steady.h"

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

/* Runs shorter than this vary from turn to turn, with the core whose cache has their data and with
 * the order of turns. Their contenders get so many times the rounds, and none loses early. */
static const double brief_seconds = 25e-6;
enum { BRIEF_ROUNDS = 5 };

/* Where the turns of a contender that is compared differ by more than this factor, a median of
 * three is chance, and all contenders get so many times the rounds. */
static const double scattered = 1.15;
enum { SCATTERED_ROUNDS = 3 };

/* A turn that others disturb may last this many times its length. */
static const double patience = 12;

/* All turns of a slow contender together may last this many times their planned length. */
static const double tolerance = 8;

/* All turns of a comparison together wait at most so many seconds for full speed. */
static const double slow_seconds = 4;

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

/* What is known about a contender. */
typedef struct runner {
    contender *c;
    double expected; /* seconds of one run */
    double cpus;     /* the most CPUs at work in any sample */
    double waited;   /* the least of any sample */
    int rounds;      /* number of rounds that it gets */
} runner;

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

static double glance(runner *who, double enough, bool *calm)
{
    enum { GLANCES = 12, ENOUGH = 3 };
    double best = HUGE_VAL, best_quiet = HUGE_VAL, spent = 0;
    int n = 0;
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

double turns_glance(contender *c, double enough_ms, bool *calm)
{
    runner who = {.c = c, .waited = own_wait};
    double seconds = glance(&who, enough_ms / 1e3, calm);
    return seconds < 0 ? seconds : seconds * 1e3;
}

/* Returns the median time of a run in one turn, in ms; -1: a run failed. */
static double take_turn(runner *who, const turns_plan *plan, bool *calm)
{
    double samples[SAMPLES];
    sample best = {.waited = HUGE_VAL};
    bool warm = false;
    int n = 0, batch = 1;
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

/* Gives a contender its turn of a round. A turn that ends at less than full speed is repeated after
 * a wait for full speed, as long as *left seconds last. */
static bool add_round(turns_times *t, runner *who, const turns_plan *plan, double *left)
{
    bool calm = false, steady = true;
    double ms;
    do {
        double start = stats_now();
        if (!steady)
            steady_wait(*left);
        ms = take_turn(who, plan, &calm);
        steady = steady_now();
        if (!steady)
            *left -= stats_now() - start;
    } while (ms >= 0 && !steady && *left > 0);
    calm = calm && steady;
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

/* Other machines may share the caches and the memory, and no counter shows that. A round that takes
 * this much longer than the shortest rounds of the contender does not count. */
static const double much_longer = 1.4;

static void mark_slow(turns_times *t)
{
    enum { LUCKY = 5 }; /* one of so many rounds may be too fast to compare others with */
    double quiet_ones[TURNS_ROUNDS];
    int n = 0;
    for (int r = 0; r < t->rounds; r++)
        if (t->quiet[r])
            quiet_ones[n++] = t->round[r];
    stats_median(quiet_ones, n); /* sorts them */
    const double least = n ? quiet_ones[(n - 1) / LUCKY] : HUGE_VAL;
    for (int r = 0; r < t->rounds; r++)
        if (t->quiet[r] && t->round[r] > much_longer * least) {
            t->quiet[r] = false;
            t->disturbed++;
        }
}

/* Drops contenders that have lost. The first one stays: the others are compared with it. */
static void drop_losers(runner *who, const turns_times *times, int n, double hopeless)
{
    double best = HUGE_VAL;
    for (int i = 1; i < n; i++)
        if (times[i].quiet[0])
            best = fmin(best, times[i].round[0]);
    for (int i = 1; i < n; i++)
        if (times[i].quiet[0] && times[i].round[0] > hopeless * best)
            who[i].rounds = 1;
}

/* Glances at every contender and plans its rounds. Returns the number of rounds; 0: a run failed.
 */
static int meet(runner *who, contender *const *c, int n, const turns_plan *plan)
{
    double least = HUGE_VAL;
    for (int i = 0; i < n; i++) {
        bool calm;
        who[i] = (runner){.c = c[i], .waited = own_wait};
        who[i].expected = glance(&who[i], HUGE_VAL, &calm);
        if (who[i].expected < 0)
            return 0;
        least = fmin(least, who[i].expected);
    }
    const bool brief = least < brief_seconds && !plan->latency;
    const int rounds = (int)fmin(plan->rounds * (brief ? BRIEF_ROUNDS : 1), TURNS_ROUNDS);
    for (int i = 0; i < n; i++) {
        double afford = tolerance * rounds * plan->seconds / (who[i].expected + plan->seconds);
        who[i].rounds = (int)fmin(fmax(afford, 1), rounds);
    }
    return rounds;
}

static bool scatters(const turns_times *t)
{
    double least = HUGE_VAL, most = 0;
    for (int r = 0; r < t->rounds; r++) {
        least = fmin(least, t->round[r]);
        most = fmax(most, t->round[r]);
    }
    return most > scattered * least;
}

/* Returns the number of rounds after a look at the first ones, and gives it to contenders that were
 * to take all of them. Disturbed rounds count as scattered, because the median lacks them. */
static int more_rounds(runner *who, const turns_times *times, int n, int bystanders, int rounds)
{
    const int more = (int)fmin(rounds * SCATTERED_ROUNDS, TURNS_ROUNDS);
    int best = 0;
    for (int i = 1; i < n - bystanders; i++)
        if (who[i].rounds == rounds &&
            (!best || median_round(&times[i]) < median_round(&times[best])))
            best = i;
    if (who[0].rounds < rounds || !(scatters(&times[0]) || (best && scatters(&times[best]))))
        return rounds;
    for (int i = 0; i < n; i++)
        if (who[i].rounds == rounds)
            who[i].rounds = more;
    return more;
}

bool turns_take(contender *const *c, int n, const turns_plan *plan, turns_times *times)
{
    runner who[TURNS_CONTENDERS];
    double left = slow_seconds;
    const int planned = meet(who, c, n, plan);
    int rounds = planned;
    for (int i = 0; i < n; i++)
        times[i].rounds = times[i].disturbed = 0;
    for (int r = 0; r < rounds; r++) {
        for (int turn = 0; turn < n; turn++) {
            int i = (turn + r) % n;
            if (r < who[i].rounds && !add_round(&times[i], &who[i], plan, &left))
                return false;
        }
        if (r == 0 && planned == plan->rounds && plan->hopeless > 0)
            drop_losers(who, times, n - plan->bystanders, plan->hopeless);
        if (r == planned - 1 && planned == plan->rounds)
            rounds = more_rounds(who, times, n, plan->bystanders, planned);
    }
    for (int i = 0; i < n; i++) {
        mark_slow(&times[i]);
        times[i].ms = median_round(&times[i]);
    }
    return rounds > 0;
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
