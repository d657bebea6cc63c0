/* The depthwise solver on awkward problems: every direction, type and kind of config, exactly. */
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>

static const char *const shapes[] = {
    "n2-c7-k7-i9x11-f3x3-p1x1-g7",
    /* A multiplier; strides 2, 3 and 4, alone and with dilation; padding that differs. */
    "n2-c3-k9-i8x8-f5x5-s3x3-p2x2-g3",
    "n1-c6-k6-i40x37-f3x3-s2x2-p1x1-g6",
    "n2-c4-k8-i10x13-f3x3-s1x2-p2x2-d2x3-g4",
    "n2-c2-k2-i11x7-f4x4-s4x4-p3x2-d2x2-g2",
    "n1-c3-k3-i12x9-f2x4-s2x3-p1x0-e0x2-d1x2-g3",
    /* Padding and dilation beyond the image, stride beyond the filter, one element. */
    "n1-c2-k2-i3x3-f3x3-s2x2-p7x7-g2",
    "n1-c3-k6-i20x20-f3x3-p6x6-d6x6-g3",
    "n1-c3-k3-i6x6-f1x1-s3x2-g3",
    "n1-c8-k8-i1x1-f1x1-g8",
    "n1-c1-k1-i17x40-f1x7-p0x3",
    "n1-c2-k2-i30x33-f9x9-p4x4-g2",
    "n3-c4-k4-i131-f7-s3-p6-e1-d2-g4",
    "n2-c3-k6-i5x6x7-f3x3x3-s2x1x2-p1x1x1-g3",
    "n2-c4-k4-i5x3-f2x3-s4x3-g4-trans-o3x2",
    "n1-c3-k3-i6x5-f4x4-s2x2-p1x1-g3-trans",
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char *const directions[] = {"fwd", "bwd", "wrw"};

static kiln_problem parse(int direction, const char *type, const char *shape)
{
    char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln_problem p;
    snprintf(text, sizeof text, "%s-%s-%s", directions[direction], type, shape);
    ck_assert_msg(kiln_problem_parse(&p, text, why) == KILN_OK, "%s: %s", text, why);
    return p;
}

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < SHAPES; i++) {
        kiln_problem p = parse(_i, "f32", shapes[i]);
        support_check(&p, "depthwise", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {1, 2, 3};
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = parse(_i, "f32", shapes[some[t % 3]]);
        support_set_types(&p, support_types_of[t]);
        support_check(&p, "depthwise", NULL, HOST_FILL_INT);
    }
}
END_TEST

/* What a guess for this device would not try. */
static const struct {
    int direction;
    const char *shape, *config;
} configs[] = {
    {0, "n2-c7-k7-i19x21-f3x3-p1x1-g7", "T_VEC=1,T_ROWS=4,T_PIX=1,T_GROUP=16"},
    {0, "n2-c7-k14-i19x21-f3x3-p1x1-g7", "T_VEC=4,T_ROWS=3,T_PIX=3"},
    {0, "n1-c6-k6-i40x37-f3x3-s2x2-p1x1-g6", "T_VEC=8,T_ROWS=16,T_PIX=3"},
    {0, "n1-c6-k6-i40x37-f3x3-s2x2-p1x1-g6", "T_VEC=16,T_ROWS=1,T_PIX=1"},
    {1, "n1-c6-k12-i40x37-f3x3-s2x2-p1x1-g6", "T_VEC=1,T_ROWS=2,T_PIX=1,T_GROUP=8"},
    {1, "n1-c6-k12-i40x37-f3x3-s2x2-p1x1-g6", "T_VEC=16,T_ROWS=2,T_PIX=2"},
    {1, "n2-c7-k7-i19x21-f5x5-p2x2-g7", "T_VEC=8,T_ROWS=6,T_PIX=1"},
    {2, "n2-c7-k7-i19x21-f3x3-p1x1-g7", "T_VEC=1,T_ROWS=4,T_PIX=1,T_SPLIT=5"},
    {2, "n2-c7-k14-i19x21-f3x3-p1x1-g7", "T_VEC=4,T_ROWS=3,T_PIX=3,T_SPLIT=13"},
    {2, "n1-c6-k6-i40x37-f3x3-s2x2-p1x1-g6", "T_VEC=16,T_ROWS=2,T_PIX=1,T_SPLIT=3"},
};

START_TEST(every_config_is_exact)
{
    kiln_problem p = parse(configs[_i].direction, "f32", configs[_i].shape);
    support_check(&p, "depthwise", configs[_i].config, HOST_FILL_INT);
}
END_TEST

/* Vectors and lone elements take different ways into the destination; both finish. */
START_TEST(the_epilogue_is_applied)
{
    static const kiln_epilogue epilogues[] = {
        {.bias = 1},
        {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
        {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_SILU},
    };
    static const char *const some[] = {"n2-c7-k7-i19x21-f3x3-p1x1-g7",
                                       "n2-c3-k9-i8x8-f5x5-s3x3-p2x2-g3",
                                       "n2-c4-k4-i5x3-f2x3-s4x3-g4-trans-o3x2"};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = parse(0, i == 2 ? "f16" : "f32", some[_i]);
        p.epilogue = epilogues[i];
        support_check(&p, "depthwise", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    kiln_problem p = parse(_i, "f32", "n2-c9-k18-i25x26-f5x5-p2x2-g9");
    support_check(&p, "depthwise", NULL, HOST_FILL_UNIFORM);
    p = parse(_i, "bf16", "n2-c9-k18-i25x26-f5x5-p2x2-g9");
    support_check(&p, "depthwise", NULL, HOST_FILL_UNIFORM);
}
END_TEST

START_TEST(the_bias_gradient_is_summed)
{
    static const char *const some[] = {"n2-c7-k14-i19x21-f3x3-p1x1-g7-bias",
                                       "n2-c4-k4-i5x3-f2x3-s4x3-g4-trans-o3x2-bias"};
    kiln_problem p = parse(2, "f32", some[_i]);
    support_check(&p, "depthwise", NULL, HOST_FILL_INT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("depthwise");
    TCase *c = tcase_create("depthwise");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 3);
    tcase_add_loop_test(c, every_type_is_exact, 0, 3);
    tcase_add_loop_test(c, every_config_is_exact, 0, sizeof configs / sizeof *configs);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, 3);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 3);
    tcase_add_loop_test(c, the_bias_gradient_is_summed, 0, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
