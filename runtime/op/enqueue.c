/* Launches operations: stages chained, nothing compiled. */
#include "runtime/pocl/affinity.h"
#include "runtime/pocl/op_batch.h"

#include "bind.h"
#include "elapsed.h"
#include "images.h"
#include "padding_check.h"

#include <stdlib.h>
#include <string.h>

/* Threads that could help a launch of one group look for work only so long while it waits for
 * others' events. */
static bool may_be_lone(const kiln_stage *stage, cl_uint n_wait)
{
    return stage->shared && n_wait == 0;
}

static kiln_status start_stage(kiln_op *op, int i, cl_command_queue queue, bool lone,
                               cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    const kiln_stage *stage = &op->plan.stage[i];
    if (stage->kind == KILN_STAGE_CLEAR) {
        const cl_uint word = 0;
        const cl_uchar byte = 0;
        size_t bytes = (size_t)stage->clear_bytes;
        bool words = bytes % sizeof word == 0;
        cl_int code = clEnqueueFillBuffer(
            queue, op->bound.mem[stage->clear_role], words ? (const void *)&word : &byte,
            words ? sizeof word : sizeof byte, 0, bytes, n_wait, wait, done);
        return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueFillBuffer");
    }
    const kiln_launch *launch = &op->launch[i];
    const size_t one[3] = {1, 1, 1};
    cl_int code =
        clEnqueueNDRangeKernel(queue, launch->kernel, 3, NULL, lone ? one : launch->global,
                               stage->local, n_wait, wait, done);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueNDRangeKernel");
}

static void release_events(cl_event *events, int n)
{
    for (int i = 0; i < n; i++)
        if (events[i])
            clReleaseEvent(events[i]);
}

/* Before the first stage: the caller's tensors, as his events leave them. */
static kiln_status check_given(kiln_op *op, cl_command_queue queue, cl_uint n_wait,
                               const cl_event *wait)
{
    cl_int code = op->dirty && n_wait > 0 ? clWaitForEvents(n_wait, wait) : CL_SUCCESS;
    return code == CL_SUCCESS ? kiln_op_check_padding(op, queue, op->bound.mem, -1)
                              : kiln_fail_cl(code, "clWaitForEvents");
}

typedef enum wanted { WANTED_NONE, WANTED_LAST, WANTED_ALL } wanted;

/* Starts the stages one after the other. events[i] receives stage i's event where it is wanted, or
 * needed for an out-of-order queue. */
static kiln_status start_stages(kiln_op *op, cl_command_queue queue, kiln_phase phase,
                                cl_uint n_wait, const cl_event *wait, wanted which,
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
        if (kiln_phase_runs(phase, &op->plan.stage[i]))
            *last = i;
    int previous = -1;
    kiln_status status = check_given(op, queue, n_wait, wait);
    for (int i = 0; i <= *last && !status; i++) {
        if (!kiln_phase_runs(phase, &op->plan.stage[i]))
            continue;
        bool wants_event = which == WANTED_ALL || (i == *last ? which == WANTED_LAST : chained);
        bool waits_previous = previous >= 0;
        status = start_stage(op, i, queue, may_be_lone(&op->plan.stage[i], n_wait),
                             waits_previous ? (cl_uint)chained : n_wait,
                             waits_previous ? (chained ? &events[previous] : NULL) : wait,
                             wants_event ? &events[i] : NULL);
        if (!status)
            status = kiln_op_check_padding(op, queue, op->bound.mem, i);
        previous = i;
    }
    return status;
}

/* The same for an op with images of its own, behind its enqueue before. */
static kiln_status start_in_turn(kiln_op *op, cl_command_queue queue, kiln_phase phase,
                                 cl_uint n_wait, const cl_event *wait, wanted which,
                                 cl_event events[KILN_MAX_STAGES], int *last)
{
    cl_event *list = NULL;
    kiln_status status = kiln_op_images_wait(op, queue, &n_wait, wait, &list);
    if (status)
        return status;
    status = start_stages(op, queue, phase, n_wait, n_wait ? list : NULL, which, events, last);
    if (status)
        clFinish(queue); /* what was started of it must not meet the next enqueue */
    else
        kiln_op_images_busy(op, events[*last]);
    free(list);
    return status;
}

/* What kiln_keepalive_note() wants of the call. */
static int64_t alone_ns(const kiln_op *op, kiln_phase phase, cl_uint n_wait)
{
    int launches = 0, lone = 0;
    for (int i = 0; i < op->plan.nstages; i++)
        if (kiln_phase_runs(phase, &op->plan.stage[i])) {
            launches++;
            lone += may_be_lone(&op->plan.stage[i], n_wait);
        }
    if (lone == launches)
        return 0;
    return launches == 1 && phase != KILN_PACK_ONLY ? op->alone_ns : -1;
}

static kiln_status run(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                       kiln_phase phase, cl_uint n_wait, const cl_event *wait, wanted which,
                       cl_event events[KILN_MAX_STAGES], int *last)
{
    if (!op || !queue || !buffers)
        return kiln_fail(KILN_INVALID, "op, queue and buffers must not be NULL");
    if (n_wait > 0 && !wait)
        return kiln_fail(KILN_INVALID, "%u events to wait for, but wait is NULL", n_wait);
    if (!op->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    memset(events, 0, KILN_MAX_STAGES * sizeof *events);
    pthread_mutex_lock(&op->lock);
    kiln_status status = kiln_op_bind(op, buffers, phase, queue);
    const bool alike =
        !status && which == WANTED_NONE && n_wait == 0 && kiln_op_may_follow(op, phase);
    if (alike && kiln_op_follow(op, queue, phase)) {
        pthread_mutex_unlock(&op->lock);
        *last = 0;
        return KILN_OK;
    }
    kiln_command_batch_end(op->k->follow, queue);
    const int64_t alone = alone_ns(op, phase, n_wait);
    const bool noted = which == WANTED_ALL || kiln_keepalive_wants(op->k->awake, alone, op->alone_ns);
    bool asked = false;
    if (alike)
        status = kiln_op_ask(op, phase, &asked);
    if (asked)
        which = WANTED_ALL;
    else if (which == WANTED_NONE && (noted || !op->first || op->owns_images))
        which = WANTED_LAST;
    if (!status)
        status = (op->owns_images ? start_in_turn : start_stages)(op, queue, phase, n_wait, wait,
                                                                  which, events, last);
    if (asked) {
        const kiln_status after = kiln_op_asked(op, phase, status ? NULL : events);
        status = status ? status : after;
    }
    if (!status && noted)
        kiln_keepalive_note(op->k->awake, events[*last], alone);
    if (!status && !op->first && phase != KILN_PACK_ONLY) {
        op->first = events[*last];
        clRetainEvent(op->first);
    }
    pthread_mutex_unlock(&op->lock);
    if (status)
        release_events(events, KILN_MAX_STAGES);
    return status;
}

static kiln_phase phase_of(const kiln_op *op, const kiln_buffers *buffers)
{
    return op && buffers && op->plan.packed_bytes > 0 && buffers->packed.mem ? KILN_RUN_ONLY
                                                                             : KILN_PACK_AND_RUN;
}

/* Hands the last event to the caller, who may want it, and drops the others. */
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
    kiln_status status = run(op, queue, buffers, phase_of(op, buffers), n_wait, wait,
                             done ? WANTED_LAST : WANTED_NONE, events, &last);
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
    kiln_status status = run(op, queue, buffers, KILN_PACK_ONLY, n_wait, wait,
                             done ? WANTED_LAST : WANTED_NONE, events, &last);
    if (!status)
        give(events, last, done);
    return status;
}

/* The spans of the stages that have an event, `*n` of them. */
static cl_int read_spans(const kiln_op *op, const cl_event *events, kiln_span *spans, int *n)
{
    cl_int code = CL_SUCCESS;
    *n = 0;
    for (int i = 0; i < op->plan.nstages && code == CL_SUCCESS; i++) {
        cl_ulong start = 0, end = 0;
        if (!events[i])
            continue;
        code = clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start,
                                       NULL);
        if (code == CL_SUCCESS)
            code = clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end,
                                           NULL);
        spans[(*n)++] = (kiln_span){op->plan.stage[i].pack, start, end};
    }
    return code;
}

kiln_status kiln_op_time(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                         double *ms, double *pack_ms)
{
    if (!ms)
        return kiln_fail(KILN_INVALID, "kiln_op_time: ms must not be NULL");
    cl_event events[KILN_MAX_STAGES];
    kiln_span spans[KILN_MAX_STAGES];
    int last, n = 0;
    const int64_t begin = kiln_clock_ns();
    kiln_status status =
        run(op, queue, buffers, phase_of(op, buffers), 0, NULL, WANTED_ALL, events, &last);
    if (status)
        return status;
    kiln_keepalive_wait(op->k->awake, queue);
    cl_int code = clWaitForEvents(1, &events[last]);
    const int64_t waited = kiln_clock_ns() - begin;
    if (code == CL_SUCCESS)
        code = read_spans(op, events, spans, &n);
    release_events(events, KILN_MAX_STAGES);
    if (code == CL_PROFILING_INFO_NOT_AVAILABLE)
        return kiln_fail(KILN_INVALID, "kiln_op_time: the queue has no CL_QUEUE_PROFILING_ENABLE");
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "timing a launch");
    kiln_elapsed elapsed = kiln_elapsed_of(spans, n);
    if (kiln_clock_stands(elapsed.ms + elapsed.pack_ms))
        elapsed = (kiln_elapsed){.ms = 1e-6 * (double)waited};
    *ms = elapsed.ms;
    if (pack_ms)
        *pack_ms = elapsed.pack_ms;
    return KILN_OK;
}

kiln_status kiln_finish(kiln *k, cl_command_queue queue)
{
    if (!k || !queue)
        return kiln_fail(KILN_INVALID, "kiln_finish: k and queue must not be NULL");
    kiln_command_batch_end(k->follow, queue);
    kiln_keepalive_wait(k->awake, queue);
    cl_int code = clFinish(queue);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clFinish");
}

kiln_status kiln_flush(kiln *k, cl_command_queue queue)
{
    if (!k || !queue)
        return kiln_fail(KILN_INVALID, "kiln_flush: k and queue must not be NULL");
    kiln_command_batch_end(k->follow, queue);
    cl_int code = clFlush(queue);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clFlush");
}
