/* The rules of a problem: defaults, refusals and sizes. */
#include "support/suite.h"
#include "support/texts.h"

#include <check.h>
#include <string.h>

static char why[KILN_ERROR_TEXT];

START_TEST(defaults)
{
    kiln_problem p = texts_seed_problem();
    ck_assert_int_eq(kiln_problem_check(&p, why), KILN_OK);
    ck_assert_int_eq(p.spatial_rank, 2);
    ck_assert_int_eq(p.groups, 1);
    ck_assert_int_eq(p.stride[0], 1);
    ck_assert_int_eq(p.dilation[1], 1);
    ck_assert_int_eq(p.x_type, KILN_F32);
    ck_assert_int_eq(p.y_type, KILN_F32);
    ck_assert_str_eq(p.x_layout, "NCHW");
    ck_assert_str_eq(p.w_layout, "OIHW");
    ck_assert_int_eq(p.math, KILN_MATH_FAST);
    ck_assert(p.epilogue.alpha == 1);
}
END_TEST

START_TEST(a_checked_problem_may_lose_its_residual)
{
    kiln_problem p = texts_seed_problem();
    p.epilogue.beta = 2;
    ck_assert_int_eq(kiln_problem_check(&p, why), KILN_OK);
    p.epilogue = (kiln_epilogue){0};
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
}
END_TEST

#define REFUSED(says, ...)                                                                         \
    do {                                                                                           \
        kiln_problem p = texts_seed_problem();                                                     \
        __VA_ARGS__;                                                                               \
        ck_assert_msg(kiln_problem_check(&p, why) == KILN_INVALID, "accepted: %s", #__VA_ARGS__);  \
        ck_assert_msg(strstr(why, says), "%s: \"%s\"", #__VA_ARGS__, why);                         \
    } while (0)

START_TEST(rules)
{
    REFUSED("direction", p.direction = (kiln_direction)3);
    REFUSED("rank is 4", p.spatial_rank = 4);
    REFUSED("rank is -1", p.spatial_rank = -1);
    REFUSED("raise it", p.input[2] = 5);
    REFUSED("raise it", p.spatial_rank = 1);
    REFUSED("raise it", p.stride[2] = 2);
    REFUSED("w_type is 9", p.w_type = (kiln_type)9);
    REFUSED("x of f16 takes w of f16 or i8, not of f32", p.x_type = KILN_F16; p.w_type = KILN_F32);
    REFUSED("x of f32 takes w of f32, f16, bf16 or i8, not of f8e4m3", p.x_type = KILN_F32;
            p.w_type = KILN_F8E4M3);
    REFUSED("x of u8 takes w of i8, not of u8", p.x_type = p.w_type = KILN_U8);
    REFUSED("a backward pass reads must share a type, not i8 and f32",
            p.direction = KILN_BACKWARD_DATA;
            p.y_type = KILN_F32; p.w_type = KILN_I8);
    REFUSED("destination of f16", p.y_type = KILN_F16);
    REFUSED("batch is 0; it must be at least 1: leave out the operation", p.batch = 0);
    REFUSED("in_channels is -5", p.in_channels = -5);
    REFUSED("groups is -1", p.groups = -1);
    REFUSED("do not divide", p.groups = 5);
    REFUSED("input of the height is 0", p.input[0] = 0);
    REFUSED("filter of the width is -1", p.filter[1] = -1);
    REFUSED("stride of the width is -2", p.stride[1] = -2);
    REFUSED("pad after of the height is -1", p.pad_end[0] = -1);
    REFUSED("largest", p.pad_begin[0] = INT64_MAX);
    REFUSED("reaches too far", p.filter[0] = 1 << 30; p.dilation[0] = 1 << 30);
    REFUSED("reaches too far", p.transposed = 1; p.input[0] = 1 << 30; p.stride[0] = 1 << 30);
    REFUSED("29 (dilated) against 28", p.filter[0] = 15; p.dilation[0] = 2);
    REFUSED("only a transposed", p.output_pad[0] = 1);
    REFUSED("below stride", p.transposed = 1; p.output_pad[0] = 1);
    REFUSED("have 2 in 8 groups", p.transposed = 1; p.in_channels = p.groups = 8;
            p.out_channels = 16; strcpy(p.w_layout, "MIHW"));
    REFUSED("would be 0", p.transposed = 1; p.pad_begin[0] = 28);
    REFUSED("tensor x", p.batch = (int64_t)1 << 46);
    REFUSED("tensor w", p.out_channels = (int64_t)1 << 50);
    REFUSED("tensor y", p.pad_end[0] = p.pad_end[1] = (int64_t)1 << 32);
    REFUSED("finite", p.epilogue.beta = 1.0f / 0.0f);
    REFUSED("activation", p.epilogue.activation = (kiln_activation)KILN_ACTIVATIONS);
    REFUSED("below b", p.epilogue.activation = KILN_HARD_TANH; p.epilogue.param[0] = 1);
    REFUSED("above 0", p.epilogue.activation = KILN_CLIPPED_RELU; p.epilogue.param[0] = -1);
    REFUSED("determinism", p.determinism = (kiln_determinism)-1);
    REFUSED("math", p.math = (kiln_math)4);
    REFUSED("workspace", p.workspace_limit = -1);
    REFUSED("longer than 31", memset(p.w_layout, 'N', sizeof p.w_layout));
    REFUSED("layout of y", strcpy(p.y_layout, "N.C"));
    REFUSED("no epilogue", p.direction = KILN_BACKWARD_DATA; p.epilogue.bias = 1);
    REFUSED("but bias", p.direction = KILN_BACKWARD_WEIGHTS; p.epilogue.alpha = 2);
    REFUSED("no bias", strcpy(p.bias_layout, "IMG_ARGUMENT"));
    REFUSED("layout of bias", p.epilogue.bias = 1; strcpy(p.bias_layout, "W-4"));
    REFUSED("epilogue.bias is -1", p.epilogue.bias = -1);
    REFUSED("i32 destination", p.x_type = KILN_I8; p.epilogue.bias = 1);
}
END_TEST

/* Counts the places where the window fits, one by one. */
static int64_t count_windows(const kiln_problem *p, int i)
{
    int64_t n = 0, end = p->input[i] + p->pad_begin[i] + p->pad_end[i];
    for (int64_t o = 0; o + (p->filter[i] - 1) * p->dilation[i] < end; o += p->stride[i])
        n++;
    return n;
}

/* Returns the farthest cell that an input and a tap reach, less the padding. */
static int64_t count_scattered(const kiln_problem *p, int i)
{
    int64_t last = 0;
    for (int64_t x = 0; x < p->input[i]; x++)
        for (int64_t f = 0; f < p->filter[i]; f++) {
            int64_t at = x * p->stride[i] + f * p->dilation[i];
            last = at > last ? at : last;
        }
    return last + 1 + p->output_pad[i] - p->pad_begin[i] - p->pad_end[i];
}

START_TEST(outputs_and_counts)
{
    texts_seed(31);
    for (int i = 0; i < 5000; i++) {
        kiln_problem p = texts_random_problem();
        if (kiln_problem_check(&p, NULL))
            continue;
        int64_t x = p.batch * p.in_channels, y = p.batch * p.out_channels;
        int64_t w = p.in_channels * p.out_channels / p.groups;
        for (int a = 0; a < p.spatial_rank; a++) {
            int64_t out = p.transposed ? count_scattered(&p, a) : count_windows(&p, a);
            ck_assert_msg(kiln_problem_output(&p, a) == out, "%s axis %d: %lld, not %lld",
                          texts_of(&p), a, (long long)kiln_problem_output(&p, a), (long long)out);
            x *= p.input[a];
            y *= out;
            w *= p.filter[a];
        }
        ck_assert_int_eq(kiln_problem_count(&p, 'x'), x);
        ck_assert_int_eq(kiln_problem_count(&p, 'w'), w);
        ck_assert_int_eq(kiln_problem_count(&p, 'y'), y);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *tests = tcase_create("problem");
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, a_checked_problem_may_lose_its_residual);
    tcase_add_test(tests, rules);
    tcase_add_test(tests, outputs_and_counts);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
