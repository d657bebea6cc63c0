/* The solver first_mma: shapes, types, layouts, tiles and epilogues, for equality, on devices whose
 * tensor cores a probe found. On others it must refuse. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

static void check(const kiln_problem *p, const char *config)
{
    if (support_gpu()->has_mma)
        support_check(p, "first_mma", config, HOST_FILL_INT);
    else
        ck_assert(!support_try(p, "first_mma", config, HOST_FILL_INT));
}

/* One to four channels; filters whose taps fill steps or do not, and of one column; strides,
 * dilations, padding that differs and reaches beyond the image; tiles and blocks that are cut off.
 */
static const struct {
    const char *shape, *config;
} shapes[] = {
    {"n2-c3-k32-i21x37-f3x3-s2x2-p1x1", "2,16,4,1"},
    {"n1-c3-k72-i33x19-f7x7-s2x2-p3x3", "1,16,4,2"},
    {"n2-c4-k40-i9x70-f3x3-p1x1", "4,32,8,2"},
    {"n1-c1-k8-i12x20-f5x4-s1x3-p2x1", "8,56,4,1"},
    {"n3-c2-k16-i10x9-f2x2-s3x1-p7x7", "2,64,8,1"},
    {"n2-c3-k136-i13x12-f3x3-p2x3-e1x0-d2x3", "1,112,8,4"},
    {"n1-c4-k24-i5x30-f7x1-p3x0", "1,32,4,1"},
    {"n1-c3-k8-i3x4-f1x1-s2x2", "1,16,4,1"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(every_shape_is_exact)
{
    kiln_problem p = direct_problem(0, _i < SHAPES ? "f16" : "i8", shapes[_i % SHAPES].shape);
    support_set_layouts(&p, "NHWC", "NHWC");
    check(&p, shapes[_i % SHAPES].config);
}
END_TEST

START_TEST(every_type_is_exact)
{
    kiln_problem p = direct_problem(0, "f32", shapes[_i % 3].shape);
    support_set_types(&p, support_types_of[_i]);
    support_set_layouts(&p, "NHWC", "NHWC");
    check(&p, NULL);
}
END_TEST

START_TEST(the_source_may_have_channels_first)
{
    kiln_problem p = direct_problem(0, "f16", shapes[0].shape);
    support_set_layouts(&p, "NCHW", "NHWC");
    check(&p, NULL);
    p = direct_problem(0, "f16", "n2-c3-k16-i50-f7-s2-p3");
    support_set_layouts(&p, "NCW", "NWC");
    check(&p, NULL);
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    static const support_types types[] = {{KILN_F16, KILN_F16}, {KILN_I8, KILN_I8}};
    for (int i = 0; i < 2; i++) {
        kiln_problem p = direct_problem(0, "f32", shapes[i].shape);
        support_set_types(&p, types[i]);
        support_set_layouts(&p, "NHWC", "NHWC");
        p.epilogue = direct_epilogues[_i];
        check(&p, shapes[i].config);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("first_mma");
    TCase *c = tcase_create("first_mma");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 2 * SHAPES);
    tcase_add_loop_test(c, every_type_is_exact, 0, SUPPORT_TYPES);
    tcase_add_test(c, the_source_may_have_channels_first);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_EPILOGUES);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
