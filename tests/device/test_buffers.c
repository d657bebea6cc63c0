/* What an op makes of the caller's objects: sub-buffers, offsets, and enqueues that cannot start.
 */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 24, BYTES = CELLS * 4 };

static cl_mem create(size_t size, const void *data)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(support_open()->context,
                                CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), size,
                                (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static kiln_op *create_copy(kiln *k)
{
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    kiln_op *op;
    ck_assert_msg(kiln_reformat_create(k, &same, &op) == KILN_OK, "%s", kiln_last_error());
    return op;
}

/* A sub-buffer that is released and another that takes its place, maybe at the same address, are
 * not the same: the result belongs where the new one lies, and nowhere else. */
START_TEST(another_sub_buffer_is_another)
{
    const support_device *d = support_open();
    const size_t part = 4 * d->align, size = 2 * part;
    float x[CELLS];
    char *got = malloc(size), *expected = malloc(size);
    ck_assert(got && expected);
    for (int i = 0; i < CELLS; i++)
        x[i] = (float)i + 1;
    cl_mem source = create(BYTES, x), whole = create(size, NULL);
    kiln_op *op = create_copy(d->kiln);
    for (int i = 0; i < 8; i++) {
        const cl_buffer_region region = {(size_t)(i % 2) * part, part};
        const cl_uint zero = 0;
        cl_int code;
        cl_mem sub = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        ck_assert_int_eq(code, CL_SUCCESS);
        ck_assert_int_eq(
            clEnqueueFillBuffer(d->queue, whole, &zero, sizeof zero, 0, size, 0, NULL, NULL),
            CL_SUCCESS);
        kiln_buffers b = {.x = {source, 0}, .y = {sub, d->align}};
        ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                      kiln_last_error());
        ck_assert_int_eq(clEnqueueReadBuffer(d->queue, whole, CL_TRUE, 0, size, got, 0, NULL, NULL),
                         CL_SUCCESS);
        clReleaseMemObject(sub);
        memset(expected, 0, size);
        memcpy(expected + region.origin + d->align, x, BYTES);
        ck_assert_msg(memcmp(got, expected, size) == 0, "round %d", i);
    }
    kiln_op_release(op);
    clReleaseMemObject(whole);
    clReleaseMemObject(source);
    free(got);
    free(expected);
}
END_TEST

/* The offset is named, also where the buffer is too small for it as well. */
START_TEST(offsets_must_be_aligned)
{
    const support_device *d = support_open();
    kiln_op *op = create_copy(d->kiln);
    kiln_buffers b = {.x = {create(BYTES, NULL), 0}, .y = {create(BYTES, NULL), 4}};
    ck_assert_int_eq(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "offset 4 of buffer y is not aligned"), "%s",
                  kiln_last_error());
    kiln_op_release(op);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.y.mem);
}
END_TEST

/* Copies `source` and asks for what arrived in `to`. */
static void check_copy(kiln_op *op, cl_mem source, cl_mem to, const float x[CELLS])
{
    const support_device *d = support_open();
    const kiln_buffers b = {.x = {source, 0}, .y = {to, 0}};
    const cl_uint poison = 0x7fc00000;
    float got[CELLS];
    clEnqueueFillBuffer(d->queue, to, &poison, sizeof poison, 0, BYTES, 0, NULL, NULL);
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    cl_int code = clEnqueueReadBuffer(d->queue, to, CL_TRUE, 0, BYTES, got, 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_mem_eq(got, x, BYTES);
}

/* What an op was given last is not given to its kernels again; these are not what it was given
 * last, though some of them come at an address that it knows. */
START_TEST(other_buffers_are_others)
{
    static const int order[] = {0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0};
    enum { N = sizeof order / sizeof *order };
    float x[2][CELLS];
    for (int i = 0; i < 2 * CELLS; i++)
        x[i / CELLS][i % CELLS] = (float)i + 1;
    cl_mem source[] = {create(BYTES, x[0]), create(BYTES, x[1])}, kept = create(BYTES, NULL);
    kiln_op *op = create_copy(support_open()->kiln);
    for (int i = 0; i < N; i++) {
        check_copy(op, source[order[i]], kept, x[order[i]]);
        cl_mem fresh = create(BYTES, NULL);
        for (int j = 0; j < i % 4; j++)
            check_copy(op, source[order[i]], fresh, x[order[i]]);
        clReleaseMemObject(fresh);
    }
    kiln_op_release(op);
    clReleaseMemObject(source[0]);
    clReleaseMemObject(source[1]);
    clReleaseMemObject(kept);
}
END_TEST

/* A buffer that is too small is told from one that was large enough, had its address, and was given
 * so often that nobody looked at it any more. */
START_TEST(small_buffer_in_the_place_of_a_large_one_is_refused)
{
    enum { TRIES = 64 };
    const support_device *d = support_open();
    const float x[CELLS] = {1};
    cl_mem source = create(BYTES, x), large = create(BYTES, NULL), small[TRIES], was = large;
    kiln_op *op = create_copy(d->kiln);
    int n = 0;
    for (int i = 0; i < 4; i++)
        check_copy(op, source, large, x);
    clFinish(d->queue);
    clReleaseMemObject(large);
    do
        small[n] = create(BYTES - 4, NULL);
    while (small[n++] != was && n < TRIES);
    const kiln_buffers b = {.x = {source, 0}, .y = {small[n - 1], 0}};
    ck_assert_int_eq(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "92") != NULL, "%s", kiln_last_error());
    while (n > 0)
        clReleaseMemObject(small[--n]);
    kiln_op_release(op);
    clReleaseMemObject(source);
}
END_TEST

static void check_conv(kiln_op *op, const kiln_buffers *b, size_t workspace, size_t bytes,
                       const void *expected)
{
    const support_device *d = support_open();
    const cl_uint poison = 0x7fc00000;
    char *got = malloc(bytes);
    ck_assert_ptr_nonnull(got);
    clEnqueueFillBuffer(d->queue, b->y.mem, &poison, 4, 0, bytes, 0, NULL, NULL);
    if (b->packed.mem && workspace > 0) /* where weights were packed before, they are no more */
        clEnqueueFillBuffer(d->queue, b->workspace.mem, &poison, 1, 0, workspace, 0, NULL, NULL);
    ck_assert_msg(kiln_op_enqueue(op, d->queue, b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    clEnqueueReadBuffer(d->queue, b->y.mem, CL_TRUE, 0, bytes, got, 0, NULL, NULL);
    ck_assert_mem_eq(got, expected, bytes);
    free(got);
}

/* The same buffers, but other kernels: the packing ones, the running ones, all of them. */
START_TEST(packing_and_running_are_two_things)
{
    enum { C = 20, SIZE = 6, X = C * SIZE * SIZE, W = C * C * 9 };
    const support_device *d = support_open();
    const kiln_problem p = {.batch = 1,
                            .in_channels = C,
                            .out_channels = C,
                            .input = {SIZE, SIZE},
                            .filter = {3, 3},
                            .pad_begin = {1, 1},
                            .pad_end = {1, 1}};
    float *x = malloc(sizeof *x * X), *w = malloc(sizeof *w * W), *y = malloc(sizeof *y * X);
    ck_assert(x && w && y);
    for (int i = 0; i < X; i++)
        x[i] = (float)(i % 7) - 3;
    for (int i = 0; i < W; i++)
        w[i] = (float)(i % 5) - 2;
    kiln_op *op;
    kiln_op_info info;
    ck_assert_msg(kiln_conv_create(d->kiln, &p, NULL, &op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_describe(op, &info);
    const size_t packed = (size_t)info.packed_size, workspace = (size_t)info.workspace_size;
    kiln_buffers plain = {.x = {create(sizeof *x * X, x), 0},
                          .w = {create(sizeof *w * W, w), 0},
                          .y = {create(sizeof *y * X, NULL), 0}};
    if (workspace > 0)
        plain.workspace.mem = create(workspace, NULL);
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &plain, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    clEnqueueReadBuffer(d->queue, plain.y.mem, CL_TRUE, 0, sizeof *y * X, y, 0, NULL, NULL);
    kiln_buffers b = plain;
    if (packed > 0 && info.packed_width == 0)
        b.packed.mem = create(packed, NULL);
    for (int i = 0; b.packed.mem && i < 4; i++) {
        for (int j = 0; j < 3; j++)
            ck_assert_msg(kiln_op_pack(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                          kiln_last_error());
        for (int j = 0; j < 3 - i; j++)
            check_conv(op, &b, workspace, sizeof *y * X, y);
        check_conv(op, &plain, workspace, sizeof *y * X, y);
    }
    kiln_op_release(op);
    cl_mem all[] = {b.x.mem, b.w.mem, b.y.mem, b.workspace.mem, b.packed.mem};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            clReleaseMemObject(all[i]);
    free(x);
    free(w);
    free(y);
}
END_TEST

/* A kiln that is closed hears of the end of buffers that it knew. */
START_TEST(buffers_outlive_a_kiln)
{
    const support_device *d = support_open();
    const kiln_settings settings = {.cache_dir = "off", .rows_file = "off"};
    const float x[CELLS] = {1};
    cl_mem source = create(BYTES, x), to = create(BYTES, NULL);
    for (int i = 0; i < 2; i++) {
        kiln *k;
        ck_assert_msg(kiln_open(&k, d->context, d->device, &settings) == KILN_OK, "%s",
                      kiln_last_error());
        kiln_op *op = create_copy(k);
        for (int j = 0; j < 4; j++)
            check_copy(op, source, to, x);
        kiln_op_release(op);
        kiln_close(k);
    }
    clReleaseMemObject(source);
    clReleaseMemObject(to);
}
END_TEST

/* An enqueue may wait for what its caller does only after the release. */
START_TEST(release_waits_for_nothing)
{
    const support_device *d = support_open();
    const kiln_reformat twice = {.dims = "NCHW", .size = {1, 2, 3, 4}, .to_type = KILN_F16};
    const kiln_settings settings = {.cache_dir = "off", .rows_file = "off"};
    const float x[CELLS] = {1};
    cl_ushort got[CELLS] = {0};
    cl_int code;
    kiln *k;
    kiln_op *op;
    ck_assert_msg(kiln_open(&k, d->context, d->device, &settings) == KILN_OK &&
                      kiln_reformat_create(k, &twice, &op) == KILN_OK,
                  "%s", kiln_last_error());
    const kiln_buffers b = {.x = {create(BYTES, x), 0}, .y = {create(sizeof got, got), 0}};
    cl_event gate = clCreateUserEvent(d->context, &code);
    cl_command_queue queue = support_queue(false);
    ck_assert_msg(kiln_op_enqueue(op, queue, &b, 1, &gate, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    kiln_op_release(op);
    clSetUserEventStatus(gate, CL_COMPLETE);
    code = clEnqueueReadBuffer(queue, b.y.mem, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(got[0], 0x3c00);
    kiln_close(k);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
    clReleaseMemObject(b.x.mem);
    clReleaseMemObject(b.y.mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("buffers");
    TCase *c = tcase_create("buffers");
    tcase_add_test(c, offsets_must_be_aligned);
    tcase_add_test(c, another_sub_buffer_is_another);
    tcase_add_test(c, other_buffers_are_others);
    tcase_add_test(c, small_buffer_in_the_place_of_a_large_one_is_refused);
    tcase_add_test(c, packing_and_running_are_two_things);
    tcase_add_test(c, buffers_outlive_a_kiln);
    tcase_add_test(c, release_waits_for_nothing);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
