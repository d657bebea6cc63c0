/* Times kiln and its peer in turns on one card, and kiln's short operations from a quiet core. */
#include "gpu_turns.h"

#include "tests/bench/base/cpus.h"
#include "tests/bench/base/stats.h"

enum { ROW_MS = 20, ROWS = 7, MOST_RUNS = 1400, TRIES = 8 };

/* An operation that takes longer hides the launch of the next one. */
static const double launched_ms = 0.06;

bool gpu_turns_open(gpu_turns *t, const session *s)
{
    cl_int code;
    *t = (gpu_turns){
        .profiled = clCreateCommandQueue(s->context, s->device, CL_QUEUE_PROFILING_ENABLE, &code)};
    if (!t->profiled)
        fprintf(stderr, "bench: no queue with profiling (OpenCL error %d)\n", (int)code);
    else if (!device_row_open(&t->row, s) || !quiet_core_open(&t->core, s))
        fprintf(stderr, "bench: the device takes no kernel that waits or does nothing\n");
    else
        return true;
    gpu_turns_close(t);
    return false;
}

void gpu_turns_close(gpu_turns *t)
{
    quiet_core_close(&t->core);
    device_row_close(&t->row);
    if (t->profiled)
        clReleaseCommandQueue(t->profiled);
    t->profiled = NULL;
}

/* The time of one of so many runs in a row. Negative: a run failed. */
static double time_row(contender *c, int runs)
{
    const double begin = stats_now();
    for (int i = 0; i < runs; i++)
        if (!c->calls->enqueue(c))
            return -1;
    return c->calls->finish(c) ? (stats_now() - begin) * 1e3 / runs : -1;
}

/* The median of rows that take ROW_MS together: the host may be late once. */
static double time_rows(contender *c, int runs)
{
    double row[ROWS];
    for (int i = 0; i < ROWS; i++)
        if ((row[i] = time_row(c, runs / ROWS > 3 ? runs / ROWS : 3)) <= 0)
            return -1;
    return stats_median(row, ROWS);
}

/* The same, for a short operation from a quiet core that stays quiet, if there is one. */
static double time_turn(gpu_turns *t, contender *c, int runs)
{
    if (runs * launched_ms < ROW_MS)
        return time_rows(c, runs);
    double ms;
    int tries = 0;
    do {
        quiet_core_choose(&t->core);
        ms = time_rows(c, runs);
    } while (ms > 0 && !quiet_core_is_quiet(&t->core) && ++tries < TRIES);
    cpus_use_all();
    return ms;
}

/* The median of as many single runs as a turn has rows. */
static double time_events(const gpu_turns *t, contender *c)
{
    double run[ROWS];
    for (int i = 0; i < ROWS; i++)
        if ((run[i] = contender_kiln_event_ms(c, t->profiled)) <= 0)
            return -1;
    return stats_median(run, ROWS);
}

/* The time of the other side. */
static double time_peer(gpu_turns *t, const gpu_sides *sides, int runs, gpu_times *m)
{
    if (!sides->other)
        return peer_time(sides->peer, sides->problem, m->format, sizeof m->format);
    snprintf(m->format, sizeof m->format, "%.180s", sides->other->detail);
    return time_turn(t, sides->other, runs);
}

bool gpu_turns_take(gpu_turns *t, const gpu_sides *sides, int rounds, gpu_times *m)
{
    contender *c = sides->kiln;
    double own[GPU_ROUNDS], peer[GPU_ROUNDS];
    const double first = time_row(c, 3), again = first > 0 ? time_row(c, 10) : -1;
    if (again <= 0)
        return false;
    const double fit = ROW_MS / again;
    const int runs = fit < 3 ? 3 : fit > MOST_RUNS ? MOST_RUNS : (int)fit;
    int n = 0, peers = 0;
    for (; n < rounds; n++) {
        own[n] = time_turn(t, c, runs);
        if (own[n] <= 0)
            return false;
        if (peers == n && (peer[n] = time_peer(t, sides, runs, m)) > 0)
            peers++;
    }
    m->kiln_ms = stats_median(own, n);
    m->device_ms = m->kiln_ms < launched_ms ? device_row_ms(&t->row, c) : m->kiln_ms;
    if (m->device_ms < 0 || m->device_ms > m->kiln_ms) /* the host was not ahead */
        m->device_ms = m->kiln_ms;
    m->event_ms = time_events(t, c);
    m->peer_ms = peers ? stats_median(peer, peers) : -1;
    return m->event_ms > 0;
}
