/* The solver depthwise_gather: both directions, layouts, types and epilogues, exactly. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

/* Strides alone and with a dilation, padding that differs and reaches beyond the image, taps that
 * meet nothing, one pixel, one and three axes, a transposed problem. */
static const char *const shapes[] = {
    "n2-c7-k7-i9x11-f3x3-p1x1-g7",
    "n2-c4-k4-i10x13-f3x3-s1x2-p2x2-d2x3-g4",
    "n1-c3-k3-i12x9-f2x4-s2x3-p1x0-e0x2-d1x2-g3",
    "n1-c2-k2-i3x3-f3x3-s2x2-p7x7-g2",
    "n1-c8-k8-i1x1-f1x1-g8",
    "n3-c4-k4-i131-f7-s3-p6-e1-d2-g4",
    "n2-c3-k3-i5x6x7-f3x3x3-s2x1x2-p1x1x1-g3",
    "n2-c4-k4-i5x3-f2x3-s4x3-g4-trans-o3x2",
    "n1-c1-k1-i6x5-f2x2-s2x2-p2x1-d1x2",
    "n1-c2-k2-i3x5x4-f1x3x2-s2x1x1-p1x1x0-g2",
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Rows that fill the last strip of a column, or do not. */
static const char *const configs[] = {"32,1,1,1,1", "64,2,1,1,0", "128,3,1,1,1", "256,7,1,1,0",
                                      NULL};

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "depthwise_gather", config, HOST_FILL_INT);
}

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < SHAPES; i++) {
        const kiln_problem p = direct_problem(_i, "f32", shapes[i]);
        check(&p, configs[(i + _i) % 5]);
    }
}
END_TEST

START_TEST(channels_may_be_last)
{
    static const char *const x[] = {"NHWC", "NCHW", "NHWC"}, *const y[] = {"NHWC", "NHWC", "NCHW"};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = direct_problem(_i, "f32", shapes[i]);
        support_set_layouts(&p, x[i], y[i]);
        check(&p, NULL);
    }
}
END_TEST

/* Columns that fill the last tile of a row, or do not; going backward without a stride, or with one
 * that a dilation fills. */
START_TEST(items_may_have_columns)
{
    static const struct {
        int direction;
        const char *shape, *config;
    } cases[] = {
        {0, "n2-c7-k7-i9x11-f3x3-p1x1-g7", "64,2,2,1,1"},
        {0, "n1-c3-k3-i12x9-f2x4-s2x3-p1x0-e0x2-d1x2-g3", "32,1,4,1,1"},
        {0, "n3-c4-k4-i31-f5-s2-p6-e1-d4-g4", "128,1,4,1,1"},
        {0, "n2-c3-k3-i5x6x7-f3x3x3-s2x1x2-p1x1x1-g3", "32,3,3,1,1"},
        {1, "n2-c7-k7-i9x11-f3x3-p1x1-g7", "64,2,4,1,1"},
        {1, "n2-c4-k4-i10x13-f3x3-s2x1-p2x2-d2x3-g4", "32,1,3,1,1"},
        {1, "n2-c3-k3-i5x6x7-f3x3x3-s2x1x1-p1x1x1-g3", "32,1,2,1,1"},
        {0, "n2-c5-k5-i7x16-f3x3-p1x1-g5", "32,3,8,1,1"}, /* rows of whole vectors */
        {0, "n2-c5-k5-i7x16-f3x3-s2x2-p1x1-g5", "32,2,4,1,1"},
        {1, "n2-c5-k5-i7x12-f5x5-p2x2-g5", "32,3,4,1,1"},
    };
    const kiln_problem p =
        direct_problem(cases[_i].direction, _i % 2 ? "f16" : "f32", cases[_i].shape);
    check(&p, cases[_i].config);
}
END_TEST

/* Channels as vectors: tiles that are cut off, strides and dilations. */
static const char *const of_sixteen[] = {
    "n2-c16-k16-i9x11-f3x3-p1x1-g16-l:NHWC.OIHW.NHWC",
    "n2-c32-k32-i7x6-f3x2-s2x2-p2x1-d1x2-g32-l:NHWC.OIHW.NHWC",
    "n1-c16-k16-i5x8-f5x5-s1x1-p2x2-d2x1-g16-l:NHWC.OIHW.NHWC",
};

enum { SIXTEENS = sizeof of_sixteen / sizeof *of_sixteen };

static const char *const of_vectors[SIXTEENS] = {"64,2,1,8,0", "32,3,1,4,1", "64,1,1,16,0"};

START_TEST(channels_may_be_vectors)
{
    for (int i = 0; i <= SUPPORT_TYPES; i++) {
        kiln_problem p = direct_problem(_i, "f32", of_sixteen[(i + _i) % SIXTEENS]);
        if (i < SUPPORT_TYPES)
            support_set_types(&p, support_types_of[i]);
        check(&p, of_vectors[(i / 3 + _i) % SIXTEENS]);
    }
}
END_TEST

START_TEST(vectors_may_have_columns)
{
    static const char *const configs[SIXTEENS] = {"64,4,2,8,1", "32,1,3,4,1", "64,1,2,4,1"};
    const kiln_problem p = direct_problem(_i / 3, "f16", of_sixteen[_i < 3 ? _i : _i % 3 * 2]);
    check(&p, configs[_i % 3]);
}
END_TEST

START_TEST(vectors_have_an_epilogue)
{
    static const support_types types[] = {{KILN_F16, KILN_F16}, {KILN_I8, KILN_I8}};
    for (int i = 0; i < 2; i++) {
        kiln_problem p = direct_problem(0, "f32", of_sixteen[i]);
        support_set_types(&p, types[i]);
        p.epilogue = direct_epilogues[_i];
        check(&p, of_vectors[(i + _i) % SIXTEENS]);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = direct_problem(_i, "f32", shapes[t % 3]);
        support_set_types(&p, support_types_of[t]);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    kiln_problem p = direct_problem(0, "f32", shapes[_i]);
    p.epilogue = direct_epilogues[_i];
    check(&p, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("depthwise_gather");
    TCase *c = tcase_create("depthwise_gather");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 2);
    tcase_add_loop_test(c, channels_may_be_last, 0, 2);
    tcase_add_loop_test(c, every_type_is_exact, 0, 2);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_EPILOGUES);
    tcase_add_loop_test(c, items_may_have_columns, 0, 10);
    tcase_add_loop_test(c, channels_may_be_vectors, 0, 2);
    tcase_add_loop_test(c, vectors_may_have_columns, 0, 5);
    tcase_add_loop_test(c, vectors_have_an_epilogue, 0, DIRECT_EPILOGUES);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
