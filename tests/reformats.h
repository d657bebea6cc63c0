/* Tensors on the device, a run and the comparison for tests of reformats. Header only. */
#ifndef REFORMATS_H
#define REFORMATS_H

#include "driver/reference/host.h"
#include "support/support.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* ---- one side of a reformat on the device ---- */

static inline cl_image_format format_of(kiln_type type)
{
    static const cl_channel_type channel[] = {[KILN_F32] = CL_FLOAT,
                                              [KILN_F16] = CL_HALF_FLOAT,
                                              [KILN_I8] = CL_SIGNED_INT8,
                                              [KILN_I32] = CL_SIGNED_INT32};
    return (cl_image_format){CL_RGBA, channel[type]};
}

/* Uploads `contents`, an array of the cells; those of an image row by row. */
static inline cl_mem upload(const kiln_storage *s, kiln_type type, void *contents)
{
    const support_device *d = support_open();
    cl_int code;
    cl_mem mem;
    if (s->layout.image) {
        const cl_image_format format = format_of(type);
        const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                    .image_width = (size_t)s->width,
                                    .image_height = (size_t)s->height};
        mem = clCreateImage(d->context, CL_MEM_COPY_HOST_PTR, &format, &desc, contents, &code);
    } else {
        mem = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR,
                             (size_t)s->cells * kiln_type_size(type), contents, &code);
    }
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static inline void download(cl_mem mem, const kiln_storage *s, kiln_type type, void *contents)
{
    const support_device *d = support_open();
    const size_t origin[3] = {0, 0, 0}, region[3] = {(size_t)s->width, (size_t)s->height, 1};
    cl_int code = s->layout.image ? clEnqueueReadImage(d->queue, mem, CL_TRUE, origin, region, 0, 0,
                                                       contents, 0, NULL, NULL)
                                  : clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0,
                                                        (size_t)s->cells * kiln_type_size(type),
                                                        contents, 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
}

/* ---- running one ---- */

typedef struct fixture {
    kiln_reformat r; /* checked */
    kiln_storage from, to;
    kiln_op *op;
} fixture;

static inline fixture make(const kiln_reformat *r)
{
    fixture f = {.r = *r};
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_reformat_check(&f.r, &f.from, &f.to, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_reformat_create(support_open()->kiln, r, &f.op) == KILN_OK, "%s -> %s: %s",
                  r->from, r->to, kiln_last_error());
    return f;
}

static inline const char *kernel_of(const fixture *f)
{
    kiln_stage_info info;
    ck_assert_int_eq(kiln_op_stage(f->op, 0, &info), KILN_OK);
    return info.kernel;
}

/* Runs the reformat: `target` is poisoned first, then receives the result. */
static inline void run(const fixture *f, void *source, void *target)
{
    host_poison(f->r.to_type, target, f->to.cells);
    cl_mem x = upload(&f->from, f->r.from_type, source);
    cl_mem y = upload(&f->to, f->r.to_type, target);
    const kiln_buffers b = {.x = {x, 0}, .y = {y, 0}};
    ck_assert_msg(kiln_op_enqueue(f->op, support_open()->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    download(y, &f->to, f->r.to_type, target);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
}

/* Whether values are equal. All NaNs are; 0 and -0 are not. */
static inline bool same(kiln_type type, const void *a, const void *b, int64_t i)
{
    size_t size = kiln_type_size(type);
    const char *p = a, *q = b;
    return memcmp(p + (size_t)i * size, q + (size_t)i * size, size) == 0 ||
           (isnan(host_get(type, a, i)) && isnan(host_get(type, b, i)));
}

static inline void check_same(const fixture *f, const void *got, const void *wanted)
{
    for (int64_t i = 0; i < f->to.cells; i++)
        ck_assert_msg(same(f->r.to_type, got, wanted, i),
                      "%s %s %lldx%lldx%lldx%lld -> %s %s (%s): cell %lld is %.9g, not %.9g",
                      f->from.layout.spec, kiln_type_name(f->r.from_type), (long long)f->r.size[0],
                      (long long)f->r.size[1], (long long)f->r.size[2], (long long)f->r.size[3],
                      f->to.layout.spec, kiln_type_name(f->r.to_type), kernel_of(f), (long long)i,
                      host_get(f->r.to_type, got, i), host_get(f->r.to_type, wanted, i));
}

#endif
