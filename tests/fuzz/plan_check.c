/* Checks plans against what the runtime relies on. */
#include "plan_check.h"

#include "generator/problem/problem_layout.h"
#include "runtime/programs/template.h"

#include <ctype.h>
#include <math.h>

/* ---- devices ---- */

static kiln_device_facts cpu_device(int which)
{
    kiln_device_facts d = kiln_device_generic();
    snprintf(d.platform, sizeof d.platform, "Portable Computing Language");
    int rows = 0;
    while (kiln_core_at(rows))
        rows++;
    d.cpu = kiln_core_at(which % rows);
    d.simd_floats = 4 << which % 3;
    d.has_vnni = d.has_bf16 = which & 1;
    d.has_amx = which & 4;
    d.shares_work = which & 2;
    d.has_fp64 = true;
    d.core_cache = 512 << 10;
    d.cache = 32 << 20;
    kiln_device_set_roofline(&d, 2.6);
    return d;
}

/* A GPU that tells nothing of itself. */
static kiln_device_facts gpu_device(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_GPU;
    d.compute_units = 6;
    d.simd_floats = 1;
    kiln_device_set_roofline(&d, 1.5);
    return d;
}

/* A GPU of a family with all that its probes may show: of an H100, and of each row. */
static kiln_device_facts known_gpu_device(int which)
{
    kiln_device_facts d = gpu_device();
    int rows = 0;
    while (kiln_gpu_unit_at(rows))
        rows++;
    const kiln_gpu_unit *unit =
        which ? kiln_gpu_unit_at(which % rows) : kiln_gpu_unit_named("nvidia_9_0");
    const kiln_gpu_id id = {unit->maker, unit->versions.first};
    d.compute_units = 132;
    d.has_fp64 = d.has_fp16 = true;
    d.gpu = (kiln_gpu_facts){.id = id,
                             .has_mma = kiln_gpu_version_within(&unit->mma, id.version),
                             .has_wgmma = kiln_gpu_version_within(&unit->wgmma, id.version),
                             .has_tma = kiln_gpu_version_within(&unit->wgmma, id.version)};
    kiln_device_set_roofline(&d, 1.5);
    return d;
}

kiln_device_facts fuzz_device(int kind, int limits)
{
    static const int64_t group[] = {4096, 1024, 256, 64, 1};
    static const int64_t local[] = {48 << 10, 512 << 10, 32 << 10, 16 << 10};
    static const int64_t image[] = {16384, 0, 2048};
    kiln_device_facts d;
    switch (kind % 5) {
    case 0:
        d = kiln_device_generic();
        break;
    case 1:
        d = cpu_device(kind / 5);
        break;
    case 2:
        d = known_gpu_device(kind / 5);
        break;
    case 3:
        d = gpu_device();
        break;
    default:
        d = kiln_device_generic();
        d.kind = KILN_DEVICE_OTHER;
    }
    d.max_group = group[limits % 5];
    for (int i = 0; i < 3; i++)
        d.max_local[i] = i < 2 || d.max_group < 64 ? d.max_group : 64;
    d.local_memory = d.max_constant = local[limits % 4];
    d.image_width = d.image_height = image[limits % 3];
    d.max_alloc = limits & 64 ? 16 << 20 : d.max_alloc;
    d.base_align = limits & 128 ? 4096 : d.base_align;
    return d;
}

/* ---- a plan ---- */

static const kiln_template *template_of(const char *file)
{
    for (const kiln_template *t = kiln_embedded_templates; t->file; t++)
        if (strcmp(t->file, file) == 0)
            return t;
    return NULL;
}

/* Options are "-DNAME=value -DNAME=value": no other letter may go to a compiler. */
static void check_options(const kiln_stage *stage)
{
    const char *at = stage->options;
    require(memchr(at, '\0', sizeof stage->options) != NULL);
    while (*at) {
        require(strncmp(at, "-D", 2) == 0);
        at += 2;
        require(isalpha((unsigned char)*at) || *at == '_');
        while (isalnum((unsigned char)*at) || *at == '_')
            at++;
        require(*at++ == '=');
        require(*at != '\0' && *at != ' ');
        at += strcspn(at, " ");
        if (!*at)
            break;
        require(*++at != '\0');
    }
}

static void check_grid(const kiln_stage *stage, const kiln_device_facts *d)
{
    size_t launch[3];
    int64_t group = 1, items = 1;
    kiln_stage_launch(stage, launch);
    for (int i = 0; i < 3; i++) {
        require(stage->local[i] >= 1 && stage->global[i] >= 1);
        require(launch[i] >= stage->global[i] && launch[i] % stage->local[i] == 0);
        require((int64_t)stage->local[i] <= d->max_local[i]);
        require(!__builtin_mul_overflow(group, (int64_t)stage->local[i], &group));
        require(!__builtin_mul_overflow(items, (int64_t)launch[i], &items));
    }
    require(group <= d->max_group);
}

/* A role stands for memory that there is. */
static void check_role(const kiln_plan *plan, const kiln_shape *s, int role)
{
    require(role >= 0 && role < KILN_ROLE_TEMP + plan->ntemps);
    if (role >= KILN_ROLE_TEMP)
        require(plan->temp[role - KILN_ROLE_TEMP].bytes > 0 ||
                plan->temp[role - KILN_ROLE_TEMP].image.width > 0);
    else if (role == KILN_ROLE_PACKED)
        require(plan->packed_bytes > 0);
    else if (role == KILN_ROLE_BIAS)
        require(s && s->epilogue.bias);
    else if (role == KILN_ROLE_RESIDUAL)
        require(s && s->epilogue.beta != 0);
}

/* What packs the weights runs before there are tensors: it may read no other. */
static void check_packing(const kiln_stage *stage)
{
    for (int i = 0; i < stage->nargs; i++)
        if (stage->arg[i].kind == KILN_ARG_BUFFER)
            require(stage->arg[i].role == KILN_ROLE_W || stage->arg[i].role >= KILN_ROLE_PACKED);
}

static void check_stage(const kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_stage *stage)
{
    if (stage->kind == KILN_STAGE_CLEAR) {
        const int role = stage->clear_role;
        check_role(plan, s, role);
        require(stage->clear_bytes > 0);
        if (role == KILN_ROLE_PACKED)
            require(stage->clear_bytes <= plan->packed_bytes);
        if (role >= KILN_ROLE_TEMP)
            require(stage->clear_bytes <= plan->temp[role - KILN_ROLE_TEMP].bytes);
        return;
    }
    const kiln_template *t = template_of(stage->template_file);
    require(t != NULL);
    require(stage->kernel && *stage->kernel);
    check_options(stage);
    check_grid(stage, d);
    require(stage->nargs >= 1 && stage->nargs <= KILN_MAX_ARGS);
    for (int i = 0; i < stage->nargs; i++) {
        const kiln_arg *arg = &stage->arg[i];
        require(arg->kind <= KILN_ARG_SHARING);
        if (arg->kind == KILN_ARG_BUFFER)
            check_role(plan, s, arg->role);
        if (arg->kind == KILN_ARG_INT)
            require(arg->i >= INT32_MIN && arg->i <= INT32_MAX);
        if (arg->kind == KILN_ARG_SHARING)
            require(stage->shared && i == stage->nargs - 1);
    }
    if (stage->shared)
        require(stage->local[0] * stage->local[1] * stage->local[2] == 1);
    if (stage->pack)
        check_packing(stage);
}

/* Temps lie one behind the other in the workspace. */
static void check_memory(const kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d)
{
    int64_t end = 0, images = 0;
    const int64_t align = d->base_align > 0 ? d->base_align : 1;
    require(plan->packed_bytes >= 0 && plan->workspace_bytes >= 0 && plan->image_bytes >= 0);
    for (int i = 0; i < plan->ntemps; i++) {
        const kiln_temp *t = &plan->temp[i];
        require(t->bytes >= 0 && t->offset >= end && t->offset % align == 0);
        require(!__builtin_add_overflow(t->offset, t->bytes, &end));
        images += kiln_image_bytes(&t->image);
    }
    require(end <= plan->workspace_bytes && images == plan->image_bytes);
    require(kiln_plan_workspace(plan, true) <= kiln_plan_workspace(plan, false));
    require(kiln_plan_workspace(plan, false) <= d->max_alloc);
    if (s && s->workspace_limit)
        require(plan->workspace_bytes + plan->packed_bytes + plan->image_bytes <=
                s->workspace_limit);
}

/* Returns the caller's tensor that the problem writes. */
static int written_role(const kiln_shape *s)
{
    if (!s)
        return KILN_ROLE_Y;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return KILN_ROLE_W;
    return (s->direction == KILN_FORWARD) != s->mirrored ? KILN_ROLE_Y : KILN_ROLE_X;
}

static bool names(const kiln_plan *plan, int role)
{
    for (int i = 0; i < plan->nstages; i++)
        for (int j = 0; j < plan->stage[i].nargs; j++)
            if (plan->stage[i].arg[j].kind == KILN_ARG_BUFFER && plan->stage[i].arg[j].role == role)
                return true;
    return false;
}

void fuzz_check_plan(const kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d)
{
    require(!plan->broken);
    require(plan->nstages >= 1 && plan->nstages <= KILN_MAX_STAGES);
    require(plan->ntemps >= 0 && plan->ntemps <= KILN_MAX_TEMPS);
    require(plan->npadded >= 0 && plan->npadded <= KILN_MAX_PADDED);
    require(plan->nfacts >= 0 && plan->nfacts <= KILN_MAX_FACTS);
    for (int i = 0; i < plan->nstages; i++)
        check_stage(plan, s, d, &plan->stage[i]);
    check_memory(plan, s, d);
    for (int i = 0; i < plan->npadded; i++) {
        check_role(plan, s, plan->padded[i].role);
        require(plan->padded[i].stage >= -1 && plan->padded[i].stage < plan->nstages);
    }
    require(names(plan, written_role(s)));
    require(isfinite(plan->amplification) && plan->amplification >= 1);
}

/* ---- from a config to its plan ---- */

/* With KILN_FUZZ_SHOW set, tells in words what an input stands for. */
static void show(const kiln_solver *solver, const kiln_problem *problem, const kiln_device_facts *d,
                 const kiln_config *c)
{
    char text[KILN_KEY_TEXT], config[KILN_CONFIG_TEXT];
    if (!getenv("KILN_FUZZ_SHOW"))
        return;
    kiln_problem_text(problem, text, sizeof text);
    kiln_config_text(solver, c, config, sizeof config);
    fprintf(stderr, "%s %s config %s, device kind %d, groups of %lld, %lld bytes of local memory\n",
            solver->name, text, config, d->kind, (long long)d->max_group,
            (long long)d->local_memory);
}

void fuzz_plan_config(const kiln_solver *solver, const kiln_problem *checked,
                      const kiln_device_facts *d, const kiln_config *config, bool guess)
{
    static kiln_plan plan;
    const kiln_shape s = kiln_shape_of(checked);
    kiln_shape own;
    kiln_config c = *config;
    kiln_why why = {.text = ""};
    if (!kiln_solver_takes(solver, &s, d, &own, &why)) {
        fuzz_check_why(why.text, sizeof why.text);
        return;
    }
    if (guess) {
        memset(&c, 0, sizeof c);
        solver->guess(solver, &own, d, &c);
    }
    show(solver, checked, d, &c);
    if (guess) {
        require(!kiln_config_unlisted(solver, &c, &why));
        require(!solver->illegal(solver, &own, d, &c, &why));
    }
    if (kiln_config_refused(solver, &own, d, &c, true, &why)) {
        fuzz_check_why(why.text, sizeof why.text);
        return;
    }
    const double ms = kiln_solver_predict(solver, &own, d, &c);
    require(isfinite(ms) && ms > 0);
    const bool made = kiln_solver_plan(solver, &own, d, &c, &plan, &why);
    require(!plan.broken);
    if (made)
        fuzz_check_plan(&plan, &own, d);
    else
        fuzz_check_why(why.text, sizeof why.text);
}
