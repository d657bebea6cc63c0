/* The direct solver from NHWC to NHWC: every shape where it lies, what "any" becomes, refusals. */
#include "support/blocked_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"
#include "kiln.h"

#include <check.h>
#include <string.h>

/* Asserts that nothing but weights is rearranged: no workspace, and layouts that stay. */
static void describe(const kiln_problem *p, kiln_op_info *info)
{
    const kiln_choice choice = {.solver = "nhwc_direct", .ignore_rows = 1, .packed_weights = 1};
    ck_assert_msg(kiln_conv_plan(support_open()->kiln, p, &choice, info) == KILN_OK, "refused: %s",
                  kiln_last_error());
    ck_assert_int_eq(info->workspace_size, 0);
}

static void check_last(kiln_problem p, const char *config)
{
    static const char *const names[] = {"NWC", "NHWC", "NDHWC"};
    const char *name = names[p.spatial_rank ? p.spatial_rank - 1 : 1];
    kiln_op_info info;
    support_set_layouts(&p, name, name);
    describe(&p, &info);
    ck_assert_str_eq(info.problem.x_layout, name);
    ck_assert_str_eq(info.problem.y_layout, name);
    support_check(&p, "nhwc_direct", config, HOST_FILL_INT);
}

START_TEST(every_shape)
{
    kiln_problem p = blocked_shapes[_i];
    check_last(p, blocked_tile(&p));
    p.direction = KILN_BACKWARD_DATA;
    check_last(p, blocked_tile(&p));
}
END_TEST

START_TEST(epilogues_and_types)
{
    kiln_problem p = blocked_small;
    support_set_types(&p, support_types_of[_i % SUPPORT_TYPES]);
    if (p.y_type != KILN_I32)
        p.epilogue = blocked_epilogues[_i % BLOCKED_EPILOGUES];
    check_last(p, blocked_small_tile);
}
END_TEST

/* The layout that is named decides for the other, padding and all. */
START_TEST(any_becomes_the_other)
{
    static const char *const named[] = {"NHWC", "NHWC;C%8"};
    kiln_problem p = blocked_shapes[5];
    kiln_op_info info;
    support_set_layouts(&p, _i % 2 ? "any" : named[_i / 2], _i % 2 ? named[_i / 2] : "any");
    describe(&p, &info);
    ck_assert_str_eq(info.problem.x_layout, named[_i / 2]);
    ck_assert_str_eq(info.problem.y_layout, named[_i / 2]);
    support_check(&p, "nhwc_direct", NULL, HOST_FILL_INT);
}
END_TEST

static void refused(kiln_problem p, const char *solver, const char *x, const char *y,
                    const char *reason)
{
    const kiln_choice choice = {.solver = solver, .ignore_rows = 1, .native_layout = 1};
    kiln_op *op;
    support_set_layouts(&p, x, y);
    ck_assert_int_eq(kiln_conv_create(support_open()->kiln, &p, &choice, &op), KILN_UNSUPPORTED);
    ck_assert_msg(strstr(kiln_last_error(), reason), "%s", kiln_last_error());
}

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    kiln_problem p = blocked_shapes[5];
    refused(p, "nhwc_direct", "any", "any", "layouts are NCHW and NCHW");
    refused(p, "nhwc_direct", "NHWC", "NCHW16c", "layouts are NHWC and NCHW16c");
    refused(p, "nhwc_direct", "NHWC;W%8", "NHWC", "layouts are NHWC;W%8 and NHWC");
    refused(p, "direct_blocked", "NHWC", "NHWC;C%8", "nhwc_direct takes");
    p.direction = KILN_BACKWARD_WEIGHTS;
    refused(p, "nhwc_direct", "NHWC", "NHWC", "forward and backward data");
}
END_TEST

/* A pixel's image is NHWC and NCHW at once: that of NCHW is others'. */
START_TEST(one_pixel_of_nchw)
{
    refused(blocked_shapes[1], "nhwc_direct", "NCHW", "NCHW", "layouts are NCHW and NCHW");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nhwc_direct");
    TCase *c = tcase_create("nhwc_direct");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_shape, 0, BLOCKED_SHAPES);
    tcase_add_loop_test(c, epilogues_and_types, 0, BLOCKED_EPILOGUES);
    tcase_add_loop_test(c, any_becomes_the_other, 0, 4);
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    tcase_add_test(c, one_pixel_of_nchw);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
