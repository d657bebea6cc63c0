/* The solver depthwise_reduce: shapes, types and parts, exactly. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

enum { WEIGHTS = 2 };

/* Multipliers, strides alone and with a dilation, padding that differs and reaches beyond the
 * image, one pixel, fewer pixels than items, one and three axes, a transposed problem, groups of
 * several source channels. */
static const char *const shapes[] = {
    "n2-c7-k7-i9x11-f3x3-p1x1-g7",
    "n2-c3-k9-i8x8-f5x5-s3x3-p2x2-g3",
    "n2-c4-k8-i10x13-f3x3-s1x2-p2x2-d2x3-g4",
    "n1-c3-k3-i12x9-f2x4-s2x3-p1x0-e0x2-d1x2-g3",
    "n1-c2-k2-i3x3-f3x3-s2x2-p7x7-g2",
    "n1-c8-k8-i1x1-f1x1-g8",
    "n3-c4-k4-i131-f7-s3-p6-e1-d2-g4",
    "n2-c3-k6-i5x6x7-f3x3x3-s2x1x2-p1x1x1-g3",
    "n2-c4-k4-i5x3-f2x3-s4x3-g4-trans-o3x2",
    "n3-c3-k5-i8x8-f5x5-s3x3-p2x2",
    "n2-c6-k4-i9x7-f3x3-p1x1-g2",
    "n1-c16-k3-i3x5x4-f2x3x2-p1x0x1",
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "depthwise_reduce", config, HOST_FILL_INT);
}

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < SHAPES; i++) {
        const kiln_problem p = direct_problem(WEIGHTS, "f32", shapes[i]);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = direct_problem(WEIGHTS, "f32", shapes[t % 3]);
        support_set_types(&p, support_types_of[t]);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(channels_may_be_last)
{
    kiln_problem p = direct_problem(WEIGHTS, "f32", shapes[_i]);
    support_set_layouts(&p, "NHWC", "NHWC");
    check(&p, NULL);
}
END_TEST

/* Vectors that fill the last group of channels, or do not; strides, dilations, parts. */
START_TEST(channels_may_be_vectors)
{
    static const struct {
        const char *shape, *config;
    } cases[] = {
        {"n2-c16-k16-i9x11-f3x3-p1x1-g16", "64,8,2,1,4,1"},
        {"n2-c40-k40-i7x8-f3x3-s2x2-p1x1-g40", "64,16,3,2,8,4"},
        {"n3-c12-k12-i8x6-f5x5-p2x3-d2x1-g12", "64,4,1,3,4,3"},
        {"n1-c8-k8-i5x40-f2x3-s1x2-p0x1-g8", "64,64,4,1,8,2"},
        {"n2-c6-k6-i7x9-f3x3-p1x1-g6", "64,2,3,2,2,4"},
        {"n1-c130-k130-i4x4-f3x3-p1x1-g130", "64,128,2,1,2,2"},
    };
    kiln_problem p = direct_problem(WEIGHTS, "f32", cases[_i].shape);
    support_set_layouts(&p, "NHWC", "NHWC");
    check(&p, cases[_i].config);
    support_set_types(&p, support_types_of[_i % SUPPORT_FLOATS]);
    check(&p, cases[_i].config);
}
END_TEST

START_TEST(parts_are_added)
{
    static const char *const configs[] = {"64,1,4,2,1,1", "128,4,1,5,1,4", "256,16,3,12,1,5",
                                          "64,4,3,5,1,2"};
    kiln_problem p = direct_problem(WEIGHTS, "f32", shapes[_i < 3 ? _i : SHAPES - 2]);
    p.epilogue.bias = 1;
    check(&p, configs[_i]);
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    const kiln_problem p = direct_problem(WEIGHTS, "f32", "n3-c5-k5-i35x36-f3x3-p1x1-g5");
    support_check(&p, "depthwise_reduce", _i ? "64,2,7,3,1,2" : NULL, HOST_FILL_UNIFORM);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("depthwise_reduce");
    TCase *c = tcase_create("depthwise_reduce");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, every_shape_is_exact);
    tcase_add_test(c, every_type_is_exact);
    tcase_add_loop_test(c, channels_may_be_last, 0, 3);
    tcase_add_loop_test(c, channels_may_be_vectors, 0, 6);
    tcase_add_loop_test(c, parts_are_added, 0, 4);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
