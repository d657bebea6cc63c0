/* The blocked depthwise solver: groups, remainders, borders and tiles, compared for equality. */
#include "runtime/kiln/kiln_internal.h"
#include "runtime/op/op.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static kiln_problem in_layout(kiln_problem p, const char *name)
{
    support_set_layouts(&p, name, name);
    return p;
}

/* What needs vectors of 16 may be refused by a CPU of narrower ones. */
static void check(const kiln_problem *p, const char *config)
{
    if (!support_try(p, "depthwise_blocked", config, HOST_FILL_INT))
        ck_assert_msg(support_open()->kiln->facts.simd_floats < 16, "refused: %s",
                      kiln_last_error());
}

/* Channels that leave a remainder of 16. */
START_TEST(every_remainder_of_channels)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 3 * _i + 2,
                      .out_channels = 3 * _i + 2,
                      .groups = 3 * _i + 2,
                      .input = {5, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.bias = 1, .activation = KILN_CLIPPED_RELU, .param = {6}}};
    p = in_layout(p, "NCHW16c");
    check(&p, NULL);
    p.epilogue = (kiln_epilogue){0};
    p.direction = KILN_BACKWARD_DATA;
    if (_i % 2)
        check(&p, NULL);
}
END_TEST

static const struct {
    const char *layout;
    int64_t width, count; /* of groups */
} groups[] = {
    {"NCHW16c", 2, 3}, {"NCHW16c", 2, 8}, {"NCHW16c", 4, 9}, {"NCHW16c", 8, 2},  {"NCHW16c", 8, 5},
    {"NCHW8c", 1, 11}, {"NCHW8c", 2, 5},  {"NCHW8c", 4, 3},  {"NCHW4c", 1, 130}, {"NCHW4c", 2, 3},
};

enum { GROUPS = sizeof groups / sizeof *groups };

/* In tiles of few pixels: the code for a pixel of wide groups is long. The transposed problem is
 * the backward one again, with the same program. */
START_TEST(every_width_of_groups)
{
    static const char tile[] = "3,1,2,0";
    kiln_problem p = {.batch = 2,
                      .in_channels = groups[_i].width * groups[_i].count,
                      .out_channels = groups[_i].width * groups[_i].count,
                      .groups = groups[_i].count,
                      .input = {6, 19},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.bias = 1, .activation = _i % 3 ? KILN_IDENTITY : KILN_SIGMOID}};
    p = in_layout(p, groups[_i].layout);
    check(&p, tile);
    p.epilogue = (kiln_epilogue){0};
    p.direction = KILN_BACKWARD_DATA;
    check(&p, tile);
    p.direction = KILN_FORWARD;
    p.transposed = 1;
    check(&p, tile);
}
END_TEST

static const kiln_problem shapes[] = {
    {.in_channels = 18, .input = {9, 14}, .filter = {3, 3}, .stride = {2, 2}, .pad_end = {1, 1}},
    {.in_channels = 20,
     .input = {9, 30},
     .filter = {5, 5},
     .pad_begin = {2, 2},
     .pad_end = {2, 2},
     .stride = {1, 2}},
    {.in_channels = 3,
     .input = {17, 41},
     .filter = {3, 3},
     .dilation = {2, 6},
     .pad_begin = {2, 6},
     .pad_end = {2, 6}},
    {.in_channels = 16,
     .input = {8, 33},
     .filter = {2, 31},
     .pad_begin = {1, 15},
     .pad_end = {0, 15}},
    {.in_channels = 7, .input = {4, 5}, .filter = {2, 2}, .pad_begin = {4, 9}, .pad_end = {2, 8}},
    {.in_channels = 21, .input = {5, 7}, .filter = {1, 1}},
    {.in_channels = 40, .input = {1, 1}, .filter = {1, 1}},
    {.in_channels = 2, .input = {2, 1}, .filter = {5, 4}, .pad_begin = {2, 2}, .pad_end = {3, 1}},
    {.spatial_rank = 1,
     .in_channels = 19,
     .input = {53},
     .filter = {7},
     .stride = {3},
     .pad_begin = {6}},
    {.spatial_rank = 3,
     .in_channels = 17,
     .input = {5, 6, 17},
     .filter = {3, 2, 3},
     .stride = {2, 1, 1},
     .dilation = {1, 3, 1},
     .pad_begin = {1, 0, 1},
     .pad_end = {0, 2, 1}},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static kiln_problem shape(int i)
{
    static const char *const names[] = {"NCW16c", "NCHW16c", "NCDHW16c"};
    kiln_problem p = shapes[i];
    p.batch = 2;
    p.groups = p.out_channels = p.in_channels;
    return in_layout(p, names[p.spatial_rank ? p.spatial_rank - 1 : 1]);
}

/* The widest row in small tiles: the guess's take seconds to compile. */
START_TEST(every_shape)
{
    kiln_problem p = shape(_i);
    const char *tile = p.input[1] > 40 ? "4,1,3,0" : NULL;
    check(&p, tile);
    p.direction = KILN_BACKWARD_DATA;
    check(&p, tile);
}
END_TEST

/* Tiles of each width and height; one row of them an item or two; past the caches or not. */
START_TEST(every_tile)
{
    kiln_problem p = shape(_i % 2 ? 2 : 1);
    char config[32];
    p.epilogue = (kiln_epilogue){.beta = 1};
    snprintf(config, sizeof config, "%d,%d,%d,%d", _i + 1, _i * 5 % 4 + 1, _i % 3 ? 1 : 2,
             _i / 2 % 2);
    check(&p, config);
}
END_TEST

/* Strides of backward data, whose tiles are a multiple of them: the guess's, and of every third
 * problem smaller ones, of which a row has several. */
START_TEST(every_stride_backwards)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 20,
                      .out_channels = 20,
                      .groups = _i % 2 ? 20 : 5,
                      .input = {7 + _i, 34 - 2 * _i},
                      .filter = {1 + _i % 4, 3 + _i / 2},
                      .stride = {1 + (_i + 1) % 3, 2 + _i % 3},
                      .dilation = {1 + _i % 2, 1 + _i / 4},
                      .pad_begin = {_i % 3, _i / 3},
                      .pad_end = {1, 2},
                      .direction = KILN_BACKWARD_DATA};
    char config[32];
    p = in_layout(p, _i % 3 ? "NCHW16c" : "NHWC");
    check(&p, NULL);
    snprintf(config, sizeof config, "%d,%d,1,0", 1 + _i / 3, 1 + _i % 2);
    if (_i % 3 == 1)
        check(&p, config);
}
END_TEST

/* Channels of a pixel all together, and a last vector of them that starts earlier; in groups too.
 */
START_TEST(channels_that_are_no_multiple_of_a_vector)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 4 + 3 * _i,
                      .out_channels = 4 + 3 * _i,
                      .groups = 4 + 3 * _i,
                      .input = {5, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.bias = 1, .beta = 1, .activation = KILN_LEAKY_RELU}};
    p = in_layout(p, "NHWC");
    check(&p, NULL);
    p.in_channels = p.out_channels = 4 * (5 + _i);
    p.groups = 5 + _i;
    p.epilogue = (kiln_epilogue){0};
    p.x_type = p.w_type = p.y_type = KILN_F16;
    if (_i % 2 == 0)
        check(&p, NULL);
}
END_TEST

/* Plain tensors: channels that are no multiple of a vector, images of less than a square of pixels,
 * strips whose rows overlap, and residuals that may be the destination. */
static const struct {
    const char *problem, *config;
} plain[] = {
    {"fwd-f32-n2-c16-k16-i14x14-f3x3-s2x2-p1x1-g16", "7,1,7,0"},
    {"fwd-f32-n2-c21-k21-i7x7-f3x3-p1x1-g21-bias-r1", "7,2,4,0"},
    {"fwd-f32-n2-c35-k35-i11x13-f5x3-s2x1-p2x1-g35-bias-a2-act:relu", "4,1,2,1"},
    {"fwd-f32-n1-c18-k18-i4x5-f2x3-p3x1-d1x2-g18-r0.5", "1,2,1,0"},
    {"fwd-f32-n2-c16-k16-i5x4-f4x4-s4x3-g16-bias", "1,1,1,0"},
    {"fwd-f32-n1-c17-k17-i53-f7-s3-p6-g17", "5,1,1,0"},
    {"fwd-f32-n1-c16-k16-i9x33-f2x31-p1x15-g16-act:sigmoid", "3,3,2,0"},
    {"fwd-f32-n2-c24-k24-i9x9-f3x3-p1x1-g6-bias", "5,2,3,0"},
    {"bwd-f32-n2-c21-k21-i15x14-f3x3-s2x2-p1x1-g21", "3,1,2,0"},
    {"bwd-f32-n1-c40-k40-i7x13-f3x4-s3x1-p1x2-d2x1-g20", "6,1,1,0"},
    {"fwd-f16-n2-c20-k20-i10x10-f3x3-p1x1-g20-bias-r1", "10,2,2,0"},
    {"fwd-i8-n1-c19-k19-i9x10-f3x3-p1x1-g19-t:i8.i8.i8-a0.5", "5,1,9,0"},
};

enum { PLAIN = sizeof plain / sizeof *plain };

static void check_text(const char *problem, const char *config)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, problem, why) == KILN_OK, "%s", why);
    check(&p, config);
}

START_TEST(every_plain_problem)
{
    check_text(plain[_i].problem, plain[_i].config);
}
END_TEST

/* More taps than are unrolled: of a row of them some meet all pixels of a tile, those before and
 * behind only some of them, or none does. */
static const struct {
    const char *problem, *config;
} large[] = {
    {"fwd-f32-n2-c16-k16-i20x41-f9x9-p4x4-g16-l:NCHW16c.OIHW.NCHW16c", "8,2,3,0"},
    {"fwd-f32-n1-c20-k20-i23x45-f11x11-s2x2-p5x5-g20-l:NCHW16c.OIHW.NCHW16c", "7,1,2,0"},
    {"fwd-f32-n1-c18-k18-i19x40-f7x7-p9x9-d3x3-g18-l:NCHW16c.OIHW.NCHW16c", "5,2,1,0"},
    {"fwd-f32-n1-c17-k17-i6x9-f11x15-p5x7-g17-l:NHWC.OIHW.NHWC", "9,1,2,0"},
    {"fwd-f32-n1-c20-k20-i12x30-f7x9-p3x4-g5-l:NCHW16c.OIHW.NCHW16c", "6,1,2,0"},
    {"fwd-f32-n1-c16-k16-i8x40-f9x13-p4x0-g16-l:NCHW16c.OIHW.NCHW16c", "28,1,2,0"},
    {"bwd-f32-n1-c16-k16-i13x31-f9x9-p4x4-g16-l:NCHW16c.OIHW.NCHW16c", "10,1,2,0"},
    {"bwd-f32-n1-c16-k16-i13x31-f9x9-s2x2-p4x4-g16-l:NCHW16c.OIHW.NCHW16c", "5,1,2,0"},
};

enum { LARGE = sizeof large / sizeof *large };

START_TEST(every_large_filter)
{
    check_text(large[_i].problem, large[_i].config);
    check_text(large[_i].problem, NULL);
}
END_TEST

/* Groups of four and of eight channels whose bytes are multiplied four at a time: padding of more
 * than a tap, strides, dilation, even filters, no padding, last vectors that start earlier. */
static const struct {
    const char *problem, *config;
} bytes[] = {
    {"fwd-i8-n2-c32-k32-i9x14-f3x3-p1x1-g4-l:NCHW16c.OIHW.NCHW16c", "4,2,3,0"},
    {"fwd-i8-n1-c32-k32-i8x15-f3x3-s2x2-p1x1-g8-t:i8.i8.i8-l:NCHW16c.OIHW.NCHW16c-bias-a0.25",
     "8,1,2,0"},
    {"fwd-i8-n1-c40-k40-i7x7-f5x5-p4x3-g5-l:NCHW16c.OIHW.NCHW16c", "3,1,2,0"},
    {"fwd-i8-n2-c24-k24-i6x11-f2x4-p0x2-g3-t:i8.i8.f32-l:NHWC.OIHW.NHWC-a0.5-act:relu", "5,2,2,0"},
    {"fwd-i8-n1-c28-k28-i12x13-f3x2-p2x2-d3x2-g7-t:i8.i8.i8-l:NHWC.OIHW.NHWC-r1", NULL},
    {"fwd-i8-n2-c20-k20-i5x6-f1x1-g5-l:NCHW16c.OIHW.NCHW16c", NULL},
    {"fwd-i8-n1-c16-k16-i31-f5-s3-p2-g2-l:NCW16c.OIW.NCW16c", NULL},
};

enum { BYTES = sizeof bytes / sizeof *bytes };

static void multiplies_bytes(void)
{
    kiln *k = support_open()->kiln;
    k->facts.has_vnni = true;
    k->facts.simd_floats = 16;
}

START_TEST(every_group_of_bytes)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    const kiln_choice choice = {.solver = "depthwise_blocked", .config = bytes[_i].config};
    kiln_op *op;
    ck_assert_msg(kiln_problem_parse(&p, bytes[_i].problem, why) == KILN_OK, "%s", why);
    ck_assert_msg(kiln_conv_create(support_open()->kiln, &p, &choice, &op) == KILN_OK, "%s",
                  kiln_last_error());
    ck_assert(strstr(op->plan.stage[op->plan.nstages - 1].options, "-DD_TOGETHER=4"));
    kiln_op_release(op);
    support_check(&p, "depthwise_blocked", bytes[_i].config, HOST_FILL_INT);
    support_check(&p, "depthwise_blocked", bytes[_i].config, HOST_FILL_UNIFORM);
}
END_TEST

/* With a group for each channel, and with groups of four. */
START_TEST(every_type)
{
    static const char tile[] = "2,1,1,0";
    kiln_problem p = shape(_i % 3);
    support_set_types(&p, support_types_of[_i]);
    if (p.y_type != KILN_I32)
        p.epilogue = (kiln_epilogue){.bias = 1, .beta = 1, .activation = KILN_RELU};
    check(&p, tile);
    p.in_channels = p.out_channels = 20;
    p.groups = 5;
    check(&p, tile);
}
END_TEST

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    kiln_problem p = shape(0);
    const kiln_choice choice = {
        .solver = "depthwise_blocked", .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    p.out_channels *= 2;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), "18 groups of 1 and 2"), "%s", kiln_last_error());
    p = in_layout(shape(2), "NCHW");
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), "an image has 3 by 697"), "%s", kiln_last_error());
    p = in_layout(shape(2), "NHWC"); /* of 3 channels */
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), "NHWC"), "%s", kiln_last_error());
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("depthwise_blocked");
    TCase *c = tcase_create("depthwise_blocked");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_remainder_of_channels, 0, 6);
    tcase_add_loop_test(c, every_width_of_groups, 0, GROUPS);
    tcase_add_loop_test(c, every_shape, 0, SHAPES);
    tcase_add_loop_test(c, every_tile, 0, 8);
    tcase_add_loop_test(c, every_stride_backwards, 0, 9);
    tcase_add_loop_test(c, channels_that_are_no_multiple_of_a_vector, 0, 7);
    tcase_add_loop_test(c, every_large_filter, 0, LARGE);
    tcase_add_loop_test(c, every_type, 0, SUPPORT_TYPES);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    c = tcase_create("plain");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_plain_problem, 0, PLAIN);
    suite_add_tcase(s, c);
    c = tcase_create("bytes");
    tcase_set_timeout(c, 300);
    tcase_add_checked_fixture(c, multiplies_bytes, NULL);
    tcase_add_loop_test(c, every_group_of_bytes, 0, BYTES);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
