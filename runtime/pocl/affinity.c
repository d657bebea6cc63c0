/* The way between two cores, and yielding one. */
#include "affinity.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GAP_NS = 10000,   /* a yield that takes longer: another thread had the core */
    LOST_NS = 200000, /* in such gaps, until a thread sleeps */
    SEND_NS = 1000000 /* a core's own work is disturbed; each 100 us cost operations of 2 us 0.5 */
};

int64_t kiln_clock_ns(void)
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
int64_t kiln_affinity_way(kiln_affinity_looks *looks, int64_t took)
{
    int64_t sorted[KILN_AFFINITY_LOOKS];
    looks->took[looks->count++ % KILN_AFFINITY_LOOKS] = took;
    if (looks->count < KILN_AFFINITY_LOOKS)
        return 0;
    memcpy(sorted, looks->took, sizeof sorted);
    qsort(sorted, KILN_AFFINITY_LOOKS, sizeof *sorted, compare);
    return sorted[KILN_AFFINITY_LOOKS * 3 / 4];
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
void kiln_affinity_yield(bool busy, const atomic_uint *noted)
{
    static _Thread_local unsigned before_noted;
    static _Thread_local int64_t lost;
    const int64_t before = kiln_clock_ns();
    sched_yield();
    const int64_t gap = kiln_clock_ns() - before;
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

static int this_thread(void)
{
    static _Thread_local int id;
    if (id == 0)
        id = (int)syscall(SYS_gettid);
    return id;
}

void kiln_affinity_join(kiln_affinity_pair *pair)
{
    const int me = this_thread();
    for (int i = 0; i < 2; i++) {
        int free = 0;
        if (atomic_load(&pair->thread[i]) == me ||
            atomic_compare_exchange_strong(&pair->thread[i], &free, me))
            return;
    }
}

/* What a thread may run on is what it was before, so that it is not bound to the core. */
static void send(int thread, int core)
{
    cpu_set_t may, there;
    CPU_ZERO(&there);
    CPU_SET((size_t)core, &there);
    if (sched_getaffinity(thread, sizeof may, &may) != 0 || CPU_COUNT(&may) == 1 ||
        !CPU_ISSET((size_t)core, &may))
        return;
    sched_setaffinity(thread, sizeof there, &there);
    sched_setaffinity(thread, sizeof may, &may);
}

void kiln_affinity_send_other(kiln_affinity_pair *pair, int core)
{
    const int me = this_thread(), first = atomic_load(&pair->thread[0]);
    const int other = atomic_load(&pair->thread[first == me]);
    const int64_t now = kiln_clock_ns();
    if (core < 0 || core >= CPU_SETSIZE || other == 0 ||
        now - atomic_load(&pair->sent_ns) < SEND_NS)
        return;
    atomic_store(&pair->sent_ns, now);
    send(other, core);
}
