/* `kiln layout convert`: converts a raw tensor from file to file, on a device or on the host. */
#include "driver/base/memory.h"
#include "driver/base/open_file.h"
#include "driver/base/replaced_file.h"
#include "driver/base/session.h"

#include "layout_host.h"
#include "layout_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A checked conversion with its tensors in host memory. */
typedef struct conversion {
    kiln_reformat r;
    kiln_storage from, to;
    size_t source_bytes, target_bytes;
    void *source, *target;
} conversion;

static kiln_status file_error(const char *file, char *why)
{
    snprintf(why, KILN_ERROR_TEXT, "%.150s: %s", file, strerror(errno));
    return KILN_FILE;
}

static kiln_status check(const layout_request *q, conversion *c, char *why)
{
    if (!q->from || !q->to || !q->sizes) {
        snprintf(why, KILN_ERROR_TEXT, "convert needs --from LAYOUT, --to LAYOUT and --dims N,...");
        return KILN_INVALID;
    }
    if (strlen(q->from) >= KILN_LAYOUT_NAME || strlen(q->to) >= KILN_LAYOUT_NAME ||
        (q->order && strlen(q->order) > KILN_MAX_DIMS)) {
        snprintf(why, KILN_ERROR_TEXT, "a layout has at most %d letters, --order at most %d",
                 KILN_LAYOUT_NAME - 1, KILN_MAX_DIMS);
        return KILN_INVALID;
    }
    c->r = (kiln_reformat){.from_type = q->type, .to_type = q->to_type, .pad_value = q->pad};
    snprintf(c->r.from, sizeof c->r.from, "%s", q->from);
    snprintf(c->r.to, sizeof c->r.to, "%s", q->to);
    memcpy(c->r.size, q->size, sizeof c->r.size);
    kiln_layout own, other;
    if (!kiln_layout_parse(&own, q->from, q->order, why))
        return KILN_INVALID;
    /* "--from NCHW --to NDHWC" with five sizes: the other name says the dims. */
    if (!q->order && own.ndims != q->sizes && kiln_layout_parse(&other, q->to, NULL, NULL) &&
        other.ndims == q->sizes && !kiln_layout_parse(&own, q->from, other.dims, why))
        return KILN_INVALID;
    snprintf(c->r.dims, sizeof c->r.dims, "%s", own.dims);
    if (!layout_check_sizes(q, &own, why))
        return KILN_INVALID;
    kiln_status status = kiln_reformat_check(&c->r, &c->from, &c->to, why);
    if (status)
        return status;
    c->source_bytes = (size_t)c->from.cells * kiln_type_size(c->r.from_type);
    c->target_bytes = (size_t)c->to.cells * kiln_type_size(c->r.to_type);
    return KILN_OK;
}

/* ---- files ---- */

static kiln_status wrong_size(const conversion *c, const char *file, int64_t bytes, char *why)
{
    snprintf(why, KILN_ERROR_TEXT,
             "%.80s holds %lld bytes, but layout %s with these --dims and type %s takes %zu", file,
             (long long)bytes, c->r.from, kiln_type_name(c->r.from_type), c->source_bytes);
    return KILN_FILE;
}

static kiln_status read_open_file(conversion *c, FILE *file, const char *name, char *why)
{
    struct stat st;
    if (fstat(fileno(file), &st) != 0)
        return file_error(name, why);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size != c->source_bytes)
        return wrong_size(c, name, (int64_t)st.st_size, why);
    c->source = malloc(c->source_bytes);
    c->target = malloc(c->target_bytes);
    if (!c->source || !c->target) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for %zu and %zu bytes", c->source_bytes,
                 c->target_bytes);
        return KILN_NO_MEMORY;
    }
    size_t bytes = fread(c->source, 1, c->source_bytes, file);
    if (ferror(file))
        return file_error(name, why);
    if (bytes != c->source_bytes || fgetc(file) != EOF) /* the size of a pipe is known only now */
        return wrong_size(c, name, (int64_t)(bytes + (bytes == c->source_bytes)), why);
    return KILN_OK;
}

static kiln_status read_source(conversion *c, const char *name, char *why)
{
    FILE *file = open_file_to_read(name);
    if (!file)
        return file_error(name, why);
    kiln_status status = read_open_file(c, file, name, why);
    fclose(file);
    return status;
}

static kiln_status write_target(const conversion *c, const char *name, char *why)
{
    replaced_file file;
    const kiln_status status = replaced_file_open(&file, name, why);
    if (status)
        return status;
    fwrite(c->target, 1, c->target_bytes, file.to);
    return replaced_file_close(&file, why);
}

/* ---- the device ---- */

static cl_mem upload(const session *s, const memory_kind *kind, const void *data, cl_int *code)
{
    cl_mem mem = memory_make(s->context, kind, code);
    if (mem)
        *code = memory_write(s->queue, kind, mem, data);
    return mem;
}

static kiln_status run_op(const session *s, conversion *c, kiln_op *op, char *why)
{
    cl_int code, code_y = CL_SUCCESS;
    kiln_status status = KILN_OK;
    memset(c->target, 0, c->target_bytes);
    const memory_kind from = memory_of(&c->from, c->r.from_type);
    const memory_kind to = memory_of(&c->to, c->r.to_type);
    cl_mem x = upload(s, &from, c->source, &code);
    cl_mem y = upload(s, &to, c->target, &code_y);
    if (code == CL_SUCCESS)
        code = code_y;
    const kiln_buffers buffers = {.x = {x, 0}, .y = {y, 0}};
    if (code == CL_SUCCESS) {
        status = kiln_op_enqueue(op, s->queue, &buffers, 0, NULL, NULL);
        if (!status)
            code = memory_read(s->queue, &to, y, c->target);
    }
    if (x)
        clReleaseMemObject(x);
    if (y)
        clReleaseMemObject(y);
    if (status) {
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
        return status;
    }
    if (code != CL_SUCCESS) {
        snprintf(why, KILN_ERROR_TEXT, "converting on device %s failed: OpenCL error %d", s->name,
                 code);
        return KILN_OPENCL;
    }
    return KILN_OK;
}

static kiln_status run_on_device(const char *device, conversion *c, char *why)
{
    session s;
    kiln_op *op;
    kiln_status status = session_open(&s, device, why);
    if (status)
        return status;
    status = kiln_reformat_create(s.kiln, &c->r, &op);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    else
        status = run_op(&s, c, op, why);
    kiln_op_release(op);
    session_close(&s);
    return status;
}

kiln_status layout_convert(const layout_request *q, char *why)
{
    conversion c = {.source = NULL};
    kiln_status status = check(q, &c, why);
    if (!status)
        status = read_source(&c, q->name[0], why);
    if (!status && q->host)
        layout_host_convert(&c.r, &c.from, &c.to, c.source, c.target);
    else if (!status)
        status = run_on_device(q->device, &c, why);
    if (!status)
        status = write_target(&c, q->name[1], why);
    free(c.source);
    free(c.target);
    return status;
}
