/* An operation's part: addresses for its kernels, and its place in a command batch once its
 * launches have been captured. */
#include "buffer_pointers.h"
#include "flush_check.h"
#include "pocl_internal.h"

#include <stdlib.h>

_Static_assert((int)KILN_MAX_STAGES <= (int)KILN_COMMAND_BATCH_MOST,
               "an operation has more launches than a batch takes at once");

/* Gives a stage's kernel the address of the memory that its launch shares with other threads. */
static kiln_status give_memory(const kiln_pocl_op *op, int stage, uint64_t memory)
{
    const cl_ulong value = memory;
    const kiln_stage *s = &op->plan->stage[stage];
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < s->nargs && code == CL_SUCCESS && op->kernel[stage]; i++)
        if (s->arg[i].kind == KILN_ARG_SHARING)
            code = clSetKernelArg(op->kernel[stage], (cl_uint)i, sizeof value, &value);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clSetKernelArg");
}

kiln_status kiln_pocl_op_open(kiln_pocl *p, const kiln_plan *plan,
                              const cl_kernel kernel[KILN_MAX_STAGES], int64_t takes_ns,
                              kiln_pocl_op **out)
{
    kiln_status status = KILN_OK;
    *out = NULL;
    if (!p)
        return KILN_OK;
    kiln_pocl_op *op = calloc(1, sizeof *op);
    if (!op)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    op->pocl = p;
    op->plan = plan;
    op->takes_ns = takes_ns;
    op->stay = p->buffers_stay;
    op->flushed = p->queues_flushed;
    for (int i = 0; i < plan->nstages && !status; i++) {
        op->kernel[i] = kernel[i];
        op->shared |= (unsigned)plan->stage[i].shared << i;
        status = give_memory(op, i, kiln_sharing_memory());
    }
    if (status)
        free(op);
    else
        *out = op;
    return status;
}

void kiln_pocl_op_promise(kiln_pocl_op *op)
{
    if (op)
        op->stay = op->flushed = true;
}

void kiln_pocl_op_close(kiln_pocl_op *op)
{
    if (!op)
        return;
    for (int i = 0; i < KILN_MAX_STAGES; i++)
        kiln_captured_close(&op->captured[i], op->pocl->batch);
    free(op);
}

static bool runs(const kiln_pocl_op *op, unsigned stages, int i)
{
    return i < op->plan->nstages && stages >> i & 1;
}

/* Returns false when some kernels may have addresses and others not. */
static bool give_pointers(const kiln_pocl_op *op, unsigned stages,
                          void *const address[KILN_MAX_ROLES])
{
    for (int i = 0; i < op->plan->nstages; i++) {
        const kiln_stage *s = &op->plan->stage[i];
        for (int j = 0; runs(op, stages, i) && op->kernel[i] && j < s->nargs; j++)
            if (s->arg[j].kind == KILN_ARG_BUFFER &&
                kiln_buffer_pointers_give(op->kernel[i], (cl_uint)j, address[s->arg[j].role]) !=
                    CL_SUCCESS)
                return false;
    }
    return true;
}

bool kiln_pocl_bind(kiln_pocl_op *op, unsigned stages, const cl_mem mem[KILN_MAX_ROLES])
{
    void *address[KILN_MAX_ROLES] = {0};
    if (!op)
        return false;
    op->binding++;
    op->pointers = mem && op->stay && op->pocl->pointers &&
                   kiln_buffer_pointers_find(op->pocl->pointers, mem, address, KILN_MAX_ROLES) &&
                   give_pointers(op, stages, address);
    return op->pointers;
}

/* ---- a command that it shares with others ---- */

/* Whether all launches are of one work-group, with addresses of buffers that stay. */
static bool may_join(const kiln_pocl_op *op, const kiln_pocl_call *call)
{
    return op->flushed && op->pocl->batch && op->pointers && call->plain &&
           call->events == KILN_EVENTS_NONE && (call->stages & ~op->shared) == 0;
}

/* Returns false when some launch is not captured yet, or when the batch takes none now. */
static bool join(kiln_pocl_op *op, const kiln_pocl_call *call)
{
    const kiln_sharing_call *calls[KILN_MAX_STAGES];
    int n = 0;
    for (int i = 0; i < op->plan->nstages; i++)
        if (runs(op, call->stages, i) &&
            !(calls[n++] = kiln_captured_call(&op->captured[i], op->binding)))
            return false;
    cl_event begun = NULL;
    if (n == 0 || !kiln_command_batch_add(op->pocl->batch, call->queue, calls, n, &begun))
        return false;
    if (begun) {
        kiln_keepalive_note(op->pocl->keepalive, begun, 0);
        clReleaseEvent(begun);
    } else {
        kiln_keepalive_joined(op->pocl->keepalive, op->takes_ns);
    }
    return true;
}

/* Gives memory of their own to the launches that are to be captured. */
static kiln_status begin_capture(kiln_pocl_op *op, unsigned stages)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < op->plan->nstages && !status; i++) {
        if (!runs(op, stages, i))
            continue;
        const uint64_t memory = kiln_captured_begin(&op->captured[i], op->binding, op->pocl->batch);
        op->capturing = op->capturing || memory != 0;
        status = memory ? give_memory(op, i, memory) : KILN_OK;
    }
    return status;
}

static kiln_status end_capture(kiln_pocl_op *op, unsigned stages, const cl_event *events)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < op->plan->nstages && !status; i++) {
        if (!runs(op, stages, i))
            continue;
        if (events)
            kiln_captured_enqueued(&op->captured[i], events[i]);
        status = give_memory(op, i, kiln_sharing_memory());
    }
    return status;
}

/* ---- commands of its own ---- */

/* What kiln_keepalive_note() wants to know of the call. */
static int64_t alone_ns(const kiln_pocl_op *op, const kiln_pocl_call *call)
{
    int launches = 0, shared = 0, packs = 0;
    for (int i = 0; i < op->plan->nstages; i++)
        if (runs(op, call->stages, i)) {
            launches++;
            packs += op->plan->stage[i].pack;
            shared += op->plan->stage[i].shared && !call->waits;
        }
    if (shared == launches)
        return 0;
    return launches == 1 && packs == 0 ? op->takes_ns : -1;
}

const char *kiln_pocl_unflushed(const kiln_pocl_op *op, cl_command_queue queue)
{
    return op && op->pocl->check_flushed && op->pocl->batch
               ? kiln_flush_check(queue, op->pocl->device)
               : NULL;
}

static kiln_status submit(kiln_pocl_op *op, kiln_pocl_call *call, bool *done)
{
    kiln_status status = KILN_OK;
    const bool joins = may_join(op, call);
    if (joins && (*done = join(op, call)))
        return KILN_OK;
    kiln_command_batch_end(op->pocl->batch, call->queue);
    op->alone_ns = alone_ns(op, call);
    /* PoCL compiles a kernel when it is first launched. Threads that looked for work beside that
     * would take the compiler's cores. */
    op->noted = op->pocl->keepalive && (call->stages & ~op->launched) == 0 &&
                (call->events == KILN_EVENTS_ALL ||
                 kiln_keepalive_wants(op->pocl->keepalive, op->alone_ns, op->takes_ns));
    op->capturing = false;
    if (joins)
        status = begin_capture(op, call->stages);
    if (status) {
        end_capture(op, call->stages, NULL);
        return status;
    }
    if (op->capturing)
        call->events = KILN_EVENTS_ALL;
    else if (op->noted && call->events == KILN_EVENTS_NONE)
        call->events = KILN_EVENTS_LAST;
    return KILN_OK;
}

/* Commands between this call and kiln_pocl_launched() are the library's. */
kiln_status kiln_pocl_submit(kiln_pocl_op *op, kiln_pocl_call *call, bool *done)
{
    *done = false;
    if (!op)
        return KILN_OK;
    kiln_flush_check_leave();
    const kiln_status status = submit(op, call, done);
    if (status || *done)
        kiln_flush_check_enter();
    return status;
}

kiln_status kiln_pocl_launched(kiln_pocl_op *op, const kiln_pocl_call *call, const cl_event *events,
                               int last)
{
    if (!op)
        return KILN_OK;
    kiln_flush_check_enter();
    const kiln_status status = op->capturing ? end_capture(op, call->stages, events) : KILN_OK;
    if (!status && events && op->noted)
        kiln_keepalive_note(op->pocl->keepalive, events[last], op->alone_ns);
    if (events)
        op->launched |= call->stages;
    return status;
}
