/* The Winograd solvers without a device: error bounds, limits, predictions. */
#include "generator/solvers/winograd/winograd.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static kiln_shape shape(int64_t n, int64_t c, int64_t size, int64_t k)
{
    kiln_problem p = {.batch = n,
                      .in_channels = c,
                      .out_channels = k,
                      .input = {size, size},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1}};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    return kiln_shape_of(&p);
}

static kiln_device_facts cpu(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.local_memory = 1 << 20;
    d.simd_floats = 16;
    return d;
}

/* Computed by hand, per axis: 8/3 and 48/3 from the row sums of the matrices, 5/3 and 94.33/3 from
 * their sums of squares. An axis with one tap adds nothing. */
START_TEST(the_amplification_is_that_of_the_matrices)
{
    static const int square[2] = {3, 3}, row[2] = {1, 3};
    const int64_t many = 1 << 20;
    ck_assert_double_eq_tol(kiln_winograd_amplification(4, square, 1), 64.0 / 9 * 31 / 10, 1e-9);
    ck_assert_double_eq_tol(kiln_winograd_amplification(6, square, 1), 256.0 * 31 / 10, 1e-9);
    ck_assert_double_eq_tol(kiln_winograd_amplification(6, row, 1), 16.0 * 31 / 4, 1e-9);
    ck_assert_double_eq_tol(kiln_winograd_amplification(4, square, many), 5.0 / 3, 1e-9);
    ck_assert_double_eq_tol(kiln_winograd_amplification(6, square, many), 31.4444, 1e-3);
    ck_assert_double_eq_tol(kiln_winograd_amplification(6, row, many), sqrt(31.4444), 1e-3);
    ck_assert_double_eq_tol(kiln_winograd_amplification(8, square, many), 56.528, 1e-2);
}
END_TEST

static const char *const names[] = {"winograd_fused", "winograd_staged"};

START_TEST(a_gpu_is_refused)
{
    const kiln_solver *solver = kiln_solver_named(names[_i]);
    kiln_shape s = shape(1, 64, 28, 64);
    kiln_device_facts d = cpu();
    kiln_why why;
    ck_assert(!solver->reject(solver, &s, &d, &why));
    d.kind = KILN_DEVICE_GPU;
    ck_assert(solver->reject(solver, &s, &d, &why));
    ck_assert_msg(strstr(why.text, "CPU"), "%s", why.text);
}
END_TEST

/* Every accepted problem has a legal guess, on devices with much and with little local memory. */
START_TEST(guesses_are_legal)
{
    static const int64_t channels[] = {1, 3, 16, 100, 512, 2048}, sizes[] = {1, 7, 56, 224};
    const kiln_solver *solver = kiln_solver_named(names[_i]);
    int refused = 0;
    for (int i = 0; i < 6 * 4 * 2; i++) {
        kiln_shape s = shape(1, channels[i % 6], sizes[i / 6 % 4], channels[(i + i / 6) % 6]);
        kiln_device_facts d = i < 24 ? cpu() : kiln_device_generic();
        kiln_why why;
        if (solver->reject(solver, &s, &d, &why)) {
            ck_assert_msg(strstr(why.text, "local memory"), "%s", why.text);
            refused++;
            continue;
        }
        kiln_config c;
        solver->guess(solver, &s, &d, &c);
        ck_assert_msg(!kiln_config_refused(solver, &s, &d, &c, false, &why), "%s", why.text);
        ck_assert(isfinite(solver->predict(solver, &s, &d, &c)));
    }
    ck_assert_int_eq(refused > 0, _i == 0);
    ck_assert_int_lt(refused, 24);
}
END_TEST

/* A tile begins at each row and column that a dilation skips; 32 bits must count these too. */
START_TEST(a_huge_dilation_is_refused)
{
    const kiln_solver *solver = kiln_solver_named(names[_i]);
    kiln_device_facts d = cpu();
    kiln_why why;
    for (int huge = 0; huge < 2; huge++) {
        int64_t dilation = huge ? 100000 : 2;
        kiln_problem p = {.batch = 1,
                          .in_channels = 16,
                          .out_channels = 16,
                          .input = {9, 9},
                          .filter = {3, 3},
                          .pad_begin = {dilation, dilation},
                          .pad_end = {dilation, dilation},
                          .dilation = {dilation, dilation},
                          .x_layout = "NCHW16c",
                          .y_layout = "NCHW16c"};
        ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
        kiln_shape s = kiln_shape_of(&p);
        ck_assert_int_eq(solver->reject(solver, &s, &d, &why), huge);
    }
    ck_assert_msg(strstr(why.text, "32 bits"), "%s", why.text);
}
END_TEST

START_TEST(blocks_are_preferred_where_they_are_filled)
{
    kiln_problem p = {.batch = 1,
                      .in_channels = 3,
                      .out_channels = 64,
                      .input = {9, 9},
                      .filter = {3, 3},
                      .x_layout = "any",
                      .w_layout = "any",
                      .y_layout = "any"};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    const kiln_solver *solver = kiln_solver_named(names[_i]);
    kiln_shape s = kiln_shape_of(&p), own;
    kiln_device_facts d = cpu();
    kiln_why why;
    ck_assert_msg(kiln_solver_takes(solver, &s, &d, &own, &why), "%s", why.text);
    ck_assert_str_eq(own.x_layout, "NCHW");
    ck_assert_str_eq(own.w_layout, "OIHW");
    ck_assert_str_eq(own.y_layout, "NCHW16c");
}
END_TEST

/* Every item takes the time of a full one, so that 25 tiles on two units are best split into 13
 * and 12.
 */
START_TEST(tiles_are_dealt_evenly)
{
    const kiln_solver *solver = kiln_solver_named("winograd_fused");
    kiln_shape s = shape(1, 64, 28, 64);
    kiln_device_facts d = cpu();
    kiln_config even = {.v = {8, 13, 13, 2, 1, 0}}, uneven = {.v = {8, 20, 10, 2, 1, 0}};
    ck_assert_double_lt(solver->predict(solver, &s, &d, &even),
                        solver->predict(solver, &s, &d, &uneven));
    kiln_config c;
    solver->guess(solver, &s, &d, &c);
    ck_assert_double_le(solver->predict(solver, &s, &d, &c),
                        solver->predict(solver, &s, &d, &even));
}
END_TEST

START_TEST(filters_beyond_the_cache_are_fetched_ahead)
{
    const kiln_solver *solver = kiln_solver_named("winograd_staged");
    kiln_device_facts d = cpu();
    kiln_config c = {.v = {6, 4, 4, 2}};
    static const int64_t channels[] = {64, 512};
    static kiln_plan plan;
    for (int i = 0; i < 2; i++) {
        kiln_shape s = shape(1, channels[i], 7, channels[i]);
        kiln_why why;
        ck_assert_msg(kiln_solver_plan(solver, &s, &d, &c, &plan, &why), "%s", why.text);
        for (int j = 0; j < plan.nstages; j++)
            ck_assert_int_eq(strstr(plan.stage[j].options, "-DD_FILTERS_AHEAD=1") != NULL, i);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("winograd");
    tcase_add_test(tests, the_amplification_is_that_of_the_matrices);
    tcase_add_loop_test(tests, a_gpu_is_refused, 0, 2);
    tcase_add_loop_test(tests, guesses_are_legal, 0, 2);
    tcase_add_loop_test(tests, a_huge_dilation_is_refused, 0, 2);
    tcase_add_loop_test(tests, blocks_are_preferred_where_they_are_filled, 0, 2);
    tcase_add_test(tests, tiles_are_dealt_evenly);
    tcase_add_test(tests, filters_beyond_the_cache_are_fetched_ahead);
    Suite *suite = suite_create("winograd plans");
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
