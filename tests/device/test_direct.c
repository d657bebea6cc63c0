/* The direct solver on awkward problems: every direction, type and kind of config, for equality. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < DIRECT_SHAPES; i++) {
        kiln_problem p = direct_problem(_i, "f32", direct_shapes[i]);
        support_check(&p, "direct", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {2, 4, 5};
    for (int t = 0; t < SUPPORT_ALL; t++) {
        kiln_problem p = direct_problem(_i, "f32", direct_shapes[some[t % 3]]);
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
    kiln_problem p = direct_problem(configs[_i].direction, "f32", configs[_i].shape);
    support_check(&p, "direct", configs[_i].config, HOST_FILL_INT);
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    for (int i = 0; i < DIRECT_EPILOGUES; i++) {
        const kiln_problem p = direct_finished(_i, i);
        support_check(&p, "direct", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    kiln_problem p = direct_problem(_i, "f32", "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "direct", NULL, HOST_FILL_UNIFORM);
    p = direct_problem(_i, "bf16", "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "direct", NULL, HOST_FILL_UNIFORM);
    p = direct_problem(_i, "f8e4m3", "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "direct", NULL, HOST_FILL_MIOPEN);
    p = direct_problem(_i, "f8e5m2", "n2-c13-k17-i19x23-f3x3-s2x2-p1x1");
    support_check(&p, "direct", NULL, HOST_FILL_UNIFORM);
}
END_TEST

START_TEST(the_bias_gradient_is_summed)
{
    static const char *const some[] = {"n2-c13-k17-i19x23-f3x3-p1x1-bias",
                                       "n2-c4-k6-i5x3-f2x3-s4x3-g2-trans-o3x2-bias"};
    kiln_problem p = direct_problem(2, "f32", some[_i]);
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
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_FINISHED);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 3);
    tcase_add_loop_test(c, the_bias_gradient_is_summed, 0, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
