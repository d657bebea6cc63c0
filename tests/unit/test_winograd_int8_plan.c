/* Winograd of i8 without a device: guesses, limits, layouts. */
#include "generator/plan/solver.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static kiln_shape shape(int64_t n, int64_t c, int64_t size, int64_t k, const char *layout)
{
    kiln_problem p = {.x_type = KILN_I8,
                      .w_type = KILN_I8,
                      .batch = n,
                      .in_channels = c,
                      .out_channels = k,
                      .input = {size, size},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .math = KILN_MATH_EXACT};
    strcpy(p.x_layout, layout);
    strcpy(p.y_layout, layout);
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

/* Every accepted problem has a legal guess, on devices with much and with little local memory. */
START_TEST(guesses_are_legal)
{
    static const int64_t channels[] = {1, 3, 16, 100, 512, 3640}, sizes[] = {1, 7, 56, 224};
    const kiln_solver *solver = kiln_solver_named("winograd_int8");
    int refused = 0;
    for (int i = 0; i < 6 * 4 * 2; i++) {
        kiln_shape s = shape(1, channels[i % 6], sizes[i / 6 % 4], channels[(i + i / 6) % 6],
                             i % 2 ? "NHWC" : "NCHW");
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
    ck_assert_int_eq(refused, 4); /* 3640 channels in 32 KiB */
}
END_TEST

START_TEST(a_gpu_is_refused)
{
    kiln_shape s = shape(1, 64, 28, 64, "NCHW");
    kiln_device_facts d = cpu();
    kiln_why why;
    d.kind = KILN_DEVICE_GPU;
    const kiln_solver *solver = kiln_solver_named("winograd_int8");
    ck_assert(solver->reject(solver, &s, &d, &why));
    ck_assert_msg(strstr(why.text, "CPU"), "%s", why.text);
}
END_TEST

/* Large images get large tiles, and one of 2 x 2 pixels a small one. */
START_TEST(tiles_fit_the_image)
{
    const kiln_solver *solver = kiln_solver_named("winograd_int8");
    kiln_device_facts d = cpu();
    kiln_shape large = shape(1, 64, 56, 64, "NCHW16c"), small = shape(1, 64, 2, 64, "NCHW16c");
    kiln_config c;
    solver->guess(solver, &large, &d, &c);
    ck_assert_int_eq(c.v[0], 4);
    solver->guess(solver, &small, &d, &c);
    ck_assert_int_eq(c.v[0], 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("winograd_int8_plan");
    TCase *c = tcase_create("winograd_int8_plan");
    tcase_add_test(c, guesses_are_legal);
    tcase_add_test(c, a_gpu_is_refused);
    tcase_add_test(c, tiles_fit_the_image);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
