/* Puts reformat stages around a solver's plan.
 *
 * The solver sees plain layouts in the place of layouts that it does not read. Its tensor X becomes
 * a temporary that a stage before it fills from the caller's x, and so on; the destination is a
 * temporary that the last stage moves out. Zeros in the padding of the destination are the
 * reformat's work. Weights that are read are reformatted once: before the solver packs them, or as
 * the packed weights of a solver that packs none.
 */
#include "staging.h"

#include "generator/base/names.h"
#include "generator/base/types.h"
#include "generator/problem/problem_layout.h"

#include "result.h"

#include <string.h>

/* Where the facts of a tensor stand in a shape, by role. */
typedef struct tensor {
    char name;
    int role;
    size_t layout, outer; /* offsets in kiln_shape */
} tensor;

enum { TENSORS = KILN_ROLE_BIAS + 1 };

static const tensor tensors[TENSORS] = {
    [KILN_ROLE_X] = {'x', KILN_ROLE_X, offsetof(kiln_shape, x_layout),
                     offsetof(kiln_shape, x_outer)},
    [KILN_ROLE_W] = {'w', KILN_ROLE_W, offsetof(kiln_shape, w_layout),
                     offsetof(kiln_shape, w_outer)},
    [KILN_ROLE_Y] = {'y', KILN_ROLE_Y, offsetof(kiln_shape, y_layout),
                     offsetof(kiln_shape, y_outer)},
    [KILN_ROLE_BIAS] = {'b', KILN_ROLE_BIAS, offsetof(kiln_shape, bias_layout),
                        offsetof(kiln_shape, bias_outer)},
};

static char *field(kiln_shape *s, size_t offset)
{
    return (char *)s + offset;
}

static const char *outer_of(const kiln_shape *s, int role)
{
    return (const char *)s + tensors[role].outer;
}

kiln_shape kiln_staged_shape(const kiln_shape *s, int roles)
{
    kiln_shape staged = *s;
    for (int i = KILN_ROLE_X; i <= KILN_ROLE_Y; i++) {
        char *layout = field(&staged, tensors[i].layout);
        const char *plain =
            i == KILN_ROLE_W ? kiln_plain_filter_layout(s->rank) : kiln_plain_data_layout(s->rank);
        if (!(roles >> i & 1) || strcmp(layout, plain) == 0)
            continue;
        memcpy(field(&staged, tensors[i].outer), layout, KILN_LAYOUT_TEXT);
        memset(layout, 0, KILN_LAYOUT_TEXT);
        memcpy(layout, plain, strlen(plain));
    }
    return staged;
}

bool kiln_stage_bias(kiln_shape *s, bool reads_argument_image, kiln_why *why)
{
    const int type = kiln_shape_epilogue(s)->bias;
    bool plain = strcmp(s->bias_layout, kiln_plain_bias_layout) == 0 &&
                 (type == KILN_F32 || type == KILN_I32);
    bool image = strcmp(s->bias_layout, "|W|4w") == 0;
    if (!type || plain || (image && reads_argument_image && !s->split))
        return true;
    if (s->native_layout)
        return !kiln_no(why, "it takes the bias as %s; here it is %s of %s",
                        reads_argument_image ? "f32 or an argument image" : "f32", s->bias_layout,
                        kiln_type_name((kiln_type)type));
    memcpy(s->bias_outer, s->bias_layout, sizeof s->bias_outer);
    memset(s->bias_layout, 0, sizeof s->bias_layout);
    memcpy(s->bias_layout, kiln_plain_bias_layout, strlen(kiln_plain_bias_layout));
    return true;
}

int kiln_staged_roles(const kiln_shape *s)
{
    int roles = 0;
    for (int i = KILN_ROLE_X; i <= KILN_ROLE_Y; i++)
        roles |= (*outer_of(s, i) != '\0') << i;
    return roles;
}

static int destination_of(const kiln_shape *s)
{
    return s->direction == KILN_FORWARD         ? KILN_ROLE_Y
           : s->direction == KILN_BACKWARD_DATA ? KILN_ROLE_X
                                                : KILN_ROLE_W;
}

/* The caller's type. */
static kiln_type type_of(const kiln_shape *s, int role)
{
    return role == KILN_ROLE_X          ? s->x_given
           : role == KILN_ROLE_W        ? s->w_given
           : role == KILN_ROLE_BIAS     ? (kiln_type)kiln_shape_epilogue(s)->bias
           : role == KILN_ROLE_RESIDUAL ? kiln_shape_residual_type(s)
                                        : s->y_given;
}

/* Whether the tensor is a result. */
static bool is_written(const kiln_shape *s, int role)
{
    return role == destination_of(s) ||
           (role == KILN_ROLE_BIAS && s->direction == KILN_BACKWARD_WEIGHTS);
}

/* The type that solvers see, or the result stage: a staged bias is plain f32 or i32. */
static kiln_type inner_type_of(const kiln_shape *s, int role)
{
    const kiln_type type = type_of(s, role);
    if (role == KILN_ROLE_BIAS)
        return type == KILN_I32 ? KILN_I32 : KILN_F32;
    if (is_written(s, role) || role == KILN_ROLE_RESIDUAL)
        return type;
    return role == KILN_ROLE_X ? s->x_type : role == KILN_ROLE_W ? s->w_type : s->y_type;
}

/* Whether a stage moves the tensor between the caller and the solver. */
static bool is_moved(const kiln_shape *s, int role)
{
    return *outer_of(s, role) ||
           (role != KILN_ROLE_BIAS && inner_type_of(s, role) != type_of(s, role));
}

/* Makes the caller's storage of a tensor, whose layout is that of `layout_role`, and the one that
 * the solver sees: plain over the same logical dims, or the same. */
static bool storages(const kiln_shape *s, int layout_role, int role, kiln_storage *outer,
                     kiln_storage *plain, char *why)
{
    static const char *const multiplier_inside[] = {"IMW", "IMHW", "IMDHW"};
    const char name = tensors[layout_role].name, *given = outer_of(s, layout_role);
    const char *own = (const char *)s + tensors[layout_role].layout;
    if (!kiln_shape_storage_as(s, name, type_of(s, role), *given ? given : own, outer, why))
        return false;
    if (!*given)
        return kiln_shape_storage_as(s, name, inner_type_of(s, role), own, plain, why);
    /* A plain filter over the dims M, I: output channel i * M + m. */
    const char *dims = outer->layout.dims;
    const char *text = dims[0] == 'M' ? multiplier_inside[s->rank - 1] : dims;
    kiln_layout layout;
    return kiln_layout_parse(&layout, text, dims, why) &&
           kiln_storage_make(plain, &layout, outer->dim, inner_type_of(s, role), why);
}

/* Adds the reformat of one tensor, in or out, and the temp for it. `role` is what the caller passes
 * (residual: as y). A solver reads u8 as i8, 128 below. */
static bool move(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d, int layout_role,
                 int role, int temp, bool out, char *why)
{
    kiln_storage outer, plain;
    if (!storages(s, layout_role, role, &outer, &plain, why))
        return false;
    const bool flips = type_of(s, role) == KILN_U8 && inner_type_of(s, role) == KILN_I8;
    const kiln_type type = inner_type_of(s, role);
    const kiln_operand there = {&outer, flips ? type : type_of(s, role), role},
                       here = {&plain, type, temp};
    const bool moved =
        kiln_reformat_stage(plan, out ? &here : &there, out ? &there : &here, 0, d, why);
    if (flips)
        kiln_define(plan, "P_FLIP", 128);
    return moved;
}

static int temp_for(kiln_plan *plan, const kiln_shape *s, int layout_role, int role)
{
    kiln_storage outer, plain;
    kiln_why why;
    if (!storages(s, layout_role, role, &outer, &plain, why.text)) {
        kiln_plan_refuse(plan, &why);
        return role;
    }
    return kiln_plan_temp(plan, plain.cells * (int64_t)kiln_type_size(inner_type_of(s, role)));
}

/* The temp that a solver leaves sums in. */
static int temp_for_sums(kiln_plan *plan, const kiln_shape *s)
{
    const int to = destination_of(s);
    kiln_storage sums;
    kiln_why why;
    if (!kiln_shape_storage(s, tensors[to].name, (const char *)s + tensors[to].layout, &sums,
                            why.text)) {
        kiln_plan_refuse(plan, &why);
        return to;
    }
    return kiln_plan_temp(plan, sums.cells * (int64_t)kiln_type_size(kiln_shape_out_type(s)));
}

static void replace_roles(kiln_plan *plan, int first, const int *inner)
{
    for (int i = first; i < plan->nstages; i++) {
        kiln_stage *stage = &plan->stage[i];
        if (stage->kind == KILN_STAGE_CLEAR && stage->clear_role < KILN_ROLE_TEMP)
            stage->clear_role = inner[stage->clear_role];
        for (int j = 0; j < stage->nargs; j++)
            if (stage->arg[j].kind == KILN_ARG_BUFFER && stage->arg[j].role < KILN_ROLE_TEMP)
                stage->arg[j].role = inner[stage->arg[j].role];
    }
}

/* Notes the padding in tensors that the caller gives and in results. */
static bool note_padding(kiln_plan *plan, const kiln_shape *s, char *why)
{
    for (int role = 0; role < TENSORS; role++) {
        if (role == KILN_ROLE_BIAS && !kiln_shape_epilogue(s)->bias)
            continue;
        const char *outer = outer_of(s, role);
        const char *layout = *outer ? outer : (const char *)s + tensors[role].layout;
        kiln_storage storage;
        kiln_type type = type_of(s, role);
        if (!kiln_shape_storage_as(s, tensors[role].name, type, layout, &storage, why))
            return false;
        (is_written(s, role) ? kiln_plan_wrote : kiln_plan_given)(plan, role, &storage, type);
        if (role != destination_of(s) || kiln_shape_epilogue(s)->beta == 0)
            continue;
        type = type_of(s, KILN_ROLE_RESIDUAL);
        if (!kiln_shape_storage_as(s, tensors[role].name, type, layout, &storage, why))
            return false;
        kiln_plan_given(plan, KILN_ROLE_RESIDUAL, &storage, type);
    }
    return true;
}

/* Makes the reformat of the weights, which writes the temp in *inner, a stage of packing. Where the
 * solver packs none itself, what the reformat writes are the packed weights. */
static void pack_reformatted(kiln_plan *plan, int stage, int *inner)
{
    kiln_stage *reformat = &plan->stage[stage];
    kiln_temp *temp = &plan->temp[*inner - KILN_ROLE_TEMP];
    reformat->pack = true;
    if (plan->packed_bytes > 0)
        return;
    plan->packed_bytes = temp->bytes;
    temp->bytes = 0;
    for (int i = 0; i < reformat->nargs; i++)
        if (reformat->arg[i].kind == KILN_ARG_BUFFER && reformat->arg[i].role == *inner)
            reformat->arg[i].role = KILN_ROLE_PACKED;
    *inner = KILN_ROLE_PACKED;
}

/* Has the solver leave its sums in a temp, and adds the stages that make results of them. */
static bool emit_split(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                       const kiln_config *c, int weights, int inner[KILN_ROLE_TEMP],
                       kiln_plan *plan, char *why)
{
    const int first = plan->nstages, to = destination_of(s), sums = temp_for_sums(plan, s);
    const int source = s->direction == KILN_FORWARD ? KILN_ROLE_X : KILN_ROLE_Y;
    int seen[KILN_ROLE_TEMP];
    solver->emit(solver, s, d, c, plan);
    if (weights >= 0)
        pack_reformatted(plan, weights, &inner[KILN_ROLE_W]);
    memcpy(seen, inner, sizeof seen);
    seen[to] = sums;
    replace_roles(plan, first, seen);
    const kiln_result_roles roles = {.source = inner[source],
                                     .weights = inner[KILN_ROLE_W],
                                     .sums = sums,
                                     .destination = inner[to],
                                     .residual = inner[KILN_ROLE_RESIDUAL],
                                     .bias = inner[KILN_ROLE_BIAS]};
    return kiln_result_emit(s, d, &roles, plan, why);
}

bool kiln_staged_emit(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan, char *why)
{
    kiln_plan_start(plan);
    int inner[KILN_ROLE_TEMP], to = destination_of(s), weights = -1;
    for (int i = 0; i < KILN_ROLE_TEMP; i++)
        inner[i] = i;
    for (int role = 0; role < TENSORS; role++) {
        if (!is_moved(s, role))
            continue;
        inner[role] = temp_for(plan, s, role, role);
        if (role == KILN_ROLE_W)
            weights = plan->nstages;
        if (!is_written(s, role) && !move(plan, s, d, role, role, inner[role], false, why))
            return false;
    }
    if (kiln_shape_epilogue(s)->beta != 0 && *outer_of(s, to)) {
        inner[KILN_ROLE_RESIDUAL] = temp_for(plan, s, to, KILN_ROLE_RESIDUAL);
        if (!move(plan, s, d, to, KILN_ROLE_RESIDUAL, inner[KILN_ROLE_RESIDUAL], false, why))
            return false;
    }
    if (s->split && !emit_split(solver, s, d, c, weights, inner, plan, why))
        return false;
    int first = plan->nstages;
    if (!s->split) {
        solver->emit(solver, s, d, c, plan);
        if (weights >= 0 && to != KILN_ROLE_W)
            pack_reformatted(plan, weights, &inner[KILN_ROLE_W]);
        replace_roles(plan, first, inner);
    }
    for (int role = 0; role < TENSORS; role++)
        if (*outer_of(s, role) && is_written(s, role) &&
            !move(plan, s, d, role, role, inner[role], true, why))
            return false;
    return note_padding(plan, s, why);
}

double kiln_staging_ms(const kiln_shape *s, const kiln_device_facts *d)
{
    const int64_t counts[3] = {s->x_count, s->w_count, s->y_count};
    double ms = 0;
    for (int role = 0; role < 3; role++) {
        if (!is_moved(s, role) || (role == KILN_ROLE_W && !is_written(s, role)))
            continue;
        ms += kiln_reformat_ms(d, 2.0 * (double)counts[role] *
                                      (double)kiln_type_size(type_of(s, role)));
    }
    return ms + kiln_result_ms(s, d);
}

int kiln_stage_source(const kiln_shape *s, const kiln_device_facts *d, char tensor,
                      const char *layout, kiln_plan *plan)
{
    bool is_x = tensor == 'x';
    int role = is_x ? KILN_ROLE_X : KILN_ROLE_Y;
    kiln_type type = is_x ? s->x_type : s->y_type;
    kiln_storage own, wanted;
    kiln_why why;
    if (!kiln_shape_storage(s, tensor, is_x ? s->x_layout : s->y_layout, &own, why.text) ||
        !kiln_shape_storage(s, tensor, layout, &wanted, why.text)) {
        kiln_plan_refuse(plan, &why);
        return role;
    }
    int temp = kiln_plan_temp(plan, wanted.cells * (int64_t)kiln_type_size(type));
    const kiln_operand from = {&own, type, role}, to = {&wanted, type, temp};
    kiln_stage_reformat(d, &from, &to, plan);
    return temp;
}

bool kiln_stage_reformat(const kiln_device_facts *d, const kiln_operand *from,
                         const kiln_operand *to, kiln_plan *plan)
{
    kiln_why why;
    const bool added = kiln_reformat_stage(plan, from, to, 0, d, why.text);
    if (!added && !plan->broken)
        kiln_plan_refuse(plan, &why);
    return added;
}
