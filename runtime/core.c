/* The way between two cores, and yielding one. */
#include "core.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    GAP_NS = 10000,  /* a yield that takes longer: another thread had the core */
    LOST_NS = 200000 /* in such gaps, until a thread sleeps */
};

int64_t kiln_core_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Some looks find the line where the thread is, because it or a neighbour was there before, and
 * some are interrupted: the upper quartile. */
int64_t kiln_core_way(kiln_core_looks *looks, int64_t took)
{
    int64_t sorted[KILN_CORE_LOOKS];
    looks->took[looks->count++ % KILN_CORE_LOOKS] = took;
    if (looks->count < KILN_CORE_LOOKS)
        return 0;
    memcpy(sorted, looks->took, sizeof sorted);
    qsort(sorted, KILN_CORE_LOOKS, sizeof *sorted, compare);
    return sorted[KILN_CORE_LOOKS * 3 / 4];
}

static bool is_pinned(void)
{
    static _Thread_local int cores; /* 0: not yet known */
    cpu_set_t may;
    if (cores == 0)
        cores = sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 1;
    return cores == 1;
}

/* Yielding leaves the core to the caller's threads. But with those there are more threads than
 * cores, and then Linux puts two of the pool's on one core, and leaves them there while they yield
 * to each other: one that looks would take half the time of one that works (28 % in all, of kernels
 * of 300 us on 4 cores). One that wakes is put on an idle core, so who waits for its core for long,
 * and not because the caller enqueues, sleeps for a moment. */
void kiln_core_yield(bool busy, const atomic_uint *noted)
{
    static _Thread_local unsigned before_noted;
    static _Thread_local int64_t lost;
    const int64_t before = kiln_core_clock();
    sched_yield();
    const int64_t gap = kiln_core_clock() - before;
    if (gap < GAP_NS)
        return;
    const unsigned now_noted = atomic_load(noted);
    lost = busy && before_noted == now_noted ? lost + gap : 0;
    before_noted = now_noted;
    if (lost < LOST_NS || is_pinned())
        return;
    nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
    lost = 0;
}
