/* The native kernel that spins, and when it goes on. */
#include "spinner.h"

#include "runtime/base/clock.h"

#include <sched.h>
#include <string.h>

enum {
    PATIENCE_NS = 10000000, /* for one operation: it may be waiting for an event that is far off */
    ENDED_NS = 20000,       /* beside short operations, between checks whether they have ended */
    POLLS = 32,             /* of the shared memory, between checks of the rest */
    HELPING_NS = 4000000    /* a slice in which there were launches to help */
};

_Atomic(const kiln_keepalive *) kiln_keepalive_latest;

static void CL_CALLBACK run_slice(void *argument);

bool kiln_spinner_enqueue(kiln_spinner *s, cl_event event)
{
    cl_int code = clEnqueueNativeKernel(s->queue, run_slice, &s, sizeof s, 0, NULL, NULL,
                                        event ? 1 : 0, event ? &event : NULL, NULL);
    return code == CL_SUCCESS && clFlush(s->queue) == CL_SUCCESS;
}

void kiln_spinners_enqueue(kiln_keepalive *a, bool idle)
{
    for (int i = 0; i < a->spinners; i++) {
        kiln_spinner *s = &a->spinner[i];
        if (!s->alive && (s == a->spare) == idle)
            s->alive = kiln_spinner_enqueue(s, NULL);
    }
}

/* Makes the thread on the caller's core the spare one: short operations are left to it. With the
 * lock. */
static void choose_spare(kiln_spinner *s)
{
    kiln_keepalive *a = s->all;
    if (!atomic_load(&a->flight.lone))
        return;
    for (int i = 0; i < a->spinners; i++)
        if (kiln_spinner_is_here(&a->spinner[i]) && a->spare->alive && a->spinner[i].alive)
            a->spare = &a->spinner[i];
}

/* Returns whether a slice begins: now, or at the end of *after, if that is an event. An event is
 * for the spare thread while an operation is in flight, where the caller waits for one operation
 * after the other: the thread would sleep at the end of each, until another thread's slice is over
 * and wakes it. With the lock. */
static bool goes_on(kiln_spinner *s, unsigned noted, cl_event *after)
{
    kiln_keepalive *a = s->all;
    const unsigned more = noted - s->noted;
    const cl_int state = kiln_in_flight_state(&a->flight);
    const bool busy = !kiln_is_finished(state), changed = more > 0 || busy != s->busy;
    if (changed)
        s->spun_ns = 0;
    s->noted = noted;
    s->busy = busy;
    if (a->closing || (!busy && atomic_load(&kiln_keepalive_latest) != a))
        return false;
    if (busy)
        choose_spare(s);
    if (busy && a->spare == s) {
        *after = state == CL_RUNNING && more <= 1 ? a->flight.last : NULL;
        return *after && clRetainEvent(*after) == CL_SUCCESS;
    }
    if (!busy && changed)
        kiln_spinners_enqueue(a, true);
    return s->spun_ns < (busy && a->stay_ns < PATIENCE_NS ? PATIENCE_NS : a->stay_ns);
}

static bool has_ended(kiln_keepalive *a)
{
    if (pthread_mutex_trylock(&a->lock) != 0)
        return false;
    const bool ended = kiln_is_finished(kiln_in_flight_state(&a->flight));
    pthread_mutex_unlock(&a->lock);
    return ended;
}

/* Helps a launch that is open, or opens soon. */
static bool help(kiln_spinner *s)
{
    for (int poll = 0; poll < POLLS; poll++) {
        if (kiln_sharing_help(&s->scratch))
            return true;
        kiln_cpu_relax();
    }
    return false;
}

/* Spins until there may be something else to do. */
static void spin(kiln_spinner *s)
{
    kiln_keepalive *a = s->all;
    const int64_t slice_begin = kiln_clock_ns();
    int64_t begin = slice_begin, check_again = ENDED_NS, spent = 0;
    bool busy = s->busy, away = false;
    while (spent < (away ? KILN_AWAY_NS : a->slice_ns)) {
        if (help(s)) {
            begin = kiln_clock_ns();
            check_again = ENDED_NS;
            s->spun_ns = 0;
            if (begin - slice_begin > HELPING_NS)
                break;
        }
        busy = busy || atomic_load(&a->flight.noted) != s->noted;
        if (busy) {
            const bool lone = atomic_load(&a->flight.lone);
            s->core = sched_getcpu();
            const bool here = kiln_spinner_is_here(s);
            if (lone && !here && a->moves_threads)
                kiln_affinity_move_other(&a->pair, atomic_load(&a->flight.core));
            away = lone && !here;
            if ((lone && here) || (!s->busy && !away))
                break;
            if (away && spent >= check_again) {
                check_again = spent + ENDED_NS;
                if (has_ended(a))
                    break;
            }
        }
        kiln_affinity_yield(s->busy, &a->flight.noted);
        spent = kiln_clock_ns() - begin;
    }
    s->spun_ns += spent;
}

/* The native kernel. */
static void CL_CALLBACK run_slice(void *argument)
{
    kiln_spinner *s;
    memcpy(&s, argument, sizeof s); /* PoCL has copied the pointer */
    kiln_keepalive *a = s->all;
    cl_event after = NULL;
    const int64_t before = kiln_clock_ns();
    const unsigned noted = atomic_load(&a->flight.noted);
    const int64_t took = kiln_clock_ns() - before;
    if (a->moves_threads)
        kiln_affinity_join(&a->pair);
    pthread_mutex_lock(&a->lock);
    s->core = sched_getcpu();
    if (noted != s->noted && s->busy && !kiln_spinner_is_here(s))
        atomic_store(&a->distance_ns, kiln_affinity_distance(&a->samples, took));
    const bool again = s->alive = goes_on(s, noted, &after);
    pthread_mutex_unlock(&a->lock);
    if (!again)
        return;
    if (!after)
        spin(s);
    const bool enqueued = kiln_spinner_enqueue(s, after);
    if (after)
        clReleaseEvent(after);
    if (enqueued)
        return;
    pthread_mutex_lock(&a->lock);
    s->alive = false;
    pthread_mutex_unlock(&a->lock);
}
