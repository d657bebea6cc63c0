/* Creates, describes and releases operations. */
#include "runtime/pocl/work_sharing.h"
#include "runtime/programs/template.h"

#include "bind.h"
#include "images.h"
#include "padding_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* OpenCL C 1.2 everywhere: PoCL and NVIDIA default to it, others may default to more. */
static const char language[] = "-cl-std=CL1.2";

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
    char options[KILN_OPTIONS_TEXT + sizeof language + 1];
    snprintf(options, sizeof options, "%s %s", stage->options, language);
    status = kiln_program_get(op->k->programs, launch->source, options, &launch->program);
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
        const cl_ulong team = kiln_sharing_memory();
        if (arg->kind == KILN_ARG_INT)
            code = clSetKernelArg(kernel, (cl_uint)j, sizeof i32, &i32);
        else if (arg->kind == KILN_ARG_LONG)
            code = clSetKernelArg(kernel, (cl_uint)j, sizeof i64, &i64);
        else if (arg->kind == KILN_ARG_SHARING)
            code = clSetKernelArg(kernel, (cl_uint)j, sizeof team, &team);
        if (code != CL_SUCCESS)
            return kiln_fail_cl(code, "clSetKernelArg");
    }
    return KILN_OK;
}

kiln_status kiln_op_compile(kiln_op *op)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < op->plan.nstages && !status; i++) {
        status = compile_stage(op, i);
        if (!status)
            status = set_scalars(op, i);
    }
    if (!status && op->k->context)
        status = kiln_op_make_images(op);
    if (!status && op->k->context)
        status = kiln_op_make_checks(op);
    return status;
}

static int64_t alone_ns(const kiln_op *op)
{
    const kiln_device_facts *facts = &op->k->facts;
    const double ms = kiln_solver_predict(op->pick.solver, &op->shape, facts, &op->pick.config) -
                      kiln_device_launch_ms(facts);
    return ms > 0 && ms < 1 ? (int64_t)(ms * 1e6 * facts->compute_units) + 1 : -1;
}

static kiln_status build(kiln_op *op, const kiln_choice *choice)
{
    kiln_status status = kiln_choose(op->k, &op->problem, &op->shape, choice, &op->pick);
    if (status)
        return status;
    kiln_warn_of_choice(op->k, &op->problem, choice, &op->pick);
    op->shape = op->pick.shape;
    kiln_shape_give_layouts(&op->shape, &op->problem);
    kiln_why why;
    if (!kiln_solver_plan(op->pick.solver, &op->shape, &op->k->facts, &op->pick.config, &op->plan,
                          &why))
        return kiln_fail(KILN_UNSUPPORTED, "solver %s: %s", op->pick.solver->name, why.text);
    op->alone_ns = alone_ns(op);
    const kiln_problem *p = &op->problem;
    op->bytes[KILN_ROLE_X] = kiln_problem_bytes(p, 'x');
    op->bytes[KILN_ROLE_W] = kiln_problem_bytes(p, 'w');
    op->bytes[KILN_ROLE_Y] = kiln_problem_bytes(p, 'y');
    if (p->epilogue.bias)
        op->bytes[KILN_ROLE_BIAS] = kiln_problem_bytes(p, 'b');
    if (p->epilogue.beta != 0)
        op->bytes[KILN_ROLE_RESIDUAL] = op->bytes[KILN_ROLE_Y];
    return kiln_op_compile(op);
}

kiln_op *kiln_op_new(kiln *k)
{
    kiln_op *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    pthread_mutex_init(&op->lock, NULL);
    op->k = k;
    return op;
}

kiln_status kiln_conv_create(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                             kiln_op **out)
{
    if (!k || !problem || !out)
        return kiln_fail(KILN_INVALID, "kiln_conv_create: k, problem and out must not be NULL");
    *out = NULL;
    kiln_op *op = kiln_op_new(k);
    if (!op)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    op->problem = *problem;
    char why[KILN_ERROR_TEXT];
    kiln_status status = kiln_problem_check(&op->problem, why);
    if (status) {
        kiln_fail(status, "%s", why);
    } else {
        op->shape = kiln_shape_of(&op->problem);
        status = build(op, choice);
    }
    if (status) {
        kiln_op_discard(op);
        return status;
    }
    *out = op;
    return KILN_OK;
}

void kiln_op_discard(kiln_op *op)
{
    if (!op)
        return;
    for (int i = 0; i < KILN_MAX_STAGES; i++)
        kiln_captured_close(&op->known[i], op->k->follow);
    if (op->first)
        clReleaseEvent(op->first);
    for (int i = 0; i < KILN_MAX_ROLES; i++)
        kiln_window_close(&op->window[i]);
    kiln_op_free_images(op);
    kiln_op_free_checks(op);
    for (int i = 0; i < op->plan.nstages; i++) {
        if (op->launch[i].kernel)
            clReleaseKernel(op->launch[i].kernel);
        if (op->launch[i].program)
            kiln_program_release(op->launch[i].program);
        free(op->launch[i].source);
    }
    pthread_mutex_destroy(&op->lock);
    free(op);
}

void kiln_op_release(kiln_op *op)
{
    if (!op)
        return;
    for (int i = 0; op->first && i < op->plan.nstages; i++)
        if (op->launch[i].program)
            kiln_program_runs(op->launch[i].program, op->first);
    kiln_op_discard(op);
}

void kiln_op_describe(const kiln_op *op, kiln_op_info *info)
{
    if (info)
        *info = (kiln_op_info){.solver = ""};
    if (!op || !info) {
        kiln_fail(KILN_INVALID, "kiln_op_describe: op and info must not be NULL");
        return;
    }
    const kiln_solver *solver = op->pick.solver; /* NULL for a reformat */
    *info = (kiln_op_info){
        .problem = op->problem,
        .solver = "",
        .workspace_size = kiln_plan_workspace(&op->plan, false),
        .packed_size = op->plan.packed_bytes,
        .packed_workspace_size = kiln_plan_workspace(&op->plan, true),
        .packed_width = op->plan.image[KILN_ROLE_PACKED].width,
        .packed_height = op->plan.image[KILN_ROLE_PACKED].height,
        .packed_type = op->plan.image[KILN_ROLE_PACKED].type,
        .image_size = op->plan.image_bytes,
        .deterministic = op->plan.deterministic,
        .amplification = op->plan.amplification,
        .stages = op->plan.nstages,
        .facts = op->plan.nfacts,
    };
    if (!solver)
        return;
    info->solver = solver->name;
    info->solver_id = solver->id;
    info->algorithm = solver->algorithm;
    info->solver_version = solver->version;
    info->origin = op->pick.origin;
    info->predicted_ms = kiln_solver_predict(solver, &op->shape, &op->k->facts, &op->pick.config);
    kiln_config_text(solver, &op->pick.config, info->config, sizeof info->config);
}

kiln_status kiln_op_stage(const kiln_op *op, int index, kiln_stage_info *info)
{
    if (!op || !info)
        return kiln_fail(KILN_INVALID, "kiln_op_stage: op and info must not be NULL");
    if (index < 0 || index >= op->plan.nstages)
        return kiln_fail(KILN_INVALID, "the plan has %d stages, no number %d", op->plan.nstages,
                         index);
    const kiln_stage *stage = &op->plan.stage[index];
    bool clear = stage->kind == KILN_STAGE_CLEAR;
    *info = (kiln_stage_info){
        .kernel = clear ? "" : stage->kernel,
        .template_file = clear ? "" : stage->template_file,
        .options = stage->options,
        .groups = clear ? 0 : 1,
        .packs_weights = stage->pack,
    };
    if (clear)
        return KILN_OK;
    kiln_stage_launch(stage, info->launched);
    for (int i = 0; i < 3; i++) {
        info->local[i] = stage->local[i];
        info->global[i] = stage->global[i];
        info->groups *= info->launched[i] / stage->local[i];
    }
    return KILN_OK;
}

const char *kiln_op_source(const kiln_op *op, int index)
{
    if (!op)
        kiln_fail(KILN_INVALID, "kiln_op_source: op must not be NULL");
    return op && index >= 0 && index < op->plan.nstages ? op->launch[index].source : NULL;
}

kiln_status kiln_op_fact(const kiln_op *op, int index, const char **name, int64_t *value)
{
    if (!op || !name || !value)
        return kiln_fail(KILN_INVALID, "kiln_op_fact: op, name and value must not be NULL");
    if (index < 0 || index >= op->plan.nfacts)
        return kiln_fail(KILN_INVALID, "the plan has %d facts, no number %d", op->plan.nfacts,
                         index);
    *name = op->plan.fact[index].name;
    *value = op->plan.fact[index].value;
    return KILN_OK;
}

const kiln_plan *kiln_op_plan(const kiln_op *op)
{
    return &op->plan;
}

void kiln_plan_template_hash(const kiln *k, const kiln_plan *plan, char hash[40])
{
    uint64_t all = 0;
    for (int i = 0; i < plan->nstages; i++) {
        if (plan->stage[i].kind != KILN_STAGE_LAUNCH)
            continue;
        char *source;
        if (!kiln_template_source(k->template_dir, plan->stage[i].template_file, &source))
            all = XXH3_64bits_withSeed(source, strlen(source), all);
        free(source);
    }
    snprintf(hash, 40, "%016llx", (unsigned long long)all);
}
