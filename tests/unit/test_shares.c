/* In how many work-groups the items of a short launch are dealt to two cores. */
#include "shares.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static kiln_device_facts two_cores(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_CPU;
    d.compute_units = 2;
    strcpy(d.core, "AMD 1Ah");
    return d;
}

/* The first core takes the first share and the last. */
START_TEST(shares_are_odd)
{
    const kiln_device_facts d = two_cores();
    int dealt = 0;
    for (int all_us = 0; all_us < 390; all_us += 3)
        for (int64_t items = 1; items < 400; items++) {
            const int64_t shares = kiln_shares(&d, all_us, items);
            ck_assert_msg(shares == 0 || (shares % 2 == 1 && shares > 1 && 2 * shares <= items),
                          "%lld of %lld items", (long long)shares, (long long)items);
            dealt += shares > 0;
        }
    ck_assert_int_gt(dealt, 10000);
}
END_TEST

START_TEST(shares_are_even_sized_where_they_can_be)
{
    const kiln_device_facts d = two_cores();
    ck_assert_int_eq(kiln_shares(&d, 38, 28), 7);
    ck_assert_int_eq(kiln_shares(&d, 38, 30), 5);
    ck_assert_int_eq(kiln_shares(&d, 80, 99), 11);
    ck_assert_int_eq(kiln_shares(&d, 80, 143), 11);
}
END_TEST

START_TEST(others_have_none)
{
    kiln_device_facts d = two_cores();
    ck_assert_int_eq(kiln_shares(&d, 38, 5), 0);
    ck_assert_int_eq(kiln_shares(&d, 5000, 1000), 0);
    ck_assert_int_eq(kiln_shares(&d, 1e300, 1000), 0);
    ck_assert_int_eq(kiln_shares(&d, 38, INT64_MAX), 0);
    d.compute_units = 16;
    ck_assert_int_eq(kiln_shares(&d, 38, 28), 0);
    d.compute_units = 2;
    d.kind = KILN_DEVICE_GPU;
    ck_assert_int_eq(kiln_shares(&d, 38, 28), 0);
    d = two_cores();
    strcpy(d.core, "x86 6-143"); /* all cores share a cache */
    ck_assert_int_eq(kiln_shares(&d, 38, 28), 0);
}
END_TEST

static kiln_stage grid_of(double ms)
{
    static kiln_plan plan;
    const kiln_device_facts d = two_cores();
    kiln_plan_start(&plan);
    kiln_plan_stage(&plan, "direct_blocked.cl", "direct_blocked");
    kiln_grid_shared(&plan, &d, ms, 7, 2, 2);
    ck_assert(!plan.broken);
    return plan.stage[0];
}

START_TEST(a_grid_of_shares_knows_its_items)
{
    kiln_stage stage = grid_of(kiln_device_launch_ms(&(kiln_device_facts){0}) + 0.019);
    ck_assert_uint_eq(stage.shares, 7);
    ck_assert_uint_eq(stage.global[0], 28);
    ck_assert_uint_eq(stage.global[1] * stage.global[2], 1);
    ck_assert_str_eq(stage.options, "-DITEMS_DEALT=1 -DITEMS_0=7 -DITEMS_1=2 -DITEMS_2=2");
    stage = grid_of(10);
    ck_assert_uint_eq(stage.shares, 0);
    ck_assert_uint_eq(stage.global[0], 7);
    ck_assert_uint_eq(stage.global[1], 2);
    ck_assert_uint_eq(stage.global[2], 2);
    ck_assert_str_eq(stage.options, "-DITEMS_DEALT=0");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shares");
    TCase *tests = tcase_create("shares");
    tcase_add_test(tests, shares_are_odd);
    tcase_add_test(tests, shares_are_even_sized_where_they_can_be);
    tcase_add_test(tests, others_have_none);
    tcase_add_test(tests, a_grid_of_shares_knows_its_items);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
