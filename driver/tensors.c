/* Makes, fills, uploads and reads back the tensors of a problem. */
#include "tensors.h"

#include "host.h"
#include "memory.h"

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
    kiln_type type;   /* of the host's array */
    kiln_type stored; /* on the device: the same, but of a bias */
    int64_t count;
    const kiln_storage *storage; /* on the device */
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

/* `r` tells the files; NULL: none. */
static void list_parts(tensors *t, const request *r, part parts[PARTS])
{
    static const flags none;
    const kiln_problem *p = &t->problem;
    const flags *f = r ? &r->flags : &none;
    kiln_buffers *b = &t->buffers;
    bool gradient = p->direction == KILN_BACKWARD_WEIGHTS;
    int64_t nx = kiln_problem_count(p, 'x'), nw = kiln_problem_count(p, 'w'),
            ny = kiln_problem_count(p, 'y');
    const kiln_type tx = p->x_type, tw = p->w_type, ty = p->y_type;
    const part all[PARTS] = {
        {'x', HOST_X, &t->x, &b->x, tx, tx, nx, &t->x_storage, f->in_data, "in_data", true,
         t->to == 'x'},
        {'w', HOST_W, &t->w, &b->w, tw, tw, nw, &t->w_storage, f->weights, "weights", true,
         t->to == 'w'},
        {'y', HOST_Y, &t->y, &b->y, ty, ty, ny, &t->y_storage, f->dout_data, "dout_data", true,
         t->to == 'y'},
        {'b', HOST_BIAS, (void **)&t->bias, &b->bias, KILN_F32, (kiln_type)p->epilogue.bias,
         p->out_channels, &t->bias_storage, f->in_bias, "in_bias", p->epilogue.bias != 0, gradient},
        {'r', HOST_RESIDUAL, &t->residual, &b->residual, ty, ty, ny, &t->y_storage, "", "",
         p->epilogue.beta != 0, false},
    };
    memcpy(parts, all, sizeof all);
}

static size_t bytes_of(const part *a)
{
    return (size_t)a->count * kiln_type_size(a->type);
}

/* Bytes on the device. */
static size_t device_bytes(const part *a)
{
    return (size_t)a->storage->cells * kiln_type_size(a->stored);
}

static memory_kind kind_of(const part *a)
{
    return memory_of(a->storage, a->stored);
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

static kiln_status read_file(const part *a, void *to, char *why)
{
    kiln_status status = check_file(a, why);
    if (status)
        return status;
    FILE *file = fopen(a->file, "rb");
    bool whole = file && fread(to, 1, bytes_of(a), file) == bytes_of(a);
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
static kiln_status check_room(const session *s, const part parts[PARTS], bool on_host, char *why)
{
    double total = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!parts[i].used)
            continue;
        total += (double)device_bytes(&parts[i]);
        if (device_bytes(&parts[i]) > s->max_alloc) {
            snprintf(why, KILN_ERROR_TEXT,
                     "tensor %c needs %zu bytes; the device allocates at most %llu at once",
                     parts[i].tensor, device_bytes(&parts[i]), (unsigned long long)s->max_alloc);
            return KILN_UNSUPPORTED;
        }
        char limit[KILN_ERROR_TEXT];
        if (!kiln_storage_fits_image(parts[i].storage, s->image_width, s->image_height, limit)) {
            snprintf(why, KILN_ERROR_TEXT, "tensor %c: %.150s; take a buffer layout",
                     parts[i].tensor, limit);
            return KILN_UNSUPPORTED;
        }
    }
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

static bool is_plain(const part *a)
{
    return layout_host_is_plain(a->storage) && a->stored == a->type;
}

/* In another type; what that rounds is rounded in the host's array too. */
static bool store_rounded(const part *a, void *cells)
{
    void *rounded = malloc((size_t)a->count * kiln_type_size(a->stored));
    for (int64_t i = 0; rounded && i < a->count; i++) {
        host_set(a->stored, rounded, i, host_get(a->type, *a->host, i));
        host_set(a->type, *a->host, i, host_get(a->stored, rounded, i));
    }
    if (rounded)
        layout_host_store(a->storage, a->stored, rounded, cells);
    free(rounded);
    return rounded != NULL;
}

/* All tensors go to the device and come back through these two: in plain order here, in their
 * layout there. A destination is poison there, padding included. */
static cl_int upload(const session *s, const part *a)
{
    void *cells = is_plain(a) ? *a->host : malloc(device_bytes(a));
    if (!cells)
        return CL_OUT_OF_HOST_MEMORY;
    if (!is_plain(a) && a->written)
        host_poison(a->type, cells, a->storage->cells);
    else if (a->stored != a->type && !store_rounded(a, cells)) {
        free(cells);
        return CL_OUT_OF_HOST_MEMORY;
    } else if (a->stored == a->type && !is_plain(a))
        layout_host_store(a->storage, a->type, *a->host, cells);
    const memory_kind kind = kind_of(a);
    cl_int code = memory_write(s->queue, &kind, a->buffer->mem, cells);
    if (!is_plain(a))
        free(cells);
    return code;
}

static cl_int download(const session *s, const part *a, int64_t *dirty)
{
    void *cells = is_plain(a) ? *a->host : malloc(device_bytes(a));
    if (!cells)
        return CL_OUT_OF_HOST_MEMORY;
    const memory_kind kind = kind_of(a);
    cl_int code = memory_read(s->queue, &kind, a->buffer->mem, cells);
    if (is_plain(a))
        return code;
    if (code == CL_SUCCESS)
        *dirty += layout_host_load(a->storage, a->type, cells, *a->host);
    free(cells);
    return code;
}

/* The contents of a plain array: poison, a file's or generated. */
static kiln_status fill(const request *r, int64_t terms, const part *a, void *to, char *why)
{
    if (a->written)
        host_poison(a->type, to, a->count);
    else if (from_file(a))
        return read_file(a, to, why);
    else
        host_fill_tensor((host_fill)r->flags.fill, (uint64_t)r->flags.seed, a->fill, a->type, terms,
                         to, a->count);
    return KILN_OK;
}

static kiln_status no_memory(const part *a, char *why)
{
    snprintf(why, KILN_ERROR_TEXT, "out of memory for %zu bytes of tensor %c", bytes_of(a),
             a->tensor);
    return KILN_NO_MEMORY;
}

static kiln_status fill_host(const session *s, const request *r, int64_t terms, const part *a,
                             cl_int *code, char *why)
{
    *a->host = malloc(bytes_of(a));
    kiln_status status = *a->host ? fill(r, terms, a, *a->host, why) : no_memory(a, why);
    if (!status)
        *code = upload(s, a);
    return status;
}

/* Straight into the device's memory. */
static kiln_status fill_mapped(const session *s, const request *r, int64_t terms, const part *a,
                               cl_int *code, char *why)
{
    void *to = clEnqueueMapBuffer(s->queue, a->buffer->mem, CL_TRUE, CL_MAP_WRITE, 0, bytes_of(a),
                                  0, NULL, NULL, code);
    if (*code != CL_SUCCESS)
        return KILN_OK;
    kiln_status status = fill(r, terms, a, to, why);
    *code = clEnqueueUnmapMemObject(s->queue, a->buffer->mem, to, 0, NULL, NULL);
    if (*code == CL_SUCCESS)
        *code = clFinish(s->queue);
    return status;
}

static kiln_status make_part(const session *s, const request *r, bool on_host, int64_t terms,
                             const part *a, char *why)
{
    cl_int code;
    const memory_kind kind = kind_of(a);
    a->buffer->mem = memory_make(s->context, &kind, &code);
    kiln_status status = KILN_OK;
    if (a->buffer->mem)
        status = (on_host || !is_plain(a) ? fill_host : fill_mapped)(s, r, terms, a, &code, why);
    if (!on_host) {
        free(*a->host);
        *a->host = NULL;
    }
    if (status || code == CL_SUCCESS)
        return status;
    snprintf(why, KILN_ERROR_TEXT, "%s of %zu bytes for tensor %c: OpenCL error %d",
             kind.width ? "an image" : "a buffer", device_bytes(a), a->tensor, code);
    return KILN_OPENCL;
}

kiln_status tensors_make(tensors *t, const session *s, const request *r, const kiln_problem *p,
                         char *why)
{
    part parts[PARTS];
    const flags *f = &r->flags;
    *t = (tensors){.problem = *p,
                   .to = destination_of(p),
                   .on_host = f->verify || f->search || f->dump_output};
    if (!kiln_problem_storage(p, 'x', &t->x_storage, why) ||
        !kiln_problem_storage(p, 'w', &t->w_storage, why) ||
        !kiln_problem_storage(p, 'y', &t->y_storage, why) ||
        !kiln_problem_storage(p, 'b', &t->bias_storage, why))
        return KILN_INVALID;
    list_parts(t, r, parts);
    for (int i = 0; i < PARTS; i++)
        t->from_files |= from_file(&parts[i]);
    kiln_status status = check_room(s, parts, t->on_host, why);
    int64_t terms = terms_of(p);
    for (int i = 0; i < PARTS && !status; i++)
        if (parts[i].used)
            status = make_part(s, r, t->on_host, terms, &parts[i], why);
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

static kiln_status judge(cl_int code, const char *what, char *why)
{
    if (code == CL_SUCCESS)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "%s the result: OpenCL error %d", what, code);
    return KILN_OPENCL;
}

kiln_status tensors_poison(tensors *t, const session *s, char *why)
{
    part parts[PARTS];
    cl_int code = CL_SUCCESS;
    list_parts(t, NULL, parts);
    for (int i = 0; i < PARTS && code == CL_SUCCESS && t->on_host; i++)
        if (parts[i].used && parts[i].written) {
            host_poison(parts[i].type, *parts[i].host, parts[i].count);
            code = upload(s, &parts[i]);
        }
    return judge(code, "overwriting", why);
}

kiln_status tensors_read(tensors *t, const session *s, char *why)
{
    part parts[PARTS];
    cl_int code = CL_SUCCESS;
    t->dirty = 0;
    list_parts(t, NULL, parts);
    for (int i = 0; i < PARTS && code == CL_SUCCESS; i++)
        if (parts[i].used && parts[i].written)
            code = download(s, &parts[i], &t->dirty);
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
