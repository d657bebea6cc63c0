/* The direct solver for few source channels: every layout, type and kind of config, for equality.
 */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "first_layer", config, HOST_FILL_INT);
}

static const char *const shapes[] = {
    "n1-c1-k1-i1x1-f3x3-p1x1",
    "n2-c3-k16-i13x37-f3x3-p1x1",
    "n2-c3-k37-i37x23-f7x7-s2x2-p3x3",
    "n1-c3-k8-i35x39-f11x11-s4x4",
    "n2-c1-k20-i21x40-f5x20-s2x2-p8x8",
    /* Stride above the filter and sharing a divisor with the dilation; unequal padding. */
    "n2-c4-k6-i17x19-f2x3-s5x4-p1x2-e3x0",
    "n1-c3-k18-i23x19-f3x5-s4x3-p5x4-e6x3-d6x2",
    "n3-c2-k5-i19x26-f3x2-s2x3-p2x1-d3x2",
    /* Results that see nothing but padding; rows shorter than a vector. */
    "n1-c2-k3-i4x5-f2x1-p4x3-e2x5",
    "n2-c16-k7-i6x3-f3x3-p1x1",
    /* One axis, three, and taps along one of two. */
    "n3-c3-k6-i131-f7-s3-p6-e1-d2",
    "n2-c3-k5-i5x6x17-f3x2x3-s2x1x3-p1x0x2-e0x2x1-d1x3x1",
    "n2-c3-k33-i11x13-f1x2-s2x1-p1x0",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const struct {
    const char *x, *y;
} layouts[] = {
    {"NCHW", "NCHW"},    {"NCHW", "NHWC"},      {"NHWC", "NHWC"},    {"NCHW", "NC/16HW16"},
    {"NCHW", "NC/8HW8"}, {"NHWC", "NC/16HW16"}, {"NHWC", "NC/4HW4"}, {"NHWC", "NHWC8"},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* With its guess in every other layout, and in two layouts with the smallest tiles there are. */
START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < SHAPES; i++) {
        kiln_problem p = direct_problem(0, "f32", shapes[i]);
        support_set_layouts(&p, layouts[_i].x, layouts[_i].y);
        if ((i + _i) % 2 == 0)
            check(&p, NULL);
        if ((i + _i) % 4 == 1)
            check(&p, "T_VEC=4,T_K=1,T_PIX=1,T_ROWS=1");
    }
}
END_TEST

/* What a guess would not try. */
static const struct {
    int layout;
    const char *shape, *config;
} configs[] = {
    /* The last block has channels that are not there, the last vector of a row too few pixels. */
    {0, "n2-c3-k17-i19x23-f3x3-p1x1", "T_VEC=16,T_K=16,T_PIX=1,T_ROWS=4"},
    {0, "n2-c3-k17-i19x43-f3x3-s2x2-p1x1", "T_VEC=8,T_K=7,T_PIX=3,T_ROWS=3,T_STREAM=1"},
    {0, "n1-c3-k5-i9x67-f3x3-p1x1", "T_VEC=4,T_K=5,T_PIX=8,T_ROWS=64"},
    /* Tiles that start earlier, of rows, and with fewer vectors than a block. */
    {1, "n2-c3-k23-i19x23-f3x3-p1x1", "T_VEC=16,T_K=2,T_PIX=9,T_ROWS=2"},
    {2, "n2-c3-k37-i19x43-f3x3-s2x2-p1x1", "T_VEC=8,T_K=3,T_PIX=7,T_ROWS=5"},
    {3, "n2-c3-k37-i19x43-f3x3-s2x3-p1x1", "T_VEC=8,T_K=3,T_PIX=4,T_ROWS=3,T_STREAM=1"},
    {5, "n2-c2-k64-i7x32-f3x3-p1x1", "T_VEC=16,T_K=4,T_PIX=16,T_ROWS=64,T_STREAM=1"},
    /* Parts of a row, the last of which starts earlier, and taps that reach beyond the next. */
    {0, "n1-c3-k3-i3x9001-f3x5-p1x2", "T_VEC=16,T_K=3,T_PIX=5,T_ROWS=2"},
    {1, "n1-c3-k4-i3x9001-f3x5-p1x2", "T_VEC=4,T_K=1,T_PIX=17,T_ROWS=2"},
    {2, "n1-c3-k5-i2x26000-f2x9-s1x3-p0x40-d1x11", "T_VEC=4,T_K=2,T_PIX=7,T_ROWS=2"},
    {3, "n1-c3-k5-i2x26000-f2x9-s1x3-p0x40-d1x11", "T_VEC=8,T_K=1,T_PIX=31,T_ROWS=1"},
};

START_TEST(every_config_is_exact)
{
    kiln_problem p = direct_problem(0, "f32", configs[_i].shape);
    support_set_layouts(&p, layouts[configs[_i].layout].x, layouts[configs[_i].layout].y);
    check(&p, configs[_i].config);
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const char *const types[] = {"f16", "bf16"};
    for (int t = 0; t < 2; t++) {
        kiln_problem p = direct_problem(0, types[t], shapes[1 + 4 * ((_i + t) % 3)]);
        support_set_layouts(&p, layouts[_i].x, layouts[_i].y);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    for (int i = 0; i < DIRECT_EPILOGUES; i++) {
        if (i == _i % DIRECT_EPILOGUES)
            continue; /* other layouts have it */
        kiln_problem p = direct_problem(0, i == 2 ? "f16" : "f32", "n2-c3-k21-i11x37-f3x3-p1x1");
        p.epilogue = direct_epilogues[i];
        support_set_layouts(&p, layouts[_i].x, layouts[_i].y);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    static const char *const types[] = {"f32", "bf16"};
    kiln_problem p = direct_problem(0, types[_i / 2 % 2], "n2-c4-k33-i15x36-f7x7-s2x2-p3x3");
    support_set_layouts(&p, layouts[_i].x, layouts[_i].y);
    support_check(&p, "first_layer", NULL, HOST_FILL_UNIFORM);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("first_layer");
    TCase *c = tcase_create("first_layer");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, LAYOUTS);
    tcase_add_loop_test(c, every_config_is_exact, 0, sizeof configs / sizeof *configs);
    tcase_add_loop_test(c, every_type_is_exact, 0, LAYOUTS);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, LAYOUTS);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, LAYOUTS);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
