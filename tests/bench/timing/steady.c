/* Watches the machine's speed. */
#include "steady.h"

#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Returns the speed of one thread, the best of a few looks: an interrupt spoils only one of them.
 */
static double thread_speed(void)
{
    enum { LOOKS = 3, STEPS = 4000 };
    double best = 0;
    for (int i = 0; i < LOOKS; i++) {
        double start = stats_now(), flops = machine_multiply(STEPS);
        best = fmax(best, flops / (stats_now() - start));
    }
    return best;
}

/* Returns the usual time of a hand-off: the two cores of a virtual machine may share a cache most
 * of the time, or not. */
static double usual_hand_off(double now)
{
    enum { LOOKS = 101 };
    static double look[LOOKS];
    static int looks;
    double sorted[LOOKS];
    look[looks++ % LOOKS] = now;
    const int n = looks < LOOKS ? looks : LOOKS;
    memcpy(sorted, look, (size_t)n * sizeof *look);
    return stats_median(sorted, n);
}

/* Whether the two cores are near. With more than two cores it is chance which two meet. */
static bool are_near(void)
{
    enum { LOOKS = 3 };
    static const double far = 2;
    double now = HUGE_VAL;
    if (omp_get_max_threads() != 2)
        return true;
    for (int i = 0; i < LOOKS; i++)
        now = fmin(now, machine_hand_off());
    return now < far * usual_hand_off(now);
}

bool steady_now(void)
{
    /* Tells half speed from the tenth by which clocks vary. */
    static const double full = 0.8;
    static double most;
    double least = HUGE_VAL;
#pragma omp parallel reduction(min : least)
    least = thread_speed();
    most = fmax(most, least);
    return least > full * most && are_near();
}

bool steady_wait(double seconds)
{
    const double rest = 0.02, start = stats_now();
    while (!steady_now()) {
        if (stats_now() - start > seconds)
            return false;
        stats_sleep(rest);
    }
    return true;
}
