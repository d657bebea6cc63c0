/* Makes the buffers of scales and zero points. */
#include "tensors_quant.h"

#include "driver/reference/quantised.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_status make(const session *s, void *data, size_t bytes, kiln_buffer *to, char *why)
{
    cl_int code;
    to->mem =
        clCreateBuffer(s->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, data, &code);
    if (to->mem)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT,
             "a buffer of %zu bytes for scales or zero points cannot be made: "
             "OpenCL error %d",
             bytes, code);
    return KILN_OPENCL;
}

static kiln_status read_scales(const char *path, void *to, size_t bytes, char *why)
{
    FILE *file = fopen(path, "rb");
    const size_t got = file ? fread(to, 1, bytes, file) : 0;
    const bool more = file && fgetc(file) != EOF;
    const char *reason = strerror(errno);
    if (file)
        fclose(file);
    if (got == bytes && !more)
        return KILN_OK;
    if (!file)
        snprintf(why, KILN_ERROR_TEXT, "--w_scales %.120s: %s", path, reason);
    else
        snprintf(why, KILN_ERROR_TEXT, "--w_scales %.120s: the problem needs a file of %zu bytes",
                 path, bytes);
    return KILN_FILE;
}

static kiln_status make_scales(tensors *t, const session *s, const request *r, char *why)
{
    const kiln_problem *p = &t->problem;
    const char *path = r->flags.w_scales;
    const size_t bytes = (size_t)p->out_channels * (p->quant.rounding ? 8 : 4);
    if (!(p->quant.buffers & KILN_QUANT_W_SCALES))
        return KILN_OK;
    t->w_scales = malloc(bytes);
    if (!t->w_scales) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for %zu bytes of scales", bytes);
        return KILN_NO_MEMORY;
    }
    kiln_status status = KILN_OK;
    if (*path && strcmp(path, "uniform") != 0)
        status = read_scales(path, t->w_scales, bytes, why);
    else
        quantised_fill(p, (uint64_t)r->flags.seed, t->w_scales);
    return status ? status : make(s, t->w_scales, bytes, &t->buffers.w_scales, why);
}

kiln_status tensors_make_quant(tensors *t, const session *s, const request *r, char *why)
{
    const struct {
        int bit;
        char tensor;
        int *value;
        kiln_buffer *buffer;
    } zeros[] = {{KILN_QUANT_X_ZERO, 'x', &t->x_zero, &t->buffers.x_zero},
                 {KILN_QUANT_W_ZERO, 'w', &t->w_zero, &t->buffers.w_zero},
                 {KILN_QUANT_Y_ZERO, 'y', &t->y_zero, &t->buffers.y_zero}};
    kiln_status status = make_scales(t, s, r, why);
    for (int i = 0; i < 3 && !status; i++) {
        if (!(t->problem.quant.buffers & zeros[i].bit))
            continue;
        *zeros[i].value = quantised_draw(&t->problem, (uint64_t)r->flags.seed, zeros[i].tensor);
        cl_int number = *zeros[i].value;
        status = make(s, &number, sizeof number, zeros[i].buffer, why);
    }
    return status;
}
