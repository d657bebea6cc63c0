/* Launches operations: buffers checked and bound, stages chained, nothing compiled. */
#include "images.h"
#include "padding_check.h"

#include <stdlib.h>
#include <string.h>

/* A buffer as the caller gave it, and the bytes that will be touched from its offset on. */
typedef struct want {
    const char *name;
    int role;
    kiln_buffer buffer;
    int64_t bytes; /* 0: not used */
} want;

static kiln_status check_want(const kiln_op *op, const want *w)
{
    if (!w->buffer.mem)
        return kiln_fail(KILN_INVALID, "the problem needs buffer %s of %lld bytes; it is NULL",
                         w->name, (long long)w->bytes);
    if (w->role < KILN_ROLE_TEMP && op->plan.image[w->role].width)
        return kiln_image_check(w->name, &w->buffer, &op->plan.image[w->role]);
    size_t size = 0;
    cl_mem_object_type kind = 0;
    cl_int code = clGetMemObjectInfo(w->buffer.mem, CL_MEM_TYPE, sizeof kind, &kind, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(w->buffer.mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetMemObjectInfo");
    if (kind != CL_MEM_OBJECT_BUFFER)
        return kiln_fail(KILN_INVALID, "%s must be a buffer; it is an image", w->name);
    if (w->buffer.offset > size || (uint64_t)w->bytes > size - w->buffer.offset)
        return kiln_fail(KILN_INVALID,
                         "buffer %s needs %lld bytes from offset %zu; the memory object has %zu",
                         w->name, (long long)w->bytes, w->buffer.offset, size);
    if (w->buffer.offset % (size_t)op->k->facts.base_align)
        return kiln_fail(KILN_INVALID,
                         "offset %zu of buffer %s is not a multiple of the device's alignment, "
                         "%lld bytes",
                         w->buffer.offset, w->name, (long long)op->k->facts.base_align);
    return KILN_OK;
}

/* A sub-buffer has no sub-buffers of its own: cut from its parent instead. */
static kiln_status cut(kiln_window *window, cl_mem mem, size_t offset, size_t size)
{
    cl_mem parent = NULL;
    size_t base = 0;
    cl_int code =
        clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    if (code == CL_SUCCESS && parent)
        code = clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof base, &base, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetMemObjectInfo");
    const cl_buffer_region region = {base + offset, size};
    cl_mem sub =
        clCreateSubBuffer(parent ? parent : mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clCreateSubBuffer");
    if (window->sub)
        clReleaseMemObject(window->sub);
    *window = (kiln_window){mem, offset, size, sub};
    return KILN_OK;
}

/* The memory object a kernel gets for `bytes` of `mem` from `offset` on. The window's sub-buffer
 * keeps its parent alive, so an equal handle is the same object. */
static kiln_status view(kiln_op *op, int role, cl_mem mem, size_t offset, int64_t bytes,
                        cl_mem *out)
{
    *out = mem;
    if (offset == 0)
        return KILN_OK;
    kiln_window *window = &op->window[role];
    bool same = window->sub && window->parent == mem && window->offset == offset &&
                window->size == (size_t)bytes;
    kiln_status status = same ? KILN_OK : cut(window, mem, offset, (size_t)bytes);
    *out = window->sub;
    return status;
}

static bool packs_through_temps(const kiln_plan *plan)
{
    for (int i = 0; i < plan->nstages; i++)
        for (int j = 0; plan->stage[i].pack && j < plan->stage[i].nargs; j++)
            if (plan->stage[i].arg[j].role >= KILN_ROLE_TEMP &&
                !kiln_plan_image(plan, plan->stage[i].arg[j].role).width)
                return true;
    return false;
}

/* OpenCL 1.2 has no kernels that read and write one image. */
static kiln_status check_residual(const kiln_op *op, const kiln_buffers *b)
{
    if (b->residual.mem != b->y.mem || !op->plan.image[KILN_ROLE_Y].width)
        return KILN_OK;
    for (int i = 0; i < op->plan.nstages; i++) {
        const kiln_stage *stage = &op->plan.stage[i];
        bool reads = false, writes = false;
        for (int j = 0; j < stage->nargs; j++) {
            reads = reads || stage->arg[j].role == KILN_ROLE_RESIDUAL;
            writes = writes || stage->arg[j].role == KILN_ROLE_Y;
        }
        if (reads && writes)
            return kiln_fail(KILN_INVALID, "the residual must be an image of its own: no kernel "
                                           "reads and writes the image y");
    }
    return KILN_OK;
}

/* The piece of the workspace, or the image, that a temp or the packed weights are. */
static kiln_status bind_own(kiln_op *op, int role, const kiln_buffer *workspace, int64_t offset,
                            int64_t bytes, cl_mem *mem)
{
    *mem = op->image[role];
    return *mem ? KILN_OK
                : view(op, role, workspace->mem, workspace->offset + (size_t)offset, bytes, mem);
}

/* Fills mem[role] for everything the stages may name. */
static kiln_status bind(kiln_op *op, const kiln_buffers *b, bool packing,
                        cl_mem mem[KILN_MAX_ROLES])
{
    const kiln_plan *plan = &op->plan;
    bool prepacked = plan->packed_bytes > 0 && b->packed.mem;
    bool temps = !packing || packs_through_temps(plan);
    int64_t workspace = temps ? plan->workspace_bytes : 0;
    if (!packing)
        workspace = kiln_plan_workspace(plan, prepacked);
    const int64_t *bytes = op->bytes;
    const want wants[] = {
        {"x", KILN_ROLE_X, b->x, packing ? 0 : bytes[KILN_ROLE_X]},
        {"w", KILN_ROLE_W, b->w, prepacked && !packing ? 0 : bytes[KILN_ROLE_W]},
        {"y", KILN_ROLE_Y, b->y, packing ? 0 : bytes[KILN_ROLE_Y]},
        {"bias", KILN_ROLE_BIAS, b->bias, packing ? 0 : bytes[KILN_ROLE_BIAS]},
        {"residual", KILN_ROLE_RESIDUAL, b->residual, packing ? 0 : bytes[KILN_ROLE_RESIDUAL]},
        {"packed", KILN_ROLE_PACKED, b->packed, prepacked || packing ? plan->packed_bytes : 0},
        {"workspace", KILN_ROLE_TEMP, b->workspace, workspace},
    };
    memset(mem, 0, KILN_MAX_ROLES * sizeof *mem);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        const want *w = &wants[i];
        if (w->bytes == 0)
            continue;
        kiln_status status = check_want(op, w);
        /* Overlapping sub-buffers, one read and one written, are undefined: y as its own residual
         * must be one object. */
        if (w->role == KILN_ROLE_RESIDUAL && b->residual.mem == b->y.mem &&
            b->residual.offset == b->y.offset)
            mem[KILN_ROLE_RESIDUAL] = mem[KILN_ROLE_Y];
        else if (!status && w->role != KILN_ROLE_TEMP)
            status = view(op, w->role, w->buffer.mem, w->buffer.offset, w->bytes, &mem[w->role]);
        if (status)
            return status;
    }
    kiln_status status = packing ? KILN_OK : check_residual(op, b);
    for (int i = 0; !status && i < plan->ntemps; i++)
        if (temps || plan->temp[i].image.width)
            status = bind_own(op, KILN_ROLE_TEMP + i, &b->workspace, plan->temp[i].offset,
                              plan->temp[i].bytes, &mem[KILN_ROLE_TEMP + i]);
    if (!status && !packing && !prepacked && plan->packed_bytes > 0)
        status = bind_own(op, KILN_ROLE_PACKED, &b->workspace, plan->workspace_bytes,
                          plan->packed_bytes, &mem[KILN_ROLE_PACKED]);
    return status;
}

static kiln_status start_stage(kiln_op *op, int i, cl_command_queue queue, const cl_mem *mem,
                               cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    const kiln_stage *stage = &op->plan.stage[i];
    if (stage->kind == KILN_STAGE_CLEAR) {
        const cl_uint word = 0;
        const cl_uchar byte = 0;
        size_t bytes = (size_t)stage->clear_bytes;
        bool words = bytes % sizeof word == 0;
        cl_int code =
            clEnqueueFillBuffer(queue, mem[stage->clear_role], words ? (const void *)&word : &byte,
                                words ? sizeof word : sizeof byte, 0, bytes, n_wait, wait, done);
        return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueFillBuffer");
    }
    cl_kernel kernel = op->launch[i].kernel;
    for (int j = 0; j < stage->nargs; j++) {
        if (stage->arg[j].kind != KILN_ARG_BUFFER)
            continue;
        cl_int code = clSetKernelArg(kernel, (cl_uint)j, sizeof(cl_mem), &mem[stage->arg[j].role]);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clSetKernelArg");
    }
    size_t launch[3];
    kiln_stage_launch(stage, launch);
    cl_int code =
        clEnqueueNDRangeKernel(queue, kernel, 3, NULL, launch, stage->local, n_wait, wait, done);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueNDRangeKernel");
}

/* Which stages of the plan a call runs. */
typedef enum phase { PACK_ONLY, RUN_ONLY, BOTH } phase;

static bool runs(const kiln_stage *stage, phase what)
{
    return what == BOTH || stage->pack == (what == PACK_ONLY);
}

static void release_events(cl_event *events, int n)
{
    for (int i = 0; i < n; i++)
        if (events[i])
            clReleaseEvent(events[i]);
}

/* Starts the stages one after the other. events[i] receives stage i's event where it is needed: all
 * of them for `every`, each for an out-of-order queue, else only the last. */
static kiln_status start_stages(kiln_op *op, cl_command_queue queue, const cl_mem *mem, phase what,
                                cl_uint n_wait, const cl_event *wait, bool every,
                                cl_event events[KILN_MAX_STAGES], int *last)
{
    cl_command_queue_properties properties = 0;
    cl_int code =
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetCommandQueueInfo");
    bool chained = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    *last = -1;
    for (int i = 0; i < op->plan.nstages; i++)
        if (runs(&op->plan.stage[i], what))
            *last = i;
    int previous = -1;
    kiln_status status = kiln_op_check_padding(op, queue, mem, -1);
    for (int i = 0; i <= *last && !status; i++) {
        if (!runs(&op->plan.stage[i], what))
            continue;
        bool wants_event = every || chained || i == *last;
        bool waits_previous = previous >= 0;
        status = start_stage(op, i, queue, mem, waits_previous ? (cl_uint)chained : n_wait,
                             waits_previous ? (chained ? &events[previous] : NULL) : wait,
                             wants_event ? &events[i] : NULL);
        if (!status)
            status = kiln_op_check_padding(op, queue, mem, i);
        previous = i;
    }
    return status;
}

/* The same for an op with images of its own, behind its enqueue before. */
static kiln_status start_in_turn(kiln_op *op, cl_command_queue queue, const cl_mem *mem, phase what,
                                 cl_uint n_wait, const cl_event *wait, bool every,
                                 cl_event events[KILN_MAX_STAGES], int *last)
{
    cl_event *list = NULL;
    kiln_status status = kiln_op_images_wait(op, queue, &n_wait, wait, &list);
    if (status)
        return status;
    status = start_stages(op, queue, mem, what, n_wait, n_wait ? list : NULL, every, events, last);
    if (status)
        clFinish(queue); /* what was started of it must not meet the next enqueue */
    else
        kiln_op_images_busy(op, events[*last]);
    free(list);
    return status;
}

static kiln_status run(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers, phase what,
                       cl_uint n_wait, const cl_event *wait, bool every,
                       cl_event events[KILN_MAX_STAGES], int *last)
{
    if (!op || !queue || !buffers)
        return kiln_fail(KILN_INVALID, "op, queue and buffers must not be NULL");
    if (!op->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    memset(events, 0, KILN_MAX_STAGES * sizeof *events);
    pthread_mutex_lock(&op->lock);
    cl_mem mem[KILN_MAX_ROLES];
    kiln_status status = bind(op, buffers, what == PACK_ONLY, mem);
    if (!status)
        status = (op->owns_images ? start_in_turn : start_stages)(op, queue, mem, what, n_wait,
                                                                  wait, every, events, last);
    if (!status && !op->first && what != PACK_ONLY) {
        op->first = events[*last];
        clRetainEvent(op->first);
    }
    pthread_mutex_unlock(&op->lock);
    if (status)
        release_events(events, KILN_MAX_STAGES);
    return status;
}

static phase run_phase(const kiln_op *op, const kiln_buffers *buffers)
{
    return op && buffers && op->plan.packed_bytes > 0 && buffers->packed.mem ? RUN_ONLY : BOTH;
}

/* Hands the last event to the caller and drops the others. */
static void give(cl_event *events, int last, cl_event *done)
{
    if (done) {
        *done = events[last];
        events[last] = NULL;
    }
    release_events(events, KILN_MAX_STAGES);
}

kiln_status kiln_op_enqueue(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                            cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    cl_event events[KILN_MAX_STAGES];
    int last;
    kiln_status status =
        run(op, queue, buffers, run_phase(op, buffers), n_wait, wait, false, events, &last);
    if (!status)
        give(events, last, done);
    return status;
}

kiln_status kiln_op_pack(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                         cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    if (op && op->plan.packed_bytes == 0)
        return kiln_fail(KILN_INVALID,
                         "the operation uses its sources as they are: nothing to pack");
    cl_event events[KILN_MAX_STAGES];
    int last;
    kiln_status status = run(op, queue, buffers, PACK_ONLY, n_wait, wait, false, events, &last);
    if (!status)
        give(events, last, done);
    return status;
}

kiln_status kiln_op_time(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                         double *ms, double *pack_ms)
{
    double sums[2] = {0}; /* of stages that pack; of the others */
    cl_event events[KILN_MAX_STAGES];
    int last;
    kiln_status status =
        run(op, queue, buffers, run_phase(op, buffers), 0, NULL, true, events, &last);
    if (status)
        return status;
    cl_int code = clWaitForEvents(1, &events[last]);
    for (int i = 0; i < KILN_MAX_STAGES && code == CL_SUCCESS; i++) {
        cl_ulong start = 0, end = 0;
        if (!events[i])
            continue;
        code = clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start,
                                       NULL);
        if (code == CL_SUCCESS)
            code = clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end,
                                           NULL);
        sums[!op->plan.stage[i].pack] += (double)(end - start) * 1e-6;
    }
    *ms = sums[1];
    if (pack_ms)
        *pack_ms = sums[0];
    release_events(events, KILN_MAX_STAGES);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "timing a launch");
}
