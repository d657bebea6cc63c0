/* What each solver plans for each problem on each device that kiln knows something of, as text, one
 * line a plan, so that two versions can be compared with diff. Needs no device.
 *
 * Problems come on standard input, by name, one a line. A line of the output: device, layouts,
 * problem, solver, config, predicted ms, hash of everything in the plan. */
#include "generator/plan/solver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two cores of a virtual machine, whose clock is told as 2.6 GHz. */
static kiln_device_facts cpu(const char *core, const char *row, int64_t core_cache)
{
    kiln_device_facts f = kiln_device_generic();
    snprintf(f.name, sizeof f.name, "%s", core);
    snprintf(f.platform, sizeof f.platform, "Portable Computing Language");
    snprintf(f.core, sizeof f.core, "%s", core);
    f.max_group = 4096;
    f.max_local[0] = f.max_local[1] = f.max_local[2] = 4096;
    f.local_memory = f.max_constant = 512 << 10;
    f.cpu = kiln_core_named(row);
    f.simd_floats = 16;
    f.has_vnni = f.has_bf16 = true;
    f.has_amx = strcmp(row, "emerald_rapids") == 0;
    f.shares_work = true;
    f.has_fp64 = true;
    f.core_cache = core_cache;
    f.cache = 32 << 20;
    kiln_device_set_roofline(&f, 2.6);
    return f;
}

static kiln_device_facts gpu(void)
{
    kiln_device_facts f = kiln_device_generic();
    snprintf(f.name, sizeof f.name, "gpu");
    f.kind = KILN_DEVICE_GPU;
    f.compute_units = 132;
    f.local_memory = 48 << 10;
    f.simd_floats = 1;
    f.gpu.id = (kiln_gpu_id){KILN_GPU_NVIDIA, KILN_GPU_VERSION(9, 0)};
    f.has_fp64 = true;
    f.cache = 0;
    kiln_device_set_roofline(&f, 1.98);
    return f;
}

/* An H200 as NVIDIA's OpenCL and the library's probes tell of it (runtime/). */
static kiln_device_facts h200(void)
{
    kiln_device_facts f = gpu();
    snprintf(f.name, sizeof f.name, "h200");
    snprintf(f.core, sizeof f.core, "NVIDIA 9.0");
    f.max_group = f.max_local[0] = f.max_local[1] = 1024;
    f.max_local[2] = 64;
    f.gpu.subgroup = 32;
    f.gpu.group_registers = 65536;
    f.gpu.clock_ghz = 1.98;
    f.gpu.has_mma = f.gpu.has_wgmma = f.gpu.has_tma = true;
    f.gpu.static_local_memory = 200 << 10;
    return f;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

static uint64_t hash_of(const kiln_plan *p)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < p->nstages; i++) {
        const kiln_stage *s = &p->stage[i];
        const int head[] = {(int)s->kind, s->pack, s->nargs, s->clear_role};
        h = mix(h, head, sizeof head);
        if (s->kind == KILN_STAGE_LAUNCH) {
            h = mix_text(mix_text(mix_text(h, s->template_file), s->kernel), s->options);
            h = mix(mix(h, s->local, sizeof s->local), s->global, sizeof s->global);
        }
        h = mix(h, &s->clear_bytes, sizeof s->clear_bytes);
        for (int j = 0; j < s->nargs; j++) {
            const int64_t arg[] = {(int64_t)s->arg[j].kind, s->arg[j].role, s->arg[j].i};
            h = mix(h, arg, sizeof arg);
        }
    }
    for (int i = 0; i < p->ntemps; i++)
        h = mix(mix(h, &p->temp[i].bytes, sizeof(int64_t)), &p->temp[i].offset, sizeof(int64_t));
    const int64_t sizes[] = {p->packed_bytes, p->workspace_bytes, p->image_bytes, p->npadded,
                             p->deterministic};
    h = mix(h, sizes, sizeof sizes);
    return mix(h, &p->amplification, sizeof p->amplification);
}

static void print_options(const kiln_plan *p)
{
    for (int i = 0; i < p->nstages; i++)
        if (p->stage[i].kind == KILN_STAGE_LAUNCH)
            printf("  %s %s\n", p->stage[i].kernel, p->stage[i].options);
}

/* The guess, and what a search tries: of those the first, as a hash over predictions. */
static void show(const kiln_solver *solver, const kiln_shape *own, const kiln_device_facts *d,
                 const char *head, bool options)
{
    static kiln_plan plan;
    kiln_why why;
    kiln_config c = {0};
    solver->guess(solver, own, d, &c);
    char text[KILN_CONFIG_TEXT];
    kiln_config_text(solver, &c, text, sizeof text);
    uint64_t tried = UINT64_C(0xcbf29ce484222325);
    int64_t position = 0;
    kiln_config next = {0};
    for (int i = 0; i < 12 && kiln_config_next(solver, own, d, &position, &next); i++) {
        char ms[32];
        snprintf(ms, sizeof ms, "%.5g", solver->predict(solver, own, d, &next));
        tried = mix_text(mix(tried, &next, sizeof next), ms);
    }
    if (!kiln_solver_plan(solver, own, d, &c, &plan, &why)) {
        printf("%s %s %s no plan: %s\n", head, solver->name, text, why.text);
        return;
    }
    printf("%s %s %s %.5g %016" PRIx64 " %016" PRIx64 "\n", head, solver->name, text,
           kiln_solver_predict(solver, own, d, &c), options ? 0 : hash_of(&plan), tried);
    if (options)
        print_options(&plan);
}

static void plan_all(const kiln_problem *checked, const kiln_device_facts *d, const char *layouts,
                     bool options)
{
    const kiln_shape s = kiln_shape_of(checked);
    char name[512], head[1024];
    kiln_problem_text(checked, name, sizeof name);
    snprintf(head, sizeof head, "%s %s %s", d->name, layouts, name);
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_shape own;
        kiln_why why;
        if (kiln_solver_takes(solver, &s, d, &own, &why))
            show(solver, &own, d, head, options);
        else
            printf("%s %s no: %s\n", head, solver->name, why.text);
    }
}

int main(int argc, char **argv)
{
    const bool options = argc > 1 && strcmp(argv[1], "--options") == 0;
    const kiln_device_facts devices[] = {
        kiln_device_generic(),
        cpu("AMD 19h", "zen4", 1 << 20),
        cpu("AMD 1Ah", "zen5", 1 << 20),
        cpu("x86 6-207", "emerald_rapids", 2 << 20),
        gpu(),
        h200(),
    };
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        for (int any = 0; any < 2; any++) {
            kiln_problem p = {0};
            char why[KILN_ERROR_TEXT];
            if (kiln_problem_parse(&p, line, why) != KILN_OK) {
                fprintf(stderr, "%s: %s\n", line, why);
                return EXIT_FAILURE;
            }
            if (any)
                strcpy(p.x_layout, "any"), strcpy(p.w_layout, "any"), strcpy(p.y_layout, "any");
            if (kiln_problem_check(&p, why) != KILN_OK)
                continue;
            for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
                plan_all(&p, &devices[i], any ? "any" : "plain", options);
        }
    }
    return EXIT_SUCCESS;
}
