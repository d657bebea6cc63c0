/* Watched queues, and the functions in their tables. */
#include "flush_check.h"

#include <CL/cl_icd.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct watched {
    cl_command_queue queue;
    cl_icd_dispatch *original;
    cl_icd_dispatch table;
    const char *command; /* the program's last one that may not have ended; NULL: none */
    cl_event event;
    struct watched *next;
} watched;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of them */
static watched *all;
static _Thread_local int inside;

void kiln_flush_check_leave(void)
{
    inside++;
}

void kiln_flush_check_enter(void)
{
    inside--;
}

static watched *find(cl_command_queue queue)
{
    watched *w = all;
    while (w && w->queue != queue)
        w = w->next;
    return w;
}

static void forget(watched *w)
{
    if (w->event)
        clReleaseEvent(w->event);
    w->event = NULL;
    w->command = NULL;
}

static cl_icd_dispatch *table_of(cl_command_queue queue)
{
    pthread_mutex_lock(&lock);
    cl_icd_dispatch *table = find(queue)->original;
    pthread_mutex_unlock(&lock);
    return table;
}

/* Notes a command with the event that it was given, which the caller may want. A call that waited
 * for its command waited for all before it. */
static cl_int note(cl_command_queue queue, const char *command, cl_int code, cl_event own,
                   cl_event *wanted, cl_bool waited)
{
    if (code != CL_SUCCESS)
        return code;
    if (wanted) {
        *wanted = own;
        clRetainEvent(own);
    }
    pthread_mutex_lock(&lock);
    watched *w = inside ? NULL : find(queue);
    if (w)
        forget(w);
    if (w && !waited) {
        w->command = command;
        w->event = own;
        own = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (own)
        clReleaseEvent(own);
    return CL_SUCCESS;
}

/* A function of the table: HOOK(its name without clEnqueue, its parameters behind the queue and
 * before the events, their names, whether it waits). */
#define HOOK(name, params, given, waits)                                                           \
    static cl_int CL_API_CALL hook_##name(cl_command_queue queue, LIST params, cl_uint n,          \
                                          const cl_event *wait, cl_event *event)                   \
    {                                                                                              \
        cl_event own = NULL;                                                                       \
        const cl_int code = table_of(queue)->clEnqueue##name(queue, LIST given, n, wait, &own);    \
        return note(queue, "clEnqueue" #name, code, own, event, waits);                            \
    }
#define LIST(...) __VA_ARGS__

HOOK(ReadBuffer, (cl_mem m, cl_bool b, size_t o, size_t s, void *p), (m, b, o, s, p), b)
HOOK(WriteBuffer, (cl_mem m, cl_bool b, size_t o, size_t s, const void *p), (m, b, o, s, p), b)
HOOK(ReadBufferRect,
     (cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *r, size_t br, size_t bs,
      size_t hr, size_t hs, void *p),
     (m, b, o, h, r, br, bs, hr, hs, p), b)
HOOK(WriteBufferRect,
     (cl_mem m, cl_bool b, const size_t *o, const size_t *h, const size_t *r, size_t br, size_t bs,
      size_t hr, size_t hs, const void *p),
     (m, b, o, h, r, br, bs, hr, hs, p), b)
HOOK(CopyBuffer, (cl_mem a, cl_mem b, size_t o, size_t q, size_t s), (a, b, o, q, s), CL_FALSE)
HOOK(CopyBufferRect,
     (cl_mem a, cl_mem b, const size_t *o, const size_t *q, const size_t *r, size_t ar, size_t as,
      size_t br, size_t bs),
     (a, b, o, q, r, ar, as, br, bs), CL_FALSE)
HOOK(FillBuffer, (cl_mem m, const void *p, size_t ps, size_t o, size_t s), (m, p, ps, o, s),
     CL_FALSE)
HOOK(ReadImage,
     (cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t row, size_t slice, void *p),
     (m, b, o, r, row, slice, p), b)
HOOK(WriteImage,
     (cl_mem m, cl_bool b, const size_t *o, const size_t *r, size_t row, size_t slice,
      const void *p),
     (m, b, o, r, row, slice, p), b)
HOOK(CopyImage, (cl_mem a, cl_mem b, const size_t *o, const size_t *q, const size_t *r),
     (a, b, o, q, r), CL_FALSE)
HOOK(FillImage, (cl_mem m, const void *c, const size_t *o, const size_t *r), (m, c, o, r), CL_FALSE)
HOOK(CopyImageToBuffer, (cl_mem a, cl_mem b, const size_t *o, const size_t *r, size_t at),
     (a, b, o, r, at), CL_FALSE)
HOOK(CopyBufferToImage, (cl_mem a, cl_mem b, size_t at, const size_t *o, const size_t *r),
     (a, b, at, o, r), CL_FALSE)
HOOK(UnmapMemObject, (cl_mem m, void *p), (m, p), CL_FALSE)
HOOK(MigrateMemObjects, (cl_uint c, const cl_mem *m, cl_mem_migration_flags f), (c, m, f), CL_FALSE)
HOOK(NDRangeKernel, (cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l),
     (k, d, o, g, l), CL_FALSE)
HOOK(Task, (cl_kernel k), (k), CL_FALSE)
HOOK(NativeKernel,
     (void(CL_CALLBACK * f)(void *), void *a, size_t s, cl_uint c, const cl_mem *m, const void **p),
     (f, a, s, c, m, p), CL_FALSE)

static void *CL_API_CALL hook_MapBuffer(cl_command_queue queue, cl_mem m, cl_bool b, cl_map_flags f,
                                        size_t o, size_t s, cl_uint n, const cl_event *wait,
                                        cl_event *event, cl_int *code)
{
    cl_event own = NULL;
    cl_int status = CL_SUCCESS;
    void *at = table_of(queue)->clEnqueueMapBuffer(queue, m, b, f, o, s, n, wait, &own, &status);
    status = note(queue, "clEnqueueMapBuffer", status, own, event, b);
    if (code)
        *code = status;
    return at;
}

static void *CL_API_CALL hook_MapImage(cl_command_queue queue, cl_mem m, cl_bool b, cl_map_flags f,
                                       const size_t *o, const size_t *r, size_t *row, size_t *slice,
                                       cl_uint n, const cl_event *wait, cl_event *event,
                                       cl_int *code)
{
    cl_event own = NULL;
    cl_int status = CL_SUCCESS;
    void *at = table_of(queue)->clEnqueueMapImage(queue, m, b, f, o, r, row, slice, n, wait, &own,
                                                  &status);
    status = note(queue, "clEnqueueMapImage", status, own, event, b);
    if (code)
        *code = status;
    return at;
}

static void set_hooks(cl_icd_dispatch *t)
{
    t->clEnqueueReadBuffer = hook_ReadBuffer;
    t->clEnqueueWriteBuffer = hook_WriteBuffer;
    t->clEnqueueReadBufferRect = hook_ReadBufferRect;
    t->clEnqueueWriteBufferRect = hook_WriteBufferRect;
    t->clEnqueueCopyBuffer = hook_CopyBuffer;
    t->clEnqueueCopyBufferRect = hook_CopyBufferRect;
    t->clEnqueueFillBuffer = hook_FillBuffer;
    t->clEnqueueReadImage = hook_ReadImage;
    t->clEnqueueWriteImage = hook_WriteImage;
    t->clEnqueueCopyImage = hook_CopyImage;
    t->clEnqueueFillImage = hook_FillImage;
    t->clEnqueueCopyImageToBuffer = hook_CopyImageToBuffer;
    t->clEnqueueCopyBufferToImage = hook_CopyBufferToImage;
    t->clEnqueueMapBuffer = hook_MapBuffer;
    t->clEnqueueMapImage = hook_MapImage;
    t->clEnqueueUnmapMemObject = hook_UnmapMemObject;
    t->clEnqueueMigrateMemObjects = hook_MigrateMemObjects;
    t->clEnqueueNDRangeKernel = hook_NDRangeKernel;
    t->clEnqueueTask = hook_Task;
    t->clEnqueueNativeKernel = hook_NativeKernel;
}

/* Whether the implementation's objects begin with a table. */
static bool has_tables(cl_device_id device)
{
    cl_platform_id platform = NULL;
    char text[4096] = "";
    return clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) ==
               CL_SUCCESS &&
           clGetPlatformInfo(platform, CL_PLATFORM_EXTENSIONS, sizeof text - 1, text, NULL) ==
               CL_SUCCESS &&
           strstr(text, "cl_khr_icd");
}

/* Returns NULL where the queue cannot be watched. A queue that was released leaves its place to a
 * new one at the same address, which has its own table again. */
static watched *watch(cl_command_queue queue, cl_device_id device)
{
    cl_icd_dispatch **const table = (cl_icd_dispatch **)(void *)queue;
    watched *w = find(queue);
    if (w && *table == &w->table)
        return w;
    if (!w) {
        w = has_tables(device) ? calloc(1, sizeof *w) : NULL;
        if (!w)
            return NULL;
        w->queue = queue;
        w->next = all;
        all = w;
    }
    forget(w);
    w->original = *table;
    w->table = **table;
    set_hooks(&w->table);
    *table = &w->table;
    return w;
}

const char *kiln_flush_check(cl_command_queue queue, cl_device_id device)
{
    cl_int state = CL_COMPLETE;
    const char *command = NULL;
    pthread_mutex_lock(&lock);
    watched *w = watch(queue, device);
    if (w && w->event)
        clGetEventInfo(w->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (w && state > CL_COMPLETE)
        command = w->command;
    else if (w)
        forget(w);
    pthread_mutex_unlock(&lock);
    return command;
}

void kiln_flush_checked(cl_command_queue queue)
{
    pthread_mutex_lock(&lock);
    watched *w = find(queue);
    if (w)
        forget(w);
    pthread_mutex_unlock(&lock);
}
