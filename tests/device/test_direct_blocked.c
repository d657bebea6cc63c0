/* The blocked direct solver: every remainder, border, layout and config, compared for equality. */
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *blocked(int rank, int block)
{
    static const char *const names[3][3] = {{"NCW4c", "NCW8c", "NCW16c"},
                                            {"NCHW4c", "NCHW8c", "NCHW16c"},
                                            {"NCDHW4c", "NCDHW8c", "NCDHW16c"}};
    return names[rank - 1][block / 8];
}

static void check(kiln_problem p, int block, const char *config)
{
    const char *name = blocked(p.spatial_rank ? p.spatial_rank : 2, block);
    support_set_layouts(&p, name, name);
    support_check(&p, "direct_blocked", config, HOST_FILL_INT);
}

/* Fewer source channels than a step has, as many, and one more; destination channels of one vector
 * and of several, whole and in part. test_channels goes through all remainders. */
static const int64_t remainders[][2] = {{1, 4}, {8, 19}, {15, 34}, {16, 16}, {17, 31}};

START_TEST(remainders_of_channels)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = remainders[_i][0],
                      .out_channels = remainders[_i][1],
                      .input = {5, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .epilogue = {.bias = 1}};
    check(p, 16, NULL);
    p.direction = KILN_BACKWARD_DATA;
    p.epilogue.bias = 0;
    if (_i % 3 == 0)
        check(p, 16, NULL);
}
END_TEST

static const kiln_problem shapes[] = {
    {.batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}},
    /* Images of one pixel: the batch is a row. */
    {.batch = 5, .in_channels = 35, .out_channels = 18, .input = {1, 1}, .filter = {1, 1}},
    {.batch = 3, .in_channels = 20, .out_channels = 40, .input = {7, 5}, .filter = {1, 1}},
    /* 1x1 that is no row of all pixels: stride, padding. */
    {.batch = 2,
     .in_channels = 17,
     .out_channels = 33,
     .input = {11, 13},
     .filter = {1, 1},
     .stride = {2, 3}},
    {.batch = 2,
     .in_channels = 6,
     .out_channels = 7,
     .input = {4, 6},
     .filter = {1, 1},
     .pad_begin = {1, 2},
     .pad_end = {0, 3}},
    /* The usual ones, with edges on both sides of one tile and of several. */
    {.batch = 2,
     .in_channels = 16,
     .out_channels = 32,
     .input = {7, 7},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 1,
     .in_channels = 19,
     .out_channels = 48,
     .input = {6, 57},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 2,
     .in_channels = 3,
     .out_channels = 20,
     .input = {23, 61},
     .filter = {7, 7},
     .stride = {2, 2},
     .pad_begin = {3, 3},
     .pad_end = {3, 3}},
    {.batch = 1, .in_channels = 18, .out_channels = 17, .input = {9, 40}, .filter = {5, 5}},
    /* Dilation, unequal padding, a stride beyond the filter. */
    {.batch = 2,
     .in_channels = 21,
     .out_channels = 16,
     .input = {17, 31},
     .filter = {3, 3},
     .pad_begin = {2, 4},
     .pad_end = {4, 3},
     .dilation = {2, 3}},
    {.batch = 2,
     .in_channels = 4,
     .out_channels = 6,
     .input = {17, 29},
     .filter = {2, 3},
     .stride = {5, 4},
     .pad_begin = {1, 2},
     .pad_end = {3, 0}},
    /* Padding wider than the filter, a filter wider than the image. */
    {.batch = 1,
     .in_channels = 2,
     .out_channels = 3,
     .input = {4, 5},
     .filter = {2, 2},
     .pad_begin = {4, 9},
     .pad_end = {2, 8}},
    {.batch = 2,
     .in_channels = 3,
     .out_channels = 3,
     .input = {2, 1},
     .filter = {5, 4},
     .pad_begin = {2, 2},
     .pad_end = {3, 1}},
    /* Many taps along a row: strips instead of unrolling. */
    {.batch = 1,
     .in_channels = 17,
     .out_channels = 19,
     .input = {3, 37},
     .filter = {1, 19},
     .pad_begin = {0, 9},
     .pad_end = {0, 9}},
    {.batch = 1,
     .in_channels = 32,
     .out_channels = 64,
     .groups = 2,
     .input = {8, 10},
     .filter = {3, 3},
     .pad_begin = {1, 1},
     .pad_end = {1, 1}},
    {.batch = 2,
     .in_channels = 48,
     .out_channels = 144,
     .groups = 3,
     .input = {6, 7},
     .filter = {1, 1}},
    {.spatial_rank = 1,
     .batch = 3,
     .in_channels = 20,
     .out_channels = 33,
     .input = {131},
     .filter = {7},
     .stride = {3},
     .dilation = {2},
     .pad_begin = {6},
     .pad_end = {1}},
    {.spatial_rank = 3,
     .batch = 2,
     .in_channels = 18,
     .out_channels = 17,
     .input = {5, 6, 17},
     .filter = {3, 2, 3},
     .stride = {2, 1, 1},
     .dilation = {1, 3, 1},
     .pad_begin = {1, 0, 2},
     .pad_end = {0, 2, 1}},
    {.spatial_rank = 3,
     .batch = 1,
     .in_channels = 5,
     .out_channels = 16,
     .input = {4, 3, 5},
     .filter = {1, 1, 1}},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Long rows are cut into small tiles, of which there are several: what the compiler makes of the
 * guess's large ones takes it seconds, and every_tile() has those. */
static const char *tile_for(const kiln_problem *p)
{
    return p->input[p->spatial_rank ? p->spatial_rank - 1 : 1] > 25 ? "T_W=4,T_KV=1" : NULL;
}

/* The three blocks take turns; each has all kinds of shapes, and each shape both directions. */
START_TEST(every_shape)
{
    kiln_problem p = shapes[_i];
    check(p, 16 >> _i % 3, tile_for(&p));
    p.direction = KILN_BACKWARD_DATA;
    check(p, 16 >> (_i + 1) % 3, tile_for(&p));
}
END_TEST

/* A transposed problem is a backward one with the tensors exchanged, and has an epilogue. */
START_TEST(transposed)
{
    kiln_problem p = {.transposed = 1,
                      .batch = 2,
                      .in_channels = 19,
                      .out_channels = 21,
                      .input = {5, 8},
                      .filter = {2, 3},
                      .pad_begin = {0, 1},
                      .pad_end = {1, 0},
                      .epilogue = {.bias = 1, .beta = 1, .activation = KILN_RELU}};
    check(p, 16, NULL);
    p.direction = KILN_BACKWARD_DATA;
    p.stride[0] = p.stride[1] = 2;
    p.epilogue = (kiln_epilogue){0};
    check(p, 16, NULL);
}
END_TEST

/* Each class of pixels modulo the stride has taps of its own, or none: in tiles at both ends and
 * between them, with and without padding, and of more classes than have code of their own. */
static const struct {
    kiln_problem p;
    const char *config;
} strided[] = {
    {{.in_channels = 18,
      .out_channels = 20,
      .input = {9, 30},
      .filter = {3, 3},
      .stride = {2, 2},
      .pad_begin = {1, 1},
      .pad_end = {1, 1}},
     "T_W=4,T_KV=2"},
    {{.in_channels = 16,
      .out_channels = 17,
      .input = {7, 26},
      .filter = {5, 5},
      .stride = {3, 3},
      .pad_begin = {0, 2},
      .pad_end = {2, 1}},
     "T_W=3,T_KV=1"},
    {{.in_channels = 17,
      .out_channels = 18,
      .input = {13, 26},
      .filter = {3, 3},
      .stride = {4, 4},
      .dilation = {2, 2},
      .pad_begin = {1, 1},
      .pad_end = {2, 2}},
     NULL},
    {{.in_channels = 18, .out_channels = 5, .input = {3, 16}, .filter = {1, 1}, .stride = {1, 5}},
     NULL},
};

START_TEST(classes_of_a_stride)
{
    kiln_problem p = strided[_i].p;
    p.batch = 1;
    p.direction = KILN_BACKWARD_DATA;
    check(p, 16, strided[_i].config);
}
END_TEST

/* Tiles from one pixel to a whole row and from one vector to four, over rows that are their
 * multiple and rows that are not; in each order, stored past the caches or not, with groups or one.
 */
static const struct {
    int width, vectors, order, stream, row;
} tiles[] = {{1, 4, 0, 1, 24}, {2, 1, 1, 0, 25}, {3, 2, 2, 1, 24},
             {5, 3, 0, 0, 24}, {8, 1, 2, 1, 25}, {12, 1, 1, 0, 24}};

enum { TILES = sizeof tiles / sizeof *tiles };

START_TEST(every_tile)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 17,
                      .out_channels = 70,
                      .input = {4, tiles[_i].row},
                      .filter = {2, 3},
                      .pad_begin = {1, 2},
                      .pad_end = {0, 1},
                      .epilogue = {.beta = 1}};
    char config[64];
    snprintf(config, sizeof config, "T_W=%d,T_KV=%d,T_ORDER=%d,T_STREAM=%d", tiles[_i].width,
             tiles[_i].vectors, tiles[_i].order, tiles[_i].stream);
    if (_i % 3 == 0) {
        p.groups = 2;
        p.in_channels = 32;
        p.out_channels = 160;
        p.epilogue = (kiln_epilogue){.bias = 1};
    }
    check(p, 16, config);
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
    {.alpha = 0.125f, .beta = 0.5f, .bias = 1, .activation = KILN_SIGMOID},
    {.alpha = 0.125f, .beta = 0.5f, .activation = KILN_SILU},
    {.alpha = 0.125f, .bias = 1, .activation = KILN_GELU},
};

enum { EPILOGUES = sizeof epilogues / sizeof *epilogues };

/* Two pixels of a row are in two tiles, the last vector is in part padding. */
static const kiln_problem small = {.batch = 1,
                                   .in_channels = 5,
                                   .out_channels = 37,
                                   .input = {2, 10},
                                   .filter = {1, 3},
                                   .pad_begin = {0, 1},
                                   .pad_end = {0, 1}};
static const char small_tile[] = "T_W=4,T_KV=1";

START_TEST(the_epilogue_is_applied_and_padding_is_zero)
{
    kiln_problem p = small;
    p.epilogue = epilogues[_i];
    check(p, 16 >> _i % 3, small_tile);
}
END_TEST

/* Of each type, a 1x1 filter and one with borders forward, and a stride or a dilation backward:
 * whole tiles, strips at the ends, strips everywhere. */
START_TEST(every_type)
{
    static const int shape[][2] = {{2, 7}, {3, 9}, {4, 13}, {15, 17}, {2, 16}, {3, 10}, {4, 5}};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = i == 0 ? shapes[shape[_i][0]] : i == 1 ? small : shapes[shape[_i][1]];
        p.direction = i == 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        support_set_types(&p, support_types_of[_i]);
        if (i == 1 && p.y_type != KILN_I32)
            p.epilogue = (kiln_epilogue){.bias = 1, .beta = 1, .activation = KILN_RELU};
        check(p, 16, i == 1 ? small_tile : tile_for(&p));
    }
}
END_TEST

/* A CPU multiplies bytes of two or four channels at once: of an odd number of them, of groups that
 * begin anywhere in a block, in vectors of each width, and with rows and columns of padding. */
static const struct {
    kiln_problem p;
    const char *x, *y, *config;
} bytes[] = {
    {{.in_channels = 35, .out_channels = 33, .input = {4, 9}, .filter = {1, 1}},
     "NHWC",
     "NHWC",
     "T_W=5,T_KV=3"},
    {{.in_channels = 27, .out_channels = 39, .groups = 3, .input = {6, 7}, .filter = {2, 3}},
     "NCHW16c",
     "NCHW16c",
     "T_V=8"},
    {{.in_channels = 27,
      .out_channels = 18,
      .groups = 3,
      .input = {9, 10},
      .filter = {3, 3},
      .stride = {2, 2},
      .pad_begin = {1, 1},
      .pad_end = {1, 1}},
     "NHWC",
     "NHWC",
     "T_V=4"},
    {{.in_channels = 5, .out_channels = 17, .input = {7, 20}, .filter = {3, 5}, .stride = {1, 2}},
     "NCHW",
     "NCHW8c",
     NULL},
    {{.in_channels = 38,
      .out_channels = 18,
      .input = {5, 9},
      .filter = {4, 3},
      .pad_begin = {5, 1},
      .pad_end = {2, 4},
      .dilation = {1, 2},
      .direction = KILN_BACKWARD_DATA},
     "NCHW16c",
     "NCHW16c",
     "T_V=16"},
};

START_TEST(bytes_together)
{
    kiln_problem p = bytes[_i].p;
    p.batch = 2;
    p.x_type = p.w_type = KILN_I8;
    p.y_type = KILN_I32;
    if (p.direction == KILN_BACKWARD_DATA) {
        p.x_type = KILN_I32;
        p.y_type = KILN_I8;
    }
    support_set_layouts(&p, bytes[_i].x, bytes[_i].y);
    support_check(&p, "direct_blocked", bytes[_i].config, HOST_FILL_UNIFORM);
}
END_TEST

/* The first layer of a network: its source need not be in blocks. */
START_TEST(a_plain_source)
{
    kiln_problem p = shapes[7];
    support_set_layouts(&p, "NCHW", "NCHW16c");
    support_check(&p, "direct_blocked", tile_for(&p), HOST_FILL_INT);
    p.x_type = p.w_type = p.y_type = KILN_F16;
    support_check(&p, "direct_blocked", tile_for(&p), HOST_FILL_INT);
    p = shapes[2];
    support_set_layouts(&p, "NCHW", "NCHW8c");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
    p = shapes[1];
    support_set_layouts(&p, "NCHW", "NCHW16c");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
}
END_TEST

/* Types that are converted on the way, in rows of pixels: narrower than a vector, with padding
 * wider than one, with taps far apart, with an odd number of channels. */
START_TEST(rows_that_are_converted)
{
    static const int which[] = {4, 6, 9, 10, 11, 13, 14};
    static const kiln_type sources[] = {KILN_I8, KILN_F16, KILN_BF16};
    const support_types types = {sources[_i % 3], KILN_F32};
    kiln_problem p = shapes[which[_i]];
    support_set_types(&p, types);
    support_set_layouts(&p, "NCHW", "NCHW16c");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
    if (p.stride[1] < 2)
        return;
    p.direction = KILN_BACKWARD_DATA;
    support_set_types(&p, types);
    support_set_layouts(&p, "NCHW16c", "NCHW");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
}
END_TEST

static void check_plain(kiln_problem p, const char *config)
{
    support_set_layouts(&p, "", "");
    if (support_on_cpu())
        support_check(&p, "direct_blocked", config, HOST_FILL_INT);
}

/* Plain to plain: vectors of channels become rows of pixels, whole ones and pieces. A third of the
 * shapes, and those with a stride, backward. */
START_TEST(plain_tensors)
{
    static const char *const tiles[] = {"T_W=4,T_KV=1", "T_W=4,T_KV=1,T_V=8", "T_W=4,T_KV=1,T_V=4"};
    static const char *const lanes[] = {NULL, "T_V=8", "T_V=4"};
    kiln_problem p = shapes[_i];
    const char *config = (tile_for(&p) ? tiles : lanes)[_i % 4 % 3];
    p.epilogue = (kiln_epilogue){.bias = _i % 2, .beta = _i % 3 == 0 ? 2 : 0};
    if (_i % 3 != 1)
        check_plain(p, config);
    p.epilogue = (kiln_epilogue){0};
    p.direction = KILN_BACKWARD_DATA;
    if (_i % 3 == 1 || p.stride[1] > 1)
        check_plain(p, tile_for(&p));
}
END_TEST

/* Tiles that are less than a vector of pixels, one, and more; the last of a row starts earlier. */
START_TEST(plain_tiles)
{
    static const char *const configs[] = {"T_W=1,T_KV=1,T_V=16",  "T_W=7,T_KV=2,T_V=16",
                                          "T_W=18,T_KV=1,T_V=16", "T_W=13,T_KV=1,T_V=8",
                                          "T_W=8,T_KV=3,T_V=8",   "T_W=19,T_KV=1,T_V=4"};
    kiln_problem p = {.batch = 1,
                      .in_channels = 3,
                      .out_channels = 35,
                      .input = {2, 41},
                      .filter = {1, 1},
                      .stride = {1, 1 + _i % 2}};
    p.direction = _i % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
    p.in_channels = _i % 2 ? 35 : 3;
    check_plain(p, configs[_i]);
}
END_TEST

START_TEST(plain_epilogues_and_types)
{
    kiln_problem p = small;
    p.epilogue = epilogues[2 + 3 * (_i % 3)];
    support_set_types(&p, support_types_of[_i]);
    if (p.y_type == KILN_I32)
        p.epilogue = (kiln_epilogue){0};
    check_plain(p, small_tile);
    support_set_layouts(&p, "NCHW8c", "NCHW");
    if (_i % 2 && support_on_cpu())
        support_check(&p, "direct_blocked", small_tile, HOST_FILL_INT);
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    for (int i = 5; i < SHAPES; i += 4) {
        kiln_problem p = shapes[i];
        const char *name = blocked(p.spatial_rank ? p.spatial_rank : 2, 16);
        support_set_layouts(&p, name, name);
        support_check(&p, "direct_blocked", tile_for(&p), HOST_FILL_UNIFORM);
    }
}
END_TEST

START_TEST(any_layout_is_blocked)
{
    if (!support_on_cpu())
        return; /* "any" stays plain, which other solvers are for */
    kiln_problem p = shapes[5];
    const support_device *d = support_open();
    kiln_choice choice = {.solver = "direct_blocked", .ignore_rows = 1};
    kiln_op *op;
    kiln_op_info info;
    support_set_layouts(&p, "any", "any");
    ck_assert_int_eq(kiln_conv_create(d->kiln, &p, &choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    ck_assert_msg(strncmp(info.problem.x_layout, "NCHW", 4) == 0 && info.problem.x_layout[4],
                  "x is %s", info.problem.x_layout);
    ck_assert_str_eq(info.problem.x_layout, info.problem.y_layout);
    kiln_op_release(op);
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
    support_set_layouts(&p, "any", "NCHW4c"); /* one block decides for the other */
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
    support_set_layouts(&p, "NCHW8c", "any");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
}
END_TEST

static void refused(kiln_problem p, const char *x, const char *y, const char *reason)
{
    const kiln_choice choice = {.solver = "direct_blocked", .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    support_set_layouts(&p, x, y);
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), reason), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    kiln_problem p = shapes[5];
    if (!support_on_cpu()) {
        refused(p, "NCHW", "NCHW", "layouts are NCHW and NCHW");
        refused(p, "NCHW16c", "NCHW", "layouts");
    }
    refused(p, "NCHW16c", "NHWC;W%8", "layouts are NCHW16c and NHWC;W%8");
    refused(p, "NCHW4h", "NHWC", "layouts");
    p.direction = KILN_BACKWARD_WEIGHTS;
    refused(p, "NCHW16c", "NCHW16c", "forward and backward data");
    p.direction = KILN_BACKWARD_DATA;
    p.stride[0] = p.stride[1] = 8;
    refused(p, "NHWC", "NHWC", "shorter than the stride, 8");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("direct_blocked");
    TCase *c = tcase_create("direct_blocked");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, remainders_of_channels, 0, 5);
    tcase_add_loop_test(c, every_shape, 0, SHAPES);
    tcase_add_test(c, transposed);
    tcase_add_loop_test(c, classes_of_a_stride, 0, (int)(sizeof strided / sizeof *strided));
    tcase_add_loop_test(c, every_tile, 0, TILES);
    tcase_add_loop_test(c, the_epilogue_is_applied_and_padding_is_zero, 0, EPILOGUES);
    tcase_add_loop_test(c, every_type, 0, SUPPORT_TYPES);
    tcase_add_loop_test(c, bytes_together, 0, (int)(sizeof bytes / sizeof *bytes));
    tcase_add_test(c, fractions_stay_within_the_bound);
    tcase_add_test(c, any_layout_is_blocked);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    TCase *rows = tcase_create("rows");
    tcase_set_timeout(rows, 300);
    tcase_add_test(rows, a_plain_source);
    tcase_add_loop_test(rows, rows_that_are_converted, 0, 7);
    suite_add_tcase(s, rows);
    TCase *plain = tcase_create("plain");
    tcase_set_timeout(plain, 300);
    tcase_add_loop_test(plain, plain_tensors, 0, SHAPES);
    tcase_add_loop_test(plain, plain_tiles, 0, 6);
    tcase_add_loop_test(plain, plain_epilogues_and_types, 0, SUPPORT_TYPES);
    suite_add_tcase(s, plain);
    return support_run_suite(s);
}
