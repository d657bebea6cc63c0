/* Backward weights of depthwise convolutions over vectors of channels, compared for equality. */
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_problem in_layout(kiln_problem p, int64_t channels, const char *name)
{
    p.batch = p.batch ? p.batch : 2;
    p.in_channels = p.out_channels = p.groups = channels;
    p.direction = KILN_BACKWARD_WEIGHTS;
    support_set_layouts(&p, name, name);
    return p;
}

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "depthwise_weights", config, HOST_FILL_INT);
}

static const kiln_problem shapes[] = {
    {.input = {5, 9}, .filter = {3, 3}, .pad_begin = {1, 1}, .pad_end = {1, 1}},
    {.input = {9, 14}, .filter = {3, 3}, .stride = {2, 2}, .pad_end = {1, 1}},
    {.input = {9, 30}, .filter = {5, 5}, .pad_begin = {2, 2}, .pad_end = {2, 2}, .stride = {1, 2}},
    {.input = {17, 41},
     .filter = {3, 3},
     .dilation = {2, 6},
     .pad_begin = {2, 6},
     .pad_end = {2, 6}},
    {.input = {8, 33}, .filter = {2, 31}, .pad_begin = {1, 15}, .pad_end = {0, 15}},
    {.input = {4, 5}, .filter = {2, 2}, .pad_begin = {4, 9}, .pad_end = {2, 8}},
    {.input = {5, 7}, .filter = {1, 1}},
    {.input = {2, 1}, .filter = {5, 4}, .pad_begin = {2, 2}, .pad_end = {3, 1}},
    {.spatial_rank = 1, .input = {53}, .filter = {7}, .stride = {3}, .pad_begin = {6}},
    {.spatial_rank = 3,
     .input = {5, 6, 17},
     .filter = {3, 2, 3},
     .stride = {2, 1, 1},
     .dilation = {1, 3, 1},
     .pad_begin = {1, 0, 1},
     .pad_end = {0, 2, 1}},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(every_shape)
{
    static const char *const names[] = {"NCW16c", "NCHW16c", "NCDHW16c"};
    const kiln_problem *shape = &shapes[_i];
    const char *name = names[shape->spatial_rank ? shape->spatial_rank - 1 : 1];
    kiln_problem p = in_layout(*shape, 16 + _i, name);
    check(&p, NULL);
}
END_TEST

static const struct {
    const char *layout;
    int64_t channels;
} vectors[] = {{"NCHW16c", 3}, {"NCHW8c", 19}, {"NCHW4c", 6}, {"NHWC", 35},
               {"NHWC", 11},   {"NHWC", 5},    {"any", 7},    {"NHWC", 32}};

START_TEST(every_kind_of_vector)
{
    kiln_problem p = in_layout(shapes[0], vectors[_i].channels, vectors[_i].layout);
    check(&p, NULL);
    check(&p, "4,1,3,3");
}
END_TEST

static const char *const tiles[] = {"1,1,1,1", "2,5,5,2", "3,1,5,6", "4,5,1,18", "15,1,1,3"};

START_TEST(every_tile)
{
    kiln_problem p = in_layout(shapes[2], 20, "NCHW16c");
    check(&p, tiles[_i]);
}
END_TEST

START_TEST(every_type)
{
    kiln_problem p = in_layout(shapes[_i % 2], 18, _i % 2 ? "NHWC" : "NCHW16c");
    support_set_types(&p, support_types_of[_i]);
    check(&p, NULL);
}
END_TEST

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    const kiln_choice choice = {
        .solver = "depthwise_weights", .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    kiln_problem p = in_layout(shapes[0], 18, "NCHW");
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), "NCHW"), "%s", kiln_last_error());
    p = in_layout(shapes[0], 18, "NCHW16c");
    p.groups = 9;
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), "9 groups of 2 and 2"), "%s", kiln_last_error());
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("depthwise_weights");
    TCase *c = tcase_create("depthwise_weights");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_shape, 0, SHAPES);
    tcase_add_loop_test(c, every_kind_of_vector, 0, sizeof vectors / sizeof *vectors);
    tcase_add_loop_test(c, every_tile, 0, sizeof tiles / sizeof *tiles);
    tcase_add_loop_test(c, every_type, 0, SUPPORT_FLOATS);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
