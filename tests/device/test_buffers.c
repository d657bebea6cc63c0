/* What an op makes of the caller's objects: sub-buffers, offsets, and enqueues that cannot start.
 */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A sub-buffer that is released and another that takes its place, maybe at the same address, are
 * not the same: the result belongs where the new one lies, and nowhere else. */
START_TEST(another_sub_buffer_is_another)
{
    const support_device *d = support_open();
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    const size_t part = 4 * d->align, size = 2 * part;
    float x[CELLS];
    char *got = malloc(size), *expected = malloc(size);
    ck_assert(got && expected);
    for (int i = 0; i < CELLS; i++)
        x[i] = (float)i + 1;
    cl_mem source = create(BYTES, x), whole = create(size, NULL);
    kiln_op *op;
    ck_assert_msg(kiln_reformat_create(d->kiln, &same, &op) == KILN_OK, "%s", kiln_last_error());
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

static void count_program(void *user, const kiln_cache_entry *e)
{
    *(int *)user += e->valid;
}

/* An enqueue may wait for what its caller does only after the release; its program still goes to
 * the cache, when the kiln is closed. */
START_TEST(release_waits_for_nothing)
{
    const support_device *d = support_open();
    const kiln_reformat twice = {.dims = "NCHW", .size = {1, 2, 3, 4}, .to_type = KILN_F16};
    char dir[] = "/tmp/kiln-buffers-XXXXXX";
    const kiln_settings settings = {.cache_dir = mkdtemp(dir), .rows_file = "off"};
    const float x[CELLS] = {1};
    cl_ushort got[CELLS] = {0};
    int programs = 0;
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
    ck_assert_int_eq(kiln_cache_list(dir, count_program, &programs), KILN_OK);
    ck_assert_int_eq(programs, 1);
    kiln_cache_clear(dir, NULL);
    rmdir(dir);
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
    tcase_add_test(c, another_sub_buffer_is_another);
    tcase_add_test(c, release_waits_for_nothing);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
