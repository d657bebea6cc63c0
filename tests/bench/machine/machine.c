/* Describes the machine and measures its limits. */
#include "machine.h"

#include "runtime/kiln/probes.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/base/system.h"
#include "tests/bench/peers/contender.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 100, ENOUGH = 12 };

static void describe(machine *m, const session *s)
{
    char version[200] = "", name[160] = "";
    time_t now = time(NULL);
    struct tm utc;
    *m = (machine){.threads = omp_get_max_threads()};
    strftime(m->date, sizeof m->date, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    if (!system_entry("/proc/cpuinfo", "model name", m->cpu, sizeof m->cpu))
        snprintf(m->cpu, sizeof m->cpu, "unknown CPU");
    clGetDeviceInfo(s->device, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    clGetDeviceInfo(s->device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    snprintf(m->opencl, sizeof m->opencl, "%s, %s", version, name);
}

bool machine_forgo_profiling(session *s)
{
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(s->context, s->device, 0, &code);
    if (!queue) {
        fprintf(stderr, "bench: no queue without profiling\n");
        return false;
    }
    clReleaseCommandQueue(s->queue);
    s->queue = queue;
    return true;
}

bool machine_open(machine *m, session *s, const char *device)
{
    char why[KILN_ERROR_TEXT];
    if (session_open(s, device, why)) {
        fprintf(stderr, "bench: %s\n", why);
        return false;
    }
    if (!machine_forgo_profiling(s)) {
        session_close(s);
        return false;
    }
    kiln_probe_pocl(s->kiln); /* lest the first operation pays for it, in a turn of its own */
    describe(m, s);
    return true;
}

static double measure_peak(double (*multiply)(int64_t steps))
{
    const int64_t steps = 400000;
    double flops = 0, start = stats_now();
#pragma omp parallel reduction(+ : flops)
    flops += multiply(steps);
    return flops / (stats_now() - start) / 1e9;
}

/* Each thread copies a part of its own. */
static double measure_copy(char *from, char *to, size_t bytes)
{
    double start = stats_now();
#pragma omp parallel
    {
        size_t part = bytes / (size_t)omp_get_num_threads();
        size_t at = part * (size_t)omp_get_thread_num();
        memcpy(to + at, from + at, part);
    }
    return 2 * (double)bytes / (stats_now() - start) / 1e9;
}

double machine_hand_off(void)
{
    enum { TURNS = 600, MANY = 4096 };
    static atomic_int turn;
    double start = 0, seconds = 0;
    if (omp_get_max_threads() < 2)
        return 0;
    turn = -1;
#pragma omp parallel num_threads(2)
    if (omp_get_num_threads() == 2) {
        const int me = omp_get_thread_num();
        if (me == 1)
            turn = 0; /* both threads have started */
        for (int i = me; i < TURNS; i += 2) {
            for (int looks = 1; turn != i; looks++)
                if (looks % MANY == 0)
                    sched_yield(); /* the other thread may be on this core */
            if (i == 0)
                start = stats_now();
            turn = i + 1;
        }
        if (me == 1)
            seconds = stats_now() - start;
    }
    return seconds / TURNS;
}

/* Takes short rounds and rests after disturbed ones, so that some rounds find the machine idle. */
void machine_measure(machine *m)
{
    const size_t bytes = (size_t)40 << 20;
    static const double quiet = 0.05, rest = 0.008;
    char *from = malloc(bytes), *to = malloc(bytes);
    if (!from || !to)
        return;
    memset(from, 1, bytes);
    memset(to, 0, bytes);
    double hand_off = HUGE_VAL;
    for (int i = 0, n = 0; i < ROUNDS && n < ENOUGH; i++) {
        double waited = stats_waited(), start = stats_now();
        m->peak_gflops = fmax(m->peak_gflops, measure_peak(machine_multiply));
        m->pairs_gflops = fmax(m->pairs_gflops, measure_peak(machine_multiply_pairs));
        m->bandwidth_gbs = fmax(m->bandwidth_gbs, measure_copy(from, to, bytes));
        hand_off = fmin(hand_off, machine_hand_off() * 1e9);
        if (stats_waited() - waited < quiet * (stats_now() - start))
            n++;
        else
            stats_sleep(rest);
    }
    m->hand_off_ns = hand_off;
    free(from);
    free(to);
}

static const char *or_missing(const char *version, const char *missing)
{
    return version ? version : missing;
}

void machine_print(const machine *m, FILE *to)
{
    fprintf(to, "date     %s\n", m->date);
    fprintf(to, "cpu      %s, %d threads\n", m->cpu, m->threads);
    fprintf(to, "kiln     %s on %s\n", kiln_version(), m->opencl);
    fprintf(to, "peer     oneDNN: %s\n",
            or_missing(contender_onednn_version(), "missing (apt install libdnnl-dev)"));
    fprintf(to, "peer     CLBlast: %s\n",
            or_missing(contender_clblast_version(), "missing (apt install libclblast-dev)"));
    if (m->peak_gflops > 0)
        fprintf(to,
                "limits   %.0f GFLOP/s multiply-add, %.1f GB/s copy (read + written), "
                "%.0f ns from core to core\n",
                m->peak_gflops, m->bandwidth_gbs, m->hand_off_ns);
    if (m->pairs_gflops > 0)
        fprintf(to, "limits   %.0f GFLOP/s by products of pairs of bf16\n", m->pairs_gflops);
}
