/* winograd_weights: remainders of tiles and channels, every config, types, layouts, exact integers.
 */
#include "generator/plan/solver.h"
#include "runtime/kiln/kiln_internal.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char solver[] = "winograd_weights";

static kiln_problem problem(int64_t n, int64_t c, int64_t k, int64_t h, int64_t w, int64_t pad)
{
    return (kiln_problem){.direction = KILN_BACKWARD_WEIGHTS,
                          .batch = n,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {h, w},
                          .filter = {3, 3},
                          .pad_begin = {pad, pad},
                          .pad_end = {pad, pad}};
}

static void check(const kiln_problem *p, const char *config)
{
    if (!support_try(p, solver, config, HOST_FILL_INT))
        ck_assert_msg(strstr(kiln_last_error(), "CPU") != NULL, "%s", kiln_last_error());
}

START_TEST(remainders_of_tiles)
{
    static const int64_t sizes[][2] = {{1, 1}, {1, 6}, {2, 3}, {3, 8}, {4, 4}, {5, 2}, {6, 9}};
    for (int i = 0; i < 7; i++) {
        kiln_problem p = problem(2, 3, 5, sizes[i][0], sizes[i][1], 1);
        check(&p, NULL);
    }
    kiln_problem bare = problem(1, 4, 4, 11, 6, 0), wide = problem(1, 4, 4, 5, 6, 2);
    check(&bare, NULL);
    check(&wide, NULL);
    wide.pad_begin[0] = 0; /* as unlike as it gets */
    wide.pad_end[1] = 1;
    check(&wide, NULL);
}
END_TEST

START_TEST(remainders_of_channels)
{
    static const int64_t counts[] = {1, 16, 35};
    for (int i = 0; i < 9; i += 2) { /* each count is some source's and some result's */
        kiln_problem p = problem(1, counts[i / 3], counts[i % 3], 9, 7, 1);
        support_set_layouts(&p, "any", "any");
        check(&p, NULL);
    }
}
END_TEST

START_TEST(every_config)
{
    const support_device *d = support_open();
    enum { ROWS = 2 };
    kiln_problem p = problem(2, 70, 37, 11, 9, 1);
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_shape s = kiln_shape_of(&p);
    const kiln_solver *w = kiln_solver_named(solver);
    int64_t position = 0, tried = 0;
    for (kiln_config c; kiln_config_next(w, &s, &d->kiln->facts, &position, &c); tried++) {
        char text[KILN_CONFIG_TEXT];
        if (c.v[ROWS] > 0 && (c.v[0] != 8 || c.v[1] != 2))
            continue; /* tiles and parts do not know of each other */
        kiln_config_text(w, &c, text, sizeof text);
        check(&p, text);
    }
    ck_assert(tried > 2 || d->kiln->facts.kind != KILN_DEVICE_CPU);
    check(&p, "4,3,1,3");
    check(&p, "8,1,3,2");
}
END_TEST

START_TEST(types_layouts_and_transposed)
{
    static const kiln_type types[] = {KILN_F32, KILN_F16, KILN_BF16};
    static const char *const layouts[][2] = {{"NCHW", "NCHW"},       {"NC/16HW16", "NC/16HW16"},
                                             {"NC/8HW8", "NCHW"},    {"NCHW", "NC/4HW4"},
                                             {"NC/8HW8", "NC/8HW8"}, {"any", "any"}};
    for (int t = 0; t < 3; t++)
        for (int l = t % 2; l < 6; l += 2) {
            kiln_problem p = problem(2, 19, 21, 8, 5, 1);
            p.x_type = p.y_type = p.w_type = types[t];
            p.transposed = l >= 3;
            support_set_layouts(&p, layouts[l][0], layouts[l][1]);
            check(&p, NULL);
        }
}
END_TEST

START_TEST(the_bias_gradient_comes_too)
{
    kiln_problem p = problem(2, 19, 21, 8, 5, 1);
    p.epilogue.bias = 1;
    check(&p, NULL);
    support_set_layouts(&p, "any", "any");
    check(&p, NULL);
    p.transposed = 1;
    check(&p, NULL);
}
END_TEST

START_TEST(what_it_cannot_do_is_refused)
{
    kiln_problem p = problem(1, 8, 8, 8, 8, 1);
    kiln_op *op;
    const kiln_choice choice = {.solver = solver};
    p.math = KILN_MATH_EXACT;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    p.math = KILN_MATH_FAST;
    p.stride[0] = 2;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    p.stride[0] = 1;
    p.direction = KILN_FORWARD;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("winograd_weights");
    TCase *t = tcase_create("device");
    tcase_add_test(t, remainders_of_tiles);
    tcase_add_test(t, remainders_of_channels);
    tcase_add_test(t, every_config);
    tcase_add_test(t, types_layouts_and_transposed);
    tcase_add_test(t, the_bias_gradient_comes_too);
    tcase_add_test(t, what_it_cannot_do_is_refused);
    suite_add_tcase(s, t);
    return support_run_suite(s);
}
