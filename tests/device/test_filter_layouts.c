/* Filters in every order of their axes, and in blocks, in three directions: each solver has the
 * right result in the layouts of x and y that it works on. */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

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
    {"weights_blocked", "f32-n2-c18-k17-i7x6-f3x3-p1x1", "NCHW", "NCHW16c"},
    {"weights_blocked", "f32-n2-c35-k37-i5x6-f1x1", "NCHW8c", "NCHW8c"},
    {"weights_blocked", "bf16-n2-c3-k37-i9x6-f3x2-s2x1", "NCHW", "NCHW16c"},
    {"weights_blocked", "f16-n1-c32-k48-i5x6-f3x3-g2", "NCHW4c", "NCHW4c"},
    {"weights_blocked", "f32-n1-c17-k37-i4x5x6-f2x3x1", "NCHW", "NCHW"},
    {"depthwise_weights", "f32-n2-c19-k19-i8x9-f3x3-p1x1-g19", "NHWC", "NHWC"},
    {"depthwise_weights", "bf16-n3-c37-k37-i8x9-f5x3-p1x1-g37", "NHWC", "NHWC"},
    {"depthwise", "f16-n2-c5-k15-i4x8x9-f2x3x2-g5", "NCHW", "NCHW"},
    {NULL, "f32-n2-c16-k8-i7x6-f3x3-s2x1-g8-trans", "NCHW", "NCHW"},
    {"direct", "bf16-n2-c6-k9-i7x16-f2x3-g3", "NCHW", "NCHW"},
    {"winograd_weights", "f16-n1-c35-k19-i5x6-f3x3", "NCHW16c", "NCHW16c"},
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

static const char *const depthwise[] = {"MIHW", "HWIM", "IHWM", "MIHW4i"};

enum { CASES = sizeof cases / sizeof *cases, FILTERS = sizeof filters / sizeof *filters };

static kiln_problem problem_of(int direction, int i, const char *filter)
{
    kiln_problem p;
    char name[256], why[KILN_ERROR_TEXT];
    const bool deep = strstr(cases[i].problem, "-i4x") != NULL; /* filters of three axes */
    const size_t rows = strcspn(filter, "H");
    snprintf(name, sizeof name, "%s-%s-l:%s.%.*s%s%s.%s", directions[direction], cases[i].problem,
             cases[i].x, (int)rows, filter, deep ? "D" : "", filter + rows, cases[i].y);
    ck_assert_msg(kiln_problem_parse(&p, name, why) == KILN_OK, "%s: %s", name, why);
    return p;
}

/* Returns whether the case ran in the direction. */
static bool try_filter(int direction, int i, const char *filter)
{
    const kiln_problem p = problem_of(direction, i, filter);
    return support_try(&p, cases[i].solver, NULL, HOST_FILL_INT);
}

START_TEST(every_solver_is_right)
{
    int run = 0;
    for (int i = 0; i < CASES; i++)
        for (int f = i % 2; f < FILTERS; f += 2)
            run += try_filter(_i, i, filters[f]);
    ck_assert_int_ge(run, 3 * 5); /* four choices, and a solver of the direction, on any device */
}
END_TEST

START_TEST(depthwise_filters_are_right)
{
    int run = 0;
    for (int i = 0; i < CASES; i++)
        for (int f = 0; strstr(cases[i].problem, "-g") && f < 4; f++) {
            const kiln_problem p = problem_of(_i, i, "OIHW");
            if (p.groups == (p.transposed ? p.out_channels : p.in_channels))
                run += try_filter(_i, i, depthwise[f]);
        }
    ck_assert_int_ge(run, 4 * 2); /* at least by depthwise and direct */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("filter_layouts");
    TCase *c = tcase_create("filter_layouts");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_solver_is_right, 0, 3);
    tcase_add_loop_test(c, depthwise_filters_are_right, 0, 3);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
