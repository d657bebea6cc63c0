/* The direct solver with pixels as the vector: every direction, type and kind of config, for
 * equality. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "direct_pixels", config, HOST_FILL_INT);
}

/* The smallest tiles and pieces there are: rows in several tiles of columns, sums that wait from
 * each source channel to the next. The second one needs two destination channels. */
static const char *const smallest[] = {"T_VEC=4,T_K=1,T_PIX=1,T_TILE=1,T_BLOCKS=1,T_C=1",
                                       "T_VEC=16,T_K=1,T_PIX=2,T_TILE=2,T_BLOCKS=2,T_C=1"};

/* With its guess and with a smallest tile; the other direction has the other of these. */
START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < DIRECT_SHAPES; i++) {
        const kiln_problem p = direct_problem(_i, "f32", direct_shapes[i]);
        const bool one = (_i ? p.in_channels : p.out_channels) / (p.groups ? p.groups : 1) < 2;
        check(&p, NULL);
        check(&p, smallest[one ? 0 : (i + _i) % 2]);
    }
}
END_TEST

/* Channels last in both, in the destination, in the source. */
static void set_last(kiln_problem *p, int which)
{
    static const char *const x[] = {"NHWC", "NCHW", "NHWC"}, *const y[] = {"NHWC", "NHWC", "NCHW"};
    support_set_layouts(p, x[which], y[which]);
}

/* The three take turns, and each shape has two of them, one for each direction. */
START_TEST(channels_may_be_last)
{
    for (int i = 0; i < DIRECT_SHAPES; i++) {
        kiln_problem p = direct_problem(_i, "f32", direct_shapes[i]);
        set_last(&p, (i + _i) % 3);
        check(&p, i / 3 % 3 ? NULL : smallest[0]);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {2, 4, 5, 7};
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = direct_problem(_i, "f32", direct_shapes[some[t % 4]]);
        support_set_types(&p, support_types_of[t]);
        check(&p, NULL);
        set_last(&p, t % 3);
        check(&p, NULL);
    }
}
END_TEST

/* What a guess would not try. */
static const struct {
    int direction;
    const char *shape, *config;
} configs[] = {
    /* The last block of channels moved back, in items of their own and among others. */
    {0, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=16,T_K=16,T_PIX=1,T_TILE=8,T_BLOCKS=2,T_C=13"},
    {0, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=8,T_K=7,T_PIX=3,T_TILE=9,T_BLOCKS=1,T_C=5"},
    {1, "n2-c13-k17-i19x23-f3x3-p1x1", "T_VEC=4,T_K=5,T_PIX=8,T_TILE=64,T_BLOCKS=2,T_C=4"},
    /* Rows shorter than a vector; more vectors than the tile's, rounded up to T_PIX. */
    {0, "n1-c20-k12-i7x7-f3x3-p1x1", "T_VEC=16,T_K=4,T_PIX=8,T_TILE=8,T_BLOCKS=3,T_C=7"},
    {0, "n2-c3-k4-i40x3-f5x2-p2x1-d3x2", "T_VEC=16,T_K=3,T_PIX=2,T_TILE=4,T_BLOCKS=2,T_C=2"},
    /* Parts of a row: the last one narrower, and taps that reach beyond the next. */
    {0, "n1-c3-k6-i4x101-f3x7-p1x3", "T_VEC=8,T_K=2,T_PIX=2,T_TILE=4,T_BLOCKS=3,T_C=2"},
    {0, "n1-c3-k6-i3x90-f1x5-p0x24-d1x12", "T_VEC=4,T_K=3,T_PIX=3,T_TILE=3,T_BLOCKS=2,T_C=3"},
    {1, "n1-c6-k3-i4x101-f3x7-s2x3-p1x3", "T_VEC=8,T_K=2,T_PIX=2,T_TILE=3,T_BLOCKS=3,T_C=2"},
    /* Phases whose sums wait, some of them without a tap. */
    {1, "n2-c13-k17-i19x43-f3x3-s2x3-p1x1", "T_VEC=8,T_K=6,T_PIX=2,T_TILE=4,T_BLOCKS=3,T_C=4"},
    {1, "n1-c4-k5-i17x29-f2x1-s3x2", "T_VEC=16,T_K=2,T_PIX=1,T_TILE=2,T_BLOCKS=2,T_C=2"},
    /* An image as one row, in parts. */
    {0, "n3-c16-k20-i7x37-f1x1", "T_VEC=16,T_K=6,T_PIX=4,T_TILE=5,T_BLOCKS=2,T_C=8"},
    {1, "n2-c7-k9-i3x4x5-f1x1x1", "T_VEC=8,T_K=3,T_PIX=2,T_TILE=3,T_BLOCKS=1,T_C=4"},
};

START_TEST(every_config_is_exact)
{
    const kiln_problem p = direct_problem(configs[_i].direction, "f32", configs[_i].shape);
    check(&p, configs[_i].config);
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    for (int i = 0; i < DIRECT_EPILOGUES; i++) {
        kiln_problem p = direct_finished(_i, i);
        check(&p, NULL);
        set_last(&p, i);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    static const char *const types[] = {"f32", "bf16"};
    const kiln_problem p = direct_problem(_i % 2, types[_i / 2], "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "direct_pixels", NULL, HOST_FILL_UNIFORM);
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("direct_pixels");
    TCase *c = tcase_create("direct_pixels");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 2);
    tcase_add_loop_test(c, channels_may_be_last, 0, 2);
    tcase_add_loop_test(c, every_type_is_exact, 0, 2);
    tcase_add_loop_test(c, every_config_is_exact, 0, sizeof configs / sizeof *configs);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_FINISHED);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 4);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
