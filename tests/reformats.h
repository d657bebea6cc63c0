/* Tensors on the device, a run and the comparison for tests of reformats. Header only. */
#ifndef REFORMATS_H
#define REFORMATS_H

#include "driver/layout/layout_host.h"
#include "driver/reference/host.h"
#include "support/support.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
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

/* ---- against the host ---- */

/* Values at which conversions differ: ties, limits, what only one type can hold. */
static const double reformats_awkward[] = {
    0,
    -0.0,
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    126.5,
    127.5,
    -128.5,
    -129,
    65504,
    65519.996,
    65520,
    1e10,
    -1e10,
    2147483520.0,
    2147483648.0,
    -2147483648.0,
    3e38,
    1 + 0x1p-8,
    1 + 3 * 0x1p-8,
    1 + 0x1p-8 + 0x1p-20,
    0x1p-24,
    0x1p-25,
    0x1.8p-25,
    0x1p-15,
    INFINITY,
    -INFINITY,
    NAN,
    16842753,
    16908289,
    -16842753,
    2147483647,
    33554431,
    1 << 24 | 1,
};

static inline void fill_awkward(kiln_type type, uint64_t seed, void *data, int64_t count)
{
    enum { N = sizeof reformats_awkward / sizeof *reformats_awkward };
    host_fill_tensor(HOST_FILL_UNIFORM, seed, HOST_X, type, 1, data, count);
    for (int64_t i = 0; i < count; i++) {
        uint64_t random = host_random(seed, 9, (uint64_t)i);
        if (random % 4 == 0)
            host_set(type, data, i, reformats_awkward[random / 4 % N]);
        else if (type == KILN_I32)
            host_set(type, data, i, (double)(int32_t)(random >> 32));
        else if (random % 4 == 1)
            host_set(type, data, i, 300 * host_get(type, data, i));
    }
}

/* Runs it, compares the result with the host's, and releases it. */
static inline void check_against_host(fixture *f, uint64_t seed)
{
    void *source = malloc((size_t)f->from.cells * 4), *got = malloc((size_t)f->to.cells * 4);
    void *wanted = malloc((size_t)f->to.cells * 4);
    fill_awkward(f->r.from_type, seed, source, f->from.cells);
    layout_host_convert(&f->r, &f->from, &f->to, source, wanted);
    run(f, source, got);
    check_same(f, got, wanted);
    kiln_op_release(f->op);
    free(source);
    free(got);
    free(wanted);
}

#endif
