/* settings.check_flushed: a program that promises to flush and forgets it is found at its first
 * wrong enqueue, while operations share commands as ever. */
#include "runtime/kiln/kiln_internal.h"
#include "runtime/pocl/pocl_internal.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 16, SIDE = 6, CELLS = CHANNELS * SIDE * SIDE, RUNS = 500 };

typedef struct fixture {
    kiln *k;
    cl_command_queue queue;
    kiln_op *op;
    kiln_buffers b;
    float x[RUNS][CELLS];
} fixture;

#define OK(call) ck_assert_msg((call) == KILN_OK, "%s: %s", #call, kiln_last_error())

static cl_mem buffer(size_t bytes, const void *data)
{
    cl_mem m = clCreateBuffer(support_open()->context, data ? CL_MEM_COPY_HOST_PTR : 0, bytes,
                              (void *)data, NULL);
    ck_assert_ptr_nonnull(m);
    return m;
}

/* Each channel of y is that channel of x. */
static fixture *open_fixture(int check, int promise)
{
    fixture *f = calloc(1, sizeof *f);
    const support_device *d = support_open();
    float w[CHANNELS * CHANNELS] = {0};
    const kiln_settings settings = {.rows_file = "off",
                                    .buffers_stay = promise,
                                    .queues_flushed = promise,
                                    .check_flushed = check};
    const kiln_problem p = {.batch = 1,
                            .in_channels = CHANNELS,
                            .out_channels = CHANNELS,
                            .input = {SIDE, SIDE},
                            .filter = {1, 1},
                            .x_layout = "NCHW16c",
                            .y_layout = "NCHW16c"};
    const kiln_choice choice = {.solver = "direct_blocked", .packed_weights = 1};
    kiln_op_info info;
    for (int c = 0; c < CHANNELS; c++)
        w[c * CHANNELS + c] = 1;
    for (int n = 0; n < RUNS; n++)
        for (int i = 0; i < CELLS; i++)
            f->x[n][i] = (float)(n + 1);
    OK(kiln_open(&f->k, d->context, d->device, &settings));
    f->queue = clCreateCommandQueue(d->context, d->device, 0, NULL);
    OK(kiln_conv_create(f->k, &p, &choice, &f->op));
    kiln_op_describe(f->op, &info);
    f->b = (kiln_buffers){.x.mem = buffer(sizeof f->x[0], NULL),
                          .y.mem = buffer(sizeof f->x[0], NULL),
                          .w.mem = buffer(sizeof w, w)};
    if (info.packed_size > 0) {
        f->b.packed.mem = buffer((size_t)info.packed_size, NULL);
        OK(kiln_op_pack(f->op, f->queue, &f->b, 0, NULL, NULL));
    }
    for (int n = 0; n < 50; n++) { /* until launches are captured */
        OK(kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL));
        OK(kiln_finish(f->k, f->queue));
    }
    return f;
}

static void close_fixture(fixture *f)
{
    clFinish(f->queue);
    kiln_op_release(f->op);
    clReleaseMemObject(f->b.x.mem);
    clReleaseMemObject(f->b.y.mem);
    clReleaseMemObject(f->b.w.mem);
    if (f->b.packed.mem)
        clReleaseMemObject(f->b.packed.mem);
    clReleaseCommandQueue(f->queue);
    kiln_close(f->k);
    free(f);
}

static bool joins(const fixture *f)
{
    return f->k->pocl && f->k->pocl->batch;
}

/* The next input, without waiting for it. */
static void write_x(const fixture *f, int n)
{
    ck_assert_int_eq(clEnqueueWriteBuffer(f->queue, f->b.x.mem, CL_FALSE, 0, sizeof f->x[n],
                                          f->x[n], 0, NULL, NULL),
                     CL_SUCCESS);
}

static void check_result(const fixture *f, int n)
{
    float y[CELLS];
    clEnqueueReadBuffer(f->queue, f->b.y.mem, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
    ck_assert_msg(y[0] == (float)(n + 1) && y[CELLS - 1] == (float)(n + 1), "run %d: %g", n,
                  (double)y[0]);
}

/* A command that cannot end before the enqueue: the error names both. */
START_TEST(a_forgotten_flush_is_found)
{
    fixture *f = open_fixture(1, 1);
    cl_event gate = clCreateUserEvent(support_open()->context, NULL);
    clEnqueueBarrierWithWaitList(f->queue, 1, &gate, NULL);
    write_x(f, 7);
    const kiln_status status = kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL);
    char said[KILN_ERROR_TEXT];
    snprintf(said, sizeof said, "%s", kiln_last_error());
    clSetUserEventStatus(gate, CL_COMPLETE);
    if (joins(f)) {
        ck_assert_int_eq(status, KILN_INVALID);
        ck_assert_msg(strstr(said, "fwd-f32-n1-c16") && strstr(said, "clEnqueueWriteBuffer()") &&
                          strstr(said, "kiln_flush()"),
                      "%s", said);
    } else {
        ck_assert_int_eq(status, KILN_OK);
    }
    OK(kiln_flush(f->k, f->queue)); /* the remedy */
    OK(kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL));
    check_result(f, 7);
    clReleaseEvent(gate);
    close_fixture(f);
}
END_TEST

/* The program that never flushes, of whose 500 results nearly all are wrong where nobody looks: no
 * result before the error is wrong. */
START_TEST(no_wrong_result_comes_before_the_error)
{
    fixture *f = open_fixture(1, 1);
    cl_mem y[RUNS];
    int n = 0, found = 0;
    for (; n < RUNS && !found; n++) {
        y[n] = buffer(sizeof f->x[0], NULL);
        write_x(f, n);
        found = kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL) != KILN_OK;
        clEnqueueCopyBuffer(f->queue, f->b.y.mem, y[n], 0, 0, sizeof f->x[0], 0, NULL, NULL);
    }
    ck_assert(found || !joins(f));
    for (int i = 0; i < n; i++) {
        float got = 0;
        clEnqueueReadBuffer(f->queue, y[i], CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL);
        ck_assert_msg((found && i == n - 1) || got == (float)(i + 1), "run %d: %g", i, (double)got);
        clReleaseMemObject(y[i]);
    }
    close_fixture(f);
}
END_TEST

/* Programs that keep the promise, or make none, are left alone; operations join as ever. */
START_TEST(kept_promises_are_no_breach)
{
    for (int promise = 0; promise < 2; promise++) {
        fixture *f = open_fixture(1, promise);
        const uint64_t before = joins(f) ? kiln_command_batch_count(f->k->pocl->batch) : 0;
        for (int n = 0; n < RUNS; n++) {
            write_x(f, n);
            if (promise)
                OK(kiln_flush(f->k, f->queue));
            OK(kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL));
            OK(kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL));
            if (n % 50 == 0)
                check_result(f, n);
            if (n % 3 == 0) { /* waited for: nothing to flush */
                ck_assert_int_eq(clEnqueueWriteBuffer(f->queue, f->b.x.mem, CL_TRUE, 0,
                                                      sizeof f->x[n], f->x[n], 0, NULL, NULL),
                                 CL_SUCCESS);
                OK(kiln_op_enqueue(f->op, f->queue, &f->b, 0, NULL, NULL));
            }
        }
        if (promise && joins(f))
            ck_assert_uint_gt(kiln_command_batch_count(f->k->pocl->batch), before);
        close_fixture(f);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flush_check");
    TCase *tcase = tcase_create("flush_check");
    tcase_add_test(tcase, a_forgotten_flush_is_found);
    tcase_add_test(tcase, no_wrong_result_comes_before_the_error);
    tcase_add_test(tcase, kept_promises_are_no_breach);
    suite_add_tcase(suite, tcase);
    return support_run_suite(suite);
}
