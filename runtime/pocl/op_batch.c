/* Lets an operation follow others, once its launches have told what they do. */
#include "op_batch.h"

_Static_assert((int)KILN_MAX_STAGES <= (int)KILN_COMMAND_BATCH_MOST,
               "an operation has more launches than follow");

bool kiln_op_may_follow(const kiln_op *op, kiln_phase phase)
{
    if (!op->k->follow || !op->bound.addresses || op->owns_images || op->dirty)
        return false;
    int others = 0;
    for (int i = 0; i < op->plan.nstages; i++)
        others += kiln_phase_runs(phase, &op->plan.stage[i]) && !op->plan.stage[i].shared;
    return others == 0;
}

bool kiln_op_follow(kiln_op *op, cl_command_queue queue, kiln_phase phase)
{
    const kiln_sharing_call *call[KILN_MAX_STAGES];
    int n = 0;
    for (int i = 0; i < op->plan.nstages; i++)
        if (kiln_phase_runs(phase, &op->plan.stage[i]) &&
            !(call[n++] = kiln_captured_call(&op->known[i], op->bound.number)))
            return false;
    cl_event begun = NULL;
    if (n == 0 || !kiln_command_batch_add(op->k->follow, queue, call, n, &begun))
        return false;
    if (begun) {
        kiln_keepalive_note(op->k->awake, begun, 0);
        clReleaseEvent(begun);
    } else {
        kiln_keepalive_follows(op->k->awake, op->alone_ns);
    }
    return true;
}

static kiln_status give(kiln_op *op, int stage, uint64_t memory)
{
    const cl_ulong value = memory;
    const kiln_stage *s = &op->plan.stage[stage];
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < s->nargs && code == CL_SUCCESS; i++)
        if (s->arg[i].kind == KILN_ARG_SHARING)
            code = clSetKernelArg(op->launch[stage].kernel, (cl_uint)i, sizeof value, &value);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clSetKernelArg");
}

kiln_status kiln_op_ask(kiln_op *op, kiln_phase phase, bool *asked)
{
    kiln_status status = KILN_OK;
    *asked = false;
    for (int i = 0; i < op->plan.nstages && !status; i++) {
        if (!kiln_phase_runs(phase, &op->plan.stage[i]))
            continue;
        const uint64_t memory = kiln_captured_ask(&op->known[i], op->bound.number, op->k->follow);
        *asked = *asked || memory != 0;
        status = memory ? give(op, i, memory) : KILN_OK;
    }
    return status;
}

kiln_status kiln_op_asked(kiln_op *op, kiln_phase phase, const cl_event *events)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < op->plan.nstages && !status; i++) {
        if (!kiln_phase_runs(phase, &op->plan.stage[i]))
            continue;
        if (events)
            kiln_captured_asked(&op->known[i], events[i]);
        status = give(op, i, kiln_sharing_memory());
    }
    return status;
}
