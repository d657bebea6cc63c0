/* Times contenders in turns. */
#include "turns.h"

#include "tests/bench/base/stats.h"

#include "runner.h"
#include "steady.h"

#include <math.h>

/* Runs shorter than this vary from turn to turn, with the core whose cache has their data and with
 * the order of turns. Their contenders get so many times the rounds, and none loses early. */
static const double brief_seconds = 25e-6;
enum { BRIEF_ROUNDS = 5 };

/* Where the turns of a contender that is compared differ by more than this factor, a median of
 * three is chance, and all contenders get so many times the rounds. */
static const double scattered = 1.15;
enum { SCATTERED_ROUNDS = 3 };

/* All turns of a slow contender together may last this many times their planned length. */
static const double tolerance = 8;

/* All turns of a comparison together wait at most so many seconds for full speed. */
static const double slow_seconds = 4;

double turns_glance(contender *c, double enough_ms, bool *calm)
{
    runner who = runner_new(c);
    double seconds = runner_glance(&who, enough_ms / 1e3, calm);
    return seconds < 0 ? seconds : seconds * 1e3;
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
        ms = runner_take_turn(who, plan, &calm);
        steady = steady_now();
        if (!steady)
            *left -= stats_now() - start;
    } while (ms >= 0 && !steady && *left > 0);
    t->slow += !steady;
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
        who[i] = runner_new(c[i]);
        who[i].expected = runner_glance(&who[i], HUGE_VAL, &calm);
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
        times[i].rounds = times[i].disturbed = times[i].slow = 0;
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
