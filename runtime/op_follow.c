/* Lets an operation follow others, once its launch has told what it does. */
#include "op_follow.h"

int kiln_op_followable(const kiln_op *op, kiln_phase phase)
{
    int only = -1, stages = 0;
    if (!op->k->follow || !op->bound.addresses || op->owns_images || op->dirty)
        return -1;
    for (int i = 0; i < op->plan.nstages; i++)
        if (kiln_phase_runs(phase, &op->plan.stage[i])) {
            only = op->plan.stage[i].team ? i : -1;
            stages++;
        }
    return stages == 1 ? only : -1;
}

bool kiln_op_follow(kiln_op *op, cl_command_queue queue)
{
    const kiln_team_call *call = kiln_known_call(&op->known, op->bound.number);
    cl_event begun = NULL;
    if (!call || !kiln_follow_add(op->k->follow, queue, call, &begun))
        return false;
    if (begun) {
        kiln_awake_note(op->k->awake, begun, 0);
        clReleaseEvent(begun);
    } else {
        kiln_awake_follows(op->k->awake, op->alone_ns);
    }
    return true;
}

static kiln_status give(kiln_op *op, int stage, uint64_t memory)
{
    const cl_ulong value = memory;
    const kiln_stage *s = &op->plan.stage[stage];
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < s->nargs && code == CL_SUCCESS; i++)
        if (s->arg[i].kind == KILN_ARG_TEAM)
            code = clSetKernelArg(op->launch[stage].kernel, (cl_uint)i, sizeof value, &value);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clSetKernelArg");
}

kiln_status kiln_op_ask(kiln_op *op, int stage, bool *asked)
{
    const uint64_t memory =
        stage < 0 ? 0 : kiln_known_ask(&op->known, op->bound.number, op->k->follow);
    *asked = memory != 0;
    return *asked ? give(op, stage, memory) : KILN_OK;
}

kiln_status kiln_op_asked(kiln_op *op, int stage, cl_event done)
{
    if (done)
        kiln_known_asked(&op->known, done);
    return give(op, stage, kiln_team_memory());
}
