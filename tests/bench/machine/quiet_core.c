/* Chooses a core by the time of launches that do nothing. */
#include "quiet_core.h"

#include "tests/bench/base/cpus.h"
#include "tests/bench/base/stats.h"

#include <math.h>
#include <sched.h>

static const char source[] = "kernel void nothing(void)\n{\n}\n";

/* Launches of a row, and of one before it that brings the core its data: half a millisecond. */
enum { LAUNCHES = 50, FIRST_LAUNCHES = 10 };

/* Rows from a core that nobody disturbs differ by less; a disturbed core takes a third longer. */
static const double about = 1.2;

static bool launch_row(const quiet_core *q, int launches)
{
    const size_t one = 1;
    for (int i = 0; i < launches; i++)
        if (clEnqueueNDRangeKernel(q->queue, q->kernel, 1, NULL, &one, &one, 0, NULL, NULL))
            return false;
    return !clFinish(q->queue);
}

/* Microseconds of a launch from the calling thread's core; HUGE_VAL: it failed. */
static double launch_us(quiet_core *q)
{
    if (!launch_row(q, FIRST_LAUNCHES))
        return HUGE_VAL;
    const double begin = stats_now();
    if (!launch_row(q, LAUNCHES))
        return HUGE_VAL;
    const double us = 1e6 * (stats_now() - begin) / LAUNCHES;
    q->least_us = fmin(q->least_us, us);
    return us;
}

bool quiet_core_open(quiet_core *q, const session *s)
{
    const char *text = source;
    *q = (quiet_core){.queue = s->queue, .least_us = HUGE_VAL};
    q->program = clCreateProgramWithSource(s->context, 1, &text, NULL, NULL);
    if (q->program && !clBuildProgram(q->program, 1, &s->device, "", NULL, NULL))
        q->kernel = clCreateKernel(q->program, "nothing", NULL);
    if (q->kernel && launch_us(q) < HUGE_VAL)
        return true;
    quiet_core_close(q);
    return false;
}

static bool is_quiet(const quiet_core *q, double us)
{
    return us <= about * q->least_us;
}

bool quiet_core_is_quiet(quiet_core *q)
{
    return is_quiet(q, launch_us(q));
}

/* From the core that was chosen last on, as it mostly is still quiet. */
void quiet_core_choose(quiet_core *q)
{
    double best_us = HUGE_VAL;
    int best = -1;
    for (int i = 0; i < CPU_SETSIZE && !(best >= 0 && is_quiet(q, best_us)); i++) {
        const int core = (q->core + i) % CPU_SETSIZE;
        if (!cpus_use(core))
            continue;
        const double us = launch_us(q);
        if (us < best_us) {
            best_us = us;
            best = core;
        }
    }
    if (best < 0 || !cpus_use(best))
        return;
    q->core = best;
    q->choices++;
    q->sum_us += best_us;
    q->most_us = fmax(q->most_us, best_us);
}

void quiet_core_close(quiet_core *q)
{
    if (q->kernel)
        clReleaseKernel(q->kernel);
    if (q->program)
        clReleaseProgram(q->program);
    q->kernel = NULL;
    q->program = NULL;
}
