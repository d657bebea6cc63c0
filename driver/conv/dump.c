/* Writes tensors to the files that MIOpenDriver's -o 1 writes. */
#include "dump.h"

#include "driver/reference/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static kiln_status dump_array(dumps *d, const char *name, const void *data, size_t bytes, char *why)
{
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->file[i].name, name) == 0)
            return KILN_OK; /* an earlier direction has written this source */
    char *temporary = d->file[d->count].temporary;
    snprintf(d->file[d->count].name, sizeof d->file->name, "%s", name);
    snprintf(temporary, sizeof d->file->temporary, ".%s.%ld", name, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (file)
        d->count++;
    bool whole = file && fwrite(data, 1, bytes, file) == bytes;
    int error = errno;
    if (file && fclose(file) != 0 && whole) {
        whole = false;
        error = errno;
    }
    if (whole)
        return KILN_OK;
    d->failed = true;
    snprintf(why, KILN_ERROR_TEXT, "%s: %s", name, strerror(error));
    return KILN_FILE;
}

static kiln_status dump_tensor(dumps *d, const tensors *t, char tensor, char *why)
{
    static const struct {
        char tensor;
        const char *name;
    } names[] = {{'x', "dump_in.bin"}, {'w', "dump_wei.bin"}, {'y', "dump_dout.bin"}};
    const void *data = tensor == 'x' ? t->x : tensor == 'w' ? t->w : t->y;
    size_t bytes = (size_t)kiln_problem_count(&t->problem, tensor) *
                   kiln_type_size(tensors_type(&t->problem, tensor));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].tensor == tensor && t->to != tensor)
            return dump_array(d, names[i].name, data, bytes, why);
    return KILN_OK;
}

/* Writes the CPU's result, rounded to the destination's type. */
static kiln_status dump_reference(dumps *d, const tensors *t, const char *name, bool bias,
                                  char *why)
{
    int64_t count = bias ? t->problem.out_channels : kiln_problem_count(&t->problem, t->to);
    kiln_type type = bias ? KILN_F32 : reference_type(&t->problem);
    double *value = malloc((size_t)count * sizeof *value);
    double *magnitude = malloc((size_t)count * sizeof *magnitude);
    void *data = malloc((size_t)count * kiln_type_size(type));
    kiln_status status = KILN_NO_MEMORY;
    if (value && magnitude && data) {
        reference_tensors sources = tensors_sources(t);
        if (bias)
            reference_bias_gradient(&t->problem, t->y, value, magnitude);
        else
            reference_run(&t->problem, &sources, NULL, count, value, magnitude);
        for (int64_t i = 0; i < count; i++)
            host_set(type, data, i, value[i]);
        status = dump_array(d, name, data, (size_t)count * kiln_type_size(type), why);
    } else {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for %s", name);
    }
    free(value);
    free(magnitude);
    free(data);
    return status;
}

static kiln_status dump_results(dumps *d, const tensors *t, bool reference, char *why)
{
    static const char *const names[][2] = {
        [KILN_FORWARD] = {"dump_fwd_out_gpu.bin", "dump_fwd_out_cpu.bin"},
        [KILN_BACKWARD_DATA] = {"dump_bwd_din_gpu.bin", "dump_bwd_din_cpu.bin"},
        [KILN_BACKWARD_WEIGHTS] = {"dump_bwd_dwei_gpu.bin", "dump_bwd_dwei_cpu.bin"},
    };
    const kiln_problem *p = &t->problem;
    size_t bytes = (size_t)kiln_problem_count(p, t->to) * kiln_type_size(reference_type(p));
    kiln_status status = dump_array(d, names[p->direction][0], tensors_destination(t), bytes, why);
    if (!status && reference)
        status = dump_reference(d, t, names[p->direction][1], false, why);
    return status;
}

kiln_status dump_tensors(dumps *d, const tensors *t, bool reference, char *why)
{
    kiln_status status = KILN_OK;
    size_t channels = (size_t)t->problem.out_channels * sizeof(float);
    bool gradient = t->problem.direction == KILN_BACKWARD_WEIGHTS;
    for (const char *name = "xwy"; *name && !status; name++)
        status = dump_tensor(d, t, *name, why);
    if (!status && t->bias)
        status = dump_array(d, gradient ? "dump_bwd_db_gpu.bin" : "dump_bias.bin", t->bias,
                            channels, why);
    if (!status && t->bias && gradient && reference)
        status = dump_reference(d, t, "dump_bwd_db_cpu.bin", true, why);
    return status ? status : dump_results(d, t, reference, why);
}

void dump_discard(dumps *d)
{
    for (int i = 0; i < d->count; i++)
        unlink(d->file[i].temporary);
    d->count = 0;
}

/* In a folder where files can be written, rename() fails only where a folder has the name. */
static bool is_folder(const char *name)
{
    struct stat s;
    return lstat(name, &s) == 0 && S_ISDIR(s.st_mode);
}

kiln_status dump_commit(dumps *d, bool quiet, char *why)
{
    if (d->failed) /* dump_tensors() has reported why */
        dump_discard(d);
    for (int i = 0; i < d->count; i++)
        if (is_folder(d->file[i].name)) {
            snprintf(why, KILN_ERROR_TEXT, "%s: %s", d->file[i].name, strerror(EISDIR));
            dump_discard(d);
            return KILN_FILE;
        }
    for (int i = 0; i < d->count; i++)
        if (rename(d->file[i].temporary, d->file[i].name) != 0) {
            snprintf(why, KILN_ERROR_TEXT, "%s: %s", d->file[i].name, strerror(errno));
            dump_discard(d);
            return KILN_FILE;
        }
    for (int i = 0; i < d->count && !quiet; i++)
        printf("Wrote output to file %s\n", d->file[i].name);
    d->count = 0;
    return KILN_OK;
}
