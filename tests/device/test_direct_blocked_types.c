/* What the blocked direct solver makes of sums: epilogues, types, and bytes multiplied together. */
#include "support/blocked_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

START_TEST(the_epilogue_is_applied_and_padding_is_zero)
{
    kiln_problem p = blocked_small;
    p.epilogue = blocked_epilogues[_i];
    blocked_check(p, 16 >> _i % 3, blocked_small_tile);
}
END_TEST

/* Each type has a 1x1 filter and one with borders forward, and a stride or a dilation backward:
 * whole tiles, strips at the ends, strips everywhere. */
START_TEST(every_type)
{
    static const int shape[][2] = {{2, 7}, {3, 9}, {4, 13}, {15, 17}, {2, 16}, {3, 10}, {4, 5}};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = i == 0   ? blocked_shapes[shape[_i][0]]
                         : i == 1 ? blocked_small
                                  : blocked_shapes[shape[_i][1]];
        p.direction = i == 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        support_set_types(&p, support_types_of[_i]);
        if (i == 1 && p.y_type != KILN_I32)
            p.epilogue = (kiln_epilogue){.bias = 1, .beta = 1, .activation = KILN_RELU};
        blocked_check(p, 16, i == 1 ? blocked_small_tile : blocked_tile(&p));
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
    support_check(&p, blocked_solver(&p), bytes[_i].config, HOST_FILL_UNIFORM);
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    for (int i = 5; i < BLOCKED_SHAPES; i += 4) {
        kiln_problem p = blocked_shapes[i];
        const char *name = blocked_layout(p.spatial_rank ? p.spatial_rank : 2, 16);
        support_set_layouts(&p, name, name);
        support_check(&p, "direct_blocked", blocked_tile(&p), HOST_FILL_UNIFORM);
    }
}
END_TEST

/* Strips copy neighbours: where neither channels nor pixels are, the source is reformatted first.
 */
START_TEST(a_source_without_neighbours)
{
    kiln_problem p = {.x_type = KILN_F16,
                      .x_layout = "CHWN",
                      .y_layout = "NHWC",
                      .batch = 3,
                      .in_channels = 5,
                      .out_channels = 9,
                      .input = {4, 6},
                      .filter = {3, 3},
                      .pad_begin = {1, 1},
                      .pad_end = {1, 1}};
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("direct_blocked_types");
    TCase *c = tcase_create("direct_blocked_types");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, the_epilogue_is_applied_and_padding_is_zero, 0, BLOCKED_EPILOGUES);
    tcase_add_loop_test(c, every_type, 0, SUPPORT_TYPES);
    tcase_add_loop_test(c, bytes_together, 0, (int)(sizeof bytes / sizeof *bytes));
    tcase_add_test(c, fractions_stay_within_the_bound);
    tcase_add_test(c, a_source_without_neighbours);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
