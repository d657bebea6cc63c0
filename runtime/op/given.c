/* Checks of the OpenCL objects that callers give. Each asks OpenCL, so that enqueues like the one
 * before leave them out. */
#include "given.h"

#include <string.h>

kiln_status kiln_given_queue(const kiln *k, cl_command_queue queue)
{
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetCommandQueueInfo");
    if (context != k->context)
        return kiln_fail(KILN_INVALID, "queue belongs to another context; give one of the context "
                                       "that kiln_open() was given");
    if (device != k->device)
        return kiln_fail(KILN_INVALID, "queue belongs to another device; give one of the device "
                                       "that kiln_open() was given");
    return KILN_OK;
}

kiln_status kiln_given_events(const kiln *k, cl_uint n, const cl_event *wait)
{
    for (cl_uint i = 0; i < n; i++) {
        cl_context context = NULL;
        cl_int code = clGetEventInfo(wait[i], CL_EVENT_CONTEXT, sizeof context, &context, NULL);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clGetEventInfo");
        if (context != k->context)
            return kiln_fail(KILN_INVALID,
                             "wait[%u] is an event of another context; wait for it "
                             "before the call",
                             i);
    }
    return KILN_OK;
}

kiln_status kiln_given_memory(const kiln *k, const kiln_given *g)
{
    cl_context context = NULL;
    cl_mem_flags flags = 0;
    cl_int code = clGetMemObjectInfo(g->buffer.mem, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(g->buffer.mem, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetMemObjectInfo");
    if (context != k->context)
        return kiln_fail(KILN_INVALID,
                         "%s belongs to another context; give a memory object of the context that "
                         "kiln_open() was given",
                         g->name);
    if (g->written && flags & CL_MEM_READ_ONLY)
        return kiln_fail(KILN_INVALID,
                         "%s, which the operation writes, was created with CL_MEM_READ_ONLY; "
                         "create it with CL_MEM_READ_WRITE",
                         g->name);
    return KILN_OK;
}

kiln_status kiln_given_range(const kiln *k, const kiln_given *g)
{
    size_t size = 0;
    cl_mem_object_type kind = 0;
    cl_int code = clGetMemObjectInfo(g->buffer.mem, CL_MEM_TYPE, sizeof kind, &kind, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(g->buffer.mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetMemObjectInfo");
    if (kind != CL_MEM_OBJECT_BUFFER)
        return kiln_fail(KILN_INVALID, "%s must be a buffer; it is an image", g->name);
    const size_t align = (size_t)k->facts.base_align;
    if (g->buffer.offset % align)
        return kiln_fail(KILN_INVALID,
                         "offset %zu of buffer %s is not aligned: the device takes multiples of "
                         "%zu bytes; the next one is %zu",
                         g->buffer.offset, g->name, align,
                         g->buffer.offset + (align - g->buffer.offset % align));
    if (g->buffer.offset > size || (uint64_t)g->bytes > size - g->buffer.offset)
        return kiln_fail(KILN_INVALID,
                         "buffer %s needs %lld bytes from offset %zu; the memory object has %zu",
                         g->name, (long long)g->bytes, g->buffer.offset, size);
    return KILN_OK;
}

/* Where the bytes are: sub-buffers of one buffer may overlap. */
typedef struct place {
    cl_mem whole;
    size_t from;
} place;

static cl_int find_place(const kiln_given *g, place *p)
{
    cl_mem parent = NULL;
    size_t base = 0;
    cl_int code = clGetMemObjectInfo(g->buffer.mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent,
                                     &parent, NULL);
    if (code == CL_SUCCESS && parent)
        code = clGetMemObjectInfo(g->buffer.mem, CL_MEM_OFFSET, sizeof base, &base, NULL);
    *p = (place){parent ? parent : g->buffer.mem, base + g->buffer.offset};
    return code;
}

static bool overlap(const kiln_given *a, const place *at, const kiln_given *b, const place *bt)
{
    return at->whole == bt->whole && at->from < bt->from + (size_t)b->bytes &&
           bt->from < at->from + (size_t)a->bytes;
}

/* Overlapping sub-buffers, one read and one written, are undefined: y as its own residual must be
 * one object. */
static bool is_in_place(const kiln_given *a, const kiln_given *b)
{
    return strcmp(a->name, "y") == 0 && strcmp(b->name, "residual") == 0 &&
           a->buffer.mem == b->buffer.mem && a->buffer.offset == b->buffer.offset;
}

kiln_status kiln_given_apart(const kiln_given *given, int n)
{
    enum { MOST = 16 };
    place at[MOST];
    for (int i = 0; i < n && i < MOST; i++) {
        const kiln_given *b = &given[i];
        if (b->bytes == 0)
            continue;
        cl_int code = find_place(b, &at[i]);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clGetMemObjectInfo");
        for (int j = 0; j < i; j++) {
            const kiln_given *a = &given[j], *to = b->written ? b : a, *other = b->written ? a : b;
            if (a->bytes == 0 || (!a->written && !b->written) || is_in_place(a, b) ||
                !overlap(a, &at[j], b, &at[i]))
                continue;
            return kiln_fail(KILN_INVALID,
                             "%s, which the operation writes, overlaps %s: give buffers of their "
                             "own, or offsets that are far enough apart",
                             to->name, other->name);
        }
    }
    return KILN_OK;
}
