/* Launches a stage: a kernel, or a buffer filled with zeros. */
#include "launch.h"

static kiln_status clear(kiln_op *op, const kiln_stage *stage, cl_command_queue queue,
                         cl_uint n_wait, const cl_event *wait, cl_event *done)
{
    const cl_uint word = 0;
    const cl_uchar byte = 0;
    const size_t bytes = (size_t)stage->clear_bytes;
    const bool words = bytes % sizeof word == 0;
    cl_int code = clEnqueueFillBuffer(
        queue, op->bound.mem[stage->clear_role], words ? (const void *)&word : &byte,
        words ? sizeof word : sizeof byte, 0, bytes, n_wait, wait, done);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueFillBuffer");
}

/* A stage that threads can share is one work-group. Not while it waits for events: the threads spin
 * only so long. */
kiln_status kiln_op_launch(kiln_op *op, int i, cl_command_queue queue, cl_uint n_wait,
                           const cl_event *wait, cl_event *done)
{
    const kiln_stage *stage = &op->plan.stage[i];
    if (stage->kind == KILN_STAGE_CLEAR)
        return clear(op, stage, queue, n_wait, wait, done);
    const kiln_launch *launch = &op->launch[i];
    const bool shared = stage->shared && n_wait == 0;
    const size_t one[3] = {1, 1, 1};
    cl_int code =
        clEnqueueNDRangeKernel(queue, launch->kernel, 3, NULL, shared ? one : launch->global,
                               stage->local, n_wait, wait, done);
    return code == CL_SUCCESS ? KILN_OK : kiln_fail_cl(code, "clEnqueueNDRangeKernel");
}
