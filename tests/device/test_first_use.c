/* Operations that run a program of general shape until their own is compiled. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOATS = 1 << 16 };

typedef struct run {
    kiln *k;
    kiln_op *op;
    kiln_op_info info;
    kiln_buffers b;
    cl_command_queue queue;
} run;

static const kiln_problem problem = {.batch = 1,
                                     .in_channels = 20,
                                     .out_channels = 24,
                                     .input = {9, 7},
                                     .filter = {3, 3},
                                     .pad_begin = {1, 1},
                                     .pad_end = {1, 1},
                                     .epilogue = {.bias = 1, .activation = KILN_RELU},
                                     .x_layout = "NC/16HW16",
                                     .y_layout = "NC/16HW16"};

static cl_mem buffer(int64_t bytes)
{
    const support_device *d = support_open();
    static float data[FLOATS];
    cl_int code;
    ck_assert_int_le(bytes, (int64_t)sizeof data);
    for (int i = 0; i < FLOATS; i++)
        data[i] = (float)(i * 37 % 101) / 101 - 0.4f;
    cl_mem mem = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, (size_t)bytes, data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static run open_run(const kiln_problem *p)
{
    const support_device *d = support_open();
    const kiln_settings settings = {.first_use = KILN_FIRST_QUICK};
    run r = {.queue = support_queue(false)};
    ck_assert_int_eq(kiln_open(&r.k, d->context, d->device, &settings), KILN_OK);
    ck_assert_msg(kiln_conv_create(r.k, p, NULL, &r.op) == KILN_OK, "%s", kiln_last_error());
    kiln_op_describe(r.op, &r.info);
    r.b.x.mem = buffer(r.info.x_size);
    r.b.w.mem = buffer(r.info.w_size);
    r.b.y.mem = buffer(r.info.y_size);
    r.b.bias.mem = buffer(r.info.bias_size);
    r.b.workspace.mem = r.info.workspace_size ? buffer(r.info.workspace_size) : NULL;
    return r;
}

static void close_run(run *r)
{
    kiln_op_release(r->op);
    kiln_close(r->k);
    cl_mem all[] = {r->b.x.mem, r->b.w.mem, r->b.y.mem, r->b.bias.mem, r->b.workspace.mem};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            clReleaseMemObject(all[i]);
    clReleaseCommandQueue(r->queue);
}

static const char *enqueue(run *r, float *y)
{
    ck_assert_msg(kiln_op_enqueue(r->op, r->queue, &r->b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert_int_eq(clEnqueueReadBuffer(r->queue, r->b.y.mem, CL_TRUE, 0, (size_t)r->info.y_size,
                                         y, 0, NULL, NULL),
                     CL_SUCCESS);
    kiln_op_describe(r->op, &r->info);
    return r->info.ran;
}

START_TEST(first_general_then_own)
{
    static float first[FLOATS], own[FLOATS];
    run r = open_run(&problem);
    ck_assert_str_eq(r.info.ran, "");
    ck_assert_str_ne(r.info.solver, "general");
    ck_assert_str_eq(enqueue(&r, first), "general");
    ck_assert_int_eq(kiln_op_warm(r.op), KILN_OK);
    ck_assert_str_eq(enqueue(&r, own), r.info.solver);
    for (int64_t i = 0; i < r.info.y_size / (int64_t)sizeof *own; i++)
        ck_assert_msg(fabsf(first[i] - own[i]) <= 1e-4f, "%lld: %g, %g", (long long)i,
                      (double)first[i], (double)own[i]);
    close_run(&r);
}
END_TEST

/* A stand-in needs no workspace, but a wrong one must not pass until the operation itself runs. */
START_TEST(a_wrong_workspace_shows_at_once)
{
    static float y[FLOATS];
    run r = open_run(&problem);
    const kiln_buffer fine = r.b.workspace, wrong[] = {{NULL, 0}, {fine.mem, 1}, r.b.bias};
    const char *const says[] = {"buffer workspace of", "offset 1 of buffer workspace",
                                "buffer workspace needs"};
    for (int i = 0; r.info.workspace_size > r.info.bias_size && i < 3; i++) {
        r.b.workspace = wrong[i];
        ck_assert_int_eq(kiln_op_enqueue(r.op, r.queue, &r.b, 0, NULL, NULL), KILN_INVALID);
        ck_assert_msg(strstr(kiln_last_error(), says[i]), "%s", kiln_last_error());
    }
    r.b.workspace = fine;
    ck_assert_str_eq(enqueue(&r, y), "general");
    close_run(&r);
}
END_TEST

/* In the queue, being compiled, or not yet asked for. */
START_TEST(released_at_any_time)
{
    static float y[FLOATS];
    for (int i = 0; i < 3; i++) {
        kiln_problem p = problem;
        p.out_channels += i;
        run r = open_run(&p);
        if (i > 0)
            enqueue(&r, y);
        close_run(&r);
    }
}
END_TEST

START_TEST(what_needs_its_own_program_waits)
{
    run r = open_run(&problem);
    ck_assert_ptr_nonnull(kiln_op_source(r.op, 0));
    close_run(&r);
    kiln_problem back = problem;
    back.direction = KILN_BACKWARD_DATA;
    memset(&back.epilogue, 0, sizeof back.epilogue);
    const support_device *d = support_open();
    const kiln_settings settings = {.first_use = KILN_FIRST_QUICK}, wrong = {.first_use = 7};
    ck_assert_int_eq(kiln_open(&r.k, d->context, d->device, &wrong), KILN_INVALID);
    ck_assert_int_eq(kiln_open(&r.k, d->context, d->device, &settings), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(r.k, &back, NULL, &r.op), KILN_OK);
    kiln_op_release(r.op);
    kiln_close(r.k);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("first_use");
    TCase *all = tcase_create("all");
    tcase_add_test(all, first_general_then_own);
    tcase_add_test(all, a_wrong_workspace_shows_at_once);
    tcase_add_test(all, released_at_any_time);
    tcase_add_test(all, what_needs_its_own_program_waits);
    tcase_set_timeout(all, 300);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
