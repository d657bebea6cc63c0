/* Filters in every order of their axes, and in blocks, in three directions: each solver has the
 * right result in the layouts of x and y that it works on. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>

/* Awkward sizes, which no filter block divides. */
static const struct {
    const char *solver, *problem, *x, *y;
} cases[] = {
    {NULL, "f32-n2-c17-k5-i7x9-f3x2", "NHWC", "NHWC"},
    {"nhwc_direct", "f32-n1-c17-k19-i6x5-f3x3-p1x1", "NHWC", "NHWC"},
    {"direct_blocked", "f32-n2-c12-k20-i5x7-f3x3-p1x1-g2", "NCHW", "NCHW16c"},
    {"direct_pixels", "f32-n1-c13-k6-i9x17-f3x3-p1x1", "NCHW", "NCHW"},
    {"winograd_fused", "f32-n1-c18-k21-i11x13-f3x3-p1x1", "NHWC", "NHWC"},
    {"winograd_staged", "f32-n1-c18-k21-i11x13-f3x3-p1x1", "NCHW", "NCHW"},
    {"depthwise_blocked", "f32-n1-c19-k19-i8x9-f3x3-p1x1-g19", "NHWC", "NHWC"},
    {"depthwise", "f32-n1-c5-k10-i8x9-f3x3-p1x1-g5", "NCHW", "NCHW"},
    {"direct", "f32-n2-c9-k11-i7x6-f2x3-s2x1-g1", "NCHW", "NCHW"},
    {"weights_blocked", "f32-n2-c18-k17-i7x6-f3x3-p1x1", "NHWC", "NHWC"},
    {"winograd_weights", "f32-n2-c18-k17-i9x8-f3x3-p1x1", "NHWC", "NHWC"},
    {"gemm", "f32-n2-c9-k11-i7x6-f2x3-s2x1", "NHWC", "NHWC"},
    {"gemm_weights", "f32-n2-c9-k11-i7x6-f2x3-s2x1", "NHWC", "NHWC"},
    {"winograd_gemm", "f32-n1-c9-k11-i7x6-f3x3-p1x1", "NCHW", "NCHW"},
    {"gemv", "f32-n1-c72-k21-i1x1-f1x1", "NHWC", "NHWC"},
    {NULL, "bf16-n1-c33-k18-i7x9-f3x3-p1x1", "NHWC", "NHWC"},
    {NULL, "i8-n1-c33-k18-i7x9-f3x3-p1x1", "NHWC", "NHWC"},
    {NULL, "f16-n1-c5-k18-i7x9-f3x3-p1x1-trans", "NHWC", "NHWC"},
    {"first_layer", "f32-n1-c3-k18-i9x9-f3x3-s2x2", "NHWC", "NHWC"},
    {"general", "f32-n1-c3-k18-i9x9-f3x3-s2x2", "NHWC", "NHWC"},
};
static const char *const directions[] = {"fwd", "bwd", "wrw"};
static const char *const filters[] = {"OHWI", "HWIO", "HWOI", "OHWI4o", "OIHW16i16o", "IHWO"};

enum { CASES = sizeof cases / sizeof *cases, FILTERS = sizeof filters / sizeof *filters };

START_TEST(every_solver_is_right)
{
    int run = 0;
    for (int i = 0; i < CASES; i++)
        for (int f = i % 2; f < FILTERS; f += 2) {
            kiln_problem p;
            char name[256], why[KILN_ERROR_TEXT];
            snprintf(name, sizeof name, "%s-%s-l:%s.%s.%s", directions[_i], cases[i].problem,
                     cases[i].x, filters[f], cases[i].y);
            ck_assert_msg(kiln_problem_parse(&p, name, why) == KILN_OK, "%s: %s", name, why);
            run += support_try(&p, cases[i].solver, NULL, HOST_FILL_INT);
        }
    ck_assert_int_ge(run, 3 * 5); /* four choices, and a solver of the direction, on any device */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("filter_layouts");
    TCase *c = tcase_create("filter_layouts");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_solver_is_right, 0, 3);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
