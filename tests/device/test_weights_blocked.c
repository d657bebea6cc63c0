/* The blocked solver of backward weights: lanes, groups, borders and tiles, compared for equality.
 */
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static kiln_problem in_layouts(kiln_problem p, const char *x, const char *w, const char *y)
{
    p.direction = KILN_BACKWARD_WEIGHTS;
    support_set_layouts(&p, x, y);
    snprintf(p.w_layout, sizeof p.w_layout, "%s", w);
    return p;
}

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "weights_blocked", config, HOST_FILL_INT);
}

static kiln_problem small(int64_t c, int64_t k)
{
    return (kiln_problem){.batch = 2,
                          .in_channels = c,
                          .out_channels = k,
                          .input = {5, 9},
                          .filter = {3, 3},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1}};
}

/* Channels through all remainders of 16, both axes at once: the one counts up, the other down. The
 * filter's layouts, which decide along which of the two the lanes lie, take turns; so does a plain
 * source. The bias gradient, another solver's kernel, is there once. */
START_TEST(every_remainder_of_channels)
{
    static const char *const w[] = {"OIHW", "OIHW16o16i", "OIHW16o"};
    kiln_problem p = in_layouts(small(_i + 1, 40 - _i), "NCHW16c", w[_i % 3], "NCHW16c");
    p.epilogue.bias = _i == 6;
    check(&p, NULL);
    p = in_layouts(small(34 - _i, _i + 1), "NCHW", "OIHW16o", "NCHW16c");
    if (_i % 3 == 1)
        check(&p, NULL);
}
END_TEST

static const struct {
    int64_t c, k, groups;
    const char *data, *w;
} groups[] = {
    {32, 48, 2, "NCHW16c", "OIHW16o16i"},
    {32, 24, 2, "NCHW16c", "OIHW16o16i"},
    {24, 24, 3, "NCHW8c", "OIHW8o8i"},
    {12, 32, 2, "NCHW16c", "OIHW16o"},
    {6, 24, 3, "NCHW8c", "OIHW"},
    {8, 12, 2, "NCHW4c", "OIHW4o4i"},
    {64, 64, 8, "any", "any"},
    {9, 12, 3, "NCHW", "OIHW"},
};

enum { GROUPS = sizeof groups / sizeof *groups };

START_TEST(every_kind_of_group)
{
    kiln_problem p = small(groups[_i].c, groups[_i].k);
    p.groups = groups[_i].groups;
    p.stride[0] = p.stride[1] = 1 + _i % 2;
    p = in_layouts(p, groups[_i].data, groups[_i].w, groups[_i].data);
    check(&p, NULL);
}
END_TEST

static const kiln_problem shapes[] = {
    {.input = {9, 14}, .filter = {3, 3}, .stride = {2, 2}, .pad_end = {1, 1}},
    {.input = {23, 31}, .filter = {7, 7}, .stride = {2, 2}, .pad_begin = {3, 3}, .pad_end = {3, 3}},
    {.input = {6, 11}, .filter = {1, 7}, .pad_begin = {0, 3}, .pad_end = {0, 3}},
    {.input = {11, 6}, .filter = {7, 1}, .pad_begin = {3, 0}, .pad_end = {3, 0}},
    {.input = {13, 17},
     .filter = {3, 3},
     .dilation = {3, 2},
     .pad_begin = {3, 2},
     .pad_end = {3, 2}},
    {.input = {4, 3}, .filter = {3, 3}, .pad_begin = {2, 5}, .pad_end = {4, 7}, .stride = {1, 3}},
    {.input = {6, 8}, .filter = {1, 1}},
    {.input = {17, 17}, .filter = {1, 1}, .stride = {2, 3}},
    {.input = {1, 1}, .filter = {1, 1}},
    {.input = {5, 6}, .filter = {5, 6}},
    {.spatial_rank = 1, .input = {29}, .filter = {5}, .pad_begin = {2}, .stride = {2}},
    {.spatial_rank = 3,
     .input = {4, 5, 6},
     .filter = {3, 2, 3},
     .pad_begin = {1, 0, 1},
     .pad_end = {1, 1, 0},
     .stride = {2, 1, 1}},
    /* Rows that are cut into strips. */
    {.input = {2, 1101}, .filter = {3, 3}, .pad_begin = {1, 1}, .pad_end = {1, 1}},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Each shape with many channels on both sides or with few on one; a quarter of them from plain
 * tensors, of which the shape sees only that they are put in blocks first. */
START_TEST(every_shape)
{
    static const int64_t channels[][2] = {{20, 19}, {3, 33}, {40, 8}};
    for (int i = 0; i < 2; i++) {
        kiln_problem p = shapes[_i];
        p.batch = 3;
        p.in_channels = channels[(_i + i) % 3][0];
        p.out_channels = channels[(_i + i) % 3][1];
        bool plain = i == 1 && _i % 2 == 0;
        p = plain ? in_layouts(p, "", "", "") : in_layouts(p, "any", "any", "any");
        check(&p, NULL);
    }
}
END_TEST

/* Tiles, items, chunks and parts that leave remainders everywhere. */
static const char *const by_c[] = {"2,8,3,1,1,16,1",  "2,4,1,2,4,64,4", "1,16,1,2,3,20,7",
                                   "3,2,3,1,23,1,14", "4,1,3,1,6,30,2", "1,8,3,4,2,1000,5"};
static const char *const by_k[] = {"4,2,1,2,2,16,1", "2,1,3,5,1,64,3", "8,3,1,1,1,20,7",
                                   "1,2,3,53,2,9,14"};

START_TEST(every_tile)
{
    kiln_problem p = small(53, 45);
    p.input[0] = 7;
    if (_i < 6) {
        p = in_layouts(p, "NCHW16c", "OIHW16o16i", "NCHW16c");
        support_check_tile(&p, "weights_blocked", by_c[_i], HOST_FILL_INT);
    } else {
        p = in_layouts(p, _i % 2 ? "NCHW" : "NCHW16c", "OIHW16o", "NCHW16c");
        support_check_tile(&p, "weights_blocked", by_k[_i - 6], HOST_FILL_INT);
    }
}
END_TEST

/* Into layouts in which the lanes lie along one axis of channels and along the other; into a plain
 * one, which is a reformat more, once. */
START_TEST(every_type)
{
    static const char *const w[] = {"OIHW16o16i", "OIHW16o", "OIHW"};
    for (int i = 0; i < (_i == 0 ? 3 : 2); i++) {
        kiln_problem p = in_layouts(small(20, 21), "NCHW16c", w[i], "NCHW16c");
        support_set_types(&p, support_types_of[_i]);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    static const struct {
        const char *x, *w, *part;
        int64_t groups;
    } refusals[] = {{"NHWC", "OIHW", "NHWC", 1},
                    {"NCHW8c", "OIHW", "NCHW8c", 1},
                    {"NCHW16c", "OHW|I|4o", "OHW|I|4o", 1},
                    {"NCHW16c", "OIHW", "groups of 9", 2}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        kiln_problem p = in_layouts(small(18, 18), refusals[i].x, refusals[i].w, "NCHW16c");
        p.groups = refusals[i].groups;
        const kiln_choice choice = {
            .solver = "weights_blocked", .ignore_rows = 1, .native_layout = 1};
        kiln_op *op;
        ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op),
                         KILN_UNSUPPORTED);
        ck_assert_msg(strstr(kiln_last_error(), refusals[i].part), "%s", kiln_last_error());
    }
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    Suite *s = suite_create("weights_blocked");
    TCase *c = tcase_create("weights_blocked");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_remainder_of_channels, 0, 17);
    tcase_add_loop_test(c, every_kind_of_group, 0, GROUPS);
    tcase_add_loop_test(c, every_shape, 0, SHAPES);
    tcase_add_loop_test(c, every_tile, 0, 10);
    tcase_add_loop_test(c, every_type, 0, SUPPORT_FLOATS);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
