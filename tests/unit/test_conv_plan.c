/* Plans without a device: what was chosen, and the bytes of everything; layouts that are not
 * decided have no bytes. */
#include "support/suite.h"

#include "kiln.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const kiln_problem open_problem = {.batch = 2,
                                          .in_channels = 20,
                                          .out_channels = 24,
                                          .input = {9, 7},
                                          .filter = {3, 3},
                                          .x_layout = "any",
                                          .w_layout = "any",
                                          .y_layout = "any",
                                          .epilogue = {.bias = 1, .beta = 1}};

START_TEST(sizes_of_decided_layouts)
{
    kiln *k;
    kiln_op_info info;
    kiln_op *op;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    ck_assert_msg(kiln_conv_plan(k, &open_problem, NULL, &info) == KILN_OK, "%s",
                  kiln_last_error());
    const kiln_problem *p = &info.problem;
    ck_assert_str_ne(info.solver, "");
    ck_assert_str_ne(p->x_layout, "any");
    ck_assert_int_eq(info.x_size, kiln_problem_bytes(p, 'x', NULL));
    ck_assert_int_eq(info.w_size, kiln_problem_bytes(p, 'w', NULL));
    ck_assert_int_eq(info.y_size, kiln_problem_bytes(p, 'y', NULL));
    ck_assert_int_eq(info.bias_size, 24 * 4);
    ck_assert_int_eq(info.residual_size, info.y_size);
    ck_assert_int_ge(info.y_size, 2 * 24 * 7 * 5 * 4);
    ck_assert_int_gt(info.stages, 0);
    ck_assert(info.predicted_ms > 0);

    /* What is created is what was planned. */
    kiln_op_info made;
    ck_assert_int_eq(kiln_conv_create(k, &open_problem, NULL, &op), KILN_OK);
    kiln_op_describe(op, &made);
    ck_assert_str_eq(made.solver, info.solver);
    ck_assert_str_eq(made.config, info.config);
    ck_assert(memcmp(&made.problem, &info.problem, sizeof made.problem) == 0);
    ck_assert_int_eq(made.workspace_size, info.workspace_size);
    kiln_close(k);
    kiln_op_release(op);
}
END_TEST

START_TEST(refusals)
{
    kiln *k;
    kiln_op_info info = {.stages = 7};
    kiln_problem p = open_problem;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    p.groups = 7;
    ck_assert_int_eq(kiln_conv_plan(k, &p, NULL, &info), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "7 groups"), "%s", kiln_last_error());
    ck_assert_int_eq(info.stages, 0);
    ck_assert_str_eq(info.solver, "");
    const kiln_choice nobody = {.solver = "nobody"};
    ck_assert_int_eq(kiln_conv_plan(k, &open_problem, &nobody, &info), KILN_INVALID);
    kiln_close(k);
}
END_TEST

START_TEST(open_layouts_have_no_bytes)
{
    static const char *const says[] = {"layout of x is", "layout of w is", "layout of y is"};
    char why[KILN_ERROR_TEXT];
    kiln_problem p = open_problem;
    kiln_storage storage;
    ck_assert_int_eq(kiln_problem_check(&p, why), KILN_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(kiln_problem_bytes(&p, "xwy"[i], why), 0);
        ck_assert_msg(strstr(why, says[i]) && strstr(why, "kiln_conv_plan"), "%s", why);
        ck_assert(!kiln_problem_storage(&p, "xwy"[i], &storage, why));
        ck_assert_msg(strstr(why, says[i]), "%s", why);
    }
    ck_assert_int_eq(kiln_problem_bytes(&p, 'b', why), 24 * 4);
    ck_assert_int_eq(kiln_problem_bytes(&p, 'q', why), 0);
    ck_assert_msg(strstr(why, "'b'"), "%s", why);
}
END_TEST

START_TEST(any_in_capitals)
{
    char why[KILN_ERROR_TEXT];
    kiln_problem p = open_problem;
    strcpy(p.y_layout, "Any");
    ck_assert_int_eq(kiln_problem_check(&p, why), KILN_INVALID);
    ck_assert_msg(strstr(why, "layout of y is \"Any\"") && strstr(why, "small letters"), "%s", why);
}
END_TEST

/* The limit excludes what would be faster, and the plan says so. */
START_TEST(what_a_limit_costs)
{
    kiln *k;
    kiln_op_info free, limited;
    kiln_problem p = open_problem;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    p.epilogue = (kiln_epilogue){0};
    p.input[0] = p.input[1] = 56;
    ck_assert_int_eq(kiln_conv_plan(k, &p, NULL, &free), KILN_OK);
    ck_assert_str_eq(free.limited_solver, "");
    ck_assert(free.limited_ms == 0);
    p.workspace_limit = 1;
    ck_assert_int_eq(kiln_conv_plan(k, &p, NULL, &limited), KILN_OK);
    ck_assert_str_ne(limited.solver, free.solver);
    ck_assert_str_eq(limited.limited_solver, free.solver);
    ck_assert(limited.limited_ms == free.predicted_ms);
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("conv_plan");
    TCase *c = tcase_create("conv_plan");
    tcase_add_test(c, sizes_of_decided_layouts);
    tcase_add_test(c, refusals);
    tcase_add_test(c, open_layouts_have_no_bytes);
    tcase_add_test(c, any_in_capitals);
    tcase_add_test(c, what_a_limit_costs);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
