/* Compiles the stages of an operation, and releases them. */
#include "stages.h"

#include "runtime/base/span.h"
#include "runtime/programs/template.h"

#include "bind.h"
#include "images.h"

#include <stdio.h>
#include <stdlib.h>

/* OpenCL C 1.2 everywhere: PoCL and NVIDIA default to it, others may default to more. PoCL counts a
 * compiler's warnings on the caller's terminal, but they are for who writes templates; which there
 * are depends on the CPU and on the compiler. */
static const char language[] = "-cl-std=CL1.2", quiet[] = " -w";

static kiln_status compile_stage(kiln_op *op, int i)
{
    const kiln_stage *stage = &op->plan.stage[i];
    kiln_launch *launch = &op->launch[i];
    if (stage->kind != KILN_STAGE_LAUNCH)
        return KILN_OK;
    kiln_status status =
        kiln_template_source(op->k->template_dir, stage->template_file, &launch->source);
    if (status || !op->k->context)
        return status;
    kiln_stage_launch(stage, launch->global);
    const bool own = !op->k->template_dir[0];
    char options[KILN_OPTIONS_TEXT + sizeof language + sizeof quiet];
    snprintf(options, sizeof options, "%s %s%s", stage->options, language,
             own && kiln_device_is_pocl(&op->k->facts) ? quiet : "");
    const int64_t began = kiln_span_begin(&op->k->logger);
    status = kiln_program_get(op->k->programs, launch->source, options, &launch->program);
    kiln_span_end(&op->k->logger, began, "build", stage->template_file);
    if (status)
        return status;
    cl_int code;
    launch->kernel = clCreateKernel(kiln_program_cl(launch->program), stage->kernel, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, stage->kernel);
    return KILN_OK;
}

/* Scalars never change, so they are set once. */
static kiln_status set_scalars(kiln_op *op, int i)
{
    const kiln_stage *stage = &op->plan.stage[i];
    cl_kernel kernel = op->launch[i].kernel;
    for (int j = 0; kernel && j < stage->nargs; j++) {
        const kiln_arg *arg = &stage->arg[j];
        cl_int i32 = (cl_int)arg->i, code = CL_SUCCESS;
        cl_long i64 = arg->i;
        if (arg->kind == KILN_ARG_INT)
            code = clSetKernelArg(kernel, (cl_uint)j, sizeof i32, &i32);
        else if (arg->kind == KILN_ARG_LONG)
            code = clSetKernelArg(kernel, (cl_uint)j, sizeof i64, &i64);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clSetKernelArg");
    }
    return KILN_OK;
}

static void list_stages(kiln_op *op)
{
    for (int phase = 0; phase < KILN_PHASES; phase++)
        for (int i = 0; i < op->plan.nstages; i++)
            op->stages[phase] |= (unsigned)kiln_phase_runs(phase, &op->plan.stage[i]) << i;
}

static kiln_status open_pocl(kiln_op *op, int64_t takes_ns)
{
    cl_kernel kernel[KILN_MAX_STAGES] = {NULL};
    for (int i = 0; i < op->plan.nstages; i++)
        kernel[i] = op->launch[i].kernel;
    const kiln_status status =
        kiln_pocl_op_open(op->k->pocl, &op->plan, kernel, takes_ns, &op->pocl);
    if (!status && op->promised)
        kiln_pocl_op_promise(op->pocl);
    return status;
}

kiln_status kiln_op_build(kiln_op *op, int64_t takes_ns)
{
    kiln_status status = KILN_OK;
    list_stages(op);
    for (int i = 0; i < op->plan.nstages && !status; i++) {
        status = compile_stage(op, i);
        if (!status)
            status = set_scalars(op, i);
    }
    if (!status && op->k->context)
        status = open_pocl(op, takes_ns);
    if (!status && op->k->context)
        status = kiln_op_make_images(op);
    return status;
}

kiln_op *kiln_op_new(kiln *k)
{
    kiln_op *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    pthread_mutex_init(&op->lock, NULL);
    op->k = k;
    kiln_hold(k);
    return op;
}

void kiln_op_free(kiln_op *op)
{
    kiln_pocl_op_close(op->pocl);
    kiln_op_close_windows(op);
    kiln_op_free_images(op);
    for (int i = 0; i < op->plan.nstages; i++) {
        if (op->launch[i].kernel)
            clReleaseKernel(op->launch[i].kernel);
        if (op->launch[i].program)
            kiln_program_release(op->launch[i].program);
        free(op->launch[i].source);
    }
    pthread_mutex_destroy(&op->lock);
    kiln *k = op->k;
    free(op);
    kiln_unhold(k);
}
