/* What every solver plans on device models, as kernels to compile without a device: for offline.sh.
 *
 *     offline_plans FOLDER CONFIGS <PROBLEMS
 *
 * Problems come by name, one a line. Each solver that takes one on a model has its guess and the
 * first CONFIGS configs that a search would try. A line of the output has, between tabs, the
 * model's compiler target, the solver, the template, the kernel and the options; pools of all kinds
 * follow. FOLDER receives the sources of these templates as a driver gets them. */
#include "generator/plan/pool.h"
#include "generator/plan/solver.h"
#include "runtime/programs/template.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who runs work-items in step, and how large a group's share of a unit is. As the vendors' drivers
 * tell; what a driver does not tell is 0. */
typedef struct model {
    const char *target; /* of offline.sh */
    kiln_device_kind kind;
    int units, subgroup, lanes;
    kiln_gpu_id id;
    int64_t registers, local_memory, max_group;
    double ghz;
} model;

static const model models[] = {
    {"nvptx64",
     KILN_DEVICE_GPU,
     132,
     32,
     0,
     {KILN_GPU_NVIDIA, KILN_GPU_VERSION(9, 0)},
     65536,
     48 << 10,
     1024,
     1.98},
    {"gfx900",
     KILN_DEVICE_GPU,
     64,
     64,
     64,
     {KILN_GPU_AMD, KILN_GPU_VERSION(9, 0)},
     0,
     64 << 10,
     256,
     1.6},
    {"gfx90a",
     KILN_DEVICE_GPU,
     104,
     64,
     64,
     {KILN_GPU_AMD, KILN_GPU_VERSION(9, 0)},
     0,
     64 << 10,
     256,
     1.7},
    {"gfx1030",
     KILN_DEVICE_GPU,
     40,
     32,
     64,
     {KILN_GPU_AMD, KILN_GPU_VERSION(10, 3)},
     0,
     64 << 10,
     256,
     2.3},
    /* Drivers that take SPIR-V: a GPU of which nothing more is known, and a CPU other than PoCL's.
     */
    {"spirv", KILN_DEVICE_GPU, 32, 0, 0, {0}, 0, 32 << 10, 256, 1.5},
    {"spirv", KILN_DEVICE_CPU, 4, 0, 0, {0}, 0, 32 << 10, 1024, 3},
};

static kiln_device_facts facts_of(const model *m)
{
    kiln_device_facts f = kiln_device_generic();
    snprintf(f.name, sizeof f.name, "%s", m->target);
    f.kind = m->kind;
    f.compute_units = m->units;
    f.max_group = m->max_group;
    f.max_local[0] = f.max_local[1] = f.max_local[2] = m->max_group;
    f.local_memory = m->local_memory;
    if (m->kind == KILN_DEVICE_GPU) {
        f.simd_floats = 1;
        f.has_fp64 = true;
        const bool nvidia = m->id.maker == KILN_GPU_NVIDIA;
        f.gpu.id = m->id;
        f.gpu.has_mma = f.gpu.has_wgmma = f.gpu.has_tma = nvidia;
        f.gpu.static_local_memory = nvidia ? 200 << 10 : 0;
        f.gpu.subgroup = m->subgroup;
        f.gpu.unit_lanes = m->lanes;
        f.gpu.group_registers = m->registers;
    }
    kiln_device_set_roofline(&f, m->ghz);
    return f;
}

/* `mark` stands behind the name. */
static void print_stages(const char *name, const char *mark, const kiln_device_facts *d,
                         const kiln_plan *plan)
{
    for (int i = 0; i < plan->nstages; i++) {
        const kiln_stage *s = &plan->stage[i];
        if (s->kind == KILN_STAGE_LAUNCH)
            printf("%s\t%s%s\t%s\t%s\t%s\n", d->name, name, mark, s->template_file, s->kernel,
                   s->options);
    }
}

/* `chosen` marks the solver's name. */
static void print_kernels(const kiln_solver *solver, const kiln_shape *own,
                          const kiln_device_facts *d, const kiln_config *c, bool chosen)
{
    static kiln_plan plan;
    kiln_why why;
    if (kiln_solver_plan(solver, own, d, c, &plan, &why))
        print_stages(solver->name, chosen ? "*" : "", d, &plan);
}

/* The guess and the first configs of a search. */
static void print_solver(const kiln_solver *solver, const kiln_shape *own,
                         const kiln_device_facts *d, int configs, bool chosen)
{
    kiln_config c = {0};
    solver->guess(solver, own, d, &c);
    print_kernels(solver, own, d, &c, chosen);
    int64_t position = 0;
    kiln_config next = {0};
    for (int i = 0; i < configs && kiln_config_next(solver, own, d, &position, &next); i++)
        print_kernels(solver, own, d, &next, false);
}

/* Returns the solver that kiln chooses, as far as predictions decide; NULL: none takes the shape.
 */
static const kiln_solver *choose(const kiln_shape *s, const kiln_device_facts *d)
{
    const kiln_solver *solver, *best = NULL;
    double best_ms = INFINITY;
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_shape own;
        kiln_why why;
        kiln_config c = {0};
        if (!kiln_solver_takes(solver, s, d, &own, &why))
            continue;
        solver->guess(solver, &own, d, &c);
        const double ms = kiln_solver_predict(solver, &own, d, &c);
        if (ms < best_ms) {
            best = solver;
            best_ms = ms;
        }
    }
    return best;
}

static void print_problem(const kiln_problem *checked, const kiln_device_facts *d, int configs)
{
    const kiln_shape s = kiln_shape_of(checked);
    const kiln_solver *solver, *chosen = choose(&s, d);
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_shape own;
        kiln_why why;
        if (kiln_solver_takes(solver, &s, d, &own, &why))
            print_solver(solver, &own, d, configs, solver == chosen);
    }
}

/* What has no name as a line of text: windows and single elements, of each kind of type. */
static const kiln_pool pools[] = {
    {.kind = KILN_POOL_MAX, .batch = 2, .channels = 64, .input = {28, 28}, .window = {3, 3}},
    {.kind = KILN_POOL_AVERAGE,
     .x_type = KILN_F16,
     .x_layout = "NHWC",
     .batch = 2,
     .channels = 64,
     .input = {28, 28},
     .global = 1},
    {.kind = KILN_POOL_AVERAGE_PADDED,
     .x_type = KILN_BF16,
     .batch = 2,
     .channels = 64,
     .input = {28, 28},
     .window = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.x_type = KILN_I8,
     .batch = 2,
     .channels = 64,
     .input = {28, 28},
     .with = KILN_WITH_SUM,
     .activation = KILN_RELU},
};

static bool print_pools(const kiln_device_facts *d)
{
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        static kiln_plan plan;
        kiln_pool pool = pools[i];
        char why[KILN_ERROR_TEXT];
        if (kiln_pool_check(&pool, why) || !kiln_pool_plan(&pool, d, &plan, why)) {
            fprintf(stderr, "pool %zu: %s\n", i, why);
            return false;
        }
        print_stages("pool", "", d, &plan);
    }
    return true;
}

/* All templates: what others include does no harm there. */
static bool write_sources(const char *folder)
{
    for (const kiln_template *t = kiln_embedded_templates; t->file; t++) {
        char path[1024];
        char *source;
        if (kiln_template_source(getenv("KILN_TEMPLATES"), t->file, &source) != KILN_OK) {
            fprintf(stderr, "%s\n", kiln_last_error());
            return false;
        }
        snprintf(path, sizeof path, "%s/%s", folder, t->file);
        FILE *f = fopen(path, "w");
        bool written = f && fputs(source, f) >= 0;
        written = f && fclose(f) == 0 && written;
        free(source);
        if (!written) {
            perror(path);
            return false;
        }
    }
    return true;
}

static bool print_line(char *line, int configs)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    line[strcspn(line, "\n")] = '\0';
    if (!*line || *line == '#')
        return true;
    if (kiln_problem_parse(&p, line, why) != KILN_OK) {
        fprintf(stderr, "%s: %s\n", line, why);
        return false;
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const kiln_device_facts f = facts_of(&models[i]);
        print_problem(&p, &f, configs);
    }
    return true;
}

int main(int argc, char **argv)
{
    char line[1024];
    bool fine = argc == 3;
    if (!fine)
        fprintf(stderr, "usage: offline_plans FOLDER CONFIGS <PROBLEMS\n");
    fine = fine && write_sources(argv[1]);
    while (fine && fgets(line, sizeof line, stdin))
        fine = print_line(line, atoi(argv[2]));
    for (size_t i = 0; fine && i < sizeof models / sizeof *models; i++) {
        const kiln_device_facts f = facts_of(&models[i]);
        fine = print_pools(&f);
    }
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
