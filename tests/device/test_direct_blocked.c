/* The blocked direct solver: every remainder, border, stride, tile and layout, compared for
 * equality. */
#include "runtime/kiln/kiln_internal.h"
#include "support/blocked_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

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
    blocked_check(p, 16, NULL);
    p.direction = KILN_BACKWARD_DATA;
    p.epilogue.bias = 0;
    if (_i % 3 == 0)
        blocked_check(p, 16, NULL);
}
END_TEST

/* More than caches near to a core hold, with remainders of channels, which are fetched ahead. */
START_TEST(many_weights)
{
    kiln_problem p = {.batch = 1,
                      .in_channels = 97,
                      .out_channels = 83,
                      .input = {4, 9},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1}};
    blocked_check(p, 16, "T_W=8");
    p.direction = KILN_BACKWARD_DATA;
    blocked_check(p, 16, "T_W=8");
}
END_TEST

/* More than they hold even of one tile of channels: its tiles of pixels share blocks of channels.
 * Blocks and NHWC, a plain source and result, and a stride, with which some tiles have no pixels of
 * their own.
 */
START_TEST(tiles_that_block_channels)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 85,
                      .out_channels = 19,
                      .input = {11, 14},
                      .filter = {51, 3},
                      .pad_begin = {25, 1},
                      .pad_end = {25, 1},
                      .epilogue = {.bias = 1, .activation = KILN_RELU}};
    static const char *const layouts[] = {"NCHW16c", "NHWC", "NCHW"};
    if (_i == 2 && !support_on_cpu())
        return;
    support_set_layouts(&p, layouts[_i], layouts[_i]);
    support_check(&p, blocked_solver(&p), "T_W=3,T_KV=1,T_V=16", HOST_FILL_INT);
    if (_i > 0)
        return;
    p.epilogue = (kiln_epilogue){0};
    p.direction = KILN_BACKWARD_DATA;
    p.in_channels = 19;
    p.out_channels = 85;
    p.stride[0] = p.stride[1] = 2;
    support_check(&p, blocked_solver(&p), "T_W=3,T_KV=1,T_V=16", HOST_FILL_INT);
}
END_TEST

/* Tiles that are whole rows, of which the compiler knows more. */
START_TEST(rows_that_block_channels)
{
    kiln_problem p = {.spatial_rank = 3,
                      .batch = 2,
                      .in_channels = 460,
                      .out_channels = 19,
                      .input = {8, 10, 7},
                      .filter = {3, 3, 3}};
    support_set_layouts(&p, "NDHWC16", "NDHWC");
    support_check(&p, blocked_solver(&p), "T_W=5,T_KV=1,T_V=16", HOST_FILL_INT);
}
END_TEST

/* 67 tiles of channels are parts of 14 where a core's cache has 2 MB, and of 8 or 16 where it has
 * half or as much as nothing is known of; the last part has fewer. Of groups, several are a part.
 */
START_TEST(channels_in_parts)
{
    kiln_problem p = {.batch = 3,
                      .in_channels = 1024,
                      .out_channels = 1072,
                      .input = {2, 5},
                      .filter = {1, 1},
                      .epilogue = {.bias = 1}};
    blocked_check(p, 16, "T_W=4,T_KV=1,T_ORDER=3");
    p.in_channels = 1020;
    p.out_channels = 510;
    p.groups = 51;
    p.filter[0] = p.filter[1] = 3;
    p.pad_begin[0] = p.pad_end[1] = 1;
    blocked_check(p, 16, "T_W=3,T_KV=1,T_ORDER=3");
    p.stride[0] = p.stride[1] = 2;
    p.direction = KILN_BACKWARD_DATA;
    p.epilogue = (kiln_epilogue){0};
    blocked_check(p, 16, "T_W=2,T_KV=1,T_ORDER=3");
}
END_TEST

/* The three blocks take turns; each has all kinds of blocked_shapes, and each shape both
 * directions. */
START_TEST(every_shape)
{
    kiln_problem p = blocked_shapes[_i];
    blocked_check(p, 16 >> _i % 3, blocked_tile(&p));
    p.direction = KILN_BACKWARD_DATA;
    blocked_check(p, 16 >> (_i + 1) % 3, blocked_tile(&p));
}
END_TEST

/* As if caches held next to nothing: pixels of tiles ahead are fetched. */
START_TEST(every_other_shape_from_memory)
{
    kiln_device_facts *facts = &support_open()->kiln->facts;
    const int64_t cache = facts->cache;
    kiln_problem p = blocked_shapes[2 * _i + 1];
    facts->cache = 1;
    p.direction = _i % 3 == 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
    blocked_check(p, 16, blocked_tile(&p));
    facts->cache = cache;
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
    blocked_check(p, 16, NULL);
    p.direction = KILN_BACKWARD_DATA;
    p.stride[0] = p.stride[1] = 2;
    p.epilogue = (kiln_epilogue){0};
    blocked_check(p, 16, NULL);
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
    blocked_check(p, 16, strided[_i].config);
}
END_TEST

/* Tiles from one pixel to a whole row and from one vector to five, over rows that are their
 * multiple and rows that are not; in each order, stored past the caches or not, with groups or one.
 */
static const struct {
    int width, vectors, order, stream, row;
} tiles[] = {{1, 4, 0, 1, 24}, {2, 1, 1, 0, 25},  {3, 2, 2, 1, 24}, {5, 3, 0, 0, 24},
             {8, 1, 2, 1, 25}, {12, 1, 1, 0, 24}, {5, 5, 0, 0, 24}, {4, 2, 3, 0, 25}};

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
    blocked_check(p, 16, config);
}
END_TEST

/* Vectors with nothing but the padding of the layout: one and more, behind the last tile of several
 * and of one, of a row that ends in the middle of a tile; with an epilogue that makes something of
 * nothing. */
static const struct {
    int channels, groups;
    const char *layout, *config;
} empty[] = {
    {24, 1, "NCHW16c", "T_W=5,T_KV=2,T_V=8"},   {3, 1, "NCHW16c", "T_W=4,T_KV=1,T_V=4"},
    {17, 1, "NCHW32c", "T_W=3,T_KV=2,T_V=8"},   {40, 1, "NCHW32c", "T_W=5,T_KV=3,T_V=16"},
    {24, 1, "NHWC;C%32", "T_W=6,T_KV=3,T_V=8"}, {24, 3, "NCHW16c", "T_W=5,T_KV=1,T_V=8"},
    {72, 3, "NCHW32c", "T_W=4,T_KV=2,T_V=8"},   {20, 5, "NCHW32c", "T_W=7,T_KV=1,T_V=4"},
    {48, 3, "NCHW32c", "T_W=3,T_KV=1,T_V=16"},  {24, 3, "NHWC;C%16", "T_W=6,T_KV=1,T_V=8"}};

START_TEST(empty_vectors)
{
    kiln_problem p = {.batch = 2,
                      .in_channels = 6 * empty[_i].groups,
                      .out_channels = empty[_i].channels,
                      .input = {3, 17},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1},
                      .groups = empty[_i].groups,
                      .epilogue = {.bias = 1, .beta = 1}};
    support_set_layouts(&p, empty[_i].layout, empty[_i].layout);
    support_check(&p, blocked_solver(&p), empty[_i].config, HOST_FILL_INT);
    p.direction = KILN_BACKWARD_DATA;
    p.in_channels = empty[_i].channels;
    p.out_channels = 19 * empty[_i].groups;
    p.stride[1] = 2;
    p.epilogue = (kiln_epilogue){0};
    support_check(&p, blocked_solver(&p), empty[_i].config, HOST_FILL_INT);
}
END_TEST

START_TEST(any_layout_is_blocked)
{
    if (!support_on_cpu())
        return; /* "any" stays plain, which other solvers are for */
    kiln_problem p = blocked_shapes[5];
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
    kiln_choice choice = {.ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    support_set_layouts(&p, x, y);
    choice.solver = blocked_solver(&p);
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), reason), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    kiln_problem p = blocked_shapes[5];
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
    tcase_add_loop_test(c, remainders_of_channels, 0,
                        (int)(sizeof remainders / sizeof *remainders));
    tcase_add_test(c, many_weights);
    tcase_add_loop_test(c, tiles_that_block_channels, 0, 3);
    tcase_add_test(c, rows_that_block_channels);
    tcase_add_test(c, channels_in_parts);
    tcase_add_loop_test(c, every_shape, 0, BLOCKED_SHAPES);
    tcase_add_loop_test(c, every_other_shape_from_memory, 0, BLOCKED_SHAPES / 2);
    tcase_add_loop_test(c, empty_vectors, 0, (int)(sizeof empty / sizeof *empty));
    tcase_add_test(c, transposed);
    tcase_add_loop_test(c, classes_of_a_stride, 0, (int)(sizeof strided / sizeof *strided));
    tcase_add_loop_test(c, every_tile, 0, TILES);
    tcase_add_test(c, any_layout_is_blocked);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
