/* The text of a problem: written as expected, read back, and different for every problem. */
#include "support/comma.h"
#include "support/suite.h"
#include "support/texts.h"

#include <check.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char why[KILN_ERROR_TEXT];

START_TEST(round_trip_of_random_problems)
{
    texts_seed(20260131);
    int legal = 0, keyed = 0;
    for (int i = 0; i < 20000; i++) {
        kiln_problem p = texts_random_problem();
        if (kiln_problem_check(&p, why)) {
            ck_assert_uint_gt(strlen(why), 10);
            continue;
        }
        kiln_problem again = p;
        ck_assert_int_eq(kiln_problem_check(&again, why), KILN_OK);
        ck_assert_msg(memcmp(&p, &again, sizeof p) == 0, "checking twice changes %s", texts_of(&p));
        texts_check_round_trip(&p);
        char key[KILN_KEY_TEXT];
        keyed += kiln_problem_miopen_key(&p, key, sizeof key) > 0;
        legal++;
    }
    ck_assert_int_gt(legal, 3000);
    ck_assert_int_gt(keyed, 100);
}
END_TEST

START_TEST(every_float_comes_back)
{
    texts_seed(7);
    for (int i = 0; i < 20000; i++) {
        kiln_problem p = texts_seed_problem();
        p.epilogue.alpha = texts_random_float();
        if (kiln_problem_check(&p, NULL))
            continue; /* not finite */
        kiln_problem back = texts_parsed(texts_of(&p));
        if (memcmp(&p, &back, sizeof p) != 0)
            ck_abort_msg("%a: %s", (double)p.epilogue.alpha, texts_of(&p));
    }
}
END_TEST

/* Every field of the text matters: two problems that differ have different texts. */
START_TEST(different_problems_have_different_texts)
{
    enum { TWINS = 2000 };
    texts_seed(99);
    static char texts[TWINS][KILN_KEY_TEXT];
    static kiln_problem problems[TWINS];
    int n = 0;
    while (n < TWINS) {
        kiln_problem p = texts_random_problem();
        p.batch = 1; /* small ranges: many near-twins */
        p.in_channels = p.out_channels = 6;
        if (kiln_problem_check(&p, NULL))
            continue;
        strcpy(texts[n], texts_of(&p));
        problems[n++] = p;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            bool same = memcmp(&problems[i], &problems[j], sizeof *problems) == 0;
            if (same != (strcmp(texts[i], texts[j]) == 0))
                ck_abort_msg("%s and %s", texts[i], texts[j]);
        }
}
END_TEST

static const struct {
    const char *text;
    kiln_problem p;
} named[] = {
    {"fwd-f32-n16-c192-k64-i28x28-f1x1",
     {.batch = 16, .in_channels = 192, .out_channels = 64, .input = {28, 28}, .filter = {1, 1}}},
    {"wrw-f16-n1-c4-k6-i9-f3-s2-p1-e0-d2-g2-bias",
     {.direction = KILN_BACKWARD_WEIGHTS,
      .spatial_rank = 1,
      .x_type = KILN_F16,
      .batch = 1,
      .in_channels = 4,
      .out_channels = 6,
      .groups = 2,
      .input = {9},
      .filter = {3},
      .stride = {2},
      .pad_begin = {1},
      .dilation = {2},
      .epilogue = {.bias = 1}}},
    {"bwd-bf16-n2-c3-k5-i4x5x6-f1x2x3-s2x2x2-trans-o0x1x0-t:f32.bf16.bf16",
     {.direction = KILN_BACKWARD_DATA,
      .transposed = 1,
      .spatial_rank = 3,
      .x_type = KILN_F32,
      .y_type = KILN_BF16,
      .batch = 2,
      .in_channels = 3,
      .out_channels = 5,
      .input = {4, 5, 6},
      .filter = {1, 2, 3},
      .stride = {2, 2, 2},
      .output_pad = {0, 1, 0}}},
    {"fwd-i8-n1-c1-k1-i3x4-f1x1",
     {.x_type = KILN_I8,
      .batch = 1,
      .in_channels = 1,
      .out_channels = 1,
      .input = {3, 4},
      .filter = {1, 1}}},
    {"fwd-i8-n1-c8-k1-i3x4-f1x1-t:i8.i8.i8-l:NHWC;C%8.OHWI.NCHW-bias-a-0.25-r1e-20-"
     "act:leaky_relu:0.01-nondet-reduced-ws1048576",
     {.x_type = KILN_I8,
      .y_type = KILN_I8,
      .x_layout = "NHWC;C%8",
      .w_layout = "OHWI",
      .batch = 1,
      .in_channels = 8,
      .out_channels = 1,
      .input = {3, 4},
      .filter = {1, 1},
      .epilogue = {.bias = 1,
                   .alpha = -0.25f,
                   .beta = 1e-20f,
                   .activation = KILN_LEAKY_RELU,
                   .param = {0.01f, 3 /* unused */}},
      .determinism = KILN_NONDETERMINISTIC,
      .math = KILN_MATH_REDUCED,
      .workspace_limit = 1048576}},
    {"fwd-f16-n1-c3-k5-i2x2-f2x2-bias:f16.|W|4w-act:relu",
     {.x_type = KILN_F16,
      .bias_layout = "IMG_ARGUMENT",
      .batch = 1,
      .in_channels = 3,
      .out_channels = 5,
      .input = {2, 2},
      .filter = {2, 2},
      .epilogue = {.bias = KILN_F16, .activation = KILN_RELU}}},
    {"fwd-u8-n1-c3-k5-i2x2-f2x2-t:u8.i8.i8-bias:i32.W-r1-q:xs0.5:ys2:x3:y-7:r9:wb:wzb:tu8:after",
     {.x_type = KILN_U8,
      .y_type = KILN_I8,
      .batch = 1,
      .in_channels = 3,
      .out_channels = 5,
      .input = {2, 2},
      .filter = {2, 2},
      .epilogue = {.bias = KILN_I32, .beta = 1},
      .quant = {.x_scale = 0.5f,
                .y_scale = 2,
                .x_zero = 3,
                .y_zero = -7,
                .residual_zero = 9,
                .buffers = KILN_QUANT_W_SCALES | KILN_QUANT_W_ZERO,
                .residual_type = KILN_U8,
                .residual_after = 1}}},
    {"fwd-f32-n1-c1-k1-i2x2-f2x2-act:tanh:0:2-det-exact",
     {.batch = 1,
      .in_channels = 1,
      .out_channels = 1,
      .input = {2, 2},
      .filter = {2, 2},
      .epilogue = {.activation = KILN_TANH, .param = {0, 2}},
      .determinism = KILN_DETERMINISTIC,
      .math = KILN_MATH_EXACT}},
};

START_TEST(named_problems)
{
    kiln_problem p = named[_i].p;
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    ck_assert_str_eq(texts_of(&p), named[_i].text);
    texts_check_round_trip(&p);
}
END_TEST

START_TEST(row_key_leaves_out_what_does_not_change_speed)
{
    char key[KILN_KEY_TEXT];
    kiln_problem p = texts_parsed(named[4].text);
    kiln_problem_row_key(&p, key, sizeof key);
    ck_assert_str_eq(key, "fwd-i8-n1-c8-k1-i3x4-f1x1-t:i8.i8.i8-l:NHWC;C%8.OIHW.NCHW");
    p = texts_parsed("wrw-f32-n1-c8-k1-i3x4-f1x1-l:NHWC.OHWI.NHWC");
    kiln_problem_row_key(&p, key, sizeof key);
    ck_assert_str_eq(key, "wrw-f32-n1-c8-k1-i3x4-f1x1-l:NHWC.OHWI.NHWC");
    /* An image is read by solvers of its own. */
    p = texts_parsed("fwd-f32-n1-c8-k4-i3x4-f1x1-l:IMG_CHANNEL_MAJOR.IMG_CONV_FILTER."
                     "IMG_CHANNEL_MAJOR");
    kiln_problem_row_key(&p, key, sizeof key);
    ck_assert_ptr_null(strstr(key, ".OIHW."));
}
END_TEST

START_TEST(text_respects_its_buffer)
{
    kiln_problem p = texts_parsed(named[4].text);
    size_t needed = strlen(named[4].text);
    for (size_t size = 0; size <= needed + 1; size++) {
        char *text = malloc(size + 8);
        memset(text, '#', size + 8);
        ck_assert_uint_eq(kiln_problem_text(&p, text, size), needed);
        size_t kept = size == 0 ? 0 : size - 1 < needed ? size - 1 : needed;
        ck_assert_int_eq(strncmp(text, named[4].text, kept), 0);
        if (size)
            ck_assert_int_eq(text[kept], '\0');
        for (size_t i = size; i < size + 8; i++)
            ck_assert_int_eq(text[i], '#');
        free(text);
    }
}
END_TEST

/* The longest text the rules allow still fits KILN_KEY_TEXT. */
START_TEST(longest_text_fits)
{
    const int64_t big = ((int64_t)1 << 40) - 1;
    kiln_problem p = {.spatial_rank = 3,
                      .transposed = 1,
                      .x_type = KILN_BF16,
                      .y_type = KILN_F32,
                      .batch = 1,
                      .in_channels = 1,
                      .out_channels = ((int64_t)1 << 50),
                      .input = {1, 1, 1},
                      .filter = {1, 1, 1},
                      .stride = {big, big, big},
                      .dilation = {big, big, big},
                      .pad_begin = {big - 2, big - 2, big - 2},
                      .output_pad = {big - 2, big - 2, big - 2},
                      .bias_layout = "W2w2w2w2w2w2w2w2w;W%512",
                      .epilogue = {.bias = KILN_BF16,
                                   .alpha = -1.17549435e-38f,
                                   .beta = -1.17549435e-38f,
                                   .activation = KILN_TANH,
                                   .param = {-1.17549435e-38f, -1.17549435e-38f}},
                      .determinism = KILN_NONDETERMINISTIC,
                      .math = KILN_MATH_REDUCED,
                      .workspace_limit = INT64_MAX};
    /* As many axes as a layout may have, and rules up to the last byte. */
    strcpy(p.x_layout, "NCDHW2c2c2c2c2c2c2c;W%1;H%1;D%1");
    strcpy(p.w_layout, "OIDHW2i2i2i2i2i2i2i;W%1;H%1;D%1");
    strcpy(p.y_layout, "NCDHW2c2c2c2c2c2c2c;W%1;H%1;D%1");
    ck_assert_msg(kiln_problem_check(&p, why) == KILN_OK, "%s", why);
    ck_assert_uint_gt(strlen(texts_of(&p)), 400);
    texts_check_round_trip(&p);
}
END_TEST

START_TEST(text_does_not_follow_the_locale)
{
    if (!comma_locale())
        return;
    kiln_problem p = texts_parsed("fwd-f32-n1-c1-k1-i2x2-f2x2-a0.5-act:elu:1.25");
    ck_assert_str_eq(texts_of(&p), "fwd-f32-n1-c1-k1-i2x2-f2x2-a0.5-act:elu:1.25");
    ck_assert(p.epilogue.alpha == 0.5f);
    setlocale(LC_ALL, "C");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_text");
    TCase *tests = tcase_create("problem_text");
    tcase_add_test(tests, round_trip_of_random_problems);
    tcase_add_test(tests, every_float_comes_back);
    tcase_add_test(tests, different_problems_have_different_texts);
    tcase_add_loop_test(tests, named_problems, 0, (int)(sizeof named / sizeof *named));
    tcase_add_test(tests, row_key_leaves_out_what_does_not_change_speed);
    tcase_add_test(tests, text_respects_its_buffer);
    tcase_add_test(tests, longest_text_fits);
    tcase_add_test(tests, text_does_not_follow_the_locale);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
