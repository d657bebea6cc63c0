/* The solvers winograd_gemm and winograd_gemm_weights: borders, layouts, types, tiles and
 * epilogues, within the bound of their algorithm. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

static const char *solver_of(int direction)
{
    return direction == 2 ? "winograd_gemm_weights" : "winograd_gemm";
}

/* Sums of Winograd's products are not exact, not even of integers. */
static void check(int direction, const kiln_problem *p, const char *config)
{
    support_check(p, solver_of(direction), config, HOST_FILL_UNIFORM);
}

/* Images smaller than a tile, tiles that reach past the last row and column, padding of 0 to 2,
 * channels and tiles that fill nothing, groups. */
static const char *const shapes[] = {
    "n1-c1-k1-i3x3-f3x3",        "n2-c5-k7-i9x10-f3x3-p1x1",     "n3-c4-k6-i7x13-f5x5-p3x0",
    "n1-c20-k33-i8x8-f3x3-p1x1", "n2-c12-k18-i7x6-f3x3-p1x1-g3", "n1-c9-k5-i14x3-f3x3-p0x2-e1x2",
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(every_shape_is_within_the_bound)
{
    for (int direction = 0; direction < 3; direction++) {
        const kiln_problem p = direct_problem(direction, "f32", shapes[_i]);
        check(direction, &p, NULL);
        if (direction < 2 || _i == 2)
            check(direction, &p, _i % 2 ? "32,32,8,4,4,1,6" : "32,32,8,4,4,1,8");
    }
}
END_TEST

START_TEST(channels_may_be_last)
{
    static const char *const x[] = {"NHWC", "NCHW", "NHWC"}, *const y[] = {"NHWC", "NHWC", "NCHW"};
    for (int direction = 0; direction < 3; direction++) {
        kiln_problem p = direct_problem(direction, "f32", shapes[1 + direction]);
        support_set_layouts(&p, x[_i], y[_i]);
        check(direction, &p, NULL);
    }
}
END_TEST

START_TEST(other_types_are_within_the_bound)
{
    static const char *const types[] = {"f16", "bf16"};
    for (int direction = 0; direction < 3; direction++) {
        const kiln_problem p = direct_problem(direction, types[_i], shapes[1]);
        check(direction, &p, NULL);
    }
}
END_TEST

START_TEST(shared_terms_are_within_the_bound)
{
    for (int direction = 0; direction < 3; direction++) {
        const kiln_problem p = direct_problem(direction, "f32", "n2-c20-k17-i9x9-f3x3-p1x1");
        check(direction, &p, "16,32,8,4,4,2,6");
    }
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    kiln_problem p = direct_problem(0, "f32", shapes[3]);
    p.epilogue = direct_epilogues[_i];
    check(0, &p, NULL);
    p = direct_problem(2, "f32", shapes[1]);
    p.epilogue.bias = 1;
    check(2, &p, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("winograd_gemm");
    TCase *c = tcase_create("winograd_gemm");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_within_the_bound, 0, SHAPES);
    tcase_add_loop_test(c, channels_may_be_last, 0, 3);
    tcase_add_loop_test(c, other_types_are_within_the_bound, 0, 2);
    tcase_add_test(c, shared_terms_are_within_the_bound);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_EPILOGUES);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
