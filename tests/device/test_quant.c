/* Quantised tensors: every type, scales, zero points, residuals and roundings, through every solver
 * that takes the problem, against the reference. */
#include "generator/plan/solver.h"
#include "support/suite.h"
#include "support/support.h"

#include "problems.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* Awkward shapes: few and odd channels, groups, depthwise with and without a multiplier, one axis,
 * three, strides, dilation, unequal padding, transposed with output padding. */
static const kiln_problem shapes[] = {
    {.batch = 2,
     .in_channels = 17,
     .out_channels = 5,
     .input = {9, 7},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 1,
     .in_channels = 64,
     .out_channels = 32,
     .input = {12, 12},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 1, .in_channels = 48, .out_channels = 32, .input = {10, 9}, .filter = {1, 1}},
    {.batch = 1,
     .in_channels = 3,
     .out_channels = 16,
     .input = {19, 17},
     .filter = {5, 4},
     .stride = {2, 3},
     .pad_begin = {2, 1},
     .pad_end = {1, 3}},
    {.batch = 2,
     .in_channels = 12,
     .out_channels = 18,
     .groups = 3,
     .input = {7, 8},
     .filter = {3, 2},
     .dilation = {2, 3},
     .pad_begin = {4, 2},
     .pad_end = {4, 2}},
    {.batch = 2,
     .in_channels = 17,
     .out_channels = 34,
     .groups = 17,
     .input = {8, 9},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 1,
     .in_channels = 32,
     .out_channels = 32,
     .groups = 32,
     .input = {11, 9},
     .filter = {3, 3},
     .stride = {2, 2},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.spatial_rank = 1,
     .batch = 3,
     .in_channels = 5,
     .out_channels = 1,
     .input = {23},
     .filter = {7},
     .pad_begin = {3},
     .pad_end = {3}},
    {.spatial_rank = 3,
     .batch = 1,
     .in_channels = 4,
     .out_channels = 8,
     .input = {5, 6, 4},
     .filter = {3, 2, 3},
     .pad_begin = {1, 0, 2},
     .pad_end = {1, 1, 0}},
    {.transposed = 1,
     .batch = 2,
     .in_channels = 6,
     .out_channels = 9,
     .input = {5, 4},
     .filter = {4, 3},
     .stride = {2, 3},
     .pad_begin = {1, 0},
     .pad_end = {1, 0},
     .output_pad = {1, 2}},
    {.transposed = 1,
     .batch = 1,
     .in_channels = 8,
     .out_channels = 8,
     .groups = 2,
     .input = {6, 5},
     .filter = {3, 3},
     .dilation = {2, 1},
     .pad_begin = {1, 2},
     .pad_end = {1, 2}},
    {.batch = 1,
     .in_channels = 1,
     .out_channels = 3,
     .input = {3, 2},
     .filter = {3, 3},
     .pad_begin = {2, 2},
     .pad_end = {2, 2}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A program takes longer to compile than to run: each case goes over some of the shapes, and each
 * problem through one of the solvers that take it, all in turn. */
enum { SOME = 3 };

static kiln_problem shape_of(int turn, int i)
{
    return shapes[(turn * SOME + i) % SHAPES];
}

static void check_one(const kiln_problem *given, host_fill fill)
{
    static int turn;
    const support_device *d = support_open();
    kiln_problem p = *given;
    kiln_verdict v;
    char why[KILN_ERROR_TEXT] = "";
    const char *taking[64];
    int taken = 0;
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    for (int i = 0; kiln_explain(d->kiln, &p, i, &v) == KILN_OK; i++)
        if (v.accepted)
            taking[taken++] = v.solver;
    ck_assert_msg(taken > 1, "%d solvers take %s", taken, name_of(&p));
    support_check(&p, taking[turn++ % taken], NULL, fill);
}

/* ---- types ---- */

static const kiln_type sources[] = {KILN_U8, KILN_I8},
                       results[] = {KILN_U8, KILN_I8, KILN_I32, KILN_F32, KILN_F16, KILN_BF16};

START_TEST(every_type_comes_from_every_source)
{
    for (int i = 0; i < SOME; i++) {
        kiln_problem p = shape_of(_i, i);
        p.x_type = sources[_i % 2];
        p.w_type = KILN_I8;
        p.y_type = results[_i / 2];
        p.epilogue.alpha = p.y_type == KILN_I32 ? 0 : 0.0625f;
        check_one(&p, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* ---- scales and zero points ---- */

typedef struct quant_case {
    kiln_type x, y;
    kiln_quant q;
    kiln_epilogue e;
} quant_case;

enum { ALL_ZEROS = KILN_QUANT_X_ZERO | KILN_QUANT_W_ZERO | KILN_QUANT_Y_ZERO };

static const quant_case cases[] = {
    {KILN_U8,
     KILN_U8,
     {.x_scale = 0.02f, .w_scale = 0.01f, .y_scale = 0.7f, .x_zero = 128, .y_zero = 3},
     {0}},
    {KILN_I8,
     KILN_I8,
     {.x_scale = 0.02f,
      .y_scale = 11,
      .x_zero = -7,
      .y_zero = -128,
      .buffers = KILN_QUANT_W_SCALES},
     {.bias = KILN_I32}},
    {KILN_U8,
     KILN_I8,
     {.x_scale = 0.02f,
      .y_scale = 13,
      .w_zero = 5,
      .buffers = KILN_QUANT_W_SCALES | KILN_QUANT_X_ZERO | KILN_QUANT_Y_ZERO},
     {.bias = KILN_F32, .activation = KILN_RELU}},
    {KILN_I8,
     KILN_U8,
     {.x_scale = 0.03f, .y_scale = 9, .buffers = ALL_ZEROS | KILN_QUANT_W_SCALES},
     {.beta = 0.5f, .activation = KILN_CLIPPED_RELU, .param = {600}}},
    {KILN_U8,
     KILN_F32,
     {.x_scale = 0.5f, .x_zero = 255, .w_zero = -3, .buffers = KILN_QUANT_W_SCALES},
     {.activation = KILN_SILU}},
    {KILN_I8, KILN_F16, {.x_scale = 0.001f, .x_zero = 100}, {.bias = KILN_F16}},
    {KILN_U8,
     KILN_BF16,
     {.x_scale = 0.125f, .w_zero = 1, .buffers = KILN_QUANT_X_ZERO},
     {.bias = KILN_I32}},
    {KILN_U8, KILN_I32, {.x_zero = 77, .buffers = KILN_QUANT_W_ZERO}, {.bias = KILN_I32}},
    {KILN_I8, KILN_I32, {.x_zero = -128, .w_zero = 127}, {0}},
    {KILN_I8,
     KILN_I8,
     {.x_scale = 0.01f,
      .y_scale = 3,
      .residual_scale = 2.5f,
      .residual_zero = 200,
      .residual_type = KILN_U8,
      .y_zero = 9},
     {.beta = 1, .activation = KILN_RELU}},
    {KILN_U8,
     KILN_U8,
     {.x_scale = 0.01f,
      .y_scale = 3,
      .residual_scale = 2.5f,
      .residual_zero = -20,
      .residual_type = KILN_I8,
      .residual_after = 1,
      .y_zero = 100},
     {.beta = 1, .activation = KILN_TANH, .param = {0.1f, 50}}},
    {KILN_U8,
     KILN_U8,
     {.x_scale = 0.01f, .y_scale = 2, .residual_after = 1},
     {.beta = 0.25f, .activation = KILN_RELU}},
    {KILN_U8,
     KILN_U8,
     {.x_zero = 120,
      .y_zero = 7,
      .rounding = KILN_ROUND_FIXED_TWICE,
      .buffers = KILN_QUANT_W_SCALES},
     {.bias = KILN_I32}},
    {KILN_I8,
     KILN_I8,
     {.x_zero = -5,
      .y_zero = -100,
      .y_scale = 0.05f,
      .rounding = KILN_ROUND_FIXED_ONCE,
      .buffers = KILN_QUANT_W_SCALES},
     {.bias = KILN_I32, .activation = KILN_CLIPPED_RELU, .param = {6}}},
    {KILN_I8,
     KILN_U8,
     {.rounding = KILN_ROUND_FIXED_TWICE, .buffers = ALL_ZEROS | KILN_QUANT_W_SCALES},
     {.activation = KILN_RELU}},
    {KILN_I8, KILN_I8, {.x_scale = 0.01f, .y_scale = 2}, {.bias = 1, .activation = KILN_MISH}},
    {KILN_U8,
     KILN_F32,
     {.x_scale = 0.0001f, .residual_scale = 3, .residual_type = KILN_I8, .residual_after = 1},
     {.beta = -1, .activation = KILN_EXP}},
    {KILN_I8,
     KILN_F32,
     {.x_scale = 0.01f, .residual_scale = 40, .residual_type = KILN_I8, .residual_after = 1},
     {.beta = -1, .activation = KILN_SQUARE}},
    {KILN_I8, KILN_U8, {.x_scale = 0.001f, .y_scale = 0.1f}, {.activation = KILN_HARD_SWISH}},
    {KILN_U8, KILN_I8, {.x_scale = 0.01f, .y_scale = 2}, {.activation = KILN_SOFTPLUS}},
    {KILN_I8, KILN_U8, {.x_scale = 0.01f, .y_scale = 0.01f}, {.activation = KILN_HARD_TANH}},
    {KILN_I8, KILN_U8, {.x_scale = 0.01f, .y_scale = 2}, {.activation = KILN_ABS}},
};
enum { CASES = sizeof cases / sizeof *cases };

static kiln_problem problem_of(const quant_case *c, const kiln_problem *shape)
{
    kiln_problem p = *shape;
    p.x_type = c->x;
    p.w_type = KILN_I8;
    p.y_type = c->y;
    p.quant = c->q;
    p.epilogue = c->e;
    return p;
}

START_TEST(scales_and_zero_points_apply)
{
    for (int i = 0; i < SOME; i++) {
        const kiln_problem shape = shape_of(_i, i), p = problem_of(&cases[_i], &shape);
        check_one(&p, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* ---- weights of other types than x ---- */

static const kiln_type trios[][3] = {
    {KILN_F32, KILN_I8, KILN_F32},           {KILN_F16, KILN_I8, KILN_F16},
    {KILN_BF16, KILN_I8, KILN_BF16},         {KILN_F32, KILN_F16, KILN_F32},
    {KILN_F32, KILN_BF16, KILN_F32},         {KILN_F16, KILN_I8, KILN_F32},
    {KILN_F8E4M3, KILN_F8E4M3, KILN_F8E4M3}, {KILN_F8E5M2, KILN_F8E5M2, KILN_F32}};
enum { TRIOS = sizeof trios / sizeof *trios };

START_TEST(weights_have_types_of_their_own)
{
    for (int i = 0; i < SOME; i++) {
        kiln_problem p = shape_of(_i, i);
        p.x_type = trios[_i][0];
        p.w_type = trios[_i][1];
        p.y_type = trios[_i][2];
        p.quant = (kiln_quant){.x_scale = 0.5f, .buffers = KILN_QUANT_W_SCALES};
        p.quant.y_scale = p.y_type == KILN_F8E4M3 ? 4 : 0;
        p.epilogue = (kiln_epilogue){.bias = 1, .activation = KILN_RELU};
        check_one(&p, HOST_FILL_UNIFORM);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("quant");
    TCase *c = tcase_create("quant");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_type_comes_from_every_source, 0, 12);
    tcase_add_loop_test(c, scales_and_zero_points_apply, 0, CASES);
    tcase_add_loop_test(c, weights_have_types_of_their_own, 0, TRIOS);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
