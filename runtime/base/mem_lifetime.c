/* Knows whether memory objects that were seen before still live.
 *
 * OpenCL tells of an object's end once for every callback, and takes none back. So an object has
 * one for a whole kiln, however many operations use it, and what the callback needs lives until the
 * last of them has been called, if need be longer than the kiln.
 *
 * NVIDIA's calls back some time after the end, from another thread, when a new object may have the
 * handle already. So the end of an object that nobody needs is watched first.
 */
#include "mem_lifetime.h"
#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct kiln_mem_lifetime {
    unsigned forks; /* of the process, when it was opened */
    bool in_time;   /* OpenCL tells in time; else nothing is watched */
    atomic_uint ended;
    pthread_mutex_t lock; /* guards all below; never held while calling OpenCL, which calls back */
    bool closed;
    size_t n, capacity;
    cl_mem *mem; /* watched, in no order */
};

/* What was told of one object's end. The callback and its requester leave; the last one frees. */
typedef struct probe {
    atomic_bool left; /* one of the two has left */
    bool told;
    pthread_t by;
} probe;

static void leave_probe(probe *p)
{
    if (atomic_exchange(&p->left, true))
        free(p);
}

static void CL_CALLBACK tell(cl_mem mem, void *argument)
{
    (void)mem;
    probe *p = argument;
    p->by = pthread_self();
    p->told = true;
    leave_probe(p);
}

/* Whether OpenCL calls back before clReleaseMemObject() returns. */
static bool tells_in_time(cl_context context)
{
    cl_mem mem = context ? clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL) : NULL;
    probe *p = calloc(1, sizeof *p);
    const bool asked = mem && p && clSetMemObjectDestructorCallback(mem, tell, p) == CL_SUCCESS;
    if (mem)
        clReleaseMemObject(mem);
    if (!asked) {
        free(p);
        return false;
    }
    const bool in_time = atomic_load(&p->left) && p->told && pthread_equal(p->by, pthread_self());
    leave_probe(p);
    return in_time;
}

kiln_mem_lifetime *kiln_mem_lifetime_open(cl_context context)
{
    kiln_mem_lifetime *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->forks = atomic_load(&kiln_process_forks);
    w->in_time = tells_in_time(context);
    return w;
}

/* Unlocks, and frees everything if nobody needs it any more. */
static void leave(kiln_mem_lifetime *w)
{
    const bool last = w->closed && w->n == 0;
    pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&w->lock);
    free(w->mem);
    free(w);
}

void kiln_mem_lifetime_close(kiln_mem_lifetime *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->closed = true;
    leave(w);
}

/* Returns the place of `mem` in the list, or w->n where it is not watched. With the lock. */
static size_t find(const kiln_mem_lifetime *w, cl_mem mem)
{
    size_t i = 0;
    while (i < w->n && w->mem[i] != mem)
        i++;
    return i;
}

static void forget(kiln_mem_lifetime *w, cl_mem mem)
{
    pthread_mutex_lock(&w->lock);
    size_t i = find(w, mem);
    if (i < w->n)
        w->mem[i] = w->mem[--w->n];
    atomic_fetch_add(&w->ended, 1);
    leave(w);
}

/* In a child of fork(), a thread that is not there may hold the lock. */
static void CL_CALLBACK end(cl_mem mem, void *watch)
{
    const kiln_mem_lifetime *w = watch;
    if (kiln_process_is_of(w->forks))
        forget(watch, mem);
}

/* With the lock. */
static bool append(kiln_mem_lifetime *w, cl_mem mem)
{
    if (w->n == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 16;
        cl_mem *more = realloc(w->mem, capacity * sizeof *more);
        if (!more)
            return false;
        w->mem = more;
        w->capacity = capacity;
    }
    w->mem[w->n++] = mem;
    return true;
}

bool kiln_mem_lifetime_add(kiln_mem_lifetime *w, cl_mem mem)
{
    if (!w || !w->in_time)
        return false;
    pthread_mutex_lock(&w->lock);
    const bool known = find(w, mem) < w->n, listed = known || append(w, mem);
    pthread_mutex_unlock(&w->lock);
    if (known || !listed)
        return listed;
    if (clSetMemObjectDestructorCallback(mem, end, w) == CL_SUCCESS)
        return true;
    forget(w, mem);
    return false;
}

unsigned kiln_mem_lifetime_ended(const kiln_mem_lifetime *w)
{
    return w ? atomic_load_explicit(&w->ended, memory_order_acquire) : 0;
}
