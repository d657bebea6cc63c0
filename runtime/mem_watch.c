/* Knows whether memory objects that were seen before still live.
 *
 * OpenCL tells of an object's end once for every callback, and takes none back. So an object has
 * one for a whole kiln, however many operations use it, and what the callback needs lives until the
 * last of them has been called, if need be longer than the kiln.
 */
#include "mem_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct kiln_mem_watch {
    atomic_uint ended;
    pthread_mutex_t lock; /* all below; never held while calling OpenCL, which calls back */
    bool closed;
    size_t n, capacity;
    cl_mem *mem; /* watched, in no order */
};

kiln_mem_watch *kiln_mem_watch_open(void)
{
    kiln_mem_watch *w = calloc(1, sizeof *w);
    if (w)
        pthread_mutex_init(&w->lock, NULL);
    return w;
}

/* Lets go of the lock, and of all if nobody needs it any more. */
static void leave(kiln_mem_watch *w)
{
    const bool last = w->closed && w->n == 0;
    pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&w->lock);
    free(w->mem);
    free(w);
}

void kiln_mem_watch_close(kiln_mem_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->closed = true;
    leave(w);
}

/* With the lock; w->n: not watched. */
static size_t find(const kiln_mem_watch *w, cl_mem mem)
{
    size_t i = 0;
    while (i < w->n && w->mem[i] != mem)
        i++;
    return i;
}

static void forget(kiln_mem_watch *w, cl_mem mem)
{
    pthread_mutex_lock(&w->lock);
    size_t i = find(w, mem);
    if (i < w->n)
        w->mem[i] = w->mem[--w->n];
    atomic_fetch_add(&w->ended, 1);
    leave(w);
}

static void CL_CALLBACK end(cl_mem mem, void *watch)
{
    forget(watch, mem);
}

/* With the lock. */
static bool append(kiln_mem_watch *w, cl_mem mem)
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

bool kiln_mem_watch_add(kiln_mem_watch *w, cl_mem mem)
{
    if (!w)
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

unsigned kiln_mem_watch_ended(const kiln_mem_watch *w)
{
    return w ? atomic_load_explicit(&w->ended, memory_order_acquire) : 0;
}
