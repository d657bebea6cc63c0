/* The Winograd solvers: every remainder, border, filter and layout, exactly where the data allow.
 */
#include "support/suite.h"
#include "support/support.h"
#include "support/winograd_cases.h"

#include <check.h>
#include <string.h>

/* Every problem is compiled for, so winograd_solvers take turns, and so do layouts, plain and
 * blocked on either side: eight turns have them all. */
static void check_turn(const kiln_problem *p, int turn, const char *config)
{
    kiln_problem q = *p;
    winograd_set_layouts(&q, turn + turn / 2);
    winograd_check(&q, winograd_solvers[turn % WINOGRAD_SOLVERS], config);
}

START_TEST(remainders_of_channels)
{
    static const int64_t some[] = {1, 2, 3, 4, 5, 15, 16, 17, 20};
    for (int i = 0; i < 9; i++) {
        kiln_problem p = winograd_problem(1, some[i], 5, 9, some[8 - i] + 16);
        p.direction = i / 2 % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        check_turn(&p, i, NULL);
    }
}
END_TEST

/* Images of one pixel to some tiles, higher than wide and wider than high. */
START_TEST(remainders_of_images)
{
    static const int64_t some[][2] = {{1, 1}, {1, 8}, {2, 7},  {3, 6},  {4, 5}, {6, 4},
                                      {7, 3}, {9, 1}, {5, 83}, {83, 5}, {13, 8}};
    for (int i = 0; i < 11; i++) {
        kiln_problem p = winograd_problem(3, 3, some[i][0], some[i][1], 5);
        check_turn(&p, i, winograd_sizes[i % 3]);
    }
}
END_TEST

START_TEST(any_padding)
{
    static const int64_t pads[][4] = {{0, 0, 0, 0}, {2, 2, 2, 2}, {0, 1, 2, 0}, {1, 0, 0, 5},
                                      {4, 3, 0, 1}, {0, 7, 6, 2}, {5, 5, 5, 5}};
    for (int i = 0; i < 7; i++) {
        kiln_problem p = winograd_problem(2, 5, 7, 11, 6);
        p.direction = i / 2 % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        for (int a = 0; a < 2; a++) {
            p.pad_begin[a] = pads[i][a];
            p.pad_end[a] = pads[i][2 + a];
        }
        check_turn(&p, i, NULL);
    }
}
END_TEST

START_TEST(transposed_ones)
{
    for (int i = 0; i < 2; i++) {
        kiln_problem p = winograd_problem(2, 5, 7, 11, 18);
        p.direction = i ? KILN_BACKWARD_DATA : KILN_FORWARD;
        p.transposed = 1;
        check_turn(&p, i, NULL);
    }
}
END_TEST

/* Each size of tiles along one axis and along both, filters of even and of unequal sides. */
START_TEST(filters_of_other_sizes)
{
    static const struct {
        int64_t filter[2], pad[2];
        const char *config;
    } some[] = {{{1, 3}, {0, 1}, "T_T=4"}, {{3, 1}, {1, 0}, "T_T=8"},  {{1, 7}, {0, 3}, "T_T=10"},
                {{5, 5}, {2, 0}, "T_T=6"}, {{9, 1}, {8, 2}, "T_T=10"}, {{2, 2}, {0, 1}, "T_T=6"},
                {{4, 3}, {1, 1}, "T_T=6"}, {{7, 6}, {3, 3}, "T_T=8"}};
    for (int i = 0; i < 8; i++) {
        kiln_problem p = winograd_problem(2, 3, 13, 22, 18);
        p.direction = i / 3 % 2 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        for (int a = 0; a < 2; a++) {
            p.filter[a] = some[i].filter[a];
            p.pad_begin[a] = p.pad_end[a] = some[i].pad[a];
        }
        check_turn(&p, i, some[i].config);
    }
}
END_TEST

/* Phases of one axis and of both, also of one with a single tap, which has but one. */
START_TEST(strides)
{
    static const struct {
        int64_t channels, filter[2], stride[2], pad[2];
        const char *config;
    } some[] = {{3, {7, 7}, {2, 2}, {3, 3}, "T_T=8"},  {19, {3, 3}, {2, 2}, {1, 0}, "T_T=4"},
                {5, {3, 5}, {1, 2}, {1, 4}, "T_T=6"},  {16, {4, 2}, {2, 1}, {1, 1}, "T_T=6"},
                {18, {1, 3}, {2, 2}, {0, 1}, "T_T=4"}, {33, {6, 5}, {2, 2}, {5, 2}, "T_T=6"}};
    for (int i = 0; i < 6; i++) {
        kiln_problem p = winograd_problem(2, some[i].channels, 27, 38, 18);
        for (int a = 0; a < 2; a++) {
            p.filter[a] = some[i].filter[a];
            p.stride[a] = some[i].stride[a];
            p.pad_begin[a] = p.pad_end[a] = some[i].pad[a];
        }
        check_turn(&p, i, some[i].config);
    }
}
END_TEST

/* Rows and columns that are left over for some of the phases. */
START_TEST(dilations)
{
    static const int64_t some[][4] = {{3, 3, 2, 2}, {2, 3, 3, 1}, {1, 5, 1, 4}};
    for (int i = 0; i < 3; i++) {
        kiln_problem p = winograd_problem(2, 18, 13, 22, 17);
        p.direction = i == 1 ? KILN_BACKWARD_DATA : KILN_FORWARD;
        for (int a = 0; a < 2; a++) {
            p.filter[a] = some[i][a];
            p.dilation[a] = some[i][2 + a];
            p.pad_begin[a] = p.pad_end[a] = i;
        }
        winograd_set_layouts(&p, 1);
        winograd_check(&p, winograd_solvers[i % WINOGRAD_SOLVERS], "T_T=6");
        winograd_set_layouts(&p, i ? i + 1 : 0);
        winograd_check(&p, winograd_solvers[(i + 1) % WINOGRAD_SOLVERS], "T_T=6");
    }
}
END_TEST

/* NHWC on either side, whose pixels hold all blocks: several blocks and groups, phases of a stride,
 * a dilation, both directions. */
START_TEST(whole_pixels)
{
    static const struct {
        const char *x, *y;
        int64_t c, k, groups, stride, dilation;
        bool backward;
    } cases[] = {
        {"NHWC", "NHWC", 16, 48, 1, 1, 1, false},   {"NHWC", "NHWC", 64, 32, 2, 1, 1, true},
        {"NHWC", "NCHW", 32, 20, 1, 2, 1, false},   {"NCHW", "NHWC", 18, 32, 1, 1, 2, false},
        {"NHWC", "NCHW16c", 32, 32, 1, 1, 1, true}, {"NCHW16c", "NHWC", 17, 16, 1, 2, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_problem p = winograd_problem(2, cases[i].c, 13, 18, cases[i].k);
        p.direction = cases[i].backward ? KILN_BACKWARD_DATA : KILN_FORWARD;
        p.groups = cases[i].groups;
        for (int a = 0; a < 2; a++) {
            p.stride[a] = cases[i].stride;
            p.dilation[a] = cases[i].dilation;
        }
        strcpy(p.x_layout, cases[i].x);
        strcpy(p.y_layout, cases[i].y);
        winograd_check(&p, "winograd_fused", "T_T=6");
        if (p.groups == 1)
            winograd_check(&p, "winograd_staged", "T_T=4");
    }
}
END_TEST

int main(void)
{
    if (!support_on_cpu())
        return SUPPORT_SKIPPED;
    TCase *tests = tcase_create("winograd");
    tcase_set_timeout(tests, winograd_patience());
    tcase_add_test(tests, remainders_of_channels);
    tcase_add_test(tests, remainders_of_images);
    tcase_add_test(tests, any_padding);
    tcase_add_test(tests, transposed_ones);
    tcase_add_test(tests, filters_of_other_sizes);
    tcase_add_test(tests, strides);
    tcase_add_test(tests, dilations);
    tcase_add_test(tests, whole_pixels);
    Suite *suite = suite_create("winograd");
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
