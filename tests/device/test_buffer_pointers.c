/* Buffers that the caller promises to keep: kernels may be given their addresses. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 24, BYTES = CELLS * 4 };

static kiln *trusting;
static cl_command_queue queue;

static void open_trusting(void)
{
    const kiln_settings settings = {.rows_file = "off", .buffers_stay = 1};
    const support_device *d = support_open();
    ck_assert_msg(kiln_open(&trusting, d->context, d->device, &settings) == KILN_OK, "%s",
                  kiln_last_error());
    queue = d->queue;
}

static void close_trusting(void)
{
    kiln_close(trusting);
}

static cl_mem create(cl_mem_flags flags, size_t size)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(support_open()->context, flags, size, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static kiln_op *create_copy(void)
{
    const kiln_reformat same = {.dims = "NCHW", .size = {1, 2, 3, 4}};
    kiln_op *op;
    ck_assert_msg(kiln_reformat_create(trusting, &same, &op) == KILN_OK, "%s", kiln_last_error());
    return op;
}

/* Fills `from` with numbers of its own, poisons `to`, copies, and asks for what arrived. */
static void check_copy(kiln_op *op, kiln_buffer from, kiln_buffer to, int first)
{
    const kiln_buffers b = {.x = from, .y = to};
    const cl_uint poison = 0x7fc00000;
    float x[CELLS], got[CELLS];
    for (int i = 0; i < CELLS; i++)
        x[i] = (float)(first + i);
    clEnqueueWriteBuffer(queue, from.mem, CL_TRUE, from.offset, BYTES, x, 0, NULL, NULL);
    clEnqueueFillBuffer(queue, to.mem, &poison, sizeof poison, to.offset, BYTES, 0, NULL, NULL);
    ck_assert_msg(kiln_op_enqueue(op, queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    clEnqueueReadBuffer(queue, to.mem, CL_TRUE, to.offset, BYTES, got, 0, NULL, NULL);
    ck_assert_msg(memcmp(x, got, BYTES) == 0, "numbers from %d on", first);
}

/* Each enqueue reads and writes what it was given, be it given again or not. */
START_TEST(buffers_change)
{
    static const int order[] = {0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 2, 2, 2, 0, 0};
    const size_t align = support_open()->align;
    cl_mem a[2], b[2];
    for (int i = 0; i < 2; i++) {
        a[i] = create(CL_MEM_READ_WRITE, align + BYTES);
        b[i] = create(CL_MEM_READ_WRITE, align + BYTES);
    }
    kiln_op *op = create_copy();
    for (int i = 0; i < (int)(sizeof order / sizeof *order); i++) {
        const int j = order[i] % 2;
        const size_t offset = order[i] == 2 ? align : 0;
        check_copy(op, (kiln_buffer){a[j], offset}, (kiln_buffer){b[j], offset}, 100 * i);
    }
    kiln_op_release(op);
    for (int i = 0; i < 2; i++) {
        clReleaseMemObject(a[i]);
        clReleaseMemObject(b[i]);
    }
}
END_TEST

/* A buffer that takes the place of one that was given often, maybe with the same handle. */
START_TEST(buffers_end)
{
    kiln_op *op = create_copy();
    cl_mem to = create(CL_MEM_READ_WRITE, BYTES);
    for (int i = 0; i < 6; i++) {
        cl_mem from = create(CL_MEM_READ_WRITE, BYTES * (size_t)(1 + i % 3));
        for (int j = 0; j < 3; j++)
            check_copy(op, (kiln_buffer){from, 0}, (kiln_buffer){to, 0}, 100 * i + j);
        clReleaseMemObject(from);
    }
    kiln_op_release(op);
    clReleaseMemObject(to);
}
END_TEST

/* What the host may not map has no address for it. */
START_TEST(buffers_without_an_address)
{
    kiln_op *op = create_copy();
    cl_mem from = create(CL_MEM_READ_WRITE | CL_MEM_HOST_WRITE_ONLY, BYTES);
    cl_mem to = create(CL_MEM_READ_WRITE, BYTES);
    for (int i = 0; i < 4; i++)
        check_copy(op, (kiln_buffer){from, 0}, (kiln_buffer){to, 0}, 100 * i);
    kiln_op_release(op);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}
END_TEST

/* The addresses are asked for while all that was enqueued waits for the thread that asks. */
START_TEST(binding_waits_for_no_queue)
{
    kiln_op *op = create_copy();
    cl_mem from = create(CL_MEM_READ_WRITE, BYTES), to = create(CL_MEM_READ_WRITE, BYTES);
    const kiln_buffers b = {.x = {from, 0}, .y = {to, 0}};
    cl_event gate = clCreateUserEvent(support_open()->context, NULL);
    float x[CELLS], got[CELLS];
    for (int i = 0; i < CELLS; i++)
        x[i] = (float)(7 * i);
    ck_assert_int_eq(clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL), CL_SUCCESS);
    clEnqueueWriteBuffer(queue, from, CL_FALSE, 0, BYTES, x, 0, NULL, NULL);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(kiln_op_enqueue(op, queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                      kiln_last_error());
    ck_assert_int_eq(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    clEnqueueReadBuffer(queue, to, CL_TRUE, 0, BYTES, got, 0, NULL, NULL);
    ck_assert_mem_eq(x, got, BYTES);
    clReleaseEvent(gate);
    kiln_op_release(op);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("buffer_pointers");
    TCase *tests = tcase_create("buffer_pointers");
    tcase_add_checked_fixture(tests, open_trusting, close_trusting);
    tcase_add_test(tests, buffers_change);
    tcase_add_test(tests, buffers_end);
    tcase_add_test(tests, buffers_without_an_address);
    tcase_add_test(tests, binding_waits_for_no_queue);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
