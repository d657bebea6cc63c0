/* The ring of operations that follow one another, and the command that reads it. */
#include "command_batch.h"

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
    IDLE_NS = 2000,     /* until a command ends; who enqueues at once is there in a tenth of it */
    LOOKS = 16,         /* at the ring, before the core is given to another thread */
    BEGIN_NS = 1000000, /* for it to begin; longer, and it waits for something else */
    LONG_NS = 50000000, /* until it ends in any case: clFinish() is to return */
    PAGE = 4096
};

/* Of `tail`, behind the number of calls: */
enum { CLOSED = 1, ENDS = 2, ONE = 4 };

typedef struct library {
    void *handle;
    uint64_t after; /* calls */
    struct library *next;
} library;

/* What different cores write is 512 bytes apart, as in work_sharing.c. */
struct kiln_command_batch {
    _Alignas(512) atomic_ullong tail;
    _Alignas(512) atomic_ullong head; /* calls that have ended; the command's */
    atomic_bool running;              /* so is this */
    _Alignas(512) kiln_sharing_call slot[SLOTS];
    _Alignas(512) pthread_mutex_t lock; /* what is below */
    _Atomic(cl_command_queue) queue;    /* of the last command */
    uint64_t seen_head;
    library *libraries;
    atomic_int users; /* the kiln and each command; the last one frees it */
    unsigned char *scratch;
};

/* Those that no call in the ring is of. */
static void unload(kiln_command_batch *f)
{
    const uint64_t head = atomic_load(&f->head);
    for (library **at = &f->libraries; *at;) {
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

static void drop(kiln_command_batch *f)
{
    if (atomic_fetch_sub(&f->users, 1) > 1)
        return;
    unload(f);
    pthread_mutex_destroy(&f->lock);
    free(f->scratch);
    free(f);
}

/* ---- the command ---- */

/* Whether there is nothing more to wait for. */
static bool is_over(uint64_t tail, int64_t now, int64_t *idle_since)
{
    if (*idle_since == 0)
        *idle_since = now;
    return tail & ENDS || now - *idle_since > IDLE_NS;
}

/* Does what the ring has. The number of calls, in all. */
static uint64_t do_all(kiln_command_batch *f, uint64_t head, uint64_t tail)
{
    while (head < tail / ONE) {
        kiln_sharing_do(&f->slot[head % SLOTS], f->scratch);
        atomic_store_explicit(&f->head, ++head, memory_order_release);
    }
    return head;
}

static bool close_ring(kiln_command_batch *f, uint64_t tail)
{
    unsigned long long expected = tail;
    atomic_store(&f->running, false);
    if (atomic_compare_exchange_strong(&f->tail, &expected, tail | CLOSED))
        return true;
    atomic_store(&f->running, true);
    return false;
}

/* Once it is closed, the ring may be the next command's. */
static void CL_CALLBACK run(void *argument)
{
    kiln_command_batch *f;
    memcpy(&f, argument, sizeof f); /* PoCL's copy of it */
    uint64_t head = atomic_load(&f->head);
    const int64_t begin = kiln_clock_ns();
    int64_t idle_since = 0;
    atomic_store(&f->running, true);
    for (unsigned look = 1;; look++) {
        const uint64_t tail = atomic_load(&f->tail);
        if (tail / ONE > head) {
            head = do_all(f, head, tail);
            idle_since = 0;
            if (kiln_clock_ns() - begin > LONG_NS)
                atomic_fetch_or(&f->tail, ENDS);
        } else if (is_over(tail, kiln_clock_ns(), &idle_since) && close_ring(f, tail)) {
            break;
        } else if (look % LOOKS == 0) {
            sched_yield();
        } else {
            kiln_cpu_relax();
        }
    }
    drop(f);
}

/* ---- who enqueues; with the lock ---- */

static bool is_full(kiln_command_batch *f, uint64_t count)
{
    const uint64_t most = SLOTS - KILN_COMMAND_BATCH_MOST;
    if (count - f->seen_head > most)
        f->seen_head = atomic_load(&f->head);
    return count - f->seen_head > most;
}

/* Waits for some, but not for long for a command to begin: it may be behind one that waits for this
 * thread. Then it ends with what it has. */
static bool has_room(kiln_command_batch *f, uint64_t count)
{
    const int64_t since = kiln_clock_ns();
    while (is_full(f, count)) {
        if (!atomic_load(&f->running) && kiln_clock_ns() - since > BEGIN_NS) {
            atomic_fetch_or(&f->tail, ENDS);
            return false;
        }
        sched_yield();
    }
    return true;
}

static void write_calls(kiln_command_batch *f, uint64_t count, const kiln_sharing_call *const *call, int n)
{
    for (int i = 0; i < n; i++)
        f->slot[(count + (uint64_t)i) % SLOTS] = *call[i];
}

/* False: the command ends, or has. */
static bool append(kiln_command_batch *f, const kiln_sharing_call *const *call, int n)
{
    unsigned long long tail = atomic_load(&f->tail);
    while (!(tail & (CLOSED | ENDS))) {
        if (is_full(f, tail / ONE) && !has_room(f, tail / ONE))
            return false;
        write_calls(f, tail / ONE, call, n);
        if (atomic_compare_exchange_strong(&f->tail, &tail, tail + (uint64_t)n * ONE))
            return true;
    }
    return false;
}

/* Of a plain in-order queue. */
static bool begin(kiln_command_batch *f, cl_command_queue queue, const kiln_sharing_call *const *call, int n,
                  cl_event *begun)
{
    const uint64_t count = atomic_load(&f->tail) / ONE;
    cl_command_queue_properties properties = 0;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) !=
            CL_SUCCESS ||
        properties != 0)
        return false;
    write_calls(f, count, call, n);
    atomic_store(&f->queue, queue);
    atomic_fetch_add(&f->users, 1);
    atomic_store(&f->tail, (count + (uint64_t)n) * ONE);
    if (clEnqueueNativeKernel(queue, run, &f, sizeof f, 0, NULL, NULL, 0, NULL, begun) ==
        CL_SUCCESS)
        return true;
    atomic_store(&f->tail, count * ONE | CLOSED);
    atomic_fetch_sub(&f->users, 1);
    return false;
}

bool kiln_command_batch_add(kiln_command_batch *f, cl_command_queue queue, const kiln_sharing_call *const *call,
                     int n, cl_event *begun)
{
    *begun = NULL;
    bool fits = f && n <= KILN_COMMAND_BATCH_MOST;
    for (int i = 0; i < n && fits; i++)
        fits = call[i]->scratch <= SCRATCH;
    if (!fits)
        return false;
    pthread_mutex_lock(&f->lock);
    bool added = atomic_load(&f->queue) == queue && append(f, call, n);
    if (!added && atomic_load(&f->tail) & CLOSED)
        added = begin(f, queue, call, n, begun);
    pthread_mutex_unlock(&f->lock);
    if (*begun)
        clFlush(queue);
    return added;
}

void kiln_command_batch_end(kiln_command_batch *f, cl_command_queue queue)
{
    if (!f || atomic_load(&f->queue) != queue)
        return;
    unsigned long long tail = atomic_load(&f->tail);
    while (!(tail & (CLOSED | ENDS)) && !atomic_compare_exchange_weak(&f->tail, &tail, tail | ENDS))
        ;
}

uint64_t kiln_command_batch_count(kiln_command_batch *f)
{
    return f ? atomic_load(&f->tail) / ONE : 0;
}

void kiln_command_batch_unload(kiln_command_batch *f, void *handle)
{
    library *l = handle ? malloc(sizeof *l) : NULL;
    if (!l)
        return; /* it stays */
    pthread_mutex_lock(&f->lock);
    *l = (library){handle, atomic_load(&f->tail) / ONE, f->libraries};
    f->libraries = l;
    unload(f);
    pthread_mutex_unlock(&f->lock);
}

kiln_command_batch *kiln_command_batch_open(void)
{
    kiln_command_batch *f = aligned_alloc(_Alignof(kiln_command_batch), sizeof *f);
    if (!f)
        return NULL;
    memset(f, 0, sizeof *f);
    f->scratch = aligned_alloc(PAGE, SCRATCH);
    if (!f->scratch) {
        free(f);
        return NULL;
    }
    pthread_mutex_init(&f->lock, NULL);
    atomic_store(&f->tail, CLOSED);
    atomic_store(&f->users, 1);
    return f;
}

void kiln_command_batch_close(kiln_command_batch *f)
{
    if (f)
        drop(f);
}
