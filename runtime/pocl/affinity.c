/* The distance between two cores, yielding a core, and moving a thread to another one. */
#include "affinity.h"

#include "runtime/base/clock.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GAP_NS = 10000,   /* a yield that takes longer: another thread had the core */
    LOST_NS = 200000, /* in such gaps, until a thread sleeps */
    MOVE_NS = 1000000 /* moves disturb the core's own work: each 100 us, they cost operations of 2
                         us half a microsecond */
};

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The upper quartile: some reads find the line on the reader's own core, because this thread or its
 * neighbour was there before, and some reads are interrupted. */
int64_t kiln_affinity_distance(kiln_affinity_samples *samples, int64_t ns)
{
    int64_t sorted[KILN_AFFINITY_SAMPLES];
    samples->ns[samples->count++ % KILN_AFFINITY_SAMPLES] = ns;
    if (samples->count < KILN_AFFINITY_SAMPLES)
        return 0;
    memcpy(sorted, samples->ns, sizeof sorted);
    qsort(sorted, KILN_AFFINITY_SAMPLES, sizeof *sorted, compare);
    return sorted[KILN_AFFINITY_SAMPLES * 3 / 4];
}

static bool is_pinned(void)
{
    static _Thread_local int cores; /* 0: not yet known */
    cpu_set_t may;
    if (cores == 0)
        cores = sched_getaffinity(0, sizeof may, &may) == 0 ? CPU_COUNT(&may) : 1;
    return cores == 1;
}

/* Yielding leaves the core to the caller's threads. But with the caller there are more threads than
 * cores. Linux then puts two of PoCL's threads on one core and leaves them there while they yield
 * to each other: a thread that spins would take half the time of one that works (28 % in all, of
 * kernels of 300 us on 4 cores). Linux wakes a thread on an idle core, so a thread that waits long
 * for its core, while the caller enqueues nothing, sleeps for a moment. */
void kiln_affinity_yield(bool busy, const atomic_uint *noted)
{
    static _Thread_local unsigned noted_before;
    static _Thread_local int64_t lost;
    const int64_t before = kiln_clock_ns();
    sched_yield();
    const int64_t gap = kiln_clock_ns() - before;
    if (gap < GAP_NS)
        return;
    const unsigned noted_now = atomic_load(noted);
    lost = busy && noted_before == noted_now ? lost + gap : 0;
    noted_before = noted_now;
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

static void move(int thread, int core)
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

void kiln_affinity_move_other(kiln_affinity_pair *pair, int core)
{
    const int me = this_thread(), first = atomic_load(&pair->thread[0]);
    const int other = atomic_load(&pair->thread[first == me]);
    const int64_t now = kiln_clock_ns();
    if (core < 0 || core >= CPU_SETSIZE || other == 0 ||
        now - atomic_load(&pair->moved_ns) < MOVE_NS)
        return;
    atomic_store(&pair->moved_ns, now);
    move(other, core);
}
