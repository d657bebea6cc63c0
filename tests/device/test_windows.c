/* Pieces of memory objects that operations have: unless a call's arguments are known to stay, one
 * operation at a time has some, because NVIDIA's driver crashes when pieces of two operations that
 * overlap in part are released. */
#include "runtime/op/op.h"

#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>
#include <stdint.h>

/* Fits into the buffers of tuning_problem. Other channels cut the workspace in other places. */
static kiln_problem problem(int channels)
{
    kiln_problem p = tuning_problem;
    p.in_channels = channels;
    p.out_channels = 8;
    p.filter[0] = p.filter[1] = 3;
    p.pad_begin[0] = p.pad_begin[1] = p.pad_end[0] = p.pad_end[1] = 1;
    return p;
}

static kiln_op *create(int channels, int64_t *workspace)
{
    const kiln_problem p = problem(channels);
    const kiln_choice choice = {.solver = "winograd_gemm", .ignore_rows = 1};
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(tuning.kiln, &p, &choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    *workspace = info.workspace_size;
    return op;
}

static cl_mem buffer(int64_t bytes)
{
    cl_mem mem = clCreateBuffer(tuning.context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, NULL);
    ck_assert_ptr_nonnull(mem);
    return mem;
}

static void run(kiln_op *op, const kiln_buffers *buffers)
{
    ck_assert_int_eq(kiln_op_enqueue(op, tuning.queue, buffers, 0, NULL, NULL), KILN_OK);
}

static int windows(const kiln_op *op)
{
    int n = 0;
    for (int i = 0; i < KILN_MAX_ROLES; i++)
        n += op->window[i].sub != NULL;
    return n;
}

START_TEST(one_operation_at_a_time_has_pieces_or_its_arguments_stay)
{
    int64_t bytes, more;
    kiln_op *op = create(8, &bytes), *other = create(16, &more);
    cl_mem workspace = buffer(bytes > more ? bytes : more), another = buffer(bytes);
    kiln_buffers with = tuning.buffers;
    with.workspace.mem = workspace;
    run(op, &with);
    ck_assert_int_gt(windows(op), 0);
    run(other, &with);
    ck_assert_int_gt(windows(other), 0);
    ck_assert_int_eq(windows(op), 0);
    for (int i = 0; i < 3; i++)
        run(op, &with);
    run(other, &with);
    ck_assert_int_eq(windows(op) > 0, op->bound.set);
    with.workspace.mem = another;
    run(op, &with);
    ck_assert(!op->bound.set);
    with.workspace.mem = workspace;
    run(other, &with);
    ck_assert_int_eq(windows(op), 0);
    with.workspace.mem = NULL;
    ck_assert_int_eq(kiln_op_enqueue(op, tuning.queue, &with, 0, NULL, NULL), KILN_INVALID);
    ck_assert_int_eq(clFinish(tuning.queue), CL_SUCCESS);
    kiln_op_release(other);
    kiln_op_release(op);
    clReleaseMemObject(workspace);
    clReleaseMemObject(another);
}
END_TEST

/* Numerical Recipes' generator; the high bits are the random ones. */
static int below(uint32_t *state, int n)
{
    *state = *state * 1664525 + 1013904223;
    return (int)((*state >> 16) % (unsigned)n);
}

/* Most devices pass this whatever pieces live. An H200 crashed. */
START_TEST(operations_that_share_a_workspace_are_released_in_any_order)
{
    enum { OPS = 4, ROUNDS = 600 };
    static const int channels[OPS] = {16, 5, 12, 8};
    kiln_op *op[OPS];
    int64_t bytes[OPS], most = 0;
    kiln_buffers with = tuning.buffers;
    for (int i = 0; i < OPS; i++) {
        op[i] = create(channels[i], &bytes[i]);
        most = bytes[i] > most ? bytes[i] : most;
    }
    with.workspace = (kiln_buffer){buffer(most + 4096), 4096};
    uint32_t state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const int i = below(&state, OPS);
        for (int calls = below(&state, 4); calls > 0; calls--)
            run(op[i], &with);
        if (below(&state, 4) == 0) {
            kiln_op_release(op[i]);
            op[i] = create(channels[i], &bytes[i]);
        }
    }
    ck_assert_int_eq(clFinish(tuning.queue), CL_SUCCESS);
    for (int i = 0; i < OPS; i++)
        kiln_op_release(op[i]);
    clReleaseMemObject(with.workspace.mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("windows");
    TCase *c = tcase_create("windows");
    tcase_add_checked_fixture(c, tuning_set_up, tuning_tear_down);
    tcase_add_test(c, one_operation_at_a_time_has_pieces_or_its_arguments_stay);
    tcase_add_test(c, operations_that_share_a_workspace_are_released_in_any_order);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
