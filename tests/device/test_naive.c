/* The naive solver on awkward problems, in every direction and type, compared for equality. */
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const kiln_problem shapes[] = {
    {.batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}},
    {.batch = 3, .in_channels = 5, .out_channels = 7, .input = {11, 13}, .filter = {1, 1}},
    {.batch = 2, .in_channels = 3, .out_channels = 4, .input = {7, 11}, .filter = {3, 3}},
    /* Many channels, few pixels: the channel loop is the inner one, with a remainder. */
    {.batch = 5, .in_channels = 67, .out_channels = 9, .input = {2, 3}, .filter = {1, 1}},
    /* Stride larger than the filter, unequal padding, h != w. */
    {.batch = 2,
     .in_channels = 4,
     .out_channels = 6,
     .groups = 2,
     .input = {17, 9},
     .filter = {2, 3},
     .stride = {5, 4},
     .pad_begin = {1, 2},
     .pad_end = {3, 0}},
    /* Stride and dilation with a common divisor, and without one. */
    {.batch = 1,
     .in_channels = 3,
     .out_channels = 2,
     .input = {23, 19},
     .filter = {3, 5},
     .stride = {4, 3},
     .dilation = {6, 2},
     .pad_begin = {5, 4},
     .pad_end = {6, 3}},
    /* Padding wider than the filter: outputs that see nothing but padding. */
    {.batch = 1,
     .in_channels = 2,
     .out_channels = 3,
     .input = {4, 5},
     .filter = {2, 1},
     .pad_begin = {4, 3},
     .pad_end = {2, 5}},
    /* A filter larger than the input. */
    {.batch = 2,
     .in_channels = 3,
     .out_channels = 3,
     .input = {2, 1},
     .filter = {5, 4},
     .pad_begin = {2, 2},
     .pad_end = {3, 1}},
    /* Depthwise, with a multiplier. */
    {.batch = 2,
     .in_channels = 7,
     .out_channels = 7,
     .groups = 7,
     .input = {9, 6},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 1,
     .in_channels = 5,
     .out_channels = 15,
     .groups = 5,
     .input = {8, 8},
     .filter = {4, 4},
     .stride = {2, 2},
     .pad_begin = {1, 2},
     .pad_end = {2, 1}},
    /* One and three dimensions. */
    {.spatial_rank = 1,
     .batch = 3,
     .in_channels = 4,
     .out_channels = 6,
     .groups = 2,
     .input = {131},
     .filter = {7},
     .stride = {3},
     .dilation = {2},
     .pad_begin = {6},
     .pad_end = {1}},
    {.spatial_rank = 3,
     .batch = 2,
     .in_channels = 3,
     .out_channels = 5,
     .input = {5, 6, 7},
     .filter = {3, 2, 3},
     .stride = {2, 1, 3},
     .dilation = {1, 3, 1},
     .pad_begin = {1, 0, 2},
     .pad_end = {0, 2, 1}},
    /* Output padding, so that some pixels of a transposed result are reached by nothing. */
    {.transposed = 1,
     .batch = 2,
     .in_channels = 4,
     .out_channels = 6,
     .groups = 2,
     .input = {5, 3},
     .filter = {2, 3},
     .stride = {4, 3},
     .output_pad = {3, 2}},
    {.transposed = 1,
     .batch = 1,
     .in_channels = 3,
     .out_channels = 2,
     .input = {4, 6},
     .filter = {3, 3},
     .stride = {2, 1},
     .dilation = {1, 3},
     .pad_begin = {1, 2},
     .pad_end = {0, 3},
     .output_pad = {1, 2}},
    {.transposed = 1,
     .spatial_rank = 3,
     .batch = 1,
     .in_channels = 2,
     .out_channels = 3,
     .input = {2, 3, 4},
     .filter = {2, 3, 1},
     .stride = {3, 2, 2},
     .pad_begin = {1, 0, 0},
     .pad_end = {0, 1, 0},
     .output_pad = {2, 0, 1}},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* f32, then the others. */
enum { TYPES = 1 + SUPPORT_ALL, F8 = 1 + SUPPORT_TYPES };

static void set_types(kiln_problem *p, int t)
{
    static const support_types f32 = {KILN_F32, KILN_F32};
    support_set_types(p, t == 0 ? f32 : support_types_of[t - 1]);
}

/* The number of the loop test is direction * TYPES + type. */
START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < SHAPES; i++) {
        kiln_problem p = shapes[i];
        p.direction = (kiln_direction)(_i / TYPES);
        set_types(&p, _i % TYPES);
        support_check(&p, "naive", NULL, HOST_FILL_INT);
        p.transposed = !p.transposed;
        memset(p.output_pad, 0, sizeof p.output_pad);
        kiln_problem other = p;
        if (kiln_problem_check(&other, NULL) == KILN_OK)
            support_check(&p, "naive", NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    for (int i = 0; i < SHAPES; i++)
        for (int t = 0; t <= F8; t += t < 4 ? 1 : F8 - 4) {
            kiln_problem p = shapes[i];
            p.direction = (kiln_direction)_i;
            set_types(&p, t);
            support_check(&p, "naive", NULL, HOST_FILL_UNIFORM);
        }
}
END_TEST

static const kiln_epilogue epilogues[] = {
    {.bias = 1},
    {.alpha = 0.5f},
    {.alpha = -2, .beta = 3, .bias = 1, .activation = KILN_RELU},
    {.bias = 1, .activation = KILN_CLIPPED_RELU, .param = {6}},
    {.beta = 1, .activation = KILN_LEAKY_RELU, .param = {0.25f}},
    {.alpha = 0.125f, .activation = KILN_ELU, .param = {1.5f}},
    {.alpha = 0.0625f, .bias = 1, .activation = KILN_TANH, .param = {0.5f, 2}},
    {.alpha = 0.125f, .activation = KILN_SIGMOID},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_SILU},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_GELU},
    {.bias = 1, .activation = KILN_HARD_SWISH},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_HARD_SIGMOID},
    {.beta = 1, .activation = KILN_HARD_TANH},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_MISH},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_EXP},
    {.alpha = -2, .bias = 1, .activation = KILN_ABS},
    {.bias = 1, .beta = 1, .activation = KILN_SQUARE},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_SOFTPLUS, .param = {2}},
};

enum { EPILOGUES = sizeof epilogues / sizeof *epilogues };

/* Every epilogue is a program of its own, so each is tried with some of the types only. */
START_TEST(the_epilogue_is_applied)
{
    static const int some[] = {2, 4, 12, 14}; /* two plain shapes, two transposed */
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int t = _i % 4; t < TYPES; t += 4) {
            kiln_problem p = shapes[some[i]];
            set_types(&p, t);
            p.epilogue = epilogues[_i];
            if (p.y_type != KILN_I32)
                support_check(&p, "naive", NULL, HOST_FILL_INT);
        }
}
END_TEST

START_TEST(the_bias_gradient_is_summed)
{
    for (int i = 0; i < SHAPES; i++)
        for (int t = 0; t < TYPES; t++) {
            kiln_problem p = shapes[i];
            p.direction = KILN_BACKWARD_WEIGHTS;
            set_types(&p, t);
            p.epilogue.bias = 1;
            support_check(&p, "naive", NULL, HOST_FILL_INT);
        }
}
END_TEST

/* Long sums with remainders: every direction, i8 over its whole range. */
START_TEST(long_sums_hold)
{
    for (int t = 0; t < TYPES; t++) {
        kiln_problem p = {.direction = (kiln_direction)_i,
                          .batch = 2,
                          .in_channels = 131,
                          .out_channels = 3,
                          .input = {19, 23},
                          .filter = {3, 3}};
        set_types(&p, t);
        support_check(&p, "naive", NULL, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* A small image under sizes that leave 31 bits makes the solver index in 64. */
START_TEST(wide_positions_are_exact)
{
    kiln_problem p = {.direction = (kiln_direction)_i,
                      .spatial_rank = 1,
                      .batch = 2,
                      .in_channels = 3,
                      .out_channels = 2,
                      .input = {9},
                      .filter = {3},
                      .dilation = {1 << 30},
                      .stride = {1 << 29},
                      .pad_begin = {1 << 30},
                      .pad_end = {1 << 30}};
    support_check(&p, "naive", NULL, HOST_FILL_INT);
}
END_TEST

START_TEST(other_layouts_are_refused_by_name)
{
    kiln_problem p = shapes[2];
    strcpy(p.x_layout, "NHWC");
    kiln *k;
    kiln_op *op;
    const kiln_choice choice = {.solver = "naive", .native_layout = 1};
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(k, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), "NHWC"), "%s", kiln_last_error());
    kiln_close(k);
}
END_TEST

START_TEST(a_tensor_beyond_the_device_is_refused_with_both_sizes)
{
    kiln_problem p = {.spatial_rank = 1,
                      .batch = 1 << 20,
                      .in_channels = 1 << 10,
                      .out_channels = 1,
                      .input = {1 << 10},
                      .filter = {1}};
    ck_assert(!support_try(&p, "naive", NULL, HOST_FILL_INT));
    ck_assert_msg(strstr(kiln_last_error(), "4398046511104"), "%s", kiln_last_error());
}
END_TEST

int main(void)
{
    Suite *s = suite_create("naive");
    TCase *c = tcase_create("naive");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 3 * TYPES);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 3);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, EPILOGUES);
    tcase_add_test(c, the_bias_gradient_is_summed);
    tcase_add_loop_test(c, long_sums_hold, 0, 3);
    tcase_add_loop_test(c, wide_positions_are_exact, 0, 3);
    tcase_add_test(c, other_layouts_are_refused_by_name);
    tcase_add_test(c, a_tensor_beyond_the_device_is_refused_with_both_sizes);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
