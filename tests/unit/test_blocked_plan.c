/* Solvers over blocked layouts without a device: sizes of tensors in their layouts, sizes of tiles
 * and vectors, and the order of tiles. */
#include "generator/plan/solver.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two cores of that row. */
static kiln_device_facts core(const char *row)
{
    kiln_device_facts d = kiln_device_generic();
    d.cpu = kiln_core_named(row);
    d.local_memory = 1 << 20;
    d.simd_floats = 16;
    d.cache = 32 << 20;
    return d;
}

/* A wide vector goes through units of eight. */
static kiln_device_facts cpu(void)
{
    return core("zen4");
}

/* Returns the solver, with its shape of the problem and its guess. */
static const kiln_solver *guess(const kiln_device_facts *d, const char *name, const char *problem,
                                kiln_shape *s, kiln_config *c)
{
    const kiln_solver *solver = kiln_solver_named(name);
    char text[KILN_ERROR_TEXT];
    kiln_problem p;
    kiln_why why;
    ck_assert_msg(kiln_problem_parse(&p, problem, text) == KILN_OK, "%s", text);
    kiln_shape given = kiln_shape_of(&p);
    given.native_layout = true;
    ck_assert_msg(kiln_solver_takes(solver, &given, d, s, &why), "%s", why.text);
    solver->guess(solver, s, d, c);
    return solver;
}

/* Writes the options of the last stage of the solver's guess. */
static void options_on(kiln_device_facts d, const char *name, const char *problem,
                       char options[KILN_OPTIONS_TEXT])
{
    static kiln_plan plan;
    kiln_shape s;
    kiln_config c;
    kiln_why why;
    const kiln_solver *solver = guess(&d, name, problem, &s, &c);
    ck_assert_msg(kiln_solver_plan(solver, &s, &d, &c, &plan, &why), "%s", why.text);
    strcpy(options, plan.stage[plan.nstages - 1].options);
}

static void options_of(const char *name, const char *problem, char options[KILN_OPTIONS_TEXT])
{
    options_on(cpu(), name, problem, options);
}

/* Checks that the solver's guess sets the option. */
static void expect(const char *name, const char *problem, const char *option)
{
    char options[KILN_OPTIONS_TEXT];
    options_of(name, problem, options);
    ck_assert_msg(strstr(options, option), "%s: %s", problem, options);
}

/* Padding makes many cells of few elements, for images inside the tensor and for images that became
 * one row. */
START_TEST(padding_alone_may_need_long_indices)
{
    static const struct {
        const char *solver, *problem;
        bool wide;
    } cases[] = {
        {"direct_blocked", "fwd-i8-n9-c1-k1-i4000x4000-f3x3-p1x1-l:NCHW16c.OIHW.NCHW", true},
        {"direct_blocked", "fwd-i8-n8-c1-k1-i4000x4000-f3x3-p1x1-l:NCHW16c.OIHW.NCHW", false},
        {"nhwc_direct", "fwd-i8-n8-c1-k1-i2000x2000-f1x1-l:NHWC;C%128.OIHW.NHWC", true},
        {"nhwc_direct", "fwd-i8-n2-c1-k1-i2000x2000-f1x1-l:NHWC;C%128.OIHW.NHWC", false},
        {"nhwc_direct", "fwd-i8-n2-c1-k1-i5000x5000-f3x3-p1x1-l:HWNC;C%64.OIHW.NHWC", true},
        {"winograd_int8", "fwd-i8-n9-c1-k1-i4000x4000-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", true},
        {"depthwise_blocked", "fwd-f32-n4-c17-k17-i5500x5500-f3x3-p1x1-g17-l:NCHW16c.OIHW.NCHW16c",
         true},
        {"weights_blocked", "wrw-f32-n33000000-c1-k1-i1x1-f1x1-l:NCHW16c.OIHW.NCHW16c", false},
    };
    char options[KILN_OPTIONS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options_of(cases[i].solver, cases[i].problem, options);
        ck_assert_msg(cases[i].wide == (strstr(options, "-DP_WIDE=1") != NULL), "%s", options);
    }
}
END_TEST

/* With a cache of 32 MiB: weights that take a third of it, or do so together with image and result,
 * are not read again for each tile of pixels. Small weights are, where results are fewer than twice
 * the sources. */
START_TEST(tiles_follow_one_another_as_caches_hold_them)
{
    static const struct {
        const char *problem, *order;
    } cases[] = {
        {"fwd-f32-n1-c1024-k512-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=1"},
        {"fwd-f32-n16-c1024-k4096-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=0"},
        {"fwd-f32-n4-c1024-k4096-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=2"},
        {"fwd-f32-n1-c640-k640-i14x14-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=2"},
        {"fwd-f32-n1-c512-k512-i14x14-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=1"},
        {"fwd-f32-n1-c512-k512-i28x28-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=2"},
        {"fwd-f32-n1-c128-k128-i112x112-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=1"},
        {"fwd-f32-n16-c4096-k4096-i14x14-f3x3-s2x2-p1x1-g32-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=2"},
        {"fwd-f32-n1-c1024-k1024-i56x56-f3x3-s2x2-p1x1-g32-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=0"},
        {"fwd-f32-n16-c40-k240-i28x28-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=0"},
        {"fwd-f32-n16-c192-k64-i28x28-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect("direct_blocked", cases[i].problem, cases[i].order);
}
END_TEST

/* Two wide sums per cycle need tiles that load less than they multiply, and weights that stay in
 * the cache. */
START_TEST(wide_units_have_square_tiles)
{
    static const struct {
        const char *problem, *tile;
    } cases[] = {
        {"fwd-f32-n1-c1024-k512-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c",
         "-DT_W=14 -DT_KV=2 -DT_ORDER=0"},
        {"fwd-f32-n1-c512-k512-i7x7-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c",
         "-DT_W=7 -DT_KV=2 -DT_ORDER=0"},
        {"fwd-f32-n1-c64-k64-i56x56-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_W=14 -DT_KV=2"},
        {"fwd-f32-n1-c64-k16-i56x56-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_W=28 -DT_KV=1"},
    };
    char options[KILN_OPTIONS_TEXT];
    const kiln_device_facts d = core("zen5");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options_on(d, "direct_blocked", cases[i].problem, options);
        ck_assert_msg(strstr(options, cases[i].tile), "%s: %s", cases[i].problem, options);
    }
}
END_TEST

/* A device whose loads take time of their own, with 2 MB of cache per core. */
static kiln_device_facts load_bound(void)
{
    kiln_device_facts d = core("emerald_rapids");
    d.core_cache = 2 << 20;
    kiln_device_set_roofline(&d, 2.3);
    return d;
}

/* Tiles of six by four and five by five vectors load least per sum. Pixels that a core's cache
 * holds are read again for each tile of channels, and all images go through a part of the weights.
 */
START_TEST(tiles_load_little_where_loads_count)
{
    static const struct {
        const char *problem, *tile;
    } cases[] = {
        {"fwd-f32-n1-c256-k512-i28x28-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_W=6 -DT_KV=4 -DT_ORDER=0"},
        {"fwd-f32-n1-c768-k160-i17x17-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_W=5 -DT_KV=5 -DT_ORDER=0"},
        {"fwd-f32-n16-c1024-k2048-i14x14-f1x1-s2x2-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=0"},
        {"fwd-f32-n16-c512-k2048-i7x7-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=3"},
        {"fwd-f32-n1-c512-k2048-i7x7-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_ORDER=0"},
        {"fwd-f32-n16-c64-k256-i56x56-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DT_STREAM=0"},
        {"fwd-f32-n16-c1024-k512-i14x14-f1x1", "-DT_W=14 -DT_KV=2 -DT_ORDER=0"},
        {"fwd-f32-n16-c512-k256-i28x28-f1x1-s2x2", "-DT_ORDER=1"},
        {"fwd-f32-n1-c1024-k128-i28x28-f1x1-l:NCHW16c.OIHW.NCHW16c",
         "-DT_W=6 -DT_KV=4 -DT_ORDER=1"},
    };
    char options[KILN_OPTIONS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options_on(load_bound(), "direct_blocked", cases[i].problem, options);
        ck_assert_msg(strstr(options, cases[i].tile), "%s: %s", cases[i].problem, options);
    }
}
END_TEST

/* Pairs of bf16 may have five vectors where sums of floats have four, and results are rounded by
 * the instruction that comes with them. */
START_TEST(pairs_may_have_five_vectors)
{
    char options[KILN_OPTIONS_TEXT];
    kiln_device_facts d = cpu();
    for (int pairs = 0; pairs < 2; pairs++) {
        d.has_bf16 = pairs;
        options_on(d, "direct_blocked", "fwd-bf16-n1-c240-k80-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c",
                   options);
        ck_assert_msg(!strstr(options, "-DT_KV=5") == !pairs, "%s", options);
        options_on(d, "depthwise_blocked",
                   "fwd-bf16-n1-c32-k32-i28x28-f3x3-p1x1-g32-l:NCHW16c.OIHW.NCHW16c", options);
        ck_assert_msg(strstr(options, pairs ? "-DD_BF16=1" : "-DD_BF16=0"), "%s", options);
    }
}
END_TEST

/* For planes that are pages apart, vectors of pixels win over narrow tiles. Where filters come from
 * memory, fewer products are better than fewer operations. */
START_TEST(what_comes_from_afar_counts)
{
    const kiln_device_facts d = load_bound();
    const char *plain = "fwd-f32-n1-c128-k128-i56x56-f1x1";
    kiln_shape s;
    kiln_config c;
    const kiln_solver *blocked = guess(&d, "direct_blocked", plain, &s, &c);
    const double ms = blocked->predict(blocked, &s, &d, &c);
    const kiln_solver *direct = guess(&d, "direct", plain, &s, &c);
    ck_assert_double_lt(direct->predict(direct, &s, &d, &c), ms);
    const char *batch = "fwd-f32-n16-c256-k256-i14x14-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c";
    const kiln_solver *fused = guess(&d, "winograd_fused", batch, &s, &c);
    const double fused_ms = fused->predict(fused, &s, &d, &c);
    const kiln_solver *staged = guess(&d, "winograd_staged", batch, &s, &c);
    ck_assert_double_lt(staged->predict(staged, &s, &d, &c), fused_ms);
    guess(&d, "winograd_staged", "fwd-f32-n1-c256-k512-i28x28-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", &s,
          &c);
    ck_assert_int_eq(c.v[0], 6);
    guess(&d, "winograd_staged", "fwd-f32-n1-c64-k64-i28x28-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", &s,
          &c);
    ck_assert_int_eq(c.v[0], 8);
}
END_TEST

/* A row of five pixels with stride 2, backward: three of one class, two of the other. */
START_TEST(tiles_are_of_several_pixels_where_a_class_has_them)
{
    char options[KILN_OPTIONS_TEXT];
    options_of("direct_blocked", "bwd-f32-n1-c128-k256-i5x5-f3x3-s2x2-p1x1-l:NCHW16c.OIHW.NCHW16c",
               options);
    ck_assert_msg(strstr(options, "-DT_W=2") != NULL, "%s", options);
}
END_TEST

/* Vectors are half as wide where units take no more at once and a group fills wide vectors badly.
 */
START_TEST(vectors_are_as_wide_as_groups_and_units)
{
    static const struct {
        const char *problem, *row;
        int lanes;
    } cases[] = {
        {"fwd-f32-n1-c240-k240-i28x28-f3x3-p1x1-g10-l:NCHW16c.OIHW.NCHW16c", "zen4", 8},
        {"fwd-f32-n1-c240-k240-i28x28-f3x3-p1x1-g10-l:NCHW16c.OIHW.NCHW16c", "zen5", 16},
        {"fwd-f32-n1-c240-k240-i28x28-f3x3-p1x1-g10-l:NCHW16c.OIHW.NCHW16c", "generic", 16},
        {"fwd-f32-n1-c72-k24-i56x56-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "zen4", 8},
        {"fwd-f32-n1-c72-k32-i56x56-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "zen4", 16},
        {"fwd-f32-n1-c56-k56-i28x28-f3x3-p1x1-g7-l:NCHW16c.OIHW.NCHW16c", "zen5", 8},
        {"fwd-f32-n1-c20-k20-i28x28-f3x3-p1x1-g5-l:NCHW16c.OIHW.NCHW16c", "zen4", 4},
        {"fwd-f32-n1-c10-k10-i28x28-f3x3-p1x1-g5-l:NCHW16c.OIHW.NCHW16c", "zen4", 8},
        {"fwd-f32-n1-c2-k2-i28x28-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "zen4", 4},
    };
    char options[KILN_OPTIONS_TEXT], lanes[16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kiln_device_facts d = core(cases[i].row);
        options_on(d, "direct_blocked", cases[i].problem, options);
        snprintf(lanes, sizeof lanes, "-DT_V=%d ", cases[i].lanes);
        strcat(options, " ");
        ck_assert_msg(strstr(options, lanes) != NULL, "%s on %s: %s", cases[i].problem,
                      cases[i].row, options);
    }
}
END_TEST

static double predicted(const char *row, const char *name, const char *problem)
{
    const kiln_device_facts d = core(row);
    kiln_shape s;
    kiln_config c;
    const kiln_solver *solver = guess(&d, name, problem, &s, &c);
    return solver->predict(solver, &s, &d, &c);
}

/* For filters that are too large to be unrolled, every tile checks again which columns exist. */
START_TEST(large_filters_have_wide_tiles)
{
    static const struct {
        const char *problem;
        int width;
    } cases[] = {
        {"fwd-f32-n1-c128-k128-i28x28-f31x31-p15x15-g128-l:NCHW16c.OIHW.NCHW16c", 28},
        {"fwd-f32-n1-c512-k512-i14x14-f27x27-p13x13-g512-l:NCHW16c.OIHW.NCHW16c", 14},
        {"fwd-f32-n1-c96-k96-i56x56-f7x7-p3x3-g96-l:NCHW16c.OIHW.NCHW16c", 14},
    };
    const kiln_device_facts d = cpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_shape s;
        kiln_config c;
        guess(&d, "depthwise_blocked", cases[i].problem, &s, &c);
        ck_assert_msg(c.v[0] == cases[i].width, "%s: %d", cases[i].problem, c.v[0]);
    }
}
END_TEST

START_TEST(narrow_vectors_take_less_time_on_narrow_units)
{
    static const struct {
        const char *solver, *problem;
        bool less;
    } cases[] = {
        {"direct_blocked", "fwd-f32-n1-c256-k256-i28x28-f3x3-p1x1-g32-l:any.OIHW.any", true},
        {"direct_blocked", "fwd-f32-n1-c256-k256-i28x28-f3x3-p1x1-l:any.OIHW.any", false},
        {"weights_blocked", "wrw-f32-n1-c240-k240-i28x28-f3x3-p1x1-g10-l:any.OIHW.any", true},
        {"weights_blocked", "wrw-f32-n1-c240-k240-i28x28-f3x3-p1x1-l:any.OIHW.any", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double wide = predicted("zen5", cases[i].solver, cases[i].problem);
        double narrow = predicted("zen4", cases[i].solver, cases[i].problem);
        ck_assert_msg(cases[i].less ? narrow < 0.9 * wide : narrow > 0.9 * wide, "%s: %g, %g",
                      cases[i].problem, narrow, wide);
    }
}
END_TEST

/* Groups of 12 channels fill vectors of pixels, but not of channels; one of 16 fills both. */
START_TEST(channels_that_fill_no_vector_are_better_as_planes)
{
    static const struct {
        const char *planes, *blocks;
        bool better;
    } cases[] = {
        {"fwd-f32-n1-c384-k96-i28x28-f1x1-g8", "fwd-f32-n1-c384-k96-i28x28-f1x1-g8-l:any.OIHW.any",
         true},
        {"fwd-f32-n1-c32-k16-i112x112-f1x1", "fwd-f32-n1-c32-k16-i112x112-f1x1-l:any.OIHW.any",
         false},
    };
    kiln_device_facts d = cpu();
    kiln_device_set_roofline(&d, 2.6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_shape s;
        kiln_config c;
        const kiln_solver *direct = guess(&d, "direct", cases[i].planes, &s, &c);
        const double planes = direct->predict(direct, &s, &d, &c);
        const kiln_solver *blocked = guess(&d, "direct_blocked", cases[i].blocks, &s, &c);
        const double blocks = blocked->predict(blocked, &s, &d, &c);
        ck_assert_msg(cases[i].better ? planes < 0.95 * blocks : planes > blocks, "%s: %g, %g",
                      cases[i].planes, planes, blocks);
    }
}
END_TEST

/* The layout's padding belongs to the last group. No group computes whole vectors of padding, if
 * groups begin at vectors. */
START_TEST(no_group_computes_padding_that_is_whole_vectors)
{
    static const struct {
        const char *problem, *vectors, *empty;
    } cases[] = {
        {"fwd-f32-n1-c56-k56-i28x28-f3x3-p1x1-g7-l:NCHW16c.OIHW.NCHW16c", "-DD_DST_VECTORS=1",
         "-DD_DST_EMPTY=1"},
        {"fwd-f32-n1-c20-k20-i28x28-f3x3-p1x1-g5-l:NCHW16c.OIHW.NCHW16c", "-DD_DST_VECTORS=1",
         "-DD_DST_EMPTY=3"},
        {"fwd-f32-n1-c50-k50-i28x28-f3x3-p1x1-g5-l:NCHW16c.OIHW.NCHW16c", "-DD_DST_VECTORS=2",
         "-DD_DST_EMPTY=0"},
    };
    char options[KILN_OPTIONS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options_of("direct_blocked", cases[i].problem, options);
        ck_assert_msg(strstr(options, cases[i].vectors) && strstr(options, cases[i].empty),
                      "%s: %s", cases[i].problem, options);
    }
}
END_TEST

/* Where there are many weights, and enough pixels for each. */
START_TEST(weights_are_fetched_ahead)
{
    static const struct {
        const char *problem, *ahead;
    } cases[] = {
        {"fwd-f32-n1-c512-k512-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DD_WEIGHTS_AHEAD=128"},
        {"bwd-f32-n1-c512-k512-i14x14-f3x3-p1x1-l:NCHW16c.OIHW.NCHW16c", "-DD_WEIGHTS_AHEAD=144"},
        {"fwd-f32-n1-c256-k256-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DD_WEIGHTS_AHEAD=0"},
        {"fwd-f32-n1-c512-k512-i1x1-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DD_WEIGHTS_AHEAD=0"},
    };
    char options[KILN_OPTIONS_TEXT];
    kiln_device_facts uncached = cpu();
    uncached.cache = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options_of("direct_blocked", cases[i].problem, options);
        ck_assert_msg(strstr(options, cases[i].ahead), "%s: %s", cases[i].problem, options);
        options_on(uncached, "direct_blocked", cases[i].problem, options);
        ck_assert_msg(strstr(options, "-DD_WEIGHTS_AHEAD=0"), "%s: %s", cases[i].problem, options);
    }
}
END_TEST

/* Two blocks of eight, unless one tap reads floats. */
START_TEST(steps_are_blocks)
{
    static const struct {
        const char *solver, *problem, *step;
    } cases[] = {
        {"direct_blocked", "fwd-f32-n1-c64-k64-i14x14-f1x1-l:NCHW8c.OIHW.NCHW8c", "-DD_STEP=8"},
        {"direct_blocked", "bwd-f32-n1-c64-k64-i14x14-f1x1-l:NCHW8c.OIHW.NCHW8c", "-DD_STEP=8"},
        {"direct_blocked", "fwd-f32-n1-c64-k64-i14x14-f1x3-l:NCHW8c.OIHW.NCHW8c", "-DD_STEP=16"},
        {"direct_blocked", "fwd-i8-n1-c64-k64-i14x14-f1x1-l:NCHW8c.OIHW.NCHW8c", "-DD_STEP=16"},
        {"direct_blocked", "fwd-f32-n1-c64-k64-i14x14-f1x1-l:NCHW16c.OIHW.NCHW16c", "-DD_STEP=16"},
        {"nhwc_direct", "fwd-f32-n1-c64-k64-i14x14-f1x1-l:NHWC.OIHW.NHWC", "-DD_STEP=16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].solver, cases[i].problem, cases[i].step);
}
END_TEST

/* Data in the last cache arrive soon enough; rows of plain tensors are fetched from there, too. */
START_TEST(depthwise_rows_are_fetched_from_memory)
{
    static const struct {
        const char *problem, *ahead;
    } cases[] = {
        {"fwd-f32-n1-c64-k64-i150x150-f3x3-s2x2-p1x1-g64-l:NCHW16c.OIHW.NCHW16c", "-DD_AHEAD=0"},
        {"fwd-f32-n2-c64-k64-i150x150-f3x3-s2x2-p1x1-g64-l:NCHW16c.OIHW.NCHW16c", "-DD_AHEAD=0"},
        {"fwd-f32-n3-c64-k64-i150x150-f3x3-s2x2-p1x1-g64-l:NCHW16c.OIHW.NCHW16c", "-DD_AHEAD=1"},
        {"fwd-f32-n16-c64-k64-i150x150-f3x3-s2x2-p1x1-g64-l:NCHW16c.OIHW.NCHW16c", "-DD_AHEAD=1"},
        {"fwd-f32-n1-c64-k64-i150x150-f3x3-s2x2-p1x1-g64", "-DD_AHEAD=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect("depthwise_blocked", cases[i].problem, cases[i].ahead);
}
END_TEST

/* Where a core's caches do not hold the weights of one tile of channels. The parts are alike, and
 * enough for all cores. */
START_TEST(channels_are_blocked_with_many_weights)
{
    static const struct {
        const char *problem, *blocking, *chunk;
    } cases[] = {
        {"fwd-f32-n1-c2048-k256-i33x33-f3x3-p12x12-d12x12-l:NCHW16c.OIHW.NCHW16c",
         "-DD_CHANNEL_BLOCKING=22", "-DD_CHUNK=128"},
        {"fwd-f32-n1-c2048-k16-i33x33-f3x3-p12x12-d12x12-l:NCHW16c.OIHW.NCHW16c",
         "-DD_CHANNEL_BLOCKING=5", "-DD_CHUNK=128"},
        {"fwd-f32-n1-c512-k256-i33x33-f3x3-p12x12-d12x12-l:NCHW16c.OIHW.NCHW16c",
         "-DD_CHANNEL_BLOCKING=1 ", "-DD_CHUNK=512"},
        {"fwd-f32-n1-c8192-k2048-i7x7-f1x1", "-DD_CHANNEL_BLOCKING=2", "-DD_CHUNK=128"},
    };
    char options[KILN_OPTIONS_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options_of("direct_blocked", cases[i].problem, options);
        ck_assert_msg(strstr(options, cases[i].blocking), "%s: %s", cases[i].problem, options);
        ck_assert_msg(strstr(options, cases[i].chunk), "%s: %s", cases[i].problem, options);
    }
}
END_TEST

/* Elements between the pixels of a strided 1x1 filter are not copied to strips, so that wide tiles
 * pay. */
START_TEST(strips_of_one_tap_have_its_pixels_only)
{
    char options[KILN_OPTIONS_TEXT];
    options_of("direct_blocked", "fwd-f16-n1-c512-k256-i28x28-f1x1-s2x2-l:NCHW16c.OIHW.NCHW16c",
               options);
    ck_assert_msg(strstr(options, "-DD_STRIP=2 ") && strstr(options, "-DT_W=7 "), "%s", options);
}
END_TEST

/* Also where a row reads only padding. */
START_TEST(time_is_a_number)
{
    const double ms = predicted("zen5", "direct_blocked",
                                "fwd-f16-n1-c16-k16-i3x1-f1x1-s1x4-p0x2-l:NCHW16c.OIHW.NCHW16c");
    ck_assert(ms > 0 && ms < 1);
}
END_TEST

/* Tall images have more tiles than T_TILES counts, many wide ones more strips of 128 pixels than
 * are counted. */
START_TEST(guesses_for_huge_tensors_are_legal)
{
    static const struct {
        const char *solver, *problem;
    } cases[] = {
        {"depthwise_blocked", "fwd-f32-n2-c16-k16-i1048576x3-f9x3-p4x1-g16-l:NHWC.OIHW.NHWC"},
        {"weights_blocked", "wrw-f32-n2048-c16-k16-i2048x2048-f5x5-p5x5"},
    };
    const kiln_device_facts d = cpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_shape s;
        kiln_config c;
        kiln_why why = {.text = ""};
        const kiln_solver *solver = guess(&d, cases[i].solver, cases[i].problem, &s, &c);
        ck_assert_msg(!kiln_config_refused(solver, &s, &d, &c, false, &why), "%s", why.text);
    }
}
END_TEST

/* A tensor that a stage of the solver's own moves between layouts. */
START_TEST(a_tensor_above_the_largest_buffer_is_refused)
{
    static const char *const solvers[] = {"weights_blocked", "winograd_weights"};
    static kiln_plan plan;
    kiln_device_facts d = cpu();
    kiln_shape s;
    kiln_config c;
    kiln_why why;
    d.max_alloc = 1 << 20;
    const kiln_solver *solver =
        guess(&d, solvers[_i], "wrw-f32-n5-c64-k16-i36x36-f3x3-p1x1", &s, &c);
    ck_assert(!kiln_solver_plan(solver, &s, &d, &c, &plan, &why) && !plan.broken);
    ck_assert_msg(strstr(why.text, "needs 1658880 bytes, but the device's largest allocation is "
                                   "1048576"),
                  "%s", why.text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("blocked_plan");
    TCase *c = tcase_create("blocked_plan");
    tcase_add_test(c, padding_alone_may_need_long_indices);
    tcase_add_test(c, tiles_follow_one_another_as_caches_hold_them);
    tcase_add_test(c, wide_units_have_square_tiles);
    tcase_add_test(c, tiles_load_little_where_loads_count);
    tcase_add_test(c, pairs_may_have_five_vectors);
    tcase_add_test(c, what_comes_from_afar_counts);
    tcase_add_test(c, tiles_are_of_several_pixels_where_a_class_has_them);
    tcase_add_test(c, vectors_are_as_wide_as_groups_and_units);
    tcase_add_test(c, large_filters_have_wide_tiles);
    tcase_add_test(c, narrow_vectors_take_less_time_on_narrow_units);
    tcase_add_test(c, channels_that_fill_no_vector_are_better_as_planes);
    tcase_add_test(c, no_group_computes_padding_that_is_whole_vectors);
    tcase_add_test(c, weights_are_fetched_ahead);
    tcase_add_test(c, steps_are_blocks);
    tcase_add_test(c, depthwise_rows_are_fetched_from_memory);
    tcase_add_test(c, channels_are_blocked_with_many_weights);
    tcase_add_test(c, strips_of_one_tap_have_its_pixels_only);
    tcase_add_test(c, time_is_a_number);
    tcase_add_test(c, guesses_for_huge_tensors_are_legal);
    tcase_add_loop_test(c, a_tensor_above_the_largest_buffer_is_refused, 0, 2);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
