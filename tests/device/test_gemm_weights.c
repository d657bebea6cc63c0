/* The solver gemm_weights: layouts, types and kinds of tile, for equality. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

enum { WEIGHTS = 2 };

/* PoCL compiles groups with barriers for a second each, so a CPU takes every fourth case. */
static int step(void)
{
    return support_on_cpu() ? 4 : 1;
}

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "gemm_weights", config, HOST_FILL_INT);
}

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < DIRECT_SHAPES; i += step()) {
        const kiln_problem p = direct_problem(WEIGHTS, "f32", direct_shapes[i]);
        check(&p, NULL);
    }
}
END_TEST

/* Channels last in x, in dy, in both. */
static void set_last(kiln_problem *p, int which)
{
    static const char *const x[] = {"NHWC", "NCHW", "NHWC"}, *const y[] = {"NHWC", "NHWC", "NCHW"};
    support_set_layouts(p, x[which], y[which]);
}

START_TEST(channels_may_be_last)
{
    for (int i = 0; i < DIRECT_SHAPES; i += step()) {
        kiln_problem p = direct_problem(WEIGHTS, "f32", direct_shapes[i]);
        set_last(&p, i % 3);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {2, 4, 5, 7};
    for (int t = 0; t < SUPPORT_TYPES; t += step()) {
        kiln_problem p = direct_problem(WEIGHTS, "f32", direct_shapes[some[t % 4]]);
        support_set_types(&p, support_types_of[t]);
        check(&p, NULL);
        set_last(&p, t % 3);
        check(&p, NULL);
    }
}
END_TEST

/* Channels and columns that fill no tile, pixels of several images in one step, four channels or
 * four pixels at a time, pixels that groups share. */
static const char *const shapes[] = {
    "n3-c24-k20-i4x6-f1x1",           "n5-c16-k33-i7x7-f1x1",
    "n2-c12-k40-i9x9-f3x3-p1x1",      "n2-c3-k17-i21x19-f7x7-s2x2-p3x3",
    "n2-c20-k24-i9x8-f3x3-s2x2-p1x1", "n2-c16-k24-i6x6-f3x3-p1x1-g4",
    "n40-c8-k12-i3x7-f3x7-g2",
};

START_TEST(every_tile_is_exact)
{
    static const char *const tiles[] = {"16,32,8,4,4,3", "32,64,16,8,4,1", "64,32,16,4,4,3",
                                        "32,64,8,4,8,2", "16,32,64,4,4,1", "64,64,8,4,4,2"};
    enum { TILES = sizeof tiles / sizeof *tiles };
    for (int layout = 0; layout < 2; layout++) {
        kiln_problem p = direct_problem(WEIGHTS, "f32", shapes[_i]);
        if (layout)
            set_last(&p, 0);
        for (int i = (_i + 2 * layout) % step(); i < TILES; i += step())
            check(&p, tiles[i]);
    }
}
END_TEST

START_TEST(the_gradient_of_the_bias_is_written)
{
    kiln_problem p = direct_problem(WEIGHTS, "f32", "n2-c13-k17-i19x23-f3x3-p1x1");
    p.epilogue.bias = 1;
    check(&p, NULL);
    check(&p, "16,32,8,4,4,7");
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    const kiln_problem p =
        direct_problem(WEIGHTS, _i ? "bf16" : "f32", "n3-c7-k9-i35x36-f3x3-p1x1");
    support_check(&p, "gemm_weights", NULL, HOST_FILL_UNIFORM);
    support_check(&p, "gemm_weights", "16,64,8,4,4,9", HOST_FILL_UNIFORM);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemm_weights");
    TCase *c = tcase_create("gemm_weights");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, every_shape_is_exact);
    tcase_add_test(c, channels_may_be_last);
    tcase_add_test(c, every_type_is_exact);
    tcase_add_loop_test(c, every_tile_is_exact, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(c, the_gradient_of_the_bias_is_written);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 2);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
