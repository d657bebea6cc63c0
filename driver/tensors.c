/* Makes, fills, uploads and reads back the tensors of a problem. */
#include "tensors.h"

#include "host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The arrays a problem may need, each with its place in the structs around. */
typedef struct part {
    char tensor; /* 'x', 'w', 'y', 'b'ias or 'r'esidual */
    int fill;    /* HOST_X, ... */
    void **host;
    kiln_buffer *buffer;
    kiln_type type;
    int64_t count;
    const char *file, *flag;
    bool used, written;
} part;

enum { PARTS = 5 };

kiln_type tensors_type(const kiln_problem *p, char tensor)
{
    return tensor == 'x' ? p->x_type : tensor == 'w' ? p->w_type : p->y_type;
}

static char destination_of(const kiln_problem *p)
{
    static const char to[] = {
        [KILN_FORWARD] = 'y', [KILN_BACKWARD_DATA] = 'x', [KILN_BACKWARD_WEIGHTS] = 'w'};
    return to[p->direction];
}

static void list_parts(tensors *t, const request *r, part parts[PARTS])
{
    const kiln_problem *p = &t->problem;
    const flags *f = &r->flags;
    kiln_buffers *b = &t->buffers;
    bool gradient = p->direction == KILN_BACKWARD_WEIGHTS;
    const part all[PARTS] = {
        {'x', HOST_X, &t->x, &b->x, p->x_type, kiln_problem_count(p, 'x'), f->in_data, "in_data",
         true, t->to == 'x'},
        {'w', HOST_W, &t->w, &b->w, p->w_type, kiln_problem_count(p, 'w'), f->weights, "weights",
         true, t->to == 'w'},
        {'y', HOST_Y, &t->y, &b->y, p->y_type, kiln_problem_count(p, 'y'), f->dout_data,
         "dout_data", true, t->to == 'y'},
        {'b', HOST_BIAS, (void **)&t->bias, &b->bias, KILN_F32, p->out_channels, f->in_bias,
         "in_bias", p->epilogue.bias, gradient},
        {'r', HOST_RESIDUAL, &t->residual, &b->residual, p->y_type, kiln_problem_count(p, 'y'), "",
         "", p->epilogue.beta != 0, false},
    };
    memcpy(parts, all, sizeof all);
}

static size_t bytes_of(const part *a)
{
    return (size_t)a->count * kiln_type_size(a->type);
}

static kiln_status check_file(const part *a, char *why)
{
    struct stat st;
    if (stat(a->file, &st) != 0) {
        snprintf(why, KILN_ERROR_TEXT, "--%s %.120s: %s", a->flag, a->file, strerror(errno));
        return KILN_FILE;
    }
    if (S_ISREG(st.st_mode) && (size_t)st.st_size == bytes_of(a))
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "--%s %.120s holds %lld bytes; %lld elements of %s are %zu",
             a->flag, a->file, (long long)st.st_size, (long long)a->count, kiln_type_name(a->type),
             bytes_of(a));
    return KILN_FILE;
}

static bool from_file(const part *a)
{
    return a->used && !a->written && *a->file;
}

kiln_status tensors_check_files(const request *r, const kiln_problem *p, char *why)
{
    tensors t = {.problem = *p, .to = destination_of(p)};
    part parts[PARTS];
    kiln_status status = KILN_OK;
    list_parts(&t, r, parts);
    for (int i = 0; i < PARTS && !status; i++)
        if (from_file(&parts[i]))
            status = check_file(&parts[i], why);
    return status;
}

static kiln_status read_file(const part *a, char *why)
{
    kiln_status status = check_file(a, why);
    if (status)
        return status;
    FILE *file = fopen(a->file, "rb");
    bool whole = file && fread(*a->host, 1, bytes_of(a), file) == bytes_of(a);
    if (!whole)
        snprintf(why, KILN_ERROR_TEXT, "--%s %.120s: %s", a->flag, a->file,
                 file ? "cut short while it was read" : strerror(errno));
    if (file)
        fclose(file);
    return whole ? KILN_OK : KILN_FILE;
}

/* Products summed into one element of the destination. */
static int64_t terms_of(const kiln_problem *p)
{
    int64_t filter = 1, pixels = 1;
    for (int i = 0; i < p->spatial_rank; i++) {
        filter *= p->filter[i];
        pixels *= p->transposed ? p->input[i] : kiln_problem_output(p, i);
    }
    return p->direction == KILN_FORWARD         ? p->in_channels / p->groups * filter
           : p->direction == KILN_BACKWARD_DATA ? p->out_channels / p->groups * filter
                                                : p->batch * pixels;
}

/* A tensor that cannot exist is said to be unsupported, with both sizes; a machine that would start
 * to kill processes for their memory is kept from it. */
static kiln_status check_room(const session *s, const part parts[PARTS], char *why)
{
    double total = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!parts[i].used)
            continue;
        total += (double)bytes_of(&parts[i]);
        if (bytes_of(&parts[i]) > s->max_alloc) {
            snprintf(why, KILN_ERROR_TEXT,
                     "tensor %c needs %zu bytes; the device allocates at most %llu at once",
                     parts[i].tensor, bytes_of(&parts[i]), (unsigned long long)s->max_alloc);
            return KILN_UNSUPPORTED;
        }
    }
    double host = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double here = s->cpu ? 2 * total : total;
    bool device_full = total > (double)s->memory;
    if (!device_full && here < 0.9 * host)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "the tensors need %.0f bytes of memory; the %s has %.0f",
             device_full ? total : here, device_full ? "device" : "machine",
             device_full ? (double)s->memory : host);
    return KILN_UNSUPPORTED;
}

static kiln_status make_part(const session *s, const request *r, int64_t terms, const part *a,
                             char *why)
{
    cl_int code;
    *a->host = malloc(bytes_of(a));
    if (!*a->host) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for %zu bytes of tensor %c", bytes_of(a),
                 a->tensor);
        return KILN_NO_MEMORY;
    }
    if (a->written) {
        host_poison(a->type, *a->host, a->count);
    } else if (from_file(a)) {
        kiln_status status = read_file(a, why);
        if (status)
            return status;
    } else {
        host_fill_tensor((host_fill)r->flags.fill, (uint64_t)r->flags.seed, a->fill, a->type, terms,
                         *a->host, a->count);
    }
    a->buffer->mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes_of(a), NULL, &code);
    if (a->buffer->mem)
        code = clEnqueueWriteBuffer(s->queue, a->buffer->mem, CL_TRUE, 0, bytes_of(a), *a->host, 0,
                                    NULL, NULL);
    if (code == CL_SUCCESS)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "a buffer of %zu bytes for tensor %c: OpenCL error %d",
             bytes_of(a), a->tensor, code);
    return KILN_OPENCL;
}

kiln_status tensors_make(tensors *t, const session *s, const request *r, const kiln_problem *p,
                         char *why)
{
    part parts[PARTS];
    *t = (tensors){.problem = *p, .to = destination_of(p)};
    list_parts(t, r, parts);
    for (int i = 0; i < PARTS; i++)
        t->from_files |= from_file(&parts[i]);
    kiln_status status = check_room(s, parts, why);
    int64_t terms = terms_of(p);
    for (int i = 0; i < PARTS && !status; i++)
        if (parts[i].used)
            status = make_part(s, r, terms, &parts[i], why);
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
    kiln_buffer *const all[] = {&b->x, &b->w, &b->y, &b->bias, &b->residual, &b->workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        release(all[i]);
    free(t->x);
    free(t->w);
    free(t->y);
    free(t->bias);
    free(t->residual);
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
    snprintf(why, KILN_ERROR_TEXT, "a workspace of %lld bytes: OpenCL error %d", (long long)bytes,
             code);
    return KILN_OPENCL;
}

void *tensors_destination(const tensors *t)
{
    return t->to == 'x' ? t->x : t->to == 'w' ? t->w : t->y;
}

static kiln_buffer destination_buffer(const tensors *t)
{
    return t->to == 'x' ? t->buffers.x : t->to == 'w' ? t->buffers.w : t->buffers.y;
}

static size_t destination_bytes(const tensors *t)
{
    return (size_t)kiln_problem_count(&t->problem, t->to) *
           kiln_type_size(tensors_type(&t->problem, t->to));
}

static bool has_bias_gradient(const tensors *t)
{
    return t->bias && t->problem.direction == KILN_BACKWARD_WEIGHTS;
}

static kiln_status judge(cl_int code, const char *what, char *why)
{
    if (code == CL_SUCCESS)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "%s the result: OpenCL error %d", what, code);
    return KILN_OPENCL;
}

kiln_status tensors_poison(tensors *t, const session *s, char *why)
{
    void *data = tensors_destination(t);
    size_t bias_bytes = sizeof(float) * (size_t)t->problem.out_channels;
    host_poison(tensors_type(&t->problem, t->to), data, kiln_problem_count(&t->problem, t->to));
    cl_int code = clEnqueueWriteBuffer(s->queue, destination_buffer(t).mem, CL_TRUE, 0,
                                       destination_bytes(t), data, 0, NULL, NULL);
    if (code == CL_SUCCESS && has_bias_gradient(t)) {
        host_poison(KILN_F32, t->bias, t->problem.out_channels);
        code = clEnqueueWriteBuffer(s->queue, t->buffers.bias.mem, CL_TRUE, 0, bias_bytes, t->bias,
                                    0, NULL, NULL);
    }
    return judge(code, "overwriting", why);
}

kiln_status tensors_read(tensors *t, const session *s, char *why)
{
    cl_int code = clEnqueueReadBuffer(s->queue, destination_buffer(t).mem, CL_TRUE, 0,
                                      destination_bytes(t), tensors_destination(t), 0, NULL, NULL);
    if (code == CL_SUCCESS && has_bias_gradient(t))
        code = clEnqueueReadBuffer(s->queue, t->buffers.bias.mem, CL_TRUE, 0,
                                   sizeof(float) * (size_t)t->problem.out_channels, t->bias, 0,
                                   NULL, NULL);
    return judge(code, "reading", why);
}

reference_tensors tensors_sources(const tensors *t)
{
    bool forward = t->problem.direction == KILN_FORWARD;
    return (reference_tensors){.x = t->to == 'x' ? NULL : t->x,
                               .w = t->to == 'w' ? NULL : t->w,
                               .y = t->to == 'y' ? NULL : t->y,
                               .bias = forward ? t->bias : NULL,
                               .residual = t->residual};
}
