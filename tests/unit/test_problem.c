/* The problem as a value: rules, sizes, its text and MIOpen's key, hostile strings. */
#include "kiln_problem.h"

#include <check.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[KILN_ERROR_TEXT];

static kiln_problem seed_problem(void)
{
    return (kiln_problem){
        .batch = 16, .in_channels = 192, .out_channels = 64, .input = {28, 28}, .filter = {1, 1}};
}

static kiln_problem parsed(const char *text)
{
    kiln_problem p;
    if (kiln_problem_parse(&p, text, why))
        ck_abort_msg("%s: %s", text, why);
    return p;
}

static const char *text_of(const kiln_problem *p)
{
    static char text[KILN_KEY_TEXT];
    ck_assert_uint_lt(kiln_problem_text(p, text, sizeof text), sizeof text);
    return text;
}

/* ---- random problems --------------------------------------------------------------------------
 */

static uint64_t state;

static int64_t pick(int64_t below) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)below);
}

static float random_float(void)
{
    uint32_t bits = (uint32_t)pick((int64_t)1 << 32);
    float f;
    memcpy(&f, &bits, sizeof f);
    const float tame[] = {0.5f, -1, 0.1f, 6, 1e-3f, 0};
    return pick(2) ? tame[pick(6)] : f;
}

static void random_layouts(kiln_problem *p)
{
    static const char *const names[] = {"",         "any",      "NHWC",      "NCHW32c",
                                        "NHWC;C%8", "NH|CW|4c", "NC/32HW32", "OIHW4i16o4i"};
    char *const layouts[] = {p->x_layout, p->w_layout, p->y_layout};
    for (int i = 0; i < 3; i++)
        strcpy(layouts[i], names[pick(8)]);
}

/* Mostly legal; the check decides. */
static kiln_problem random_problem(void)
{
    kiln_problem p = {.direction = (kiln_direction)pick(3),
                      .transposed = pick(4) == 0,
                      .spatial_rank = (int)pick(4),
                      .batch = 1 + pick(5),
                      .groups = pick(4),
                      .x_type = (kiln_type)pick(6),
                      .determinism = (kiln_determinism)pick(3),
                      .math = (kiln_math)pick(4),
                      .workspace_limit = pick(3) ? 0 : pick((int64_t)1 << 62)};
    p.in_channels = (p.groups + !p.groups) * (1 + pick(7));
    p.out_channels = (p.groups + !p.groups) * (1 + pick(7));
    if (pick(3) == 0)
        p.y_type = (kiln_type)pick(6);
    if (pick(3) == 0)
        p.w_type = (kiln_type)pick(6);
    for (int i = 0; i < (p.spatial_rank ? p.spatial_rank : 2); i++) {
        p.input[i] = 1 + pick(30);
        p.filter[i] = 1 + pick(5);
        p.stride[i] = pick(4);
        p.dilation[i] = pick(3);
        p.pad_begin[i] = pick(4);
        p.pad_end[i] = pick(2) ? p.pad_begin[i] : pick(4);
        p.output_pad[i] = p.transposed ? pick(3) : 0;
    }
    if (pick(2))
        random_layouts(&p);
    if (p.direction == KILN_FORWARD && pick(2))
        p.epilogue = (kiln_epilogue){.bias = (int)pick(3),
                                     .alpha = random_float(),
                                     .beta = random_float(),
                                     .activation = (kiln_activation)pick(9),
                                     .param = {random_float(), random_float()}};
    if (pick(4) == 0)
        strcpy(p.bias_layout, ((const char *[]){"W", "any", "IMG_ARGUMENT", "W8w"})[pick(4)]);
    return p;
}

static void check_round_trip(const kiln_problem *p)
{
    char text[KILN_KEY_TEXT], key[KILN_KEY_TEXT];
    size_t length = kiln_problem_text(p, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    kiln_problem back = parsed(text);
    ck_assert_msg(memcmp(p, &back, sizeof back) == 0, "%s comes back as %s", text, text_of(&back));
    size_t row = kiln_problem_row_key(p, key, sizeof key);
    ck_assert_uint_eq(row, strlen(key));
    ck_assert_msg(strncmp(text, key, row) == 0, "%s is no start of %s", key, text);
    size_t miopen = kiln_problem_miopen_key(p, key, sizeof key);
    if (miopen == 0)
        return;
    ck_assert_uint_eq(miopen, strlen(key));
    back = parsed(key);
    kiln_problem same = *p; /* what the key does not say */
    same.determinism = back.determinism;
    same.math = back.math;
    same.workspace_limit = back.workspace_limit;
    ck_assert_msg(memcmp(&same, &back, sizeof back) == 0, "%s is not %s", key, text);
}

START_TEST(round_trip_of_random_problems)
{
    state = 20260131;
    int legal = 0, keyed = 0;
    for (int i = 0; i < 20000; i++) {
        kiln_problem p = random_problem();
        if (kiln_problem_check(&p, why)) {
            ck_assert_uint_gt(strlen(why), 10);
            continue;
        }
        kiln_problem again = p;
        ck_assert_int_eq(kiln_problem_check(&again, why), KILN_OK);
        ck_assert_msg(memcmp(&p, &again, sizeof p) == 0, "checking twice changes %s", text_of(&p));
        check_round_trip(&p);
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
    state = 7;
    for (int i = 0; i < 20000; i++) {
        kiln_problem p = seed_problem();
        p.epilogue.alpha = random_float();
        if (kiln_problem_check(&p, NULL))
            continue; /* not finite */
        kiln_problem back = parsed(text_of(&p));
        if (memcmp(&p, &back, sizeof p) != 0)
            ck_abort_msg("%a: %s", (double)p.epilogue.alpha, text_of(&p));
    }
}
END_TEST

/* Every field of the text matters: two problems that differ have different texts. */
START_TEST(different_problems_have_different_texts)
{
    enum { TWINS = 2000 };
    state = 99;
    static char texts[TWINS][KILN_KEY_TEXT];
    static kiln_problem problems[TWINS];
    int n = 0;
    while (n < TWINS) {
        kiln_problem p = random_problem();
        p.batch = 1; /* small ranges: many near-twins */
        p.in_channels = p.out_channels = 6;
        if (kiln_problem_check(&p, NULL))
            continue;
        strcpy(texts[n], text_of(&p));
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

/* ---- fixed texts ------------------------------------------------------------------------------
 */

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
    ck_assert_str_eq(text_of(&p), named[_i].text);
    check_round_trip(&p);
}
END_TEST

START_TEST(row_key_leaves_out_what_does_not_change_speed)
{
    char key[KILN_KEY_TEXT];
    kiln_problem p = parsed(named[4].text);
    kiln_problem_row_key(&p, key, sizeof key);
    ck_assert_str_eq(key, "fwd-i8-n1-c8-k1-i3x4-f1x1-t:i8.i8.i8-l:NHWC;C%8.OHWI.NCHW");
}
END_TEST

START_TEST(text_respects_its_buffer)
{
    kiln_problem p = parsed(named[4].text);
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
    ck_assert_uint_gt(strlen(text_of(&p)), 400);
    check_round_trip(&p);
}
END_TEST

START_TEST(text_does_not_follow_the_locale)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof comma / sizeof *comma; i++)
        if (setlocale(LC_ALL, comma[i]))
            break; /* none installed: the test still checks the default one */
    kiln_problem p = parsed("fwd-f32-n1-c1-k1-i2x2-f2x2-a0.5-act:elu:1.25");
    ck_assert_str_eq(text_of(&p), "fwd-f32-n1-c1-k1-i2x2-f2x2-a0.5-act:elu:1.25");
    ck_assert(p.epilogue.alpha == 0.5f);
    setlocale(LC_ALL, "C");
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------
 */

static const struct {
    const char *text, *says;
} hostile[] = {
    {"", "fwd, bwd or wrw"},
    {"fwd", "fwd, bwd or wrw"},
    {"fwd-f64-n1-c1-k1-i1x1-f1x1", "f64"},
    {"FWD-f32-n1-c1-k1-i1x1-f1x1", "FWD"},
    {"fwd-f32", "-n is missing"},
    {"fwd-f32-n1-c1-k1-i1x1", "-f is missing"},
    {"fwd-f32-n1-c1-k1-f1x1", "-i is missing"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-", "\"-\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1--det", "\"-\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-q7", "\"-q7\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1 -g1", "\"-f1x1 \""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-s1x1-s1x1", "twice"},
    {"fwd-f32-n1-n1-c1-k1-i1x1-f1x1", "twice"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-p1x1-s1x1", "before -p"},
    {"fwd-f32-c1-n1-k1-i1x1-f1x1", "before -c"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-det-nondet", "contradicts"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-exact-reduced", "contradicts"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1x1", "\"-f1x1x1\""},
    {"fwd-f32-n1-c1-k1-i1x1x1x1-f1x1x1x1", "\"-i1x1x1x1\""},
    {"fwd-f32-n1-c1-k1-i1x-f1x1", "\"-i1x\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-s0x1", "\"-s0x1\""},
    {"fwd-f32-n0-c1-k1-i1x1-f1x1", "\"-n0\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-g0", "\"-g0\""},
    {"fwd-f32-n+1-c1-k1-i1x1-f1x1", "\"-n+1\""},
    {"fwd-f32-n1.5-c1-k1-i1x1-f1x1", "\"-n1.5\""},
    {"fwd-f32-n0x10-c1-k1-i1x1-f1x1", "\"-n0x10\""},
    {"fwd-f32-n99999999999999999999-c1-k1-i1x1-f1x1", "\"-n99999999999999999999\""},
    {"fwd-f32-n9223372036854775807-c9-k1-i1x1-f1x1", "overflow"},
    {"fwd-f32-n1-c1-k1-i1x9999999999999-f1x1", "largest"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-trans-trans", "twice"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:f32.f32", "types"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:f32.f32.f32.f32", "behind"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:f16.f16.f32", "differs"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-t:default.f32.f32", "types"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:NCHW.OIHW", "layouts"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:N CHW.OIHW.NCHW", "layout of x"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:NCHW.O\tIHW.NCHW", "layout of w"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-l:..NCHWNCHWNCHWNCHWNCHWNCHWNCHWNCHW", "31"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a0", "\"-a0\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a1e999", "finite"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-anan", "\"-anan\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a0x1p3", "\"-a0x1p3\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-a1,5", "\"-a1,5\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-act:swish", "activation"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-act:elu:", "decimal"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-act:elu:1:2:3", "behind"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-o1x1", "transposed"},
    {"fwd-f32-n1-c1-k1-i1x1-f3x3", "larger than the padded input"},
    {"fwd-f32-n1-c3-k4-i1x1-f1x1-g2", "groups"},
    {"bwd-f32-n1-c1-k1-i1x1-f1x1-bias", "epilogue"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-biased", "\"-biased\""},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:f16", "type and layout"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:f64.W", "type and layout"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:i8.W", "epilogue.bias is 4"},
    {"fwd-f32-n1-c1-k1-i1x1-f1x1-bias:f32.NCHW", "dims W"},
    {"wrw-f32-n1-c1-k1-i1x1-f1x1-bias:f16.W", "gradient is written as f32"},
    {"fwd-i32-n1-c1-k1-i1x1-f1x1", "destination"},
    {"fwd-f32-\x1b[31m", "?[31m"},
    /* MIOpen's keys */
    {"1", "C-H-W"},
    {"192-28-28", "C-H-W"},
    {"192x28x28x1x1x64x28x28x16xNCHWxFP32x1", "C-H-W"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32", "behind the type"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-X", "direction"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F_g", "groups"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F_g0", "groups"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F=ConvOcl", "the end"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-2-NCHW-FP32-F", "bias"},
    {"192-28-28-1x1-64-28-28-16-0x0-0x1-1x1-0-NCHW-FP32-F", "stride"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1x1-1x1-0-NCHW-FP32-F", "stride"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCDHW-FP32-F", "layout"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-NCHW-FP32-F", "one layout or three"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP64-F", "type"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32FP32-F", "one type or three"},
    {"192-28-28-1x1-64-27-28-16-0x0-1x1-1x1-0-NCHW-FP32-F", "size 1 is 27"},
    {"192-28-28-1x1-64-28-56-16-0x0-1x1-1x1-0-NCHW-FP32-F", "size 2 is 56"},
    {"192-28-28-1x1-64-28-28-16-0x0-2x2-1x1-0-NCHW-FP32-B", "size 1 is 28"},
    {"99999999999999999999-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F", "C-H-W"},
};

START_TEST(hostile_texts)
{
    kiln_problem before = parsed(named[0].text), p = before;
    why[0] = '\0';
    ck_assert_msg(kiln_problem_parse(&p, hostile[_i].text, why) == KILN_INVALID, "%s accepted",
                  hostile[_i].text);
    ck_assert_msg(strstr(why, hostile[_i].says), "%s: \"%s\" lacks \"%s\"", hostile[_i].text, why,
                  hostile[_i].says);
    ck_assert_int_eq(memcmp(&p, &before, sizeof p), 0);
    ck_assert_int_eq(kiln_problem_parse(&p, hostile[_i].text, NULL), KILN_INVALID);
}
END_TEST

/* Every text cut short or with one byte changed is refused or reads as a checked problem. */
START_TEST(mutated_texts)
{
    state = 5;
    static const char *const start[] = {
        "fwd-i8-n1-c8-k1-i3x4-f1x1-t:i8.i8.i8-l:NHWC;C%8.OHWI.NCHW-bias-a-0.25-r1e-20-act:elu:0.01",
        "192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F_g32"};
    for (int i = 0; i < 20000; i++) {
        char text[128];
        strcpy(text, start[i % 2]);
        size_t length = strlen(text);
        for (int j = 0; j <= pick(2); j++)
            text[pick((int64_t)length)] = "-x.:019aefnNF\xff\n\0"[pick(16)];
        kiln_problem p;
        if (kiln_problem_parse(&p, text, why) == KILN_OK)
            check_round_trip(&p);
    }
}
END_TEST

/* ---- rules of the check -----------------------------------------------------------------------
 */

START_TEST(defaults)
{
    kiln_problem p = seed_problem();
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

#define REFUSED(says, ...)                                                                         \
    do {                                                                                           \
        kiln_problem p = seed_problem();                                                           \
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
    REFUSED("storage type", p.w_type = (kiln_type)9);
    REFUSED("share a type", p.x_type = KILN_F16; p.w_type = KILN_F32);
    REFUSED("destination of f16", p.y_type = KILN_F16);
    REFUSED("batch is 0", p.batch = 0);
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
    REFUSED("would be 0", p.transposed = 1; p.pad_begin[0] = 28);
    REFUSED("tensor x", p.batch = (int64_t)1 << 46);
    REFUSED("tensor w", p.out_channels = (int64_t)1 << 50);
    REFUSED("tensor y", p.pad_end[0] = p.pad_end[1] = (int64_t)1 << 32);
    REFUSED("finite", p.epilogue.beta = 1.0f / 0.0f);
    REFUSED("activation", p.epilogue.activation = (kiln_activation)9);
    REFUSED("above 0", p.epilogue.activation = KILN_CLIPPED_RELU);
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

/* Places where the window fits, counted one by one. */
static int64_t count_windows(const kiln_problem *p, int i)
{
    int64_t n = 0, end = p->input[i] + p->pad_begin[i] + p->pad_end[i];
    for (int64_t o = 0; o + (p->filter[i] - 1) * p->dilation[i] < end; o += p->stride[i])
        n++;
    return n;
}

/* The farthest cell that any input and tap reach, less the padding. */
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
    state = 31;
    for (int i = 0; i < 5000; i++) {
        kiln_problem p = random_problem();
        if (kiln_problem_check(&p, NULL))
            continue;
        int64_t x = p.batch * p.in_channels, y = p.batch * p.out_channels;
        int64_t w = p.in_channels * p.out_channels / p.groups;
        for (int a = 0; a < p.spatial_rank; a++) {
            int64_t out = p.transposed ? count_scattered(&p, a) : count_windows(&p, a);
            ck_assert_msg(kiln_problem_output(&p, a) == out, "%s axis %d: %lld, not %lld",
                          text_of(&p), a, (long long)kiln_problem_output(&p, a), (long long)out);
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

/* ---- MIOpen's keys ----------------------------------------------------------------------------
 */

static const struct {
    const char *key, *text;
} keys[] = {
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-F", "fwd-f32-n16-c192-k64-i28x28-f1x1"},
    {"256-56-56-1x1-512-28-28-128-0x0-2x2-1x1-0-NCHW-FP32-F",
     "fwd-f32-n128-c256-k512-i56x56-f1x1-s2x2"},
    /* Backward: the key starts with the forward output. */
    {"64-28-28-1x1-192-28-28-16-0x0-1x1-1x1-0-NCHW-FP32-B", "bwd-f32-n16-c192-k64-i28x28-f1x1"},
    {"512-28-28-1x1-256-56-56-16-0x0-2x2-1x1-0-NCHW-FP32-B",
     "bwd-f32-n16-c256-k512-i56x56-f1x1-s2x2"},
    {"512-28-28-1x1-256-56-56-16-0x0-2x2-1x1-0-NCHW-BF16-W",
     "wrw-bf16-n16-c256-k512-i56x56-f1x1-s2x2"},
    {"192-28-28-1x1-64-28-28-16-0x0-1x1-1x1-0-NCHW-FP16-F", "fwd-f16-n16-c192-k64-i28x28-f1x1"},
    {"32-14-15-3x5-64-14-15-2-1x2-1x1-1x1-1-NCHW-FP32-F_g32",
     "fwd-f32-n2-c32-k64-i14x15-f3x5-p1x2-g32-bias"},
    {"3-8-16-17-3x5x5-4-8-12-13-2-1x0x0-1x1x1-1x1x1-0-NCDHW-FP32-F",
     "fwd-f32-n2-c3-k4-i8x16x17-f3x5x5-p1x0x0"},
    {"32-14-14-1x1-64-14-14-2-0x0-1x1-1x1-0-NHWC-NHWC-NHWC-FP16-F",
     "fwd-f16-n2-c32-k64-i14x14-f1x1-l:NHWC.OHWI.NHWC"},
    {"32-14-14-1x1-64-14-14-2-0x0-1x1-1x1-0-NCHW-INT8INT8INT32-F", "fwd-i8-n2-c32-k64-i14x14-f1x1"},
    {"32-14-14-1x1-64-14-14-2-0x0-1x1-1x1-0-NCHW-INT8-F",
     "fwd-i8-n2-c32-k64-i14x14-f1x1-t:i8.i8.i8"},
    /* Blocks of layouts and types are exchanged as well. */
    {"64-14-14-1x1-32-14-14-2-0x0-1x1-1x1-0-NHWC-NCHW-NCHW-BF16BF16FP32-B",
     "bwd-bf16-n2-c32-k64-i14x14-f1x1-t:f32.bf16.bf16-l:NCHW.OIHW.NHWC"},
};

START_TEST(miopen_keys)
{
    char key[KILN_KEY_TEXT];
    kiln_problem p = parsed(keys[_i].key);
    ck_assert_str_eq(text_of(&p), keys[_i].text);
    kiln_problem_miopen_key(&p, key, sizeof key);
    ck_assert_str_eq(key, keys[_i].key);
}
END_TEST

START_TEST(no_miopen_key)
{
    static const char *const texts[] = {
        "fwd-f32-n1-c1-k1-i5-f3",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-p1x1-e0x0",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-trans",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-l:any.any.any",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-act:relu",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-a2",
        "fwd-f32-n1-c1-k1-i5x5-f3x3-r1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char key[KILN_KEY_TEXT] = "x";
        kiln_problem p = parsed(texts[i]);
        ck_assert_msg(kiln_problem_miopen_key(&p, key, sizeof key) == 0, "%s", texts[i]);
        ck_assert_str_eq(key, "");
    }
}
END_TEST

static int count_of(size_t bytes, size_t one)
{
    return (int)(bytes / one);
}

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *tests = tcase_create("problem");
    tcase_add_test(tests, round_trip_of_random_problems);
    tcase_add_test(tests, every_float_comes_back);
    tcase_add_test(tests, different_problems_have_different_texts);
    tcase_add_loop_test(tests, named_problems, 0, count_of(sizeof named, sizeof *named));
    tcase_add_test(tests, row_key_leaves_out_what_does_not_change_speed);
    tcase_add_test(tests, text_respects_its_buffer);
    tcase_add_test(tests, longest_text_fits);
    tcase_add_test(tests, text_does_not_follow_the_locale);
    tcase_add_loop_test(tests, hostile_texts, 0, count_of(sizeof hostile, sizeof *hostile));
    tcase_add_test(tests, mutated_texts);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, rules);
    tcase_add_test(tests, outputs_and_counts);
    tcase_add_loop_test(tests, miopen_keys, 0, count_of(sizeof keys, sizeof *keys));
    tcase_add_test(tests, no_miopen_key);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
