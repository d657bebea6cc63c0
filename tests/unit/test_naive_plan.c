/* Plans of the naive solver, without a device. */
#include "generator/plan/solver.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static kiln_plan plan_of(const kiln_problem *problem, const kiln_device_facts *d)
{
    kiln_problem p = *problem;
    char why[KILN_ERROR_TEXT] = "";
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    kiln_shape s = kiln_shape_of(&p);
    const kiln_solver *naive = kiln_solver_named("naive");
    kiln_config c;
    kiln_plan plan;
    kiln_why no = {.text = ""};
    naive->guess(naive, &s, d, &c);
    ck_assert_msg(!kiln_config_refused(naive, &s, d, &c, false, &no), "%s", no.text);
    ck_assert_msg(kiln_solver_plan(naive, &s, d, &c, &plan, &no), "%s", no.text);
    return plan;
}

START_TEST(it_takes_everything)
{
    const kiln_device_facts d = kiln_device_generic();
    dice dice = {.seed = 7};
    for (int i = 0; i < 2000; i++) {
        const kiln_problem p = random_problem(&dice, 40, 60);
        const kiln_plan plan = plan_of(&p, &d);
        bool gradient = p.direction == KILN_BACKWARD_WEIGHTS && p.epilogue.bias;
        ck_assert_int_eq(plan.nstages, gradient ? 2 : 1);
        ck_assert(plan.deterministic);
        ck_assert_int_eq(plan.workspace_bytes, 0);
    }
}
END_TEST

START_TEST(a_new_shape_costs_no_compile)
{
    const kiln_device_facts d = kiln_device_generic();
    const kiln_problem a = {
        .batch = 1, .in_channels = 3, .out_channels = 4, .input = {5, 6}, .filter = {3, 3}};
    const kiln_problem b = {.spatial_rank = 3,
                            .batch = 7,
                            .in_channels = 6,
                            .out_channels = 8,
                            .groups = 2,
                            .input = {9, 8, 7},
                            .filter = {1, 2, 3},
                            .stride = {2, 1, 3},
                            .dilation = {1, 2, 1}};
    const kiln_plan first = plan_of(&a, &d), second = plan_of(&b, &d);
    ck_assert_str_eq(first.stage[0].options, second.stage[0].options);
}
END_TEST

START_TEST(large_tensors_are_indexed_in_64_bits)
{
    kiln_device_facts d = kiln_device_generic();
    d.max_alloc = (int64_t)64 << 30;
    kiln_problem p = {.spatial_rank = 1,
                      .batch = 2,
                      .in_channels = 1 << 10,
                      .out_channels = 1,
                      .input = {1 << 20},
                      .filter = {1}};
    kiln_plan plan = plan_of(&p, &d);
    ck_assert_ptr_nonnull(strstr(plan.stage[0].options, "-DP_WIDE=1"));
    ck_assert_int_eq(plan.stage[0].arg[3].kind, KILN_ARG_LONG);
    p.batch = 1;
    plan = plan_of(&p, &d);
    ck_assert_ptr_null(strstr(plan.stage[0].options, "P_WIDE"));
    ck_assert_int_eq(plan.stage[0].arg[3].kind, KILN_ARG_INT);
}
END_TEST

START_TEST(the_group_fits_the_device)
{
    kiln_device_facts d = kiln_device_generic();
    d.max_group = 48;
    const kiln_problem p = {
        .batch = 1, .in_channels = 1, .out_channels = 1, .input = {5, 5}, .filter = {1, 1}};
    const kiln_plan plan = plan_of(&p, &d);
    ck_assert_uint_eq(plan.stage[0].local[0], 32);
    ck_assert_ptr_nonnull(strstr(plan.stage[0].options, "-DD_GROUP=32"));
}
END_TEST

/* The sum is over the caller's dy, also where the shape is mirrored. */
START_TEST(the_bias_gradient_reads_dy)
{
    const kiln_device_facts d = kiln_device_generic();
    for (int transposed = 0; transposed < 2; transposed++) {
        const kiln_problem p = {.direction = KILN_BACKWARD_WEIGHTS,
                                .transposed = transposed,
                                .batch = 2,
                                .in_channels = 3,
                                .out_channels = 5,
                                .input = {7, 4},
                                .filter = {3, 2},
                                .epilogue = {.bias = 1}};
        const kiln_plan plan = plan_of(&p, &d);
        ck_assert_int_eq(plan.stage[1].arg[0].role, KILN_ROLE_Y);
        ck_assert_int_eq(plan.stage[1].arg[1].role, KILN_ROLE_BIAS);
        ck_assert_uint_eq(plan.stage[1].global[0], 5 * plan.stage[1].local[0]);
        ck_assert_int_eq(plan.stage[1].arg[5].i, transposed ? 9 * 5 : 5 * 3);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("naive plan");
    TCase *c = tcase_create("naive plan");
    tcase_add_test(c, it_takes_everything);
    tcase_add_test(c, a_new_shape_costs_no_compile);
    tcase_add_test(c, large_tensors_are_indexed_in_64_bits);
    tcase_add_test(c, the_group_fits_the_device);
    tcase_add_test(c, the_bias_gradient_reads_dy);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
