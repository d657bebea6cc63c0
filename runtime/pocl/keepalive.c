/* Keeps the threads of PoCL's CPU device from sleeping between operations.
 *
 * A thread of PoCL's pool that finds neither work-groups nor commands sleeps on a condition
 * variable. The one that ends a kernel and starts the next wakes the others, by a system call that
 * takes it 6 us, and 20 us later they run (`./dev bench launch`): a kernel of 20 us on two cores
 * takes 31. OpenMP's threads, which other CPU libraries use, look for work for a while instead.
 *
 * So do these. Beside an operation, a native kernel (a function of the host as a command) goes into
 * a queue of kiln's own for every thread but one. It spins for a slice of time and enqueues itself
 * again: its thread returns to PoCL's scheduler, which prefers work-groups to commands, at least
 * that often, be they kiln's or the caller's. One thread is left to take the commands of the
 * caller's queues. Once nothing is in flight they go on for a while, that one too; then, or when
 * what is in flight has been waiting for something else for long, the threads may sleep.
 *
 * A launch of one work-group (see work_sharing.h) they help while they spin. It is left to the thread on
 * the caller's core, as is an operation so short that a second core would take longer to come than
 * to do its share. What PoCL keeps of a command is some twenty lines of a cache; they are there,
 * and each takes 27 to 220 ns to another core. So while such operations are in flight, threads
 * elsewhere look on for longer, and one on the caller's core makes room. (16 channels on one pixel,
 * in a row, where the cores share no cache: 1.9 us instead of 7.) Linux may put both of two threads
 * on one core, and the caller's alone on the other, for tenths of a second. Then the one that looks
 * sends the other over. (256 to 24 channels, 2x2 pixels: 2.2 us instead of 4.8.)
 *
 * What decides, by a kernel of 576 channels of 14x14, depthwise, on 16 cores, in a row: none looks,
 * 84 us; all others, in slices of 1 us, 100, for PoCL's scheduler has one lock; in slices of 10 us,
 * 48; only 7 of them, 115.
 */
#include "keepalive.h"

#include "affinity.h"
#include "flight.h"
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
    AWAY_NS = 100000,       /* a slice beside short operations; none waits longer for a thread */
    ENDED_NS = 20000,       /* in it, between looks at whether they have ended */
    LOOKS = 32,             /* at the team, between those at the rest */
    WAYS = 20,              /* in so many, another core comes and goes */
    HELPING_NS = 4000000,   /* a slice in which there were launches to help */
    MOST_UNITS = 16         /* more were not measured */
};

typedef struct looker {
    kiln_keepalive *all;
    cl_command_queue queue; /* in order: never more than one command of it runs */
    bool alive;             /* one is enqueued */
    atomic_int core;        /* where it last looked */
    kiln_sharing_scratch scratch;
    bool busy;         /* something was in flight when its slice began */
    unsigned noted;    /* what had been noted then */
    int64_t looked_ns; /* since either changed */
} looker;

struct kiln_keepalive {
    kiln_flight flight;
    _Alignas(LINE) int64_t slice_ns, stay_ns;
    atomic_llong way_ns;
    pthread_mutex_t lock; /* all below, and what flight.h has */
    bool closing;
    kiln_affinity_looks way;
    looker *left;        /* whose thread is left for commands while anything is in flight */
    kiln_affinity_pair pair; /* the threads of PoCL, if there are two */
    int lookers;
    looker looker[MOST_UNITS];
};

/* Whose operation was noted last: its threads are enough. */
static _Atomic(const kiln_keepalive *) latest;

static void CL_CALLBACK look(void *argument);

/* After an event, unless that is NULL. */
static bool enqueue(looker *l, cl_event event)
{
    cl_int code = clEnqueueNativeKernel(l->queue, look, &l, sizeof l, 0, NULL, NULL, event ? 1 : 0,
                                        event ? &event : NULL, NULL);
    return code == CL_SUCCESS && clFlush(l->queue) == CL_SUCCESS;
}

/* With the lock. */
static void enqueue_missing(kiln_keepalive *a, bool idle)
{
    for (int i = 0; i < a->lookers; i++) {
        looker *l = &a->looker[i];
        if (!l->alive && (l == a->left) == idle)
            l->alive = enqueue(l, NULL);
    }
}

static bool is_here(const kiln_keepalive *a, const looker *l)
{
    return l->core == atomic_load(&a->flight.core);
}

/* The thread on the caller's core is the one that short operations are left to. With the lock. */
static void choose_left(looker *l)
{
    kiln_keepalive *a = l->all;
    if (!atomic_load(&a->flight.lone))
        return;
    for (int i = 0; i < a->lookers; i++)
        if (is_here(a, &a->looker[i]) && a->left->alive && a->looker[i].alive)
            a->left = &a->looker[i];
}

/* Whether a slice begins: now, or at the end of *after, if there is one. That is for the thread
 * that is left while something is in flight, where the caller waits for one operation after the
 * other: it would sleep at the end of each, until another's slice is over and wakes it. With the
 * lock. */
static bool goes_on(looker *l, unsigned noted, cl_event *after)
{
    kiln_keepalive *a = l->all;
    const unsigned more = noted - l->noted;
    const cl_int state = kiln_flight_state(&a->flight);
    const bool busy = !kiln_is_finished(state), changed = more > 0 || busy != l->busy;
    if (changed)
        l->looked_ns = 0;
    l->noted = noted;
    l->busy = busy;
    if (a->closing || (!busy && atomic_load(&latest) != a))
        return false;
    if (busy)
        choose_left(l);
    if (busy && a->left == l) {
        *after = state == CL_RUNNING && more <= 1 ? a->flight.last : NULL;
        return *after && clRetainEvent(*after) == CL_SUCCESS;
    }
    if (!busy && changed)
        enqueue_missing(a, true);
    return l->looked_ns < (busy && a->stay_ns < PATIENCE_NS ? PATIENCE_NS : a->stay_ns);
}

static bool has_ended(kiln_keepalive *a)
{
    if (pthread_mutex_trylock(&a->lock) != 0)
        return false;
    const bool ended = kiln_is_finished(kiln_flight_state(&a->flight));
    pthread_mutex_unlock(&a->lock);
    return ended;
}

/* Helps with what is open, or opens soon. */
static bool help(looker *l)
{
    for (int look = 0; look < LOOKS; look++) {
        if (kiln_sharing_help(&l->scratch))
            return true;
        kiln_cpu_relax();
    }
    return false;
}

/* Spins until there may be something else to do. */
static void spin(looker *l)
{
    kiln_keepalive *a = l->all;
    const int64_t slice_begin = kiln_clock_ns();
    int64_t begin = slice_begin, look_again = ENDED_NS, spent = 0;
    bool busy = l->busy, away = false;
    while (spent < (away ? AWAY_NS : a->slice_ns)) {
        if (help(l)) {
            begin = kiln_clock_ns();
            look_again = ENDED_NS;
            l->looked_ns = 0;
            if (begin - slice_begin > HELPING_NS)
                break;
        }
        busy = busy || atomic_load(&a->flight.noted) != l->noted;
        if (busy) {
            const bool lone = atomic_load(&a->flight.lone);
            l->core = sched_getcpu();
            const bool here = is_here(a, l);
            if (lone && !here && a->lookers == 2)
                kiln_affinity_send_other(&a->pair, atomic_load(&a->flight.core));
            away = lone && !here;
            if ((lone && here) || (!l->busy && !away))
                break;
            if (away && spent >= look_again) {
                look_again = spent + ENDED_NS;
                if (has_ended(a))
                    break;
            }
        }
        kiln_affinity_yield(l->busy, &a->flight.noted);
        spent = kiln_clock_ns() - begin;
    }
    l->looked_ns += spent;
}

/* What a pool's thread runs. */
static void CL_CALLBACK look(void *argument)
{
    looker *l;
    memcpy(&l, argument, sizeof l); /* PoCL's copy of it */
    kiln_keepalive *a = l->all;
    cl_event after = NULL;
    const int64_t before = kiln_clock_ns();
    const unsigned noted = atomic_load(&a->flight.noted);
    const int64_t took = kiln_clock_ns() - before;
    kiln_affinity_join(&a->pair);
    pthread_mutex_lock(&a->lock);
    l->core = sched_getcpu();
    if (noted != l->noted && l->busy && !is_here(a, l))
        atomic_store(&a->way_ns, kiln_affinity_way(&a->way, took));
    const bool again = l->alive = goes_on(l, noted, &after);
    pthread_mutex_unlock(&a->lock);
    if (!again)
        return;
    if (!after)
        spin(l);
    const bool enqueued = enqueue(l, after);
    if (after)
        clReleaseEvent(after);
    if (enqueued)
        return;
    pthread_mutex_lock(&a->lock);
    l->alive = false;
    pthread_mutex_unlock(&a->lock);
}

/* A looker on the caller's core, which waits for that core as long as the caller has it, gives way
 * to the one that is not enqueued. With the lock. */
static void make_room(kiln_keepalive *a)
{
    looker *out = a->left;
    for (int i = 0; i < a->lookers && !out->alive; i++)
        if (a->looker[i].alive && is_here(a, &a->looker[i])) {
            a->left = &a->looker[i];
            out->alive = enqueue(out, NULL);
        }
}

/* Whether it is left to one of PoCL's threads. */
static bool is_lone(kiln_keepalive *a, int core, int64_t alone_ns)
{
    const int64_t most = WAYS * a->lookers * (int64_t)atomic_load(&a->way_ns);
    return core >= 0 && (alone_ns == 0 || (alone_ns > 0 && alone_ns < most));
}

/* Threads then see the end of all up to AWAY_NS too soon, which they would spend looking for it. */
bool kiln_keepalive_wants(kiln_keepalive *a, int64_t alone_ns, int64_t takes_ns)
{
    return a && (takes_ns < 0 || !is_lone(a, sched_getcpu(), alone_ns) ||
                 !kiln_flight_leaves_out(&a->flight, takes_ns, AWAY_NS));
}

void kiln_keepalive_note(kiln_keepalive *a, cl_event done, int64_t alone_ns)
{
    if (!a || clRetainEvent(done) != CL_SUCCESS)
        return;
    const int core = sched_getcpu();
    const bool lone = is_lone(a, core, alone_ns);
    pthread_mutex_lock(&a->lock);
    cl_event gone = kiln_flight_note(&a->flight, done, core, lone);
    atomic_store(&latest, a);
    enqueue_missing(a, false);
    if (atomic_load(&a->flight.lone))
        make_room(a);
    pthread_mutex_unlock(&a->lock);
    if (gone)
        clReleaseEvent(gone);
}

void kiln_keepalive_follows(kiln_keepalive *a, int64_t takes_ns)
{
    if (a)
        kiln_flight_goes_on(&a->flight, takes_ns >= 0 ? takes_ns : AWAY_NS, AWAY_NS);
}

/* What was noted last, if that is a command of `queue`, or what stands for all that was not noted;
 * to be released. */
static cl_event last_of(kiln_keepalive *a, cl_command_queue queue)
{
    cl_event all = NULL;
    if (atomic_load(&a->flight.unnoted_ns) > 0)
        return clEnqueueMarkerWithWaitList(queue, 0, NULL, &all) == CL_SUCCESS ? all : NULL;
    pthread_mutex_lock(&a->lock);
    cl_event last = kiln_flight_last_of(&a->flight, queue);
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

kiln_keepalive *kiln_keepalive_open(cl_context context, cl_device_id device, const kiln_device_facts *facts,
                            int64_t stay_us)
{
    kiln_keepalive *a = stay_us > 0 && helps(device, facts) ? aligned_alloc(LINE, sizeof *a) : NULL;
    if (!a)
        return NULL;
    memset(a, 0, sizeof *a);
    a->slice_ns = SLICE_NS * facts->compute_units;
    a->stay_ns = stay_us * 1000;
    pthread_mutex_init(&a->lock, NULL);
    a->left = &a->looker[facts->compute_units - 1];
    while (a->lookers < facts->compute_units) {
        cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
        if (!queue) {
            kiln_keepalive_close(a);
            return NULL;
        }
        a->looker[a->lookers++] = (looker){.all = a, .queue = queue, .core = -1};
    }
    return a;
}

static bool is_alive(kiln_keepalive *a, const looker *l)
{
    pthread_mutex_lock(&a->lock);
    bool alive = l->alive;
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
    for (int i = 0; i < a->lookers; i++) {
        do
            clFinish(a->looker[i].queue);
        while (is_alive(a, &a->looker[i]));
        clFinish(a->looker[i].queue); /* the last one has left `look`, too */
        clReleaseCommandQueue(a->looker[i].queue);
        free(a->looker[i].scratch.bytes);
    }
    kiln_flight_close(&a->flight);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
