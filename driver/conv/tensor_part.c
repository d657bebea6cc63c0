/* Fills one tensor and copies it to the device and back. */
#include "tensor_part.h"

#include "driver/base/memory.h"
#include "driver/reference/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t bytes_of(const tensor_part *a)
{
    return (size_t)a->count * kiln_type_size(a->type);
}

size_t tensor_part_bytes(const tensor_part *a)
{
    return (size_t)a->storage->cells * kiln_type_size(a->stored);
}

static memory_kind kind_of(const tensor_part *a)
{
    return memory_of(a->storage, a->stored);
}

kiln_status tensor_part_check_file(const tensor_part *a, char *why)
{
    struct stat st;
    if (stat(a->file, &st) != 0) {
        snprintf(why, KILN_ERROR_TEXT, "--%s %.120s: %s", a->flag, a->file, strerror(errno));
        return KILN_FILE;
    }
    if (!S_ISREG(st.st_mode)) {
        snprintf(why, KILN_ERROR_TEXT, "--%s %.120s: %s", a->flag, a->file,
                 S_ISDIR(st.st_mode) ? strerror(EISDIR) : "it is not a plain file");
        return KILN_FILE;
    }
    if (access(a->file, R_OK) != 0) {
        snprintf(why, KILN_ERROR_TEXT, "--%s %.120s: %s", a->flag, a->file, strerror(errno));
        return KILN_FILE;
    }
    if ((size_t)st.st_size == bytes_of(a))
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "--%s %.120s holds %lld bytes; %lld elements of %s take %zu",
             a->flag, a->file, (long long)st.st_size, (long long)a->count, kiln_type_name(a->type),
             bytes_of(a));
    return KILN_FILE;
}

bool tensor_part_from_file(const tensor_part *a)
{
    return a->used && !a->written && *a->file;
}

static kiln_status read_file(const tensor_part *a, void *to, char *why)
{
    kiln_status status = tensor_part_check_file(a, why);
    if (status)
        return status;
    FILE *file = fopen(a->file, "rb");
    bool whole = file && fread(to, 1, bytes_of(a), file) == bytes_of(a);
    if (!whole)
        snprintf(why, KILN_ERROR_TEXT, "--%s %.120s: %s", a->flag, a->file,
                 file ? "the file was cut short while kiln read it" : strerror(errno));
    if (file)
        fclose(file);
    return whole ? KILN_OK : KILN_FILE;
}

static bool is_plain(const tensor_part *a)
{
    return layout_host_is_plain(a->storage) && a->stored == a->type;
}

/* Stores the tensor in its type on the device, and rounds the host's array likewise. */
static bool store_rounded(const tensor_part *a, void *cells)
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

/* Copies a source to the device, from plain order to its layout. */
static cl_int upload(const session *s, const tensor_part *a)
{
    void *cells = is_plain(a) ? *a->host : malloc(tensor_part_bytes(a));
    if (!cells)
        return CL_OUT_OF_HOST_MEMORY;
    bool stored = true;
    if (a->stored != a->type)
        stored = store_rounded(a, cells);
    else if (!is_plain(a))
        layout_host_store(a->storage, a->type, *a->host, cells);
    const memory_kind kind = kind_of(a);
    const cl_int code =
        stored ? memory_write(s->queue, &kind, a->buffer->mem, cells) : CL_OUT_OF_HOST_MEMORY;
    if (!is_plain(a))
        free(cells);
    return code;
}

/* An image has no fill that keeps the bits of a NaN. */
static cl_int poison_image(const session *s, const tensor_part *a, const memory_kind *kind)
{
    void *cells = malloc(kind->bytes);
    if (!cells)
        return CL_OUT_OF_HOST_MEMORY;
    host_poison(a->stored, cells, a->storage->cells);
    const cl_int code = memory_write(s->queue, kind, a->buffer->mem, cells);
    free(cells);
    return code;
}

cl_int tensor_part_poison(const session *s, const tensor_part *a)
{
    const memory_kind kind = kind_of(a);
    const size_t size = kiln_type_size(a->stored);
    unsigned char word[4];
    if (kind.width)
        return poison_image(s, a, &kind);
    host_poison(a->stored, word, (int64_t)(sizeof word / size));
    const size_t unit = kind.bytes % sizeof word == 0 ? sizeof word : size;
    const cl_int code =
        clEnqueueFillBuffer(s->queue, a->buffer->mem, word, unit, 0, kind.bytes, 0, NULL, NULL);
    return code == CL_SUCCESS ? clFinish(s->queue) : code;
}

cl_int tensor_part_download(const session *s, const tensor_part *a, int64_t *dirty)
{
    void *cells = is_plain(a) ? *a->host : malloc(tensor_part_bytes(a));
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

/* Fills a source's plain array from a file or with generated data. */
static kiln_status fill(const request *r, int64_t terms, const tensor_part *a, void *to, char *why)
{
    if (tensor_part_from_file(a))
        return read_file(a, to, why);
    host_fill_tensor((host_fill)r->flags.fill, (uint64_t)r->flags.seed, a->fill, a->type, terms, to,
                     a->count);
    return KILN_OK;
}

static kiln_status no_memory(const tensor_part *a, char *why)
{
    snprintf(why, KILN_ERROR_TEXT, "out of memory for %zu bytes of tensor %c", bytes_of(a),
             a->tensor);
    return KILN_NO_MEMORY;
}

static kiln_status fill_host(const session *s, const request *r, int64_t terms,
                             const tensor_part *a, cl_int *code, char *why)
{
    *a->host = malloc(bytes_of(a));
    kiln_status status = *a->host ? fill(r, terms, a, *a->host, why) : no_memory(a, why);
    if (!status)
        *code = upload(s, a);
    return status;
}

/* Fills the device's memory without an array on the host. */
static kiln_status fill_mapped(const session *s, const request *r, int64_t terms,
                               const tensor_part *a, cl_int *code, char *why)
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

/* The host's array waits for the result. */
static kiln_status make_destination(const session *s, bool on_host, const tensor_part *a,
                                    cl_int *code, char *why)
{
    if (on_host && !(*a->host = malloc(bytes_of(a))))
        return no_memory(a, why);
    *code = tensor_part_poison(s, a);
    return KILN_OK;
}

kiln_status tensor_part_make(const session *s, const request *r, bool on_host, int64_t terms,
                             const tensor_part *a, char *why)
{
    cl_int code;
    const memory_kind kind = kind_of(a);
    a->buffer->mem = memory_make(s->context, &kind, &code);
    kiln_status status = KILN_OK;
    if (a->buffer->mem && a->written)
        status = make_destination(s, on_host, a, &code, why);
    else if (a->buffer->mem)
        status = (on_host || !is_plain(a) ? fill_host : fill_mapped)(s, r, terms, a, &code, why);
    if (!on_host) {
        free(*a->host);
        *a->host = NULL;
    }
    if (status || code == CL_SUCCESS)
        return status;
    snprintf(why, KILN_ERROR_TEXT, "%s of %zu bytes for tensor %c cannot be made: OpenCL error %d",
             kind.width ? "an image" : "a buffer", tensor_part_bytes(a), a->tensor, code);
    return KILN_OPENCL;
}
