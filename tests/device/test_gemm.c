/* The solvers gemm and gemm_phases: every direction it does, layout, type and kind of tile, for
 * equality. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

/* Where a config does not suit the shape it is legal for none. */
static const char *const tiles[] = {"16,32,8,4,4,1", "32,64,16,8,4,1", "64,32,16,4,4,1",
                                    "32,64,8,4,8,1"};

enum { TILES = sizeof tiles / sizeof *tiles };

/* PoCL compiles groups with barriers for a second each, so a CPU takes every fourth case. */
static int step(void)
{
    return support_on_cpu() ? 4 : 1;
}

static void check(const kiln_problem *p, const char *config)
{
    support_check(p, "gemm", config, HOST_FILL_INT);
}

START_TEST(every_shape_is_exact)
{
    for (int i = _i % step(); i < DIRECT_SHAPES; i += step()) {
        const kiln_problem p = direct_problem(_i, "f32", direct_shapes[i]);
        check(&p, NULL);
    }
}
END_TEST

/* Channels last in the source, in the destination, in both. */
static void set_last(kiln_problem *p, int which)
{
    static const char *const x[] = {"NHWC", "NCHW", "NHWC"}, *const y[] = {"NHWC", "NHWC", "NCHW"};
    support_set_layouts(p, x[which], y[which]);
}

START_TEST(channels_may_be_last)
{
    for (int i = _i % step(); i < DIRECT_SHAPES; i += step()) {
        kiln_problem p = direct_problem(_i, "f32", direct_shapes[i]);
        set_last(&p, i % 3);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {2, 4, 5, 7};
    for (int t = _i % step(); t < SUPPORT_TYPES; t += step()) {
        kiln_problem p = direct_problem(_i, "f32", direct_shapes[some[t % 4]]);
        support_set_types(&p, support_types_of[t]);
        check(&p, NULL);
        set_last(&p, t % 3);
        check(&p, NULL);
    }
}
END_TEST

/* What the tiles meet: channels and terms that fill no tile, pixels of several images in one, four
 * pixels or channels at a time, phases with taps of their own and with none. */
static const struct {
    int direction;
    const char *shape;
} shapes[] = {
    {0, "n3-c24-k20-i4x6-f1x1"},         {0, "n5-c16-k33-i7x7-f1x1"},
    {0, "n2-c12-k40-i9x9-f3x3-p1x1"},    {0, "n2-c3-k17-i21x19-f7x7-s2x2-p3x3"},
    {0, "n1-c64-k16-i1x1-f1x1"},         {1, "n2-c20-k24-i9x8-f3x3-s2x2-p1x1"},
    {1, "n2-c8-k12-i13x7-f1x1-s2x3"},    {1, "n1-c16-k8-i11x11-f3x3-s2x2-p2x2-d2x2"},
    {0, "n2-c16-k24-i6x6-f3x3-p1x1-g4"}, {1, "n5-c8-k12-i3x7-f3x7-g2"},
};

START_TEST(every_tile_is_exact)
{
    for (int layout = 0; layout < 2; layout++) {
        kiln_problem p = direct_problem(shapes[_i].direction, "f32", shapes[_i].shape);
        if (layout)
            set_last(&p, 0);
        for (int i = (_i + 2 * layout) % step(); i < TILES; i += step())
            check(&p, tiles[i]);
    }
}
END_TEST

/* Terms shared by groups: all steps of a tile, of taps, of taps that phases do not have. Terms of a
 * step shared by slices of a group, which write rows of pixels, or channels. */
START_TEST(shared_terms_are_exact)
{
    static const struct {
        int direction;
        const char *shape, *config;
    } cases[] = {
        {0, "n1-c64-k20-i5x7-f1x1", "16,32,8,4,4,8"},
        {0, "n2-c20-k12-i7x7-f3x3-p1x1", "32,32,8,4,4,5"},
        {0, "n1-c3-k17-i11x9-f5x5-p2x2", "16,32,8,4,4,3"},
        {1, "n2-c20-k24-i9x8-f3x3-s2x2-p1x1", "16,32,8,4,4,4"},
        {1, "n2-c20-k24-i9x8-f1x1-s2x2", "16,32,8,4,4,3"},
        {0, "n1-c140-k20-i5x7-f1x1", "16,32,64,4,4,1"},
        {1, "n2-c20-k24-i9x8-f3x3-s2x2-p1x1", "16,32,64,4,4,1"},
    };
    for (int layout = 0; layout < 2; layout++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            kiln_problem p = direct_problem(cases[i].direction, "f32", cases[i].shape);
            if (cases[i].direction == 0)
                p.epilogue = direct_epilogues[i % DIRECT_EPILOGUES];
            if (layout)
                set_last(&p, (int)i % 3);
            check(&p, cases[i].config);
        }
}
END_TEST

/* Phases as rows: strides, filters that leave phases without taps, tiles with several rows of
 * phases or parts of one, groups, padding beyond the filter, terms that groups share. */
START_TEST(phases_of_few_channels_are_rows)
{
    static const struct {
        int direction;
        const char *shape, *config;
    } cases[] = {
        {1, "n2-c3-k20-i22x19-f7x7-s2x2-p3x3", "16,32,8,4,4,1,2,2"},
        {1, "n1-c1-k12-i31x17-f5x3-s4x2", "16,32,8,4,4,3,4,4"},
        {0, "n2-c6-k6-i11x10-f5x3-p4x2-d2x1-g2", "32,64,16,4,4,1,2,8"},
    };
    kiln_problem p = direct_problem(cases[_i].direction, "f32", cases[_i].shape);
    if (_i == 2)
        p.epilogue = direct_epilogues[1];
    support_check(&p, "gemm_phases", cases[_i].config, HOST_FILL_UNIFORM);
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    for (int i = _i % step(); i < DIRECT_EPILOGUES; i += step()) {
        kiln_problem p = direct_finished(_i, i);
        check(&p, NULL);
        set_last(&p, i);
        check(&p, NULL);
    }
}
END_TEST

/* Padding of a layout is written by nobody here, so that reformats serve such layouts. */
START_TEST(padded_layouts_are_served)
{
    static const char *const layouts[] = {"NHWC;C%16", "NCHW32c"};
    kiln_problem p = direct_problem(_i % 2, "f32", "n2-c4-k4-i9x11-f3x3-p1x1");
    support_set_layouts(&p, layouts[_i / 2], layouts[_i / 2]);
    check(&p, NULL);
}
END_TEST

START_TEST(fractions_stay_within_the_bound)
{
    static const char *const types[] = {"f32", "bf16"};
    const kiln_problem p = direct_problem(_i % 2, types[_i / 2], "n2-c67-k33-i15x16-f3x3-p1x1");
    support_check(&p, "gemm", NULL, HOST_FILL_UNIFORM);
    support_check(&p, "gemm", "32,64,16,8,4,3", HOST_FILL_UNIFORM);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemm");
    TCase *c = tcase_create("gemm");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, 2);
    tcase_add_loop_test(c, channels_may_be_last, 0, 2);
    tcase_add_loop_test(c, every_type_is_exact, 0, 2);
    tcase_add_loop_test(c, every_tile_is_exact, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(c, shared_terms_are_exact);
    tcase_add_loop_test(c, phases_of_few_channels_are_rows, 0, 3);
    tcase_add_loop_test(c, the_epilogue_is_applied, 0, DIRECT_FINISHED);
    tcase_add_loop_test(c, padded_layouts_are_served, 0, 4);
    tcase_add_loop_test(c, fractions_stay_within_the_bound, 0, 4);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
