/* Creates, describes and releases operations. */
#include "op.h"

#include "runtime/base/span.h"
#include "runtime/programs/template.h"

#include "padding_check.h"
#include "stages.h"

#include <string.h>

kiln_status kiln_op_compile(kiln_op *op, int64_t takes_ns)
{
    kiln_status status = kiln_op_build(op, takes_ns);
    return !status && op->k->context ? kiln_op_make_checks(op) : status;
}

/* One core's time for a launch, by the prediction; -1: a millisecond or more of all cores. */
static int64_t takes_ns(const kiln_op *op)
{
    const kiln_device_facts *facts = &op->k->facts;
    const double ms = op->pick.predicted_ms - kiln_device_launch_ms(facts);
    return ms > 0 && ms < 1 ? (int64_t)(ms * 1e6 * facts->compute_units) + 1 : -1;
}

/* A residual is shaped as y, with a type of its own. */
static int64_t residual_bytes(const kiln_problem *p)
{
    kiln_problem y = *p;
    y.y_type = p->quant.residual_type;
    return kiln_problem_bytes(&y, 'y', NULL);
}

static void set_quant_bytes(kiln_op *op)
{
    const kiln_quant *q = &op->problem.quant;
    static const struct {
        int bit, role;
    } zeros[] = {{KILN_QUANT_X_ZERO, KILN_ROLE_X_ZERO},
                 {KILN_QUANT_W_ZERO, KILN_ROLE_W_ZERO},
                 {KILN_QUANT_Y_ZERO, KILN_ROLE_Y_ZERO}};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (q->buffers & zeros[i].bit)
            op->bytes[zeros[i].role] = sizeof(cl_int);
    if (q->buffers & KILN_QUANT_W_SCALES)
        op->bytes[KILN_ROLE_W_SCALES] =
            op->problem.out_channels * (int64_t)(sizeof(cl_int) << (q->rounding != 0));
}

static void set_bytes(kiln_op *op)
{
    const kiln_problem *p = &op->problem;
    op->bytes[KILN_ROLE_X] = kiln_problem_bytes(p, 'x', NULL);
    op->bytes[KILN_ROLE_W] = kiln_problem_bytes(p, 'w', NULL);
    op->bytes[KILN_ROLE_Y] = kiln_problem_bytes(p, 'y', NULL);
    if (p->epilogue.bias)
        op->bytes[KILN_ROLE_BIAS] = kiln_problem_bytes(p, 'b', NULL);
    if (p->epilogue.beta != 0)
        op->bytes[KILN_ROLE_RESIDUAL] = residual_bytes(p);
    set_quant_bytes(op);
}

/* Chooses and plans, without a compiler. */
static kiln_status decide(kiln_op *op, const kiln_problem *problem, const kiln_choice *choice)
{
    char text[KILN_ERROR_TEXT];
    op->problem = *problem;
    if (kiln_problem_check(&op->problem, text))
        return kiln_fail(KILN_INVALID, "%s", text);
    op->shape = kiln_shape_of(&op->problem);
    int64_t began = kiln_span_begin(&op->k->logger);
    kiln_status status = kiln_choose(op->k, &op->problem, &op->shape, choice, &op->pick);
    kiln_span_end(&op->k->logger, began, "choose", status ? "" : op->pick.solver->name);
    if (status)
        return status;
    kiln_warn_of_choice(op->k, &op->problem, choice, &op->pick);
    op->shape = op->pick.shape;
    op->comes_packed = choice && choice->packed_weights;
    kiln_shape_give_layouts(&op->shape, &op->problem);
    kiln_why why;
    began = kiln_span_begin(&op->k->logger);
    const bool planned = kiln_solver_plan(op->pick.solver, &op->shape, &op->k->facts,
                                          &op->pick.config, &op->plan, &why);
    kiln_span_end(&op->k->logger, began, "emit", op->pick.solver->name);
    if (!planned)
        return kiln_fail(KILN_UNSUPPORTED, "solver %s: %s", op->pick.solver->name, why.text);
    set_bytes(op);
    return KILN_OK;
}

kiln_status kiln_op_compile_planned(kiln_op *op)
{
    return kiln_op_compile(op, takes_ns(op));
}

kiln_status kiln_op_plan_new(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                             kiln_op **out)
{
    if (!k || !problem || !out)
        return kiln_fail(KILN_INVALID, "kiln_conv_create: k, problem and out must not be NULL");
    *out = NULL;
    if (kiln_process_check(k))
        return KILN_INVALID;
    kiln_op *op = kiln_op_new(k);
    if (!op)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    kiln_status status = decide(op, problem, choice);
    if (status) {
        kiln_op_discard(op);
        return status;
    }
    *out = op;
    return KILN_OK;
}

kiln_status kiln_op_create(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                           kiln_op **out)
{
    kiln_status status = kiln_op_plan_new(k, problem, choice, out);
    if (!status)
        status = kiln_op_compile_planned(*out);
    if (status && out) {
        kiln_op_discard(*out);
        *out = NULL;
    }
    return status;
}

void kiln_op_promise(kiln_op *op)
{
    op->promised = true;
    kiln_pocl_op_promise(op->pocl);
    if (op->stand_in)
        kiln_op_promise(op->stand_in);
}

kiln_status kiln_conv_plan(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                           kiln_op_info *info)
{
    if (info)
        *info = (kiln_op_info){.solver = "", .ran = "", .limited_solver = ""};
    if (!k || !problem || !info)
        return kiln_fail(KILN_INVALID, "kiln_conv_plan: k, problem and info must not be NULL");
    if (kiln_process_check(k))
        return KILN_INVALID;
    kiln_op *op = kiln_op_new(k);
    if (!op)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    kiln_status status = decide(op, problem, choice);
    if (!status)
        kiln_op_describe(op, info);
    kiln_op_discard(op);
    return status;
}

kiln_status kiln_conv_show(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                           void (*visit)(void *user, const kiln_op *op), void *user)
{
    kiln_op *op;
    if (!visit)
        return kiln_fail(KILN_INVALID, "kiln_conv_show: visit must not be NULL");
    kiln_status status = kiln_op_plan_new(k, problem, choice, &op);
    if (status)
        return status;
    visit(user, op);
    kiln_op_discard(op);
    return KILN_OK;
}

void kiln_op_keep(const kiln_op *op)
{
    for (int i = 0; i < op->plan.nstages; i++)
        if (op->launch[i].program)
            kiln_program_keep(op->launch[i].program);
}

void kiln_op_discard(kiln_op *op)
{
    if (!op)
        return;
    kiln_op_free_checks(op);
    kiln_op_free(op);
}

void kiln_op_describe(const kiln_op *op, kiln_op_info *info)
{
    if (info)
        *info = (kiln_op_info){.solver = "", .ran = "", .limited_solver = ""};
    if (!op || !info) {
        kiln_fail(KILN_INVALID, "kiln_op_describe: op and info must not be NULL");
        return;
    }
    const kiln_solver *solver = op->pick.solver; /* NULL for a reformat */
    *info = (kiln_op_info){
        .problem = op->problem,
        .solver = "",
        .ran = "",
        .limited_solver = "",
        .x_size = op->bytes[KILN_ROLE_X],
        .w_size = op->bytes[KILN_ROLE_W],
        .y_size = op->bytes[KILN_ROLE_Y],
        .bias_size = op->bytes[KILN_ROLE_BIAS],
        .residual_size = op->bytes[KILN_ROLE_RESIDUAL],
        .w_scales_size = op->bytes[KILN_ROLE_W_SCALES],
        .x_zero_size = op->bytes[KILN_ROLE_X_ZERO],
        .w_zero_size = op->bytes[KILN_ROLE_W_ZERO],
        .y_zero_size = op->bytes[KILN_ROLE_Y_ZERO],
        .workspace_size = kiln_plan_workspace(&op->plan, op->comes_packed),
        .packed_size = op->plan.packed_bytes,
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
    const kiln_solver *ran = atomic_load(&op->ran);
    info->ran = ran ? ran->name : "";
    info->solver = solver->name;
    info->solver_id = solver->id;
    info->algorithm = solver->algorithm;
    info->solver_version = solver->version;
    info->origin = op->pick.origin;
    info->predicted_ms = op->pick.predicted_ms;
    info->limited_solver = op->pick.limited ? op->pick.limited->name : "";
    info->limited_ms = op->pick.limited_ms;
    kiln_config_text(solver, &op->pick.config, info->config, sizeof info->config);
}

kiln_status kiln_op_hash(const kiln_op *op, char *hash, size_t size)
{
    char text[KILN_TEMPLATE_HASH];
    if (!op || !hash)
        return kiln_fail(KILN_INVALID, "kiln_op_hash: op and hash must not be NULL");
    kiln_plan_template_hash(op->k->template_dir, &op->plan, text);
    if (strlen(text) >= size)
        return kiln_fail(KILN_INVALID, "kiln_op_hash: %zu bytes hold no hash", size);
    strcpy(hash, text);
    return KILN_OK;
}

kiln_status kiln_op_stage(const kiln_op *op, int index, kiln_stage_info *info)
{
    if (!op || !info)
        return kiln_fail(KILN_INVALID, "kiln_op_stage: op and info must not be NULL");
    if (kiln_process_check(op->k))
        return KILN_INVALID;
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

kiln_status kiln_op_fact(const kiln_op *op, int index, const char **name, int64_t *value)
{
    if (!op || !name || !value)
        return kiln_fail(KILN_INVALID, "kiln_op_fact: op, name and value must not be NULL");
    if (kiln_process_check(op->k))
        return KILN_INVALID;
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
