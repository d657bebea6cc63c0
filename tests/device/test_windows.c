/* An operation that was timed in a search keeps no piece of the search's workspace: pieces of two
 * operations that overlap without being equal crash NVIDIA's driver when they are released. */
#include "runtime/tune/bench.h"

#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>

/* Fits into the buffers of tuning_problem. */
static kiln_problem problem(void)
{
    kiln_problem p = tuning_problem;
    p.in_channels = 16;
    p.out_channels = 8;
    p.filter[0] = p.filter[1] = 3;
    p.pad_begin[0] = p.pad_begin[1] = p.pad_end[0] = p.pad_end[1] = 1;
    return p;
}

static int windows(const kiln_op *op)
{
    int n = 0;
    for (int i = 0; i < KILN_MAX_ROLES; i++)
        n += op->window[i].sub != NULL;
    return n;
}

START_TEST(a_timed_operation_has_no_piece_of_the_workspace)
{
    const kiln_problem p = problem();
    const kiln_choice choice = {.solver = "winograd_gemm", .ignore_rows = 1};
    const kiln_effort effort = {1, 1, 3, 0};
    double samples[3];
    int n;
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(tuning.kiln, &p, &choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    kiln_bench b = {.k = tuning.kiln,
                    .problem = &p,
                    .queue = tuning.queue,
                    .buffers = tuning.buffers,
                    .runs = 1,
                    .most = 3};
    b.buffers.workspace.mem =
        clCreateBuffer(tuning.context, CL_MEM_READ_WRITE, (size_t)info.workspace_size, NULL, NULL);
    ck_assert_ptr_nonnull(b.buffers.workspace.mem);
    ck_assert_int_eq(kiln_op_enqueue(op, tuning.queue, &b.buffers, 0, NULL, NULL), KILN_OK);
    ck_assert_int_eq(clFinish(tuning.queue), CL_SUCCESS);
    ck_assert_int_gt(windows(op), 0);
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(kiln_bench_time(&b, op, &effort, samples, &n), KILN_OK);
        ck_assert_int_gt(n, 0);
        ck_assert_int_eq(windows(op), 0);
    }
    kiln_op_release(op);
    clReleaseMemObject(b.buffers.workspace.mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("windows");
    TCase *c = tcase_create("windows");
    tcase_add_checked_fixture(c, tuning_set_up, tuning_tear_down);
    tcase_add_test(c, a_timed_operation_has_no_piece_of_the_workspace);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
