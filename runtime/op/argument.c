/* Tells what the kernels of an operation take. */
#include "op.h"

/* The names of roles, but of scratch memory. */
static const char *const names[] = {[KILN_ROLE_X] = "x",
                                    [KILN_ROLE_W] = "w",
                                    [KILN_ROLE_Y] = "y",
                                    [KILN_ROLE_BIAS] = "bias",
                                    [KILN_ROLE_RESIDUAL] = "residual",
                                    [KILN_ROLE_PACKED] = "packed"};

static int64_t bytes_of(const kiln_op *op, int role)
{
    kiln_op_info info;
    kiln_op_describe(op, &info);
    const int64_t bytes[] = {[KILN_ROLE_X] = info.x_size,
                             [KILN_ROLE_W] = info.w_size,
                             [KILN_ROLE_Y] = info.y_size,
                             [KILN_ROLE_BIAS] = info.bias_size,
                             [KILN_ROLE_RESIDUAL] = info.residual_size,
                             [KILN_ROLE_PACKED] = info.packed_size};
    return role < KILN_ROLE_TEMP ? bytes[role] : op->plan.temp[role - KILN_ROLE_TEMP].bytes;
}

static void describe_memory(const kiln_op *op, int role, kiln_argument *a)
{
    const bool image = kiln_plan_image(&op->plan, role).width > 0;
    a->kind = image ? KILN_ARGUMENT_IMAGE : KILN_ARGUMENT_BUFFER;
    a->memory = role < KILN_ROLE_TEMP ? names[role] : "temp";
    a->index = role < KILN_ROLE_TEMP ? 0 : role - KILN_ROLE_TEMP;
    a->bytes = bytes_of(op, role);
}

kiln_status kiln_op_argument(const kiln_op *op, int stage, int index, kiln_argument *argument)
{
    static const kiln_argument_kind kinds[] = {[KILN_ARG_INT] = KILN_ARGUMENT_INT,
                                               [KILN_ARG_LONG] = KILN_ARGUMENT_LONG,
                                               [KILN_ARG_SHARING] = KILN_ARGUMENT_SHARING};
    if (!op || !argument)
        return kiln_fail(KILN_INVALID, "kiln_op_argument: op and argument must not be NULL");
    if (kiln_process_check(op->k))
        return KILN_INVALID;
    if (stage < 0 || stage >= op->plan.nstages)
        return kiln_fail(KILN_INVALID, "the plan has %d stages, no number %d", op->plan.nstages,
                         stage);
    const kiln_stage *s = &op->plan.stage[stage];
    const int count = s->kind == KILN_STAGE_CLEAR ? 1 : s->nargs;
    if (index < 0 || index >= count)
        return kiln_fail(KILN_INVALID, "stage %d has %d arguments, no number %d", stage, count,
                         index);
    *argument = (kiln_argument){.memory = ""};
    if (s->kind == KILN_STAGE_CLEAR) {
        describe_memory(op, s->clear_role, argument);
        argument->value = s->clear_bytes;
    } else if (s->arg[index].kind == KILN_ARG_BUFFER) {
        describe_memory(op, s->arg[index].role, argument);
    } else {
        argument->kind = kinds[s->arg[index].kind];
        argument->value = s->arg[index].i;
    }
    return KILN_OK;
}
