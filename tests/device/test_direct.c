/* The direct solver on awkward problems: every direction, type and kind of config, for equality. */
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>

static const char *const shapes[] = {
    "n1-c1-k1-i1x1-f1x1",
    "n3-c5-k7-i11x13-f1x1",
    "n2-c13-k17-i19x23-f3x3-p1x1",
    /* In place with whole and with moved-back tiles. */
    "n2-c6-k8-i16x16-f1x1",
    "n3-c16-k20-i7x37-f1x1",
    /* Slots: stride above, below and sharing a divisor with the dilation; unequal padding. */
    "n2-c4-k6-i17x9-f2x3-s5x4-p1x2-e3x0-g2",
    "n1-c3-k2-i23x19-f3x5-s4x3-p5x4-e6x3-d6x2",
    /* Backward data: vectors within a row of a phase, and some that end in another. */
    "n2-c3-k5-i9x67-f3x3-s2x2-p1x1",
    "n2-c6-k4-i8x100-f3x5-s3x2-p1x3-e0x2-g2",
    /* Rows that share no border, and outputs that see nothing but padding. */
    "n2-c5-k4-i6x6-f2x2",
    "n1-c2-k3-i4x5-f2x1-p4x3-e2x5",
    "n2-c3-k3-i2x1-f5x4-p2x2-e3x1",
    /* A whole row of source channels and then some. */
    "n1-c67-k33-i5x6-f3x3-p1x1",
    "n2-c12-k18-i9x6-f3x3-p1x1-g6",
    "n3-c4-k6-i131-f7-s3-p6-e1-d2-g2",
    "n2-c3-k5-i5x6x7-f3x2x3-s2x1x3-p1x0x2-e0x2x1-d1x3x1",
    "n2-c4-k6-i5x3-f2x3-s4x3-g2-trans-o3x2",
    "n1-c3-k2-i4x6-f3x3-s2x1-p1x2-e0x3-d1x3-trans-o1x2",
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
        support_check(&p, "direct", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {2, 4, 5};
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = parse(_i, "f32", shapes[some[t % 3]]);
        support_set_types(&p, support_types_of[t]);
        support_check(&p, "direct", NULL, HOST_FILL_INT);
    }
}
END_TEST

/* What a guess for this device would not try. */
static const struct {
    int direction;
    const char *shape, *config;
} configs[] = {
    {0, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=1,T_K=4,T_PIX=3,T_GROUP=16,T_GROUP_K=2"},
    {0, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=4,T_K=5,T_PIX=2,T_GROUP=8,T_GROUP_K=3,T_ORDER=1"},
    {0, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=8,T_K=16,T_PIX=1,T_C=4,T_PACK=1"},
    {0, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=16,T_K=3,T_PIX=8,T_C=1,T_ORDER=1"},
    {0, "n3-c16-k20-i7x37-f1x1", "T_VEC=1,T_K=7,T_PIX=4,T_GROUP=64,T_COPY=0"},
    {0, "n3-c16-k20-i7x37-f1x1",
     "T_VEC=4,T_K=7,T_PIX=3,T_GROUP=16,T_GROUP_K=2,T_COPY=0,T_PACK=1,"
     "T_STREAM=1"},
    {1, "n3-c16-k20-i7x37-f1x1", "T_VEC=4,T_K=7,T_PIX=3,T_GROUP=16,T_ORDER=1,T_COPY=0"},
    {1, "n2-c4-k6-i17x9-f2x3-s5x4-p1x2-e3x0-g2", "T_VEC=1,T_K=2,T_PIX=2,T_GROUP=32,T_PACK=1"},
    {1, "n2-c13-k17-i19x23-f3x3-s2x2-p1x1", "T_VEC=8,T_K=6,T_PIX=2,T_GROUP=4,T_C=5"},
    {1, "n2-c13-k17-i19x43-f3x3-s2x3-p1x1",
     "T_VEC=8,T_K=6,T_PIX=2,T_GROUP=4,T_GROUP_K=2,T_ORDER=1"},
    {1, "n2-c3-k7-i6x77-f3x3-s1x2-p1x1", "T_VEC=16,T_K=3,T_PIX=2,T_ORDER=1"},
    {2, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=1,T_K=3,T_PIX=4,T_GROUP=16,T_GROUP_K=2,T_SPLIT=7"},
    {2, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=8,T_K=5,T_PIX=2,T_GROUP=3,T_SPLIT=4,T_ORDER=1"},
    {2, "n2-c12-k18-i9x6-f3x3-p1x1-g6", "T_VEC=4,T_K=2,T_PIX=8,T_SPLIT=11"},
};

START_TEST(every_config_is_exact)
{
    kiln_problem p = parse(configs[_i].direction, "f32", configs[_i].shape);
    support_check(&p, "direct", configs[_i].config, HOST_FILL_INT);
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
    static const char *const some[] = {"n2-c13-k17-i19x23-f3x3-p1x1", "n2-c6-k8-i15x15-f1x1-g2",
                                       "n2-c4-k6-i5x3-f2x3-s4x3-g2-trans-o3x2",
                                       "n2-c4-k6-i3x30-f3x3-s2x2-g2-trans"};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = parse(0, i == 2 ? "f16" : "f32", some[_i]);
        p.epilogue = epilogues[i];
        support_check(&p, "direct", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    kiln_problem p = parse(_i, "f32", "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "direct", NULL, HOST_FILL_UNIFORM);
    p = parse(_i, "bf16", "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "direct", NULL, HOST_FILL_UNIFORM);
}
END_TEST

START_TEST(the_bias_gradient_is_summed)
{
    static const char *const some[] = {"n2-c13-k17-i19x23-f3x3-p1x1-bias",
                                       "n2-c4-k6-i5x3-f2x3-s4x3-g2-trans-o3x2-bias"};
    kiln_problem p = parse(2, "f32", some[_i]);
    support_check(&p, "direct", NULL, HOST_FILL_INT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("direct");
    TCase *c = tcase_create("direct");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 3);
    tcase_add_loop_test(c, every_type_is_exact, 0, 3);
    tcase_add_loop_test(c, every_config_is_exact, 0, sizeof configs / sizeof *configs);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, 4);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 3);
    tcase_add_loop_test(c, the_bias_gradient_is_summed, 0, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
