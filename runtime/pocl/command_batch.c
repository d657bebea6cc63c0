/* The ring of calls, and the command that reads it. */
#include "command_batch.h"

#include "runtime/base/clock.h"

#include "affinity.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 256,
    SCRATCH = 1 << 19,
    IDLE_NS = 2000,     /* without a call, until the command ends; a caller who enqueues in a loop
                           is back in a tenth of it */
    POLLS = 16,         /* of the ring, before the core is given to another thread */
    BEGIN_NS = 1000000, /* for a command to begin; after that, it waits for something else */
    LONG_NS = 50000000, /* until a command ends in any case, so that clFinish() returns */
    PAGE = 4096
};

/* The lowest bits of `tail`, below the number of calls: no command is open; the open command ends;
 * one call. */
enum { CLOSED = 1, ENDS = 2, ONE = 4 };

typedef struct library {
    void *handle;
    uint64_t after; /* so many calls have ended */
    struct library *next;
} library;

/* What different cores write is 512 bytes apart, as in work_sharing.c. */
struct kiln_command_batch {
    _Alignas(512) atomic_ullong tail; /* calls that were added, and the bits above */
    _Alignas(512) atomic_ullong head; /* calls that have ended; the command writes it */
    atomic_bool running;              /* likewise */
    _Alignas(512) kiln_sharing_call slot[SLOTS];
    _Alignas(512) pthread_mutex_t lock; /* guards what is below */
    _Atomic(cl_command_queue) queue;    /* of the command that was begun last */
    uint64_t seen_head;
    library *libraries;
    atomic_int users; /* the kiln and each command; the last one frees all */
    unsigned char *scratch;
};

/* Closes the libraries that no call in the ring needs. */
static void unload(kiln_command_batch *b)
{
    const uint64_t head = atomic_load(&b->head);
    for (library **at = &b->libraries; *at;) {
        library *l = *at;
        if (head < l->after) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        dlclose(l->handle);
        free(l);
    }
}

static void drop(kiln_command_batch *b)
{
    if (atomic_fetch_sub(&b->users, 1) > 1)
        return;
    unload(b);
    pthread_mutex_destroy(&b->lock);
    free(b->scratch);
    free(b);
}

/* ---- the command ---- */

/* Whether there is nothing more to wait for. */
static bool is_over(uint64_t tail, int64_t now, int64_t *idle_since)
{
    if (*idle_since == 0)
        *idle_since = now;
    return tail & ENDS || now - *idle_since > IDLE_NS;
}

/* Does what the ring has. Returns the number of calls that have ended in all. */
static uint64_t do_all(kiln_command_batch *b, uint64_t head, uint64_t tail)
{
    while (head < tail / ONE) {
        kiln_sharing_do(&b->slot[head % SLOTS], b->scratch);
        atomic_store_explicit(&b->head, ++head, memory_order_release);
    }
    return head;
}

static bool close_ring(kiln_command_batch *b, uint64_t tail)
{
    unsigned long long expected = tail;
    atomic_store(&b->running, false);
    if (atomic_compare_exchange_strong(&b->tail, &expected, tail | CLOSED))
        return true;
    atomic_store(&b->running, true);
    return false;
}

/* The command. Once the ring is closed, it may be the next command's. */
static void CL_CALLBACK run(void *argument)
{
    kiln_command_batch *b;
    memcpy(&b, argument, sizeof b); /* PoCL has copied the pointer */
    uint64_t head = atomic_load(&b->head);
    const int64_t begin = kiln_clock_ns();
    int64_t idle_since = 0;
    atomic_store(&b->running, true);
    for (unsigned poll = 1;; poll++) {
        const uint64_t tail = atomic_load(&b->tail);
        if (tail / ONE > head) {
            head = do_all(b, head, tail);
            idle_since = 0;
            if (kiln_clock_ns() - begin > LONG_NS)
                atomic_fetch_or(&b->tail, ENDS);
        } else if (is_over(tail, kiln_clock_ns(), &idle_since) && close_ring(b, tail)) {
            break;
        } else if (poll % POLLS == 0) {
            sched_yield();
        } else {
            kiln_cpu_relax();
        }
    }
    drop(b);
}

/* ---- the threads that enqueue; with the lock ---- */

static bool is_full(kiln_command_batch *b, uint64_t count)
{
    const uint64_t most = SLOTS - KILN_COMMAND_BATCH_MOST;
    if (count - b->seen_head > most)
        b->seen_head = atomic_load(&b->head);
    return count - b->seen_head > most;
}

/* Waits for room, but not for long for a command to begin: it may be behind a command that waits
 * for this thread. Then the command ends with what it has. */
static bool has_room(kiln_command_batch *b, uint64_t count)
{
    const int64_t since = kiln_clock_ns();
    while (is_full(b, count)) {
        if (!atomic_load(&b->running) && kiln_clock_ns() - since > BEGIN_NS) {
            atomic_fetch_or(&b->tail, ENDS);
            return false;
        }
        sched_yield();
    }
    return true;
}

static void write_calls(kiln_command_batch *b, uint64_t count, const kiln_sharing_call *const *call,
                        int n)
{
    for (int i = 0; i < n; i++)
        b->slot[(count + (uint64_t)i) % SLOTS] = *call[i];
}

/* Returns false when the command ends or has ended. */
static bool append(kiln_command_batch *b, const kiln_sharing_call *const *call, int n)
{
    unsigned long long tail = atomic_load(&b->tail);
    while (!(tail & (CLOSED | ENDS))) {
        if (is_full(b, tail / ONE) && !has_room(b, tail / ONE))
            return false;
        write_calls(b, tail / ONE, call, n);
        if (atomic_compare_exchange_strong(&b->tail, &tail, tail + (uint64_t)n * ONE))
            return true;
    }
    return false;
}

/* Begins a command, in a plain in-order queue only. */
static bool begin(kiln_command_batch *b, cl_command_queue queue,
                  const kiln_sharing_call *const *call, int n, cl_event *begun)
{
    const uint64_t count = atomic_load(&b->tail) / ONE;
    cl_command_queue_properties properties = 0;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) !=
            CL_SUCCESS ||
        properties != 0)
        return false;
    write_calls(b, count, call, n);
    atomic_store(&b->queue, queue);
    atomic_fetch_add(&b->users, 1);
    atomic_store(&b->tail, (count + (uint64_t)n) * ONE);
    if (clEnqueueNativeKernel(queue, run, &b, sizeof b, 0, NULL, NULL, 0, NULL, begun) ==
        CL_SUCCESS)
        return true;
    atomic_store(&b->tail, count * ONE | CLOSED);
    atomic_fetch_sub(&b->users, 1);
    return false;
}

bool kiln_command_batch_add(kiln_command_batch *b, cl_command_queue queue,
                            const kiln_sharing_call *const *call, int n, cl_event *begun)
{
    *begun = NULL;
    bool fits = b && n <= KILN_COMMAND_BATCH_MOST;
    for (int i = 0; i < n && fits; i++)
        fits = call[i]->scratch <= SCRATCH;
    if (!fits)
        return false;
    pthread_mutex_lock(&b->lock);
    bool added = atomic_load(&b->queue) == queue && append(b, call, n);
    if (!added && atomic_load(&b->tail) & CLOSED)
        added = begin(b, queue, call, n, begun);
    pthread_mutex_unlock(&b->lock);
    if (*begun)
        clFlush(queue);
    return added;
}

void kiln_command_batch_end(kiln_command_batch *b, cl_command_queue queue)
{
    if (!b || atomic_load(&b->queue) != queue)
        return;
    unsigned long long tail = atomic_load(&b->tail);
    while (!(tail & (CLOSED | ENDS)) && !atomic_compare_exchange_weak(&b->tail, &tail, tail | ENDS))
        ;
}

uint64_t kiln_command_batch_count(kiln_command_batch *b)
{
    return b ? atomic_load(&b->tail) / ONE : 0;
}

void kiln_command_batch_unload(kiln_command_batch *b, void *handle)
{
    library *l = handle ? malloc(sizeof *l) : NULL;
    if (!l)
        return; /* the library stays open */
    pthread_mutex_lock(&b->lock);
    *l = (library){handle, atomic_load(&b->tail) / ONE, b->libraries};
    b->libraries = l;
    unload(b);
    pthread_mutex_unlock(&b->lock);
}

kiln_command_batch *kiln_command_batch_open(void)
{
    kiln_command_batch *b = aligned_alloc(_Alignof(kiln_command_batch), sizeof *b);
    if (!b)
        return NULL;
    memset(b, 0, sizeof *b);
    b->scratch = aligned_alloc(PAGE, SCRATCH);
    if (!b->scratch) {
        free(b);
        return NULL;
    }
    pthread_mutex_init(&b->lock, NULL);
    atomic_store(&b->tail, CLOSED);
    atomic_store(&b->users, 1);
    return b;
}

void kiln_command_batch_close(kiln_command_batch *b)
{
    if (b)
        drop(b);
}
