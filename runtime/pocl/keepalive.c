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
 * for a while, the spare one too. (A device of one thread has nobody who would see that nothing is
 * in flight: its thread sleeps.) After that, or when the operation in flight has been waiting for
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

#include "runtime/base/clock.h"

#include "spinner.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICE_NS = 500, /* for each of the device's threads: all of them take PoCL's lock after it */
    DISTANCES = 20  /* between cores: so many another core takes to come and to go */
};

/* A spinner on the caller's core would wait for that core as long as the caller has it: its thread
 * becomes the spare one, and the spinner that is not enqueued takes its place. With the lock. */
static void make_room(kiln_keepalive *a)
{
    kiln_spinner *out = a->spare;
    for (int i = 0; i < a->spinners && !out->alive; i++)
        if (a->spinner[i].alive && kiln_spinner_is_here(&a->spinner[i])) {
            a->spare = &a->spinner[i];
            out->alive = kiln_spinner_enqueue(out, NULL);
        }
}

/* Whether an operation is left to one of PoCL's threads. */
static bool is_lone(kiln_keepalive *a, int core, int64_t alone_ns)
{
    const int64_t most = DISTANCES * a->spinners * (int64_t)atomic_load(&a->distance_ns);
    return core >= 0 && (alone_ns == 0 || (alone_ns > 0 && alone_ns < most));
}

/* For operations that are left out, threads see the end of all up to KILN_AWAY_NS too soon; they
 * would spend that time on checks. */
bool kiln_keepalive_wants(kiln_keepalive *a, int64_t alone_ns, int64_t takes_ns)
{
    return a && (takes_ns < 0 || !is_lone(a, sched_getcpu(), alone_ns) ||
                 !kiln_in_flight_leaves_out(&a->flight, takes_ns, KILN_AWAY_NS));
}

void kiln_keepalive_note(kiln_keepalive *a, cl_event done, int64_t alone_ns)
{
    if (!a || clRetainEvent(done) != CL_SUCCESS)
        return;
    const int core = sched_getcpu();
    const bool lone = is_lone(a, core, alone_ns);
    pthread_mutex_lock(&a->lock);
    cl_event gone = kiln_in_flight_note(&a->flight, done, core, lone);
    atomic_store(&kiln_keepalive_latest, a);
    kiln_spinners_enqueue(a, false);
    if (atomic_load(&a->flight.lone))
        make_room(a);
    pthread_mutex_unlock(&a->lock);
    if (gone)
        clReleaseEvent(gone);
}

void kiln_keepalive_joined(kiln_keepalive *a, int64_t takes_ns)
{
    if (a)
        kiln_in_flight_joined(&a->flight, takes_ns >= 0 ? takes_ns : KILN_AWAY_NS, KILN_AWAY_NS);
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
    return kiln_device_is_pocl(facts) && facts->compute_units <= KILN_MOST_SPINNERS &&
           can & CL_EXEC_NATIVE_KERNEL;
}

kiln_keepalive *kiln_keepalive_open(cl_context context, cl_device_id device,
                                    const kiln_device_facts *facts, int64_t stay_us,
                                    bool moves_threads)
{
    kiln_keepalive *a =
        stay_us > 0 && helps(device, facts) ? aligned_alloc(KILN_CACHE_LINE, sizeof *a) : NULL;
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
        a->spinner[a->spinners++] = (kiln_spinner){.all = a, .queue = queue, .core = -1};
    }
    return a;
}

static bool is_alive(kiln_keepalive *a, const kiln_spinner *s)
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
