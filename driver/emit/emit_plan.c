/* Writes a project: each file takes its name when it is whole. */
#include "emit_plan.h"

#include "driver/base/replaced_file.h"
#include "driver/reference/host.h"

#include "project_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MEMORIES = 16, TEMPS = 6, SEED = 1 };

/* In the order of the memories' numbers in conv_plan.h. */
static const char *const memory_names[TEMPS] = {"x", "w", "y", "bias", "residual", "packed"};

/* A project that is being written. */
typedef struct project {
    const kiln_op *op;
    kiln_op_info info;
    const char *folder;
    int64_t bytes[MEMORIES];
    char *why;
} project;

static kiln_status make_folder(const project *p, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%.3800s%s%s", p->folder, *name ? "/" : "", name);
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        return KILN_OK;
    snprintf(p->why, KILN_ERROR_TEXT, "%.150s: %s", path, strerror(errno));
    return KILN_FILE;
}

static kiln_status open_file(const project *p, const char *name, replaced_file *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%.3800s/%s", p->folder, name);
    return replaced_file_open(file, path, p->why);
}

static kiln_status write_bytes(const project *p, const char *name, const void *data, size_t size)
{
    replaced_file file;
    const kiln_status status = open_file(p, name, &file);
    if (status)
        return status;
    fwrite(data, 1, size, file.to);
    return replaced_file_close(&file, p->why);
}

/* Returns the number of a memory in conv_plan.h; -1: there is no room for it. */
static int number_of(const kiln_argument *a)
{
    for (int i = 0; i < TEMPS; i++)
        if (strcmp(memory_names[i], a->memory) == 0)
            return i;
    return a->index < MEMORIES - TEMPS ? TEMPS + a->index : -1;
}

/* Finds the sizes of all memories, and refuses what is no buffer. */
static kiln_status find_memories(project *p)
{
    kiln_argument a;
    p->bytes[0] = p->info.x_size;
    p->bytes[1] = p->info.w_size;
    p->bytes[2] = p->info.y_size;
    for (int i = 0; i < p->info.stages; i++)
        for (int j = 0; kiln_op_argument(p->op, i, j, &a) == KILN_OK; j++) {
            if (a.kind != KILN_ARGUMENT_BUFFER && a.kind != KILN_ARGUMENT_IMAGE)
                continue;
            const int at = number_of(&a);
            if (a.kind == KILN_ARGUMENT_IMAGE || at < 0) {
                snprintf(p->why, KILN_ERROR_TEXT,
                         "%s works on images, which a project does not make; name another solver "
                         "by --solution (-S)",
                         p->info.solver);
                return KILN_UNSUPPORTED;
            }
            p->bytes[at] = a.bytes;
        }
    return KILN_OK;
}

static kiln_status write_kernels(const project *p)
{
    kiln_status status = KILN_OK;
    char name[64];
    for (int i = 0; i < p->info.stages && !status; i++) {
        const char *source = kiln_op_source(p->op, i);
        snprintf(name, sizeof name, "kernels/stage_%d.cl", i);
        if (source)
            status = write_bytes(p, name, source, strlen(source));
    }
    return status;
}

static void write_arguments(const project *p, FILE *to, int stage)
{
    static const char *const kinds[] = {[KILN_ARGUMENT_BUFFER] = "CONV_BUFFER",
                                        [KILN_ARGUMENT_INT] = "CONV_INT",
                                        [KILN_ARGUMENT_LONG] = "CONV_LONG",
                                        [KILN_ARGUMENT_SHARING] = "CONV_SHARING"};
    kiln_argument a;
    int count = 0;
    fputs("     {", to);
    for (; kiln_op_argument(p->op, stage, count, &a) == KILN_OK; count++)
        fprintf(to, "%s{%s, %d, %lld}", count ? ", " : "", kinds[a.kind],
                a.kind == KILN_ARGUMENT_BUFFER ? number_of(&a) : 0, (long long)a.value);
    fprintf(to, "}, %d},\n", count);
}

static void write_stages(const project *p, FILE *to)
{
    kiln_stage_info s;
    fputs("static const conv_stage conv_stages[CONV_STAGES] = {\n", to);
    for (int i = 0; i < p->info.stages && kiln_op_stage(p->op, i, &s) == KILN_OK; i++) {
        if (*s.kernel)
            fprintf(to, "    {\"stage_%d.cl\", \"%s\",\n     \"-cl-std=CL1.2 %s\",\n", i, s.kernel,
                    s.options);
        else
            fputs("    {NULL, NULL, NULL,\n", to);
        fprintf(to, "     %d, {%zu, %zu, %zu}, {%zu, %zu, %zu},\n", s.packs_weights, s.launched[0],
                s.launched[1], s.launched[2], s.local[0], s.local[1], s.local[2]);
        write_arguments(p, to, i);
    }
    fputs("};\n", to);
}

static const char plan_types[] =
    "typedef struct conv_argument {\n"
    "    enum { CONV_BUFFER, CONV_INT, CONV_LONG, CONV_SHARING } kind;\n"
    "    int memory;      /* BUFFER: its number */\n"
    "    long long value; /* INT, LONG; of a clear, the bytes */\n"
    "} conv_argument;\n\n"
    "typedef struct conv_stage {\n"
    "    const char *file, *kernel, *options; /* file NULL: clear the first argument */\n"
    "    int packs;                           /* 1: rearranges the weights */\n"
    "    size_t global[3], local[3];\n"
    "    conv_argument argument[48];\n"
    "    int arguments;\n"
    "} conv_stage;\n\n";

static kiln_status write_plan(const project *p)
{
    static const char *const upper[] = {"X", "W", "Y", "BIAS", "RESIDUAL"};
    replaced_file file;
    char key[KILN_KEY_TEXT];
    const kiln_status status = open_file(p, "conv_plan.h", &file);
    if (status)
        return status;
    kiln_problem_text(&p->info.problem, key, sizeof key);
    fprintf(file.to,
            "/* %s by %s, config %s. Made by kiln %s. */\n#ifndef CONV_PLAN_H\n#define "
            "CONV_PLAN_H\n\n#define CONV_PROBLEM \"%s\"\n\n",
            key, p->info.solver, *p->info.config ? p->info.config : "none", kiln_version(), key);
    for (int i = 0; i < 5; i++)
        fprintf(file.to, "#define CONV_%s_BYTES ((size_t)%lldu)\n", upper[i],
                (long long)p->bytes[i]);
    fprintf(file.to,
            "\n/* Memories: x, w, y, bias, residual, packed weights, scratch. */\n"
            "enum { CONV_STAGES = %d, CONV_PACKED = 5, CONV_MEMORIES = %d };\n\n#endif\n\n"
            "#if defined CONV_TABLES && !defined CONV_TABLES_DONE\n#define "
            "CONV_TABLES_DONE\n",
            p->info.stages, MEMORIES);
    fputs(plan_types, file.to);
    fputs("static const size_t conv_bytes[CONV_MEMORIES] = {", file.to);
    for (int i = 0; i < MEMORIES; i++)
        fprintf(file.to, "%s%lldu", i ? ", " : "", (long long)p->bytes[i]);
    fputs("};\n\n", file.to);
    write_stages(p, file.to);
    fputs("#endif\n", file.to);
    return replaced_file_close(&file, p->why);
}

/* Writes a tensor of small random numbers. */
static kiln_status write_tensor(const project *p, const char *name, int tensor, kiln_type type,
                                int64_t count, int64_t bytes)
{
    char path[64];
    if (bytes == 0)
        return KILN_OK;
    if (bytes != count * (int64_t)kiln_type_size(type)) {
        snprintf(p->why, KILN_ERROR_TEXT,
                 "the layout of %s has padding, which a project's data do not have; name another "
                 "layout",
                 name);
        return KILN_UNSUPPORTED;
    }
    void *data = malloc((size_t)bytes);
    if (!data) {
        snprintf(p->why, KILN_ERROR_TEXT, "out of memory for %lld bytes", (long long)bytes);
        return KILN_NO_MEMORY;
    }
    host_fill_tensor(HOST_FILL_UNIFORM, SEED, tensor, type, 1, data, count);
    snprintf(path, sizeof path, "data/%s.bin", name);
    const kiln_status status = write_bytes(p, path, data, (size_t)bytes);
    free(data);
    return status;
}

static kiln_status write_data(const project *p)
{
    const kiln_problem *q = &p->info.problem;
    const struct {
        const char *name;
        int tensor;
        kiln_type type;
        int64_t count, bytes;
    } all[] = {{"x", HOST_X, q->x_type, kiln_problem_count(q, 'x'), p->bytes[0]},
               {"w", HOST_W, q->w_type, kiln_problem_count(q, 'w'), p->bytes[1]},
               {"bias", HOST_BIAS, (kiln_type)q->epilogue.bias, q->out_channels, p->bytes[3]},
               {"residual", HOST_RESIDUAL, q->y_type, kiln_problem_count(q, 'y'), p->bytes[4]}};
    kiln_status status = KILN_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        status =
            write_tensor(p, all[i].name, all[i].tensor, all[i].type, all[i].count, all[i].bytes);
    return status;
}

/* Writes the files that are the same for every problem, without the ".in" of their names. */
static kiln_status write_fixed(const project *p)
{
    kiln_status status = KILN_OK;
    char name[64];
    for (const project_file *f = project_files; f->name && !status; f++) {
        snprintf(name, sizeof name, "%.*s", (int)strlen(f->name) - 3, f->name);
        status = write_bytes(p, name, f->text, strlen(f->text));
    }
    return status;
}

kiln_status emit_project(const kiln_op *op, const char *folder, char *why)
{
    project p = {.op = op, .folder = folder, .why = why};
    kiln_op_describe(op, &p.info);
    kiln_status status = find_memories(&p);
    static const char *const folders[] = {"", "kernels", "data"};
    for (int i = 0; i < 3 && !status; i++)
        status = make_folder(&p, folders[i]);
    if (!status)
        status = write_kernels(&p);
    if (!status)
        status = write_plan(&p);
    if (!status)
        status = write_data(&p);
    return status ? status : write_fixed(&p);
}
