/* Each check is an op of its own, which clears a counter and then counts cells. It is launched
 * plainly: it has no checks of its own. */
#include "padding_check.h"

#include "generator/plan/padding.h"

#include "bind.h"
#include "launch.h"
#include "stages.h"

#include <stdio.h>
#include <stdlib.h>

static kiln_status make_check(kiln_op *op, int i)
{
    char why[KILN_ERROR_TEXT];
    const kiln_padded *padded = &op->plan.padded[i];
    kiln_op *check = op->check[i] = kiln_op_new(op->k);
    if (!check)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a check of padding");
    if (!kiln_padding_plan(padded, &op->k->facts, &check->plan, &op->padding[i], why))
        return kiln_fail(KILN_UNSUPPORTED, "%s", why);
    /* The sizes of whole tensors were checked already. */
    check->bytes[KILN_ROLE_X] = 1;
    check->bytes[KILN_ROLE_Y] = sizeof(cl_int);
    return kiln_op_build(check, -1);
}

kiln_status kiln_op_make_checks(kiln_op *op)
{
    kiln_status status = KILN_OK;
    cl_int code;
    if (!op->k->check_padding || op->plan.npadded == 0)
        return KILN_OK;
    op->dirty = clCreateBuffer(op->k->context, CL_MEM_READ_WRITE, sizeof(cl_int), NULL, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clCreateBuffer");
    for (int i = 0; i < op->plan.npadded && !status; i++)
        status = make_check(op, i);
    return status;
}

void kiln_op_free_checks(kiln_op *op)
{
    for (int i = 0; i < KILN_MAX_PADDED; i++)
        if (op->check[i])
            kiln_op_free(op->check[i]);
    if (op->dirty)
        clReleaseMemObject(op->dirty);
}

static kiln_status complain(const kiln_op *op, int i, cl_int dirty)
{
    static const char *const roles[] = {"x", "w", "y", "bias", "residual", "packed"};
    const kiln_padded *p = &op->plan.padded[i];
    char tensor[24];
    if (p->role < KILN_ROLE_TEMP)
        snprintf(tensor, sizeof tensor, "%s", roles[p->role]);
    else
        snprintf(tensor, sizeof tensor, "temp %d", p->role - KILN_ROLE_TEMP);
    if (p->stage < 0)
        return kiln_fail(KILN_WRONG,
                         "%d of %lld cells of padding in %s, layout %s, are not zero as they were "
                         "given",
                         (int)dirty, (long long)op->padding[i], tensor, p->layout);
    const kiln_stage *stage = &op->plan.stage[p->stage];
    return kiln_fail(KILN_WRONG,
                     "stage %d, %s of %s, left %d of %lld cells of padding in %s, layout %s, other "
                     "than zero",
                     p->stage, stage->kernel, stage->template_file, (int)dirty,
                     (long long)op->padding[i], tensor, p->layout);
}

/* The queue may be out of order: each step waits for the one before. */
static kiln_status count(kiln_op *op, cl_command_queue queue, cl_mem mem, int i)
{
    const kiln_buffers b = {.x = {mem, 0}, .y = {op->dirty, 0}};
    kiln_op *check = op->check[i];
    cl_int dirty = 0, code = CL_SUCCESS;
    kiln_status status = kiln_op_bind(check, &b, KILN_PACK_AND_RUN);
    for (int s = 0; s < check->plan.nstages && !status && code == CL_SUCCESS; s++) {
        status = kiln_op_launch(check, s, queue, 0, NULL, NULL);
        if (!status)
            code = clFinish(queue);
    }
    kiln_op_bind_end(check);
    if (status)
        return status;
    if (code == CL_SUCCESS)
        code =
            clEnqueueReadBuffer(queue, op->dirty, CL_TRUE, 0, sizeof dirty, &dirty, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "checking padding");
    return dirty ? complain(op, i, dirty) : KILN_OK;
}

kiln_status kiln_op_check_padding(kiln_op *op, cl_command_queue queue, const cl_mem *mem, int stage)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < op->plan.npadded && op->check[i] && !status; i++) {
        const kiln_padded *p = &op->plan.padded[i];
        if (p->stage != stage || !mem[p->role])
            continue;
        cl_int code = clFinish(queue);
        status =
            code == CL_SUCCESS ? count(op, queue, mem[p->role], i) : kiln_fail_cl(code, "clFinish");
    }
    return status;
}
