/* Builds plans: defines, arguments and grids, with sticky errors instead of checks at each call. */
#include "plan.h"

#include "generator/base/activations.h"
#include "generator/base/types.h"

#include <stdio.h>
#include <string.h>

void kiln_plan_start(kiln_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->deterministic = true;
    plan->amplification = 1;
}

static kiln_stage *last(kiln_plan *plan)
{
    return &plan->stage[plan->nstages ? plan->nstages - 1 : 0];
}

static kiln_stage *add(kiln_plan *plan)
{
    if (plan->nstages == KILN_MAX_STAGES) {
        plan->broken = true;
        return last(plan);
    }
    return &plan->stage[plan->nstages++];
}

kiln_stage *kiln_plan_stage(kiln_plan *plan, const char *template_file, const char *kernel)
{
    kiln_stage *stage = add(plan);
    stage->kind = KILN_STAGE_LAUNCH;
    stage->template_file = template_file;
    stage->kernel = kernel;
    for (int i = 0; i < 3; i++)
        stage->local[i] = stage->global[i] = 1;
    return stage;
}

void kiln_plan_clear(kiln_plan *plan, int role, int64_t bytes)
{
    kiln_stage *stage = add(plan);
    stage->kind = KILN_STAGE_CLEAR;
    stage->clear_role = role;
    stage->clear_bytes = bytes;
}

int kiln_plan_temp(kiln_plan *plan, int64_t bytes)
{
    if (plan->ntemps == KILN_MAX_TEMPS || bytes < 0) {
        plan->broken = true;
        return KILN_ROLE_TEMP;
    }
    plan->temp[plan->ntemps].bytes = bytes;
    return KILN_ROLE_TEMP + plan->ntemps++;
}

int64_t kiln_image_bytes(const kiln_image *image)
{
    return 4 * image->width * image->height * (int64_t)kiln_type_size(image->type);
}

int kiln_plan_temp_image(kiln_plan *plan, kiln_image image)
{
    int role = kiln_plan_temp(plan, 0);
    plan->temp[role - KILN_ROLE_TEMP].image = image;
    plan->image_bytes += kiln_image_bytes(&image);
    return role;
}

void kiln_plan_pack_image(kiln_plan *plan, kiln_image image)
{
    plan->image[KILN_ROLE_PACKED] = image;
    plan->packed_bytes = kiln_image_bytes(&image);
}

kiln_image kiln_plan_image(const kiln_plan *plan, int role)
{
    return role < KILN_ROLE_TEMP ? plan->image[role] : plan->temp[role - KILN_ROLE_TEMP].image;
}

int64_t kiln_plan_workspace(const kiln_plan *plan, bool packed)
{
    bool inside = !packed && !plan->image[KILN_ROLE_PACKED].width;
    return plan->workspace_bytes + (inside ? plan->packed_bytes : 0);
}

static void remember(kiln_plan *plan, int role, int stage, const kiln_storage *s, kiln_type type)
{
    if (s->cells == kiln_storage_elements(s))
        return;
    if (plan->npadded == KILN_MAX_PADDED) {
        plan->broken = true;
        return;
    }
    kiln_padded *p = &plan->padded[plan->npadded++];
    *p = (kiln_padded){.role = role, .stage = stage, .type = type};
    memcpy(p->layout, s->layout.name, sizeof p->layout);
    memcpy(p->dims, s->layout.dims, sizeof p->dims);
    memcpy(p->size, s->dim, sizeof p->size);
}

void kiln_plan_wrote(kiln_plan *plan, int role, const kiln_storage *storage, kiln_type type)
{
    remember(plan, role, plan->nstages - 1, storage, type);
}

void kiln_plan_given(kiln_plan *plan, int role, const kiln_storage *storage, kiln_type type)
{
    remember(plan, role, -1, storage, type);
}

void kiln_plan_moved(kiln_plan *plan, int role, const kiln_storage *from, const kiln_storage *to,
                     double predicted_ms)
{
    if (plan->nmoved == KILN_MAX_MOVED) {
        plan->broken = true;
        return;
    }
    kiln_moved *moved = &plan->moved[plan->nmoved++];
    *moved = (kiln_moved){.role = role, .stage = plan->nstages - 1, .predicted_ms = predicted_ms};
    memcpy(moved->from, from->layout.spec, sizeof moved->from);
    memcpy(moved->to, to->layout.spec, sizeof moved->to);
}

void kiln_plan_fact(kiln_plan *plan, const char *name, int64_t value)
{
    if (plan->nfacts == KILN_MAX_FACTS) {
        plan->broken = true;
        return;
    }
    kiln_fact *fact = &plan->fact[plan->nfacts++];
    snprintf(fact->name, sizeof fact->name, "%s", name);
    fact->value = value;
}

void kiln_plan_refuse(kiln_plan *plan, const kiln_why *why)
{
    if (!*plan->refusal.text)
        plan->refusal = *why;
}

void kiln_define_text(kiln_plan *plan, const char *name, const char *value)
{
    kiln_stage *stage = last(plan);
    size_t used = strlen(stage->options), room = sizeof stage->options - used;
    int n = snprintf(stage->options + used, room, "%s-D%s=%s", used ? " " : "", name, value);
    if (n < 0 || (size_t)n >= room) {
        stage->options[used] = '\0';
        plan->broken = true;
    }
}

void kiln_define(kiln_plan *plan, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    kiln_define_text(plan, name, text);
}

void kiln_define_axes(kiln_plan *plan, const char *name, const int64_t v[3])
{
    for (int a = 0; a < 3; a++) {
        char full[KILN_NAME_TEXT];
        snprintf(full, sizeof full, "%s_%c", name, "DHW"[a]);
        kiln_define(plan, full, v[a]);
    }
}

void kiln_define_float(kiln_plan *plan, const char *name, double value)
{
    /* Hexadecimal floats are exact and do not depend on the locale's decimal point, but printf's
     * own %a does; so write the bits. */
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    char text[40];
    snprintf(text, sizeof text, "as_float(0x%08xu)", bits);
    kiln_define_text(plan, name, text);
}

static kiln_arg *add_arg(kiln_plan *plan)
{
    kiln_stage *stage = last(plan);
    if (stage->nargs == KILN_MAX_ARGS) {
        plan->broken = true;
        return &stage->arg[0];
    }
    return &stage->arg[stage->nargs++];
}

void kiln_arg_buffer(kiln_plan *plan, int role)
{
    *add_arg(plan) = (kiln_arg){.kind = KILN_ARG_BUFFER, .role = role};
}

void kiln_arg_int(kiln_plan *plan, int64_t value)
{
    if (value < INT32_MIN || value > INT32_MAX)
        plan->broken = true;
    *add_arg(plan) = (kiln_arg){.kind = KILN_ARG_INT, .i = value};
}

void kiln_arg_long(kiln_plan *plan, int64_t value)
{
    *add_arg(plan) = (kiln_arg){.kind = KILN_ARG_LONG, .i = value};
}

void kiln_arg_index(kiln_plan *plan, const kiln_shape *s, int64_t value)
{
    if (s->wide)
        kiln_arg_long(plan, value);
    else
        kiln_arg_int(plan, value);
}

void kiln_arg_sharing(kiln_plan *plan)
{
    *add_arg(plan) = (kiln_arg){.kind = KILN_ARG_SHARING};
    last(plan)->shared = true;
}

void kiln_grid(kiln_plan *plan, int64_t l0, int64_t l1, int64_t l2, int64_t g0, int64_t g1,
               int64_t g2)
{
    kiln_stage *stage = last(plan);
    const int64_t local[3] = {l0, l1, l2}, global[3] = {g0, g1, g2};
    for (int i = 0; i < 3; i++) {
        if (local[i] < 1 || global[i] < 1) {
            plan->broken = true;
            return;
        }
        stage->local[i] = (size_t)local[i];
        stage->global[i] = (size_t)global[i];
    }
}

void kiln_define_type(kiln_plan *plan, const char *name, kiln_type type)
{
    kiln_define_text(plan, name, kiln_type_facts(type)->kernel);
}

void kiln_define_types(kiln_plan *plan, const kiln_shape *s)
{
    kiln_type source = s->direction == KILN_FORWARD ? s->x_type : s->y_type;
    kiln_define_type(plan, "SRC_TYPE", source);
    kiln_define_type(plan, "DST_TYPE", kiln_shape_out_type(s));
    if (s->wide)
        kiln_define(plan, "P_WIDE", 1);
}

void kiln_define_activation(kiln_plan *plan, const kiln_epilogue *e)
{
    if (e->activation == KILN_IDENTITY)
        return;
    kiln_define(plan, "P_ACTIVATION", e->activation);
    kiln_define_float(plan, "P_ACTIVATION_A", e->param[0]);
    kiln_define_float(plan, "P_ACTIVATION_B", e->param[1]);
    if (kiln_activation_facts(e->activation)->curve)
        kiln_define(plan, "D_CURVE", 1);
}

void kiln_define_epilogue(kiln_plan *plan, const kiln_shape *s)
{
    const kiln_epilogue *e = &s->epilogue;
    if (e->bias)
        kiln_define(plan, "P_BIAS", 1);
    if (e->bias && strchr(s->bias_layout, '|'))
        kiln_define(plan, "D_BIAS_IMAGE", 1);
    if (e->alpha != 0 && e->alpha != 1)
        kiln_define_float(plan, "P_ALPHA", e->alpha);
    if (e->beta != 0)
        kiln_define_float(plan, "P_BETA", e->beta);
    kiln_define_activation(plan, e);
}

void kiln_arg_epilogue(kiln_plan *plan, const kiln_shape *s)
{
    if (s->epilogue.bias)
        kiln_arg_buffer(plan, KILN_ROLE_BIAS);
    if (s->epilogue.beta != 0)
        kiln_arg_buffer(plan, KILN_ROLE_RESIDUAL);
}

static int mirrored_role(int role)
{
    return role == KILN_ROLE_X ? KILN_ROLE_Y : role == KILN_ROLE_Y ? KILN_ROLE_X : role;
}

static bool is_used(const kiln_plan *plan, int role, bool pack)
{
    for (int i = 0; i < plan->nstages; i++) {
        const kiln_stage *stage = &plan->stage[i];
        bool here = stage->kind == KILN_STAGE_CLEAR && stage->clear_role == role;
        for (int j = 0; j < stage->nargs; j++)
            here |= stage->arg[j].kind == KILN_ARG_BUFFER && stage->arg[j].role == role;
        if (here && stage->pack == pack)
            return true;
    }
    return false;
}

/* Whether no stage of a run stands before one that packs. */
static bool packs_first(const kiln_plan *plan)
{
    bool ran = false;
    for (int i = 0; i < plan->nstages; i++) {
        if (ran && plan->stage[i].pack)
            return false;
        ran |= !plan->stage[i].pack;
    }
    return true;
}

/* What only the packing of weights needs has ended when the run begins: both have the same bytes.
 */
static void place_temps(kiln_plan *plan, int64_t align)
{
    const bool shared = packs_first(plan);
    int64_t run = 0, pack = 0;
    for (int i = 0; i < plan->ntemps; i++) {
        const int role = KILN_ROLE_TEMP + i;
        const bool packs = shared && is_used(plan, role, true) && !is_used(plan, role, false);
        int64_t *end = packs ? &pack : &run;
        plan->temp[i].offset = *end;
        *end += (plan->temp[i].bytes + align - 1) / align * align;
    }
    plan->workspace_bytes = run > pack ? run : pack;
}

void kiln_plan_finish(kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d)
{
    place_temps(plan, d->base_align > 0 ? d->base_align : 128);
    if (!s->mirrored)
        return;
    const kiln_image x = plan->image[KILN_ROLE_X];
    plan->image[KILN_ROLE_X] = plan->image[KILN_ROLE_Y];
    plan->image[KILN_ROLE_Y] = x;
    for (int i = 0; i < plan->npadded; i++)
        plan->padded[i].role = mirrored_role(plan->padded[i].role);
    for (int i = 0; i < plan->nmoved; i++)
        plan->moved[i].role = mirrored_role(plan->moved[i].role);
    for (int i = 0; i < plan->nstages; i++) {
        kiln_stage *stage = &plan->stage[i];
        stage->clear_role = mirrored_role(stage->clear_role);
        for (int j = 0; j < stage->nargs; j++)
            stage->arg[j].role = mirrored_role(stage->arg[j].role);
    }
}

void kiln_stage_launch(const kiln_stage *stage, size_t launch[3])
{
    for (int i = 0; i < 3; i++)
        launch[i] = (stage->global[i] + stage->local[i] - 1) / stage->local[i] * stage->local[i];
}
