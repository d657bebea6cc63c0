/* Which launches threads share, and in what units. */
#include "generator/plan/shared_grid.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_device_facts two_cores(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_CPU;
    d.compute_units = 2;
    d.shares_work = true;
    return d;
}

typedef void set_grid(kiln_plan *plan, const kiln_device_facts *d, double ms, int64_t g0,
                      int64_t g1, int64_t g2);

static kiln_stage grid_by(set_grid *set, const kiln_device_facts *d, double all_us, int64_t g0,
                          int64_t g1, int64_t g2)
{
    static kiln_plan plan;
    kiln_plan_start(&plan);
    kiln_plan_stage(&plan, "direct_blocked.cl", "direct_blocked");
    set(&plan, d, all_us / 1000 / d->compute_units + kiln_device_launch_ms(d), g0, g1, g2);
    ck_assert(!plan.broken);
    return plan.stage[0];
}

/* Returns the stage of a launch that takes one core `all_us`. */
static kiln_stage grid_of(const kiln_device_facts *d, double all_us, int64_t g0, int64_t g1,
                          int64_t g2)
{
    return grid_by(kiln_grid_shared, d, all_us, g0, g1, g2);
}

START_TEST(a_team_knows_its_items)
{
    const kiln_device_facts d = two_cores();
    const kiln_stage s = grid_of(&d, 38, 7, 2, 20);
    ck_assert(s.shared);
    ck_assert_uint_eq(s.global[0], 280);
    ck_assert_uint_eq(s.global[1] * s.global[2], 1);
    ck_assert_str_eq(s.options,
                     "-DITEMS_SHARED=1 -DITEMS_0=7 -DITEMS_1=2 -DITEMS_2=20 -DITEMS_UNIT=3");
    ck_assert_int_eq(s.nargs, 1);
    ck_assert_int_eq(s.arg[0].kind, KILN_ARG_SHARING);
}
END_TEST

START_TEST(others_keep_their_grid)
{
    const struct {
        double all_us;
        int64_t g[3];
        int units;
        bool shares_work;
        kiln_device_kind kind;
    } cases[] = {
        {60000, {7, 2, 2}, 2, true, KILN_DEVICE_CPU}, /* long */
        {1e300, {7, 2, 2}, 2, true, KILN_DEVICE_CPU},
        {7000, {7, 20, 20}, 16, true, KILN_DEVICE_CPU}, /* long for one thread */
        {38, {1 << 20, 1 << 6, 2}, 2, true, KILN_DEVICE_CPU},
        {38, {7, 2, 2}, 2, false, KILN_DEVICE_CPU},
        {3, {7, 2, 2}, 2, false, KILN_DEVICE_CPU},
        {38, {7, 2, 2}, 2, false, KILN_DEVICE_GPU},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_device_facts d = two_cores();
        d.compute_units = cases[i].units;
        d.shares_work = cases[i].shares_work;
        d.kind = cases[i].kind;
        const int64_t *g = cases[i].g;
        const kiln_stage s = grid_of(&d, cases[i].all_us, g[0], g[1], g[2]);
        ck_assert_msg(!s.shared, "case %zu", i);
        ck_assert_str_eq(s.options, "-DITEMS_SHARED=0");
        ck_assert_int_eq(s.nargs, 0);
        for (int a = 0; a < 3; a++)
            ck_assert_uint_eq(s.global[a], (size_t)g[a]);
    }
}
END_TEST

/* Only what is shared has parts, and only what has two items along the axis. */
START_TEST(the_first_axis_is_parted)
{
    const kiln_device_facts d = two_cores();
    const char *const options[] = {
        "-DITEMS_SHARED=1 -DITEMS_0=7 -DITEMS_1=2 -DITEMS_2=20 -DITEMS_UNIT=3 -DITEMS_PARTS=2",
        "-DITEMS_SHARED=1 -DITEMS_0=1 -DITEMS_1=2 -DITEMS_2=20 -DITEMS_UNIT=1",
        "-DITEMS_SHARED=1 -DITEMS_0=7 -DITEMS_1=2 -DITEMS_2=2 -DITEMS_UNIT=28",
        "-DITEMS_SHARED=0",
    };
    ck_assert_str_eq(grid_by(kiln_grid_parted, &d, 38, 7, 2, 20).options, options[0]);
    ck_assert_str_eq(grid_by(kiln_grid_parted, &d, 38, 1, 2, 20).options, options[1]);
    ck_assert_str_eq(grid_by(kiln_grid_parted, &d, 3, 7, 2, 2).options, options[2]);
    ck_assert_str_eq(grid_by(kiln_grid_parted, &d, 1e300, 7, 2, 2).options, options[3]);
}
END_TEST

/* A short launch, or one with a single item, is one unit. */
START_TEST(one_thread_has_one_unit)
{
    kiln_device_facts d = two_cores();
    for (d.compute_units = 2; d.compute_units <= 16; d.compute_units *= 8) {
        const kiln_stage brief = grid_of(&d, 3, 7, 2, 2), single = grid_of(&d, 38, 1, 1, 1);
        ck_assert(brief.shared && single.shared);
        ck_assert_str_eq(brief.options,
                         "-DITEMS_SHARED=1 -DITEMS_0=7 -DITEMS_1=2 -DITEMS_2=2 -DITEMS_UNIT=28");
        ck_assert_str_eq(single.options,
                         "-DITEMS_SHARED=1 -DITEMS_0=1 -DITEMS_1=1 -DITEMS_2=1 -DITEMS_UNIT=1");
    }
}
END_TEST

/* Enough units that no core waits for long, and no more than a word can count. */
START_TEST(there_are_neither_few_nor_many_units)
{
    kiln_device_facts d = two_cores();
    d.compute_units = _i;
    for (int64_t items = 2; items < (1 << 26); items = items * 7 / 4 + 1)
        for (int all_us = 5; all_us * d.compute_units <= 100000; all_us *= 3) {
            const kiln_stage s = grid_of(&d, all_us, items, 1, 1);
            long unit = 0;
            ck_assert(s.shared);
            ck_assert_int_eq(sscanf(strstr(s.options, "ITEMS_UNIT="), "ITEMS_UNIT=%ld", &unit), 1);
            ck_assert_int_ge(unit, 1);
            ck_assert(unit == 1 || items / unit >= 8 * d.compute_units);
            ck_assert_int_lt(items / unit, 65536);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("team_grid");
    TCase *tests = tcase_create("team_grid");
    tcase_add_test(tests, a_team_knows_its_items);
    tcase_add_test(tests, the_first_axis_is_parted);
    tcase_add_test(tests, others_keep_their_grid);
    tcase_add_test(tests, one_thread_has_one_unit);
    tcase_add_loop_test(tests, there_are_neither_few_nor_many_units, 2, 17);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
