/* Keeps the threads of PoCL's CPU device from sleeping between operations.
 *
 * A thread of PoCL's pool that finds neither work-groups nor commands sleeps on a condition
 * variable. The thread that ends a kernel and starts the next wakes the others by a system call,
 * which takes it 6 us, and they run 20 us later (`./dev bench launch`): a kernel of 20 us on two
 * cores takes 31. OpenMP's threads, which other CPU libraries use, spin for a while instead.
 *
 * So do PoCL's threads here. Beside an operation, a native kernel (a function of the host as a
 * command) goes into a queue of kiln's own for every thread but one: a spinner. It spins for a
 * slice of time and enqueues itself again. So its thread returns to PoCL's scheduler, which prefers
 * work-groups to commands, at least that often, be they kiln's or the caller's. One thread is
 * spare: it takes the commands of the caller's queues. Once nothing is in flight, all threads go on
 * for a while, the spare one too. After that, or when the operation in flight has been waiting for
 * something else for long, the threads may sleep.
 *
 * While they spin, threads help launches of one work-group (work_sharing.h). Such a launch is left
 * to the thread on the caller's core, and so is an operation so short that a second core would take
 * longer to come than to do its share. PoCL keeps some twenty cache lines of a command; they are on
 * the caller's core, and each takes 27 to 220 ns to another. So while such operations are in
 * flight, threads elsewhere spin for longer, and a spinner on the caller's core makes room. (16
 * channels on one pixel, in a row, where the cores share no cache: 1.9 us instead of 7.) Linux may
 * put both of two threads on one core, and the caller alone on the other, for tenths of a second.
 * Then the spinner moves the other thread over, if the caller allows that. (256 to 24 channels, 2x2
 * pixels: 2.2 us instead of 4.8.)
 *
 * The slice's length was decided by a kernel of 576 channels of 14x14, depthwise, on 16 cores, in a
 * row. No thread spins: 84 us. All others spin, in slices of 1 us: 100 us, for PoCL's scheduler has
 * one lock. In slices of 10 us: 48 us. Only 7 of them: 115 us.
 */
#include "keepalive.h"

#include "runtime/clock.h"

#include "affinity.h"
#include "in_flight.h"
#include "work_sharing.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,      /* bytes of a cache's */
    SLICE_NS = 500, /* for each of the device's threads: all of them take PoCL's lock after it */
    PATIENCE_NS = 10000000, /* for one operation: it may be waiting for an event that is far off */
    AWAY_NS = 100000,       /* a slice beside short operations; nothing waits longer for a thread */
    ENDED_NS = 20000,       /* in such a slice, between checks whether they have ended */
    POLLS = 32,             /* of the shared memory, between checks of the rest */
    DISTANCES = 20,         /* between cores: so many another core takes to come and to go */
    HELPING_NS = 4000000,   /* a slice in which there were launches to help */
    MOST_UNITS = 16         /* devices of more threads were not measured */
};

typedef struct spinner {
    kiln_keepalive *all;
    cl_command_queue queue; /* in order: never more than one command of it runs */
    bool alive;             /* a command is enqueued */
    atomic_int core;        /* where it spun last */
    kiln_sharing_scratch scratch;
    bool busy;       /* an operation was in flight when its slice began */
    unsigned noted;  /* how many operations had been noted then */
    int64_t spun_ns; /* since either changed */
} spinner;

struct kiln_keepalive {
    kiln_in_flight flight;
    _Alignas(LINE) int64_t slice_ns, stay_ns;
    bool moves_threads;
    atomic_llong distance_ns; /* between cores; 0: not yet known */
    pthread_mutex_t lock;     /* guards all below, and what in_flight.h says */
    bool closing;
    kiln_affinity_samples samples;
    spinner *spare;          /* whose thread takes commands while anything is in flight */
    kiln_affinity_pair pair; /* PoCL's threads, if there are two */
    int spinners;
    spinner spinner[MOST_UNITS];
};

/* The one that an operation was noted for last: only its threads stay awake. */
static _Atomic(const kiln_keepalive *) latest;

static void CL_CALLBACK run_slice(void *argument);

/* Enqueues the next slice, behind an event unless that is NULL. */
static bool enqueue(spinner *s, cl_event event)
{
    cl_int code = clEnqueueNativeKernel(s->queue, run_slice, &s, sizeof s, 0, NULL, NULL,
                                        event ? 1 : 0, event ? &event : NULL, NULL);
    return code == CL_SUCCESS && clFlush(s->queue) == CL_SUCCESS;
}

/* With the lock. */
static void enqueue_missing(kiln_keepalive *a, bool idle)
{
    for (int i = 0; i < a->spinners; i++) {
        spinner *s = &a->spinner[i];
        if (!s->alive && (s == a->spare) == idle)
            s->alive = enqueue(s, NULL);
    }
}

static bool is_here(const kiln_keepalive *a, const spinner *s)
{
    return s->core == atomic_load(&a->flight.core);
}

/* Makes the thread on the caller's core the spare one: short operations are left to it. With the
 * lock. */
static void choose_spare(spinner *s)
{
    kiln_keepalive *a = s->all;
    if (!atomic_load(&a->flight.lone))
        return;
    for (int i = 0; i < a->spinners; i++)
        if (is_here(a, &a->spinner[i]) && a->spare->alive && a->spinner[i].alive)
            a->spare = &a->spinner[i];
}

/* Returns whether a slice begins: now, or at the end of *after, if that is an event. An event is
 * for the spare thread while an operation is in flight, where the caller waits for one operation
 * after the other: the thread would sleep at the end of each, until another thread's slice is over
 * and wakes it. With the lock. */
static bool goes_on(spinner *s, unsigned noted, cl_event *after)
{
    kiln_keepalive *a = s->all;
    const unsigned more = noted - s->noted;
    const cl_int state = kiln_in_flight_state(&a->flight);
    const bool busy = !kiln_is_finished(state), changed = more > 0 || busy != s->busy;
    if (changed)
        s->spun_ns = 0;
    s->noted = noted;
    s->busy = busy;
    if (a->closing || (!busy && atomic_load(&latest) != a))
        return false;
    if (busy)
        choose_spare(s);
    if (busy && a->spare == s) {
        *after = state == CL_RUNNING && more <= 1 ? a->flight.last : NULL;
        return *after && clRetainEvent(*after) == CL_SUCCESS;
    }
    if (!busy && changed)
        enqueue_missing(a, true);
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
static bool help(spinner *s)
{
    for (int poll = 0; poll < POLLS; poll++) {
        if (kiln_sharing_help(&s->scratch))
            return true;
        kiln_cpu_relax();
    }
    return false;
}

/* Spins until there may be something else to do. */
static void spin(spinner *s)
{
    kiln_keepalive *a = s->all;
    const int64_t slice_begin = kiln_clock_ns();
    int64_t begin = slice_begin, check_again = ENDED_NS, spent = 0;
    bool busy = s->busy, away = false;
    while (spent < (away ? AWAY_NS : a->slice_ns)) {
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
            const bool here = is_here(a, s);
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
    spinner *s;
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
    if (noted != s->noted && s->busy && !is_here(a, s))
        atomic_store(&a->distance_ns, kiln_affinity_distance(&a->samples, took));
    const bool again = s->alive = goes_on(s, noted, &after);
    pthread_mutex_unlock(&a->lock);
    if (!again)
        return;
    if (!after)
        spin(s);
    const bool enqueued = enqueue(s, after);
    if (after)
        clReleaseEvent(after);
    if (enqueued)
        return;
    pthread_mutex_lock(&a->lock);
    s->alive = false;
    pthread_mutex_unlock(&a->lock);
}

/* A spinner on the caller's core would wait for that core as long as the caller has it: its thread
 * becomes the spare one, and the spinner that is not enqueued takes its place. With the lock. */
static void make_room(kiln_keepalive *a)
{
    spinner *out = a->spare;
    for (int i = 0; i < a->spinners && !out->alive; i++)
        if (a->spinner[i].alive && is_here(a, &a->spinner[i])) {
            a->spare = &a->spinner[i];
            out->alive = enqueue(out, NULL);
        }
}

/* Whether an operation is left to one of PoCL's threads. */
static bool is_lone(kiln_keepalive *a, int core, int64_t alone_ns)
{
    const int64_t most = DISTANCES * a->spinners * (int64_t)atomic_load(&a->distance_ns);
    return core >= 0 && (alone_ns == 0 || (alone_ns > 0 && alone_ns < most));
}

/* For operations that are left out, threads see the end of all up to AWAY_NS too soon; they would
 * spend that time on checks. */
bool kiln_keepalive_wants(kiln_keepalive *a, int64_t alone_ns, int64_t takes_ns)
{
    return a && (takes_ns < 0 || !is_lone(a, sched_getcpu(), alone_ns) ||
                 !kiln_in_flight_leaves_out(&a->flight, takes_ns, AWAY_NS));
}

void kiln_keepalive_note(kiln_keepalive *a, cl_event done, int64_t alone_ns)
{
    if (!a || clRetainEvent(done) != CL_SUCCESS)
        return;
    const int core = sched_getcpu();
    const bool lone = is_lone(a, core, alone_ns);
    pthread_mutex_lock(&a->lock);
    cl_event gone = kiln_in_flight_note(&a->flight, done, core, lone);
    atomic_store(&latest, a);
    enqueue_missing(a, false);
    if (atomic_load(&a->flight.lone))
        make_room(a);
    pthread_mutex_unlock(&a->lock);
    if (gone)
        clReleaseEvent(gone);
}

void kiln_keepalive_joined(kiln_keepalive *a, int64_t takes_ns)
{
    if (a)
        kiln_in_flight_joined(&a->flight, takes_ns >= 0 ? takes_ns : AWAY_NS, AWAY_NS);
}

/* Returns the event of the operation noted last, if that is a command of `queue`; where operations
 * were left out since, a marker behind all of them. To be released; may be NULL. */
static cl_event last_of(kiln_keepalive *a, cl_command_queue queue)
{
    cl_event all = NULL;
    if (atomic_load(&a->flight.unnoted_ns) > 0)
        return clEnqueueMarkerWithWaitList(queue, 0, NULL, &all) == CL_SUCCESS ? all : NULL;
    pthread_mutex_lock(&a->lock);
    cl_event last = kiln_in_flight_last_of(&a->flight, queue);
    pthread_mutex_unlock(&a->lock);
    return last;
}

void kiln_keepalive_wait(kiln_keepalive *a, cl_command_queue queue)
{
    cl_event last = a ? last_of(a, queue) : NULL;
    if (!last)
        return;
    clFlush(queue);
    const int64_t until = kiln_clock_ns() + a->stay_ns;
    while (!kiln_is_finished(kiln_event_state(last)) && kiln_clock_ns() < until)
        sched_yield();
    clReleaseEvent(last);
}

static bool helps(cl_device_id device, const kiln_device_facts *facts)
{
    cl_device_exec_capabilities can = 0;
    clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL);
    return kiln_device_is_pocl(facts) && facts->compute_units > 1 &&
           facts->compute_units <= MOST_UNITS && can & CL_EXEC_NATIVE_KERNEL;
}

kiln_keepalive *kiln_keepalive_open(cl_context context, cl_device_id device,
                                    const kiln_device_facts *facts, int64_t stay_us,
                                    bool moves_threads)
{
    kiln_keepalive *a = stay_us > 0 && helps(device, facts) ? aligned_alloc(LINE, sizeof *a) : NULL;
    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    a->slice_ns = SLICE_NS * facts->compute_units;
    a->stay_ns = stay_us * 1000;
    a->moves_threads = moves_threads && facts->compute_units == 2;
    pthread_mutex_init(&a->lock, NULL);
    a->spare = &a->spinner[facts->compute_units - 1];
    while (a->spinners < facts->compute_units) {
        cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
        if (!queue) {
            kiln_keepalive_close(a);
            return NULL;
        }
        a->spinner[a->spinners++] = (spinner){.all = a, .queue = queue, .core = -1};
    }
    return a;
}

static bool is_alive(kiln_keepalive *a, const spinner *s)
{
    pthread_mutex_lock(&a->lock);
    bool alive = s->alive;
    pthread_mutex_unlock(&a->lock);
    return alive;
}

void kiln_keepalive_close(kiln_keepalive *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->closing = true;
    pthread_mutex_unlock(&a->lock);
    for (int i = 0; i < a->spinners; i++) {
        do
            clFinish(a->spinner[i].queue);
        while (is_alive(a, &a->spinner[i]));
        clFinish(a->spinner[i].queue); /* the last slice has returned, too */
        clReleaseCommandQueue(a->spinner[i].queue);
        free(a->spinner[i].scratch.bytes);
    }
    kiln_in_flight_close(&a->flight);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
