/* The blocked solver of backward weights: lanes, groups, borders and tiles, compared for equality.
 */
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kiln_problem in_layouts(kiln_problem p, const char *x, const char *w, const char *y)
{
    p.direction = KILN_BACKWARD_WEIGHTS;
    snprintf(p.x_layout, sizeof p.x_layout, "%s", x);
    snprintf(p.w_layout, sizeof p.w_layout, "%s", w);
    snprintf(p.y_layout, sizeof p.y_layout, "%s", y);
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

/* Channels through all remainders of 16, with lanes of either kind, into every layout. */
START_TEST(every_remainder_of_channels)
{
    static const char *const w[] = {"OIHW", "OIHW16o16i", "OIHW16o"};
    const int i = _i % 3, j = (_i + 1) % 3;
    kiln_problem p = in_layouts(small(_i + 1, 40 - _i), "NCHW16c", w[i], "NCHW16c");
    p.epilogue.bias = i == 0;
    check(&p, NULL);
    p = in_layouts(small(34 - _i, _i + 1), j == 2 ? "NCHW" : "NCHW16c", w[j], "NCHW16c");
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
    p = in_layouts(p, groups[_i].data, groups[_i].w, groups[_i].data);
    check(&p, NULL);
    p.stride[0] = p.stride[1] = 2;
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

START_TEST(every_shape)
{
    static const int64_t channels[][2] = {{20, 19}, {3, 33}, {40, 8}};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        kiln_problem p = shapes[_i];
        p.batch = 3;
        p.in_channels = channels[i][0];
        p.out_channels = channels[i][1];
        p = in_layouts(p, "any", "any", "any");
        check(&p, NULL);
        p = in_layouts(p, "", "", "");
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
        check(&p, by_c[_i]);
    }
    if (_i < 4) {
        p = in_layouts(p, "NCHW16c", "OIHW16o", "NCHW16c");
        check(&p, by_k[_i]);
        p = in_layouts(p, "NCHW", "OIHW16o", "NCHW16c");
        check(&p, by_k[_i]);
    }
}
END_TEST

static const kiln_type types[][2] = {
    {KILN_F16, KILN_F16}, {KILN_F16, KILN_F32}, {KILN_BF16, KILN_BF16}, {KILN_BF16, KILN_F32}};

START_TEST(every_type)
{
    static const char *const w[] = {"OIHW", "OIHW16o16i", "OIHW16o"};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = in_layouts(small(20, 21), "NCHW16c", w[i], "NCHW16c");
        p.x_type = p.y_type = types[_i][0];
        p.w_type = types[_i][1];
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
                    {"NCHW16c", "OIHW16i16o", "OIHW16i16o", 1},
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
    tcase_add_loop_test(c, every_tile, 0, 6);
    tcase_add_loop_test(c, every_type, 0, sizeof types / sizeof *types);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
