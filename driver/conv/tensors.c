/* Makes, fills, uploads and reads back the tensors of a problem. */
#include "tensors.h"

#include "driver/reference/host.h"

#include "tensor_part.h"
#include "tensors_quant.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 5 };

kiln_type tensors_type(const kiln_problem *p, char tensor)
{
    return tensor == 'x' ? p->x_type : tensor == 'w' ? p->w_type : p->y_type;
}

/* `r` names the files; NULL: none. */
static void list_parts(tensors *t, const request *r, tensor_part parts[PARTS])
{
    static const flags none;
    const kiln_problem *p = &t->problem;
    const flags *f = r ? &r->flags : &none;
    kiln_buffers *b = &t->buffers;
    bool gradient = p->direction == KILN_BACKWARD_WEIGHTS;
    int64_t nx = kiln_problem_count(p, 'x'), nw = kiln_problem_count(p, 'w'),
            ny = kiln_problem_count(p, 'y');
    const kiln_type tx = p->x_type, tw = p->w_type, ty = p->y_type, tr = p->quant.residual_type;
    const tensor_part all[PARTS] = {
        {'x', HOST_X, &t->x, &b->x, tx, tx, nx, &t->x_storage, f->in_data, "in_data", true,
         t->to == 'x'},
        {'w', HOST_W, &t->w, &b->w, tw, tw, nw, &t->w_storage, f->weights, "weights", true,
         t->to == 'w'},
        {'y', HOST_Y, &t->y, &b->y, ty, ty, ny, &t->y_storage, f->dout_data, "dout_data", true,
         t->to == 'y'},
        {'b', HOST_BIAS, (void **)&t->bias, &b->bias, KILN_F32, (kiln_type)p->epilogue.bias,
         p->out_channels, &t->bias_storage, f->in_bias, "in_bias", p->epilogue.bias != 0, gradient},
        {'r', HOST_RESIDUAL, &t->residual, &b->residual, tr, tr, ny, &t->residual_storage, "", "",
         p->epilogue.beta != 0, false},
    };
    memcpy(parts, all, sizeof all);
}

kiln_status tensors_check_files(const request *r, const kiln_problem *p, char *why)
{
    tensors t = {.problem = *p, .to = reference_destination(p)};
    tensor_part parts[PARTS];
    kiln_status status = KILN_OK;
    list_parts(&t, r, parts);
    for (int i = 0; i < PARTS && !status; i++)
        if (tensor_part_from_file(&parts[i]))
            status = tensor_part_check_file(&parts[i], why);
    return status;
}

/* Checks the bytes of all tensors together, which the op does not: a machine without enough memory
 * would start to kill processes. */
static kiln_status check_room(const session *s, const tensor_part parts[PARTS], bool on_host,
                              char *why)
{
    double total = 0;
    for (int i = 0; i < PARTS; i++)
        if (parts[i].used)
            total += (double)tensor_part_bytes(&parts[i]);
    double host = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double here = (s->cpu ? total : 0) + (on_host ? total : 0);
    bool device_full = total > (double)s->memory;
    if (!device_full && here < 0.9 * host)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "the tensors need %.0f bytes of memory; the %s has %.0f",
             device_full ? total : here, device_full ? "device" : "machine",
             device_full ? (double)s->memory : host);
    return KILN_UNSUPPORTED;
}

kiln_status tensors_make(tensors *t, const session *s, const request *r, const kiln_problem *p,
                         char *why)
{
    tensor_part parts[PARTS];
    const flags *f = &r->flags;
    *t = (tensors){.problem = *p,
                   .to = reference_destination(p),
                   .on_host = f->verify || f->search || f->dump_output};
    kiln_problem residual = *p;
    if (p->quant.residual_type)
        residual.y_type = p->quant.residual_type;
    if (!kiln_problem_storage(p, 'x', &t->x_storage, why) ||
        !kiln_problem_storage(p, 'w', &t->w_storage, why) ||
        !kiln_problem_storage(p, 'y', &t->y_storage, why) ||
        !kiln_problem_storage(p, 'b', &t->bias_storage, why) ||
        !kiln_problem_storage(&residual, 'y', &t->residual_storage, why))
        return KILN_INVALID;
    list_parts(t, r, parts);
    for (int i = 0; i < PARTS; i++)
        t->from_files |= tensor_part_from_file(&parts[i]);
    kiln_status status = check_room(s, parts, t->on_host, why);
    int64_t terms = reference_terms(p);
    for (int i = 0; i < PARTS && !status; i++)
        if (parts[i].used)
            status = tensor_part_make(s, r, t->on_host, terms, &parts[i], why);
    if (!status)
        status = tensors_make_quant(t, s, r, why);
    if (status)
        tensors_free(t);
    return status;
}

static void release(kiln_buffer *b)
{
    if (b->mem)
        clReleaseMemObject(b->mem);
    b->mem = NULL;
}

void tensors_free(tensors *t)
{
    kiln_buffers *b = &t->buffers;
    kiln_buffer *const all[] = {&b->x,         &b->w,        &b->y,      &b->bias,   &b->residual,
                                &b->workspace, &b->w_scales, &b->x_zero, &b->w_zero, &b->y_zero};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        release(all[i]);
    free(t->x);
    free(t->w);
    free(t->y);
    free(t->bias);
    free(t->residual);
    free(t->w_scales);
    *t = (tensors){0};
}

kiln_status tensors_workspace(tensors *t, const session *s, int64_t bytes, char *why)
{
    cl_int code;
    release(&t->buffers.workspace);
    if (bytes == 0)
        return KILN_OK;
    t->buffers.workspace.mem =
        clCreateBuffer(s->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    if (t->buffers.workspace.mem)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "a workspace of %lld bytes cannot be made: OpenCL error %d",
             (long long)bytes, code);
    return KILN_OPENCL;
}

void *tensors_destination(const tensors *t)
{
    return t->to == 'x' ? t->x : t->to == 'w' ? t->w : t->y;
}

static kiln_status judge(cl_int code, const char *what, char *why)
{
    if (code == CL_SUCCESS)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "%s the result failed: OpenCL error %d", what, code);
    return KILN_OPENCL;
}

kiln_status tensors_poison(tensors *t, const session *s, char *why)
{
    tensor_part parts[PARTS];
    cl_int code = CL_SUCCESS;
    list_parts(t, NULL, parts);
    for (int i = 0; i < PARTS && code == CL_SUCCESS && t->on_host; i++)
        if (parts[i].used && parts[i].written)
            code = tensor_part_poison(s, &parts[i]);
    return judge(code, "overwriting", why);
}

kiln_status tensors_read(tensors *t, const session *s, char *why)
{
    tensor_part parts[PARTS];
    cl_int code = CL_SUCCESS;
    t->dirty = 0;
    list_parts(t, NULL, parts);
    for (int i = 0; i < PARTS && code == CL_SUCCESS; i++)
        if (parts[i].used && parts[i].written)
            code = tensor_part_download(s, &parts[i], &t->dirty);
    return judge(code, "reading", why);
}

reference_tensors tensors_sources(const tensors *t)
{
    bool forward = t->problem.direction == KILN_FORWARD;
    return (reference_tensors){.x = t->to == 'x' ? NULL : t->x,
                               .w = t->to == 'w' ? NULL : t->w,
                               .y = t->to == 'y' ? NULL : t->y,
                               .bias = forward ? t->bias : NULL,
                               .w_scales = t->w_scales,
                               .x_zero = t->x_zero,
                               .w_zero = t->w_zero,
                               .y_zero = t->y_zero,
                               .residual = t->residual};
}
