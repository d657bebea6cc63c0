/* Sums of bytes at and beyond 2^31, by every solver: an i32 is the sum modulo 2^32, other results
 * are made from the whole sum. The expected values are computed here, without the reference. */
#include "generator/plan/solver.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16 }; /* channels of a result's tensor, for vectors of them */

/* Returns a convolution whose results are sums of so many products each. */
static kiln_problem sums_of(int64_t terms, kiln_direction direction, kiln_type to)
{
    kiln_problem p = {.direction = direction,
                      .batch = 1,
                      .in_channels = SIDE,
                      .out_channels = SIDE,
                      .input = {1, 1},
                      .filter = {1, 1},
                      .x_type = KILN_I8,
                      .w_type = KILN_I8,
                      .y_type = KILN_I8};
    switch (direction) {
    case KILN_FORWARD:
        p.in_channels = terms;
        p.y_type = to;
        break;
    case KILN_BACKWARD_DATA:
        p.out_channels = terms;
        p.x_type = to;
        break;
    default:
        p.input[1] = terms;
        p.w_type = to;
    }
    if (direction == KILN_FORWARD && to == KILN_I8)
        p.epilogue.alpha = 1e-8f;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    return p;
}

/* The result of a sum: 2^31 * 1e-8 is 21.47. */
static double result_of(const kiln_problem *p, kiln_type to, int64_t sum)
{
    if (to == KILN_I32)
        return (int32_t)(uint32_t)(uint64_t)sum;
    if (to == KILN_F32)
        return (float)sum;
    return p->direction == KILN_FORWARD ? (double)(sum / 100000000) : sum > 0 ? 127 : -128;
}

/* Returns a buffer of `bytes` bytes, each of them `value`. */
static cl_mem filled(int64_t bytes, int value)
{
    const support_device *d = support_open();
    const cl_char byte = (cl_char)value;
    cl_int code;
    cl_mem mem =
        clCreateBuffer(d->context, CL_MEM_READ_WRITE, (size_t)(bytes ? bytes : 1), NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    code =
        clEnqueueFillBuffer(d->queue, mem, &byte, 1, 0, (size_t)(bytes ? bytes : 1), 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static void run(kiln_op *op, const kiln_problem *p, int x, int w, void *got, size_t bytes)
{
    const support_device *d = support_open();
    const bool weights = p->direction == KILN_BACKWARD_WEIGHTS;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    const kiln_buffers b = {
        .x.mem = filled(kiln_problem_bytes(p, 'x', NULL), x),
        .w.mem = filled(kiln_problem_bytes(p, 'w', NULL), w),
        .y.mem = filled(kiln_problem_bytes(p, 'y', NULL), weights ? w : x),
        .workspace.mem = filled(info.workspace_size, 0x55),
    };
    const cl_mem result = p->direction == KILN_FORWARD         ? b.y.mem
                          : p->direction == KILN_BACKWARD_DATA ? b.x.mem
                                                               : b.w.mem;
    ck_assert_msg(kiln_op_enqueue(op, d->queue, &b, 0, NULL, NULL) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert_int_eq(clEnqueueReadBuffer(d->queue, result, CL_TRUE, 0, bytes, got, 0, NULL, NULL),
                     CL_SUCCESS);
    cl_mem all[] = {b.x.mem, b.w.mem, b.y.mem, b.workspace.mem};
    for (int i = 0; i < 4; i++)
        clReleaseMemObject(all[i]);
}

/* Returns whether the solver takes the problem; its results must be right then. */
static bool is_right(const kiln_solver *solver, const kiln_problem *p, kiln_type to, int x, int w,
                     int64_t terms)
{
    kiln_op *op;
    char name[KILN_KEY_TEXT];
    kiln_problem_text(p, name, sizeof name);
    const kiln_choice options = {.solver = solver->name};
    const kiln_status status = kiln_conv_create(support_open()->kiln, p, &options, &op);
    if (status == KILN_UNSUPPORTED)
        return false;
    ck_assert_msg(status == KILN_OK, "%s, %s: %s", name, solver->name, kiln_last_error());
    const int64_t count = p->direction == KILN_FORWARD         ? kiln_problem_count(p, 'y')
                          : p->direction == KILN_BACKWARD_DATA ? kiln_problem_count(p, 'x')
                                                               : kiln_problem_count(p, 'w');
    const double expected = result_of(p, to, terms * x * w);
    void *got = calloc((size_t)count, kiln_type_size(to));
    ck_assert_ptr_nonnull(got);
    run(op, p, x, w, got, (size_t)count * kiln_type_size(to));
    for (int64_t i = 0; i < count; i++)
        ck_assert_msg(host_get(to, got, i) == expected, "%s, %s: element %lld is %.10g, not %.10g",
                      name, solver->name, (long long)i, host_get(to, got, i), expected);
    free(got);
    kiln_op_release(op);
    return true;
}

/* Sums that no int holds are refused by solvers that have no other; some solver is left. */
START_TEST(every_solver)
{
    static const struct {
        int64_t terms;
        int x, w;
        kiln_type to;
        bool by_few;
    } cases[] = {
        {131072, -128, -128, KILN_I32, false}, {131073, -128, -128, KILN_I32, false},
        {131071, 127, 127, KILN_F32, false},   {131072, -128, -128, KILN_F32, true},
        {131073, -128, -128, KILN_F32, true},  {132105, -128, 127, KILN_F32, true},
        {131072, -128, -128, KILN_I8, true},   {131073, -128, -128, KILN_I8, true},
        {132105, -128, 127, KILN_I8, true},
    };
    const kiln_direction direction = (kiln_direction)_i;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kiln_problem p = sums_of(cases[i].terms, direction, cases[i].to);
        const kiln_solver *s;
        int taken = 0;
        for (int n = 0; (s = kiln_solver_at(n)); n++)
            if (is_right(s, &p, cases[i].to, cases[i].x, cases[i].w, cases[i].terms)) {
                ck_assert_msg(!cases[i].by_few || s->sums_long, "%s takes it", s->name);
                taken++;
            }
        ck_assert_int_gt(taken, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("long_sums");
    TCase *tests = tcase_create("long_sums");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, every_solver, 0, 3);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
