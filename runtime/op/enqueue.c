/* Enqueues operations: stages chained, nothing compiled. */
#include "runtime/base/clock.h"
#include "runtime/kiln/call_log.h"

#include "bind.h"
#include "elapsed.h"
#include "given.h"
#include "images.h"
#include "launch.h"
#include "packed_check.h"
#include "padding_check.h"

#include <stdlib.h>
#include <string.h>

static void release_events(cl_event *events, int n)
{
    for (int i = 0; i < n; i++)
        if (events[i])
            clReleaseEvent(events[i]);
}

/* Before the first stage: checks the caller's tensors, once his events have completed. */
static kiln_status check_given(kiln_op *op, cl_command_queue queue, cl_uint n_wait,
                               const cl_event *wait)
{
    cl_int code = op->dirty && n_wait > 0 ? clWaitForEvents(n_wait, wait) : CL_SUCCESS;
    return code == CL_SUCCESS ? kiln_op_check_padding(op, queue, op->bound.mem, -1)
                              : kiln_fail_cl(code, "clWaitForEvents");
}

/* Finds whether stages must wait for one another by events. A single one has nothing to wait for.
 */
static kiln_status find_chained(const kiln_pocl_call *call, bool *chained)
{
    cl_command_queue_properties properties = 0;
    *chained = false;
    if (!(call->stages & (call->stages - 1)))
        return KILN_OK;
    cl_int code = clGetCommandQueueInfo(call->queue, CL_QUEUE_PROPERTIES, sizeof properties,
                                        &properties, NULL);
    *chained = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clGetCommandQueueInfo");
}

/* Starts the stages one after the other. events[i] receives stage i's event where it is wanted, or
 * needed for an out-of-order queue. */
static kiln_status start_stages(kiln_op *op, const kiln_pocl_call *call, cl_uint n_wait,
                                const cl_event *wait, cl_event events[KILN_MAX_STAGES], int last)
{
    bool chained;
    kiln_status status = find_chained(call, &chained);
    if (!status)
        status = check_given(op, call->queue, n_wait, wait);
    int previous = -1;
    for (int i = 0; i <= last && !status; i++) {
        if (!(call->stages >> i & 1))
            continue;
        const bool wants_event = call->events == KILN_EVENTS_ALL ||
                                 (i == last ? call->events == KILN_EVENTS_LAST : chained);
        const bool waits_previous = previous >= 0;
        status = kiln_op_launch(op, i, call->queue, waits_previous ? (cl_uint)chained : n_wait,
                                waits_previous ? (chained ? &events[previous] : NULL) : wait,
                                wants_event ? &events[i] : NULL);
        if (!status)
            status = kiln_op_check_padding(op, call->queue, op->bound.mem, i);
        previous = i;
    }
    return status;
}

/* The same for an op with images of its own, behind its enqueue before. */
static kiln_status start_in_turn(kiln_op *op, const kiln_pocl_call *call, cl_uint n_wait,
                                 const cl_event *wait, cl_event events[KILN_MAX_STAGES], int last)
{
    cl_event *list = NULL;
    kiln_status status = kiln_op_images_wait(op, call->queue, &n_wait, wait, &list);
    if (status)
        return status;
    status = start_stages(op, call, n_wait, n_wait ? list : NULL, events, last);
    if (!status)
        status = kiln_op_images_busy(op, events[last]);
    if (status)
        clFinish(call->queue); /* what was started must not meet the next enqueue */
    free(list);
    return status;
}

static int last_stage(unsigned stages)
{
    int last = -1;
    for (int i = 0; stages >> i; i++)
        last = i;
    return last;
}

/* Launches the stages as on any device. */
static kiln_status launch(kiln_op *op, kiln_pocl_call *call, cl_uint n_wait, const cl_event *wait,
                          cl_event events[KILN_MAX_STAGES], int last)
{
    if (call->events == KILN_EVENTS_NONE && op->owns_images)
        call->events = KILN_EVENTS_LAST;
    kiln_status status =
        (op->owns_images ? start_in_turn : start_stages)(op, call, n_wait, wait, events, last);
    const kiln_status told = kiln_pocl_launched(op->pocl, call, status ? NULL : events, last);
    status = status ? status : told;
    if (status) {
        release_events(events, KILN_MAX_STAGES);
        return status;
    }
    return KILN_OK;
}

/* A caller has few queues. A handle that is known may be another queue's by now, which OpenCL then
 * refuses itself. */
static kiln_status check_queue(kiln_op *op, cl_command_queue queue)
{
    for (int i = 0; i < KILN_KNOWN_QUEUES; i++)
        if (op->queue[i] == queue)
            return KILN_OK;
    kiln_status status = kiln_given_queue(op->k, queue);
    if (!status)
        op->queue[op->queues++ % KILN_KNOWN_QUEUES] = queue;
    return status;
}

static kiln_status check_arguments(const kiln_op *op, cl_command_queue queue,
                                   const kiln_buffers *buffers, cl_uint n_wait,
                                   const cl_event *wait)
{
    if (!op || !queue || !buffers)
        return kiln_fail(KILN_INVALID, "op, queue and buffers must not be NULL");
    if (n_wait > 0 && !wait)
        return kiln_fail(KILN_INVALID, "%u events to wait for, but wait is NULL", n_wait);
    for (cl_uint i = 0; i < n_wait; i++)
        if (!wait[i])
            return kiln_fail(KILN_INVALID, "wait[%u] is NULL", i);
    if (!op->k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    return kiln_process_check(op->k);
}

/* Checks the queue and binds the buffers. Events mostly are new ones in every call: OpenCL is asked
 * about them where it is asked about buffers, and where it has refused a call. */
static kiln_status prepare(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                           kiln_phase phase, cl_uint n_wait, const cl_event *wait)
{
    const unsigned changes = op->bound.changes;
    kiln_status status = check_queue(op, queue);
    if (!status)
        status = kiln_op_bind(op, buffers, phase);
    if (!status && op->bound.changes != changes)
        status = kiln_given_events(op->k, n_wait, wait);
    return status;
}

/* Names the argument that OpenCL has refused, if it is the queue or an event. */
static kiln_status name_refused(const kiln_op *op, cl_command_queue queue, cl_uint n_wait,
                                const cl_event *wait)
{
    return kiln_given_queue(op->k, queue) == KILN_INVALID ||
                   kiln_given_events(op->k, n_wait, wait) == KILN_INVALID
               ? KILN_INVALID
               : KILN_OPENCL;
}

/* Fails where the program has broken the promise of settings.queues_flushed. */
static kiln_status check_flushed(const kiln_op *op, cl_command_queue queue)
{
    char text[KILN_KEY_TEXT] = "a reformat or pool";
    const char *command = kiln_pocl_unflushed(op->pocl, queue);
    if (!command)
        return KILN_OK;
    if (op->pick.solver)
        kiln_problem_text(&op->problem, text, sizeof text);
    return kiln_fail(KILN_INVALID,
                     "%.90s comes behind %s(), which may not have ended: call kiln_flush() between "
                     "them, or do not promise it by settings.queues_flushed",
                     text, command);
}

/* events[i] receives stage i's event where it is wanted, and *last the number of the last stage. */
static kiln_status run(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                       kiln_phase phase, cl_uint n_wait, const cl_event *wait, kiln_events wanted,
                       cl_event events[KILN_MAX_STAGES], int *last)
{
    bool done = false;
    kiln_status status = check_arguments(op, queue, buffers, n_wait, wait);
    if (status)
        return status;
    memset(events, 0, KILN_MAX_STAGES * sizeof *events);
    pthread_mutex_lock(&op->lock);
    kiln_pocl_call call = {.queue = queue,
                           .stages = op->stages[phase],
                           .waits = n_wait > 0,
                           .plain = n_wait == 0 && !op->owns_images && !op->dirty,
                           .events = wanted};
    status = check_flushed(op, queue);
    if (!status)
        status = prepare(op, queue, buffers, phase, n_wait, wait);
    if (!status && phase == KILN_RUN_ONLY)
        status = kiln_op_check_packed(op, queue, &buffers->packed, n_wait, wait);
    if (!status)
        status = kiln_pocl_submit(op->pocl, &call, &done);
    if (!status && !done) {
        *last = last_stage(call.stages);
        status = launch(op, &call, n_wait, wait, events, *last);
    }
    if (status == KILN_OPENCL)
        status = name_refused(op, queue, n_wait, wait);
    kiln_op_bind_end(op);
    pthread_mutex_unlock(&op->lock);
    if (op->call && !status && phase != KILN_PACK_ONLY)
        kiln_call_count(op->call);
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
    if (done) { /* then the last stage was launched */
        *done = events[last];
        events[last] = NULL;
    }
    release_events(events, KILN_MAX_STAGES);
}

kiln_status kiln_op_enqueue_own(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                                cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    cl_event events[KILN_MAX_STAGES];
    int last = -1;
    kiln_status status = run(op, queue, buffers, phase_of(op, buffers), n_wait, wait,
                             done ? KILN_EVENTS_LAST : KILN_EVENTS_NONE, events, &last);
    if (!status)
        give(events, last, done);
    return status;
}

kiln_status kiln_op_pack_own(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                             cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    if (op && op->plan.packed_bytes == 0)
        return kiln_fail(KILN_INVALID,
                         "the operation uses its sources as they are: nothing to pack");
    cl_event events[KILN_MAX_STAGES];
    int last = -1;
    kiln_status status = run(op, queue, buffers, KILN_PACK_ONLY, n_wait, wait,
                             done ? KILN_EVENTS_LAST : KILN_EVENTS_NONE, events, &last);
    if (status)
        return status;
    give(events, last, done);
    return kiln_op_mark_packed(op, queue, &buffers->packed);
}

/* Reads the spans of the stages that have an event, `*n` of them. */
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

kiln_status kiln_op_time_own(kiln_op *op, cl_command_queue queue, const kiln_buffers *buffers,
                             double *ms, double *pack_ms)
{
    if (!ms)
        return kiln_fail(KILN_INVALID, "ms must not be NULL");
    cl_event events[KILN_MAX_STAGES];
    kiln_span spans[KILN_MAX_STAGES];
    int last = -1, n = 0;
    const int64_t begin = kiln_clock_ns();
    kiln_status status =
        run(op, queue, buffers, phase_of(op, buffers), 0, NULL, KILN_EVENTS_ALL, events, &last);
    if (status)
        return status;
    kiln_pocl_wait(op->k->pocl, queue);
    cl_int code = clWaitForEvents(1, &events[last]);
    const int64_t waited = kiln_clock_ns() - begin;
    if (code == CL_SUCCESS)
        code = read_spans(op, events, spans, &n);
    release_events(events, KILN_MAX_STAGES);
    if (code == CL_PROFILING_INFO_NOT_AVAILABLE)
        return kiln_fail(KILN_INVALID, "the queue has no CL_QUEUE_PROFILING_ENABLE");
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

/* A caller waits for few queues, and mostly for one: OpenCL is asked when it is another. */
static kiln_status check_waited(kiln *k, cl_command_queue queue, const char *function)
{
    if (!k || !queue)
        return kiln_fail(KILN_INVALID, "%s: k and queue must not be NULL", function);
    kiln_status status = kiln_process_check(k);
    if (status || atomic_load_explicit(&k->waited, memory_order_relaxed) == queue)
        return status;
    if (!k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    status = kiln_given_queue(k, queue);
    if (!status)
        atomic_store_explicit(&k->waited, queue, memory_order_relaxed);
    return status;
}

kiln_status kiln_finish(kiln *k, cl_command_queue queue)
{
    kiln_status status = check_waited(k, queue, "kiln_finish");
    if (status)
        return status;
    kiln_pocl_flush(k->pocl, queue);
    kiln_pocl_wait(k->pocl, queue);
    cl_int code = clFinish(queue);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clFinish");
}

kiln_status kiln_flush(kiln *k, cl_command_queue queue)
{
    kiln_status status = check_waited(k, queue, "kiln_flush");
    if (status)
        return status;
    kiln_pocl_flush(k->pocl, queue);
    cl_int code = clFlush(queue);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clFlush");
}
