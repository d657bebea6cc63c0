/* The configs of the Winograd solvers: those of the search, odd ones, and what is refused. */
#include "runtime/kiln/kiln_internal.h"
#include "support/suite.h"
#include "support/support.h"
#include "support/winograd_cases.h"

#include <check.h>
#include <string.h>

/* Some of all that the search would try. */
START_TEST(configs_of_the_search)
{
    const kiln_solver *solver = kiln_solver_named(winograd_solvers[_i]);
    for (int l = 0; l < 2; l++) {
        kiln_problem p = winograd_problem(1, 19, 30, 61, 64);
        winograd_set_layouts(&p, l);
        ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
        kiln_shape s = kiln_shape_of(&p);
        const kiln_device_facts *facts = &support_open()->kiln->facts;
        int64_t position = 0, tried = 0;
        kiln_config c;
        for (; kiln_config_next(solver, &s, facts, &position, &c); tried++) {
            char config[KILN_CONFIG_TEXT];
            kiln_config_text(solver, &c, config, sizeof config);
            if (tried % 18 == 5 * l)
                winograd_check(&p, winograd_solvers[_i], config);
        }
        ck_assert_int_gt(tried, 10);
        ck_assert_int_le(tried, 60);
    }
}
END_TEST

/* Configs that the search leaves out: tiles that divide nothing, single sums. */
START_TEST(odd_configs)
{
    static const char *const staged[] = {"4,1,1,1", "6,9,3,3", "6,250,10,2", "8,8,4,2"};
    static const char *const configs[] = {"4,1,1,1,1,0",   "6,1,1,1,1,0",   "4,10,5,2,1,0",
                                          "6,9,3,3,1,0",   "6,33,11,2,2,1", "4,64,16,2,2,0",
                                          "6,13,13,1,5,1", "8,3,1,2,2,0",   "8,20,10,2,1,1"};
    for (int i = 0; i < 9; i++) {
        kiln_problem p = winograd_problem(2, 21, 13, 17, 70);
        winograd_set_layouts(&p, i);
        winograd_check(&p, "winograd_fused", configs[i]);
        winograd_set_layouts(&p, i + 1);
        if (i < 4)
            winograd_check(&p, "winograd_staged", staged[i]);
    }
}
END_TEST

static void refused(const char *solver, const kiln_problem *p, const char *config, const char *word)
{
    ck_assert_msg(!support_try(p, solver, config, HOST_FILL_INT), "taken, in spite of %s", word);
    ck_assert_msg(strstr(kiln_last_error(), word), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused)
{
    kiln_problem p = winograd_problem(1, 3, 8, 8, 4);
    p.math = KILN_MATH_EXACT;
    refused(winograd_solvers[_i], &p, NULL, "plain sums");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.stride[1] = 3;
    refused(winograd_solvers[_i], &p, NULL, "stride");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.stride[1] = 2;
    p.direction = KILN_BACKWARD_DATA;
    refused(winograd_solvers[_i], &p, NULL, "stride 1 only");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.filter[0] = p.filter[1] = p.stride[0] = p.stride[1] = 2;
    refused(winograd_solvers[_i], &p, NULL, "one tap");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.dilation[0] = p.stride[1] = 2;
    refused(winograd_solvers[_i], &p, NULL, "not for both");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.filter[0] = 8;
    refused(winograd_solvers[_i], &p, NULL, "7 taps");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.filter[0] = p.filter[1] = 1;
    refused(winograd_solvers[_i], &p, NULL, "one tap");
    p = winograd_problem(1, 3, 8, 8, 4);
    refused(winograd_solvers[_i], &p, "T_T=10", "along two axes");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.filter[0] = p.filter[1] = 5;
    refused(winograd_solvers[_i], &p, "T_T=4", "5 taps");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.x_type = p.w_type = KILN_I8;
    refused(winograd_solvers[_i], &p, NULL, "integers");
    p = winograd_problem(1, 3, 8, 8, 4);
    p.direction = KILN_BACKWARD_WEIGHTS;
    refused(winograd_solvers[_i], &p, NULL, "backward data");
    p = winograd_problem(2, 16, 7, 6, 20);
    p.groups = 2;
    refused(winograd_solvers[_i], &p, NULL, "fill blocks");
    p = winograd_problem(2, 32, 7, 6, 32);
    p.groups = 2;
    if (_i == 1)
        refused("winograd_staged", &p, NULL, "one group");
}
END_TEST

/* Exceeding it, PoCL would abort the process. */
START_TEST(other_layouts_are_refused_where_they_must_be_native)
{
    const kiln_choice choice = {
        .solver = winograd_solvers[_i], .ignore_rows = 1, .native_layout = 1};
    static const char *const wrong[][3] = {{"NHWC", "NCHW", "in NHWC channels"},
                                           {"CHWN", "NCHW", "NCHW16c"},
                                           {"NCHW8c", "NCHW16c", "NCHW16c"}};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = winograd_problem(1, 3, 8, 8, 4);
        strcpy(p.x_layout, wrong[i][0]);
        strcpy(p.y_layout, wrong[i][1]);
        kiln_op *op;
        ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op),
                         KILN_UNSUPPORTED);
        ck_assert_msg(strstr(kiln_last_error(), wrong[i][2]), "%s", kiln_last_error());
    }
}
END_TEST

START_TEST(local_memory_is_respected)
{
    kiln_problem p = winograd_problem(1, 2048, 64, 64, 64);
    refused("winograd_fused", &p, "6,64,8,2,1,0", "local memory");
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    TCase *tests = tcase_create("winograd_configs");
    tcase_set_timeout(tests, winograd_patience());
    tcase_add_loop_test(tests, configs_of_the_search, 0, WINOGRAD_SOLVERS);
    tcase_add_test(tests, odd_configs);
    tcase_add_loop_test(tests, what_it_cannot_do_is_refused, 0, WINOGRAD_SOLVERS);
    tcase_add_loop_test(tests, other_layouts_are_refused_where_they_must_be_native, 0,
                        WINOGRAD_SOLVERS);
    tcase_add_test(tests, local_memory_is_respected);
    Suite *suite = suite_create("winograd_configs");
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
