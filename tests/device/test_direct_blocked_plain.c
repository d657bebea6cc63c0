/* The blocked direct solver from and to plain tensors. */
#include "support/blocked_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

/* The first layer of a network: its source need not be in blocks. */
START_TEST(a_plain_source)
{
    kiln_problem p = blocked_shapes[7];
    support_set_layouts(&p, "NCHW", "NCHW16c");
    support_check(&p, "direct_blocked", blocked_tile(&p), HOST_FILL_INT);
    p.x_type = p.w_type = p.y_type = KILN_F16;
    support_check(&p, "direct_blocked", blocked_tile(&p), HOST_FILL_INT);
    p = blocked_shapes[2];
    support_set_layouts(&p, "NCHW", "NCHW8c");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
    p = blocked_shapes[1];
    support_set_layouts(&p, "NCHW", "NCHW16c");
    support_check(&p, "direct_blocked", NULL, HOST_FILL_INT);
}
END_TEST

/* Types that are converted on the way, in rows of pixels: narrower than a vector, with padding
 * wider than one, with taps far apart, with an odd number of channels. */
START_TEST(rows_that_are_converted)
{
    static const int which[] = {4, 6, 9, 10, 11, 13, 14, 19, 19, 19};
    static const kiln_type sources[] = {KILN_I8, KILN_F16, KILN_BF16};
    const support_types types = {sources[_i % 3], KILN_F32};
    kiln_problem p = blocked_shapes[which[_i]];
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
        support_check_tile(&p, "direct_blocked", config, HOST_FILL_INT);
}

/* Plain to plain: vectors of channels become rows of pixels, whole ones and pieces. A third of the
 * blocked_shapes, and those with a stride, backward. */
START_TEST(plain_tensors)
{
    static const char *const tiles[] = {"T_W=4,T_KV=1", "T_W=4,T_KV=1,T_V=8", "T_W=4,T_KV=1,T_V=4"};
    static const char *const lanes[] = {NULL, "T_V=8", "T_V=4"};
    kiln_problem p = blocked_shapes[_i];
    const char *config = (blocked_tile(&p) ? tiles : lanes)[_i % 4 % 3];
    p.epilogue = (kiln_epilogue){.bias = _i % 2, .beta = _i % 3 == 0 ? 2 : 0};
    if (_i % 3 != 1)
        check_plain(p, config);
    p.epilogue = (kiln_epilogue){0};
    p.direction = KILN_BACKWARD_DATA;
    if (_i % 3 == 1 || p.stride[1] > 1)
        check_plain(p, blocked_tile(&p));
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
    kiln_problem p = blocked_small;
    p.epilogue = blocked_epilogues[2 + 3 * (_i % 3)];
    support_set_types(&p, support_types_of[_i]);
    if (p.y_type == KILN_I32)
        p.epilogue = (kiln_epilogue){0};
    check_plain(p, blocked_small_tile);
    support_set_layouts(&p, "NCHW8c", "NCHW");
    if (_i % 2 && support_on_cpu())
        support_check(&p, "direct_blocked", blocked_small_tile, HOST_FILL_INT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("direct_blocked_plain");
    TCase *c = tcase_create("direct_blocked_plain");
    tcase_set_timeout(c, 300);
    tcase_add_test(c, a_plain_source);
    tcase_add_loop_test(c, rows_that_are_converted, 0, 10);
    tcase_add_loop_test(c, plain_tensors, 0, BLOCKED_SHAPES);
    tcase_add_loop_test(c, plain_tiles, 0, 6);
    tcase_add_loop_test(c, plain_epilogues_and_types, 0, SUPPORT_TYPES);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
