/* The solver gemv: shapes, groups, layouts, types, tiles, both directions and epilogues, for
 * equality. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

/* Channels that fill no step, vector or tile; filters as large as images; groups; three axes. */
static const struct {
    const char *shape, *x;
} shapes[] = {
    {"n1-c480-k20-i1x1-f1x1", "NCHW"},      {"n5-c72-k21-i1x1-f1x1", "NHWC"},
    {"n1-c1-k1-i1x1-f1x1", "NCHW"},         {"n3-c37-k50-i1x1-f1x1", "NCHW"},
    {"n2-c48-k36-i1x1-f1x1-g3", "NCHW"},    {"n2-c12-k10-i3x5-f1x1-g2", "NHWC"},
    {"n3-c5-k9-i4x3-f4x3", "NCHW"},         {"n2-c8-k24-i1x1x1-f1x1x1", "NCDHW"},
    {"n2-c24-k16-i1x1-f1x1-trans", "NCHW"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Tiles that are cut off, teams of all items, items with one sum and with many. */
static const char *const configs[] = {NULL, "64,4,1,1", "64,64,2,1", "128,16,4,4", "64,8,1,8"};

enum { CONFIGS = sizeof configs / sizeof *configs };

static kiln_problem problem_of(int direction, int i)
{
    kiln_problem p = direct_problem(direction, "f32", shapes[i].shape);
    support_set_layouts(&p, shapes[i].x, shapes[i].x);
    return p;
}

static void check(const kiln_problem *p, int config)
{
    support_check(p, "gemv", configs[config % CONFIGS], HOST_FILL_INT);
}

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < SHAPES; i++) {
        const kiln_problem p = problem_of(_i, i);
        check(&p, i + _i);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = problem_of(_i, (t + 3 * _i) % 6);
        support_set_types(&p, support_types_of[t]);
        check(&p, t);
    }
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    static const int some[] = {1, 5, 6};
    kiln_problem p = problem_of(0, some[_i]);
    p.epilogue = direct_epilogues[_i];
    check(&p, _i + 2);
}
END_TEST

/* Values of which sums round, against bounds. */
START_TEST(sums_are_as_exact_as_promised)
{
    const kiln_problem p = direct_problem(_i, "f16", "n2-c1000-k1000-i1x1-f1x1");
    support_check(&p, "gemv", NULL, HOST_FILL_UNIFORM);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemv");
    TCase *c = tcase_create("gemv");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 2);
    tcase_add_loop_test(c, every_type_is_exact, 0, 2);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_EPILOGUES);
    tcase_add_loop_test(c, sums_are_as_exact_as_promised, 0, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
