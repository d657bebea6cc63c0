/* Lays tensors out on the host, uploads and downloads them. */
#include "placed.h"

#include <check.h>
#include <stdlib.h>

enum { GUARD = 1024 }; /* 4096 bytes: the device may want offsets aligned to 512 */

static void make_tensor(placed_tensor *t, const char *layout, const char *dims, const int64_t *dim)
{
    char why[KILN_ERROR_TEXT];
    kiln_layout l;
    ck_assert_msg(kiln_layout_parse(&l, layout, dims, why), "%s", why);
    ck_assert_msg(kiln_storage_make(&t->storage, &l, dim, KILN_F32, why), "%s", why);
    int64_t count = dim[0] * dim[1] * dim[2] * dim[3];
    t->plain = calloc((size_t)count, sizeof *t->plain);
    t->stored = malloc((size_t)(t->storage.cells + 2 * GUARD) * sizeof *t->stored);
    ck_assert(t->plain && t->stored);
}

void placed_upload(const support_device *d, placed_tensor *t, bool written)
{
    const int64_t all = t->storage.cells + 2 * GUARD, *dim = t->storage.dim;
    host_poison(KILN_F32, t->stored, all);
    for (int64_t i = 0; i < t->storage.cells && !written; i++) {
        int64_t at[KILN_MAX_DIMS];
        bool element = kiln_storage_coordinate(&t->storage, i, at);
        int64_t plain = element ? ((at[0] * dim[1] + at[1]) * dim[2] + at[2]) * dim[3] + at[3] : 0;
        t->stored[GUARD + i] = element ? t->plain[plain] : 0;
    }
    cl_int code;
    t->mem = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                            (size_t)all * sizeof(float), t->stored, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
}

void placed_download(const support_device *d, placed_tensor *t)
{
    const int64_t all = t->storage.cells + 2 * GUARD, *dim = t->storage.dim;
    ck_assert_int_eq(clEnqueueReadBuffer(d->queue, t->mem, CL_TRUE, 0, (size_t)all * sizeof(float),
                                         t->stored, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int64_t i = 0; i < t->storage.cells; i++) {
        int64_t at[KILN_MAX_DIMS];
        if (kiln_storage_coordinate(&t->storage, i, at))
            t->plain[((at[0] * dim[1] + at[1]) * dim[2] + at[2]) * dim[3] + at[3]] =
                t->stored[GUARD + i];
        else
            ck_assert_msg(t->stored[GUARD + i] == 0, "padding cell %lld holds %g", (long long)i,
                          (double)t->stored[GUARD + i]);
    }
    for (int64_t i = 0; i < GUARD; i++)
        ck_assert(host_is_poison(KILN_F32, t->stored, i) &&
                  host_is_poison(KILN_F32, t->stored, all - 1 - i));
}

void placed_free(placed_tensor *t)
{
    clReleaseMemObject(t->mem);
    free(t->plain);
    free(t->stored);
}

static cl_mem scratch(const support_device *d, int64_t bytes)
{
    cl_int code = CL_SUCCESS;
    cl_mem mem =
        bytes ? clCreateBuffer(d->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code) : NULL;
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

void placed_enqueue(const support_device *d, kiln_op *op, const kiln_op_info *info,
                    const placed_tensor t[3])
{
    const size_t skip = GUARD * sizeof(float);
    kiln_buffers b = {.x = {t[0].mem, skip},
                      .w = {t[1].mem, skip},
                      .y = {t[2].mem, skip},
                      .workspace = {scratch(d, info->workspace_size), 0}};
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    clFinish(d->queue);
    if (b.workspace.mem)
        clReleaseMemObject(b.workspace.mem);
}

void placed_make(placed_tensor t[3], const kiln_problem *p)
{
    const int64_t x[] = {p->batch, p->in_channels, p->input[0], p->input[1]},
                  w[] = {p->transposed ? p->in_channels : p->out_channels,
                         (p->transposed ? p->out_channels : p->in_channels) / p->groups,
                         p->filter[0], p->filter[1]},
                  y[] = {p->batch, p->out_channels, kiln_problem_output(p, 0),
                         kiln_problem_output(p, 1)};
    make_tensor(&t[0], p->x_layout, "NCHW", x);
    make_tensor(&t[1], p->w_layout, "OIHW", w);
    make_tensor(&t[2], p->y_layout, "NCHW", y);
}
