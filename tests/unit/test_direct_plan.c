/* The direct and depthwise solvers over plain tensors without a device: geometry of lines and their
 * pieces, guesses, refusals. */
#include "generator/solvers/direct/direct_pixels.h"
#include "generator/solvers/direct/first_layer.h"
#include "support/suite.h"
#include "problems.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { PROBLEMS = 400 };

/* ---- the lines, against the definition of a convolution ---- */

/* Returns the element of the source that position v of a slot holds. */
static int64_t element(const kiln_lines *l, const kiln_shape *s, int a, int64_t v, int64_t slot)
{
    return l->step[a] * v + slot * s->dilation[a] % s->stride[a] - l->lead[a];
}

/* A position past the line's row is the beginning of the next row, so both must be border there. */
static void check_position(const kiln_lines *l, const kiln_shape *s, int a, int64_t v, int64_t slot,
                           int64_t wanted)
{
    bool border = wanted < 0 || wanted >= l->source[a];
    int64_t inside = v < l->line[a] ? element(l, s, a, v, slot) : -1;
    int64_t wrapped = element(l, s, a, v - l->line[a], slot);
    ck_assert_int_ge(v, 0);
    ck_assert_int_lt(v, 2 * l->line[a]);
    if (v < l->line[a])
        ck_assert_msg(border ? inside < 0 || inside >= l->source[a] : inside == wanted,
                      "axis %d position %lld slot %lld holds %lld, not %lld", a, (long long)v,
                      (long long)slot, (long long)inside, (long long)wanted);
    else
        ck_assert_msg(border && (wrapped < 0 || wrapped >= l->source[a]),
                      "axis %d position %lld wraps to element %lld", a, (long long)v,
                      (long long)wrapped);
}

static void check_forward_axis(const kiln_lines *l, const kiln_shape *s, int a)
{
    for (int64_t t = 0; t < s->out[a]; t++)
        for (int64_t r = 0; r < s->filter[a]; r++) {
            int64_t wanted = t * s->stride[a] + r * s->dilation[a] - s->pad[a];
            int64_t slot = r % l->period[a];
            ck_assert_int_lt(slot, l->slots[a]);
            check_position(l, s, a, t + r * s->dilation[a] / s->stride[a], slot, wanted);
        }
}

static void check_backward_axis(const kiln_lines *l, const kiln_shape *s, int a)
{
    for (int64_t i = 0; i < s->in[a]; i++) {
        int64_t u = i + s->pad[a], t = u / s->stride[a] - s->pad[a] / s->stride[a];
        ck_assert_int_ge(t, 0);
        ck_assert_int_lt(t, l->grid[a]);
        for (int64_t r = 0; r < s->filter[a]; r++) {
            int64_t from = u - r * s->dilation[a];
            bool meets = from % s->stride[a] == 0;
            if (meets)
                check_position(l, s, a, t + l->reach[a] - r * s->dilation[a] / s->stride[a], 0,
                               from / s->stride[a]);
        }
    }
}

START_TEST(lines_hold_what_each_tap_reads)
{
    dice d = {.seed = 11};
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_problem p = random_problem(&d, 20, 17);
        kiln_shape s = kiln_shape_of(&p);
        kiln_lines l = kiln_lines_of(&s);
        for (int a = 0; a < 3; a++)
            if (s.direction == KILN_BACKWARD_DATA)
                check_backward_axis(&l, &s, a);
            else
                check_forward_axis(&l, &s, a);
        ck_assert_int_ge(l.channel, l.n * l.line[0] * l.line[1] * l.line[2]);
    }
}
END_TEST

/* ---- backward weights, which multiplies whatever lies beside rows with stored zeros ---- */

/* Returns whether a position of a channel's line holds an element in some slot. */
static bool holds_element(const kiln_lines *l, const kiln_shape *s, int64_t position)
{
    const int64_t plane = l->line[1] * l->line[2], image = l->line[0] * plane;
    const int64_t at[3] = {position % image / plane, position % plane / l->line[2],
                           position % l->line[2]};
    bool holds = position < l->n * image;
    for (int a = 0; a < 3; a++) {
        bool some = false;
        for (int64_t slot = 0; slot < l->slots[a]; slot++) {
            const int64_t e = element(l, s, a, at[a], slot);
            some = some || (e >= 0 && e < l->source[a]);
        }
        holds = holds && some;
    }
    return holds;
}

START_TEST(weights_meet_no_other_channel)
{
    enum { VECTOR = 16 };
    dice d = {.seed = 12};
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_problem p = random_problem(&d, 20, 17);
        p.direction = KILN_BACKWARD_WEIGHTS;
        p.epilogue = (kiln_epilogue){0};
        if (kiln_problem_check(&p, NULL) != KILN_OK)
            continue;
        const kiln_shape s = kiln_shape_of(&p);
        const kiln_lines l = kiln_lines_of(&s);
        const int64_t end = (l.positions + VECTOR - 1) / VECTOR * VECTOR;
        ck_assert_int_le(end, l.channel);
        for (int64_t at = l.channel; at < end + l.offset; at++)
            ck_assert_msg(!holds_element(&l, &s, at - l.channel),
                          "position %lld of the next channel's line holds an element",
                          (long long)(at - l.channel));
    }
}
END_TEST

/* ---- configs ---- */

static kiln_device_facts device(int which)
{
    kiln_device_facts d = kiln_device_generic();
    if (which == 1) {
        d.kind = KILN_DEVICE_GPU;
        d.compute_units = 132;
        d.simd_floats = 1;
        d.peak_gflops = 60000;
        d.bandwidth_gbs = 3000;
    } else if (which == 2) {
        d.max_group = d.max_local[0] = d.max_local[1] = d.max_local[2] = 1;
        d.simd_floats = 16;
    }
    return d;
}

static const char *const names[] = {"direct", "depthwise", "direct_pixels", "first_layer"};
enum { NAMES = sizeof names / sizeof *names };

START_TEST(guesses_are_legal_and_make_plans)
{
    const kiln_solver *solver = kiln_solver_named(names[_i % NAMES]);
    kiln_device_facts facts = device(_i / NAMES);
    dice d = {.seed = 5};
    int taken = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_problem p = random_problem(&d, 40, 30);
        kiln_shape s = kiln_shape_of(&p);
        kiln_why why = {.text = ""};
        if (solver->reject(solver, &s, &facts, &why))
            continue;
        taken++;
        kiln_config c;
        kiln_plan plan;
        solver->guess(solver, &s, &facts, &c);
        ck_assert_msg(!kiln_config_refused(solver, &s, &facts, &c, false, &why), "%s", why.text);
        ck_assert_msg(kiln_solver_plan(solver, &s, &facts, &c, &plan, &why), "%s", why.text);
        ck_assert(plan.deterministic);
        ck_assert(solver->predict(solver, &s, &facts, &c) > 0);
        for (int j = 0; j < plan.nstages; j++)
            ck_assert_uint_le(plan.stage[j].local[0] * plan.stage[j].local[1], facts.max_group);
    }
    if (_i % NAMES >= 2 && facts.kind != KILN_DEVICE_CPU)
        ck_assert_int_eq(taken, 0);
    else
        ck_assert_int_gt(taken, PROBLEMS / 20);
    if (_i % NAMES == 0)
        ck_assert_int_eq(taken, PROBLEMS);
}
END_TEST

static const struct {
    const char *problem, *solver, *config, *reason;
} refusals[] = {
    {"fwd-f32-n1-c8-k4-i9x9-f3x3", "direct", "T_K=5", "T_K is 5, but a group has only 4"},
    {"fwd-f32-n1-c8-k4-i9x9-f3x3", "direct", "T_COPY=0", "only 1x1 filters"},
    {"fwd-f32-n1-c8-k4-i9x9-f1x1", "direct", "T_COPY=0,T_PIX=8,T_VEC=16", "smaller than one group"},
    {"fwd-f32-n1-c8-k4-i9x9-f3x3", "direct", "T_SPLIT=2", "only backward weights"},
    {"fwd-f32-n1-c8-k16-i9x9-f3x3", "direct", "T_K=16,T_PIX=8", "too large for registers"},
    {"fwd-f32-n1-c8-k4-i9x9-f3x3", "direct", "T_GROUP=1024,T_GROUP_K=2", "exceeds the device"},
    {"wrw-f32-n1-c8-k4-i9x9-f3x3", "direct", "T_SPLIT=4096", "parts without any"},
    {"wrw-f32-n1-c8-k4-i9x9-f3x3", "direct", "T_PACK=1", "T_PACK 0"},
    {"fwd-f32-n1-c8-k8-i9x9-f3x3", "depthwise", "T_VEC=4", "one input channel per group"},
    {"fwd-f32-n1-c8-k8-i9x9-f3x3-g8", "depthwise", "T_VEC=1,T_PIX=2", "with T_VEC 1 it must be 1"},
    {"fwd-f32-n1-c8-k8-i900x900-f3x3-g8", "depthwise", "T_VEC=16,T_PIX=64,T_ROWS=16",
     "bytes of the source"},
    {"wrw-f32-n1-c8-k8-i9x9-f3x3-g8", "depthwise", "T_SPLIT=64", "blocks of rows"},
    {"fwd-f32-n1-c8-k4-i9x9-f3x3", "direct_pixels", "T_K=5", "only 4 channels"},
    {"fwd-f32-n1-c8-k16-i9x9-f3x3", "direct_pixels", "T_K=16,T_PIX=8,T_TILE=8", "for registers"},
    {"fwd-f32-n1-c8-k4-i9x9-f3x3", "direct_pixels", "T_PIX=8,T_TILE=4,T_K=4", "at most T_TILE=4"},
    {"fwd-f32-n1-c64-k4-i900x900-f3x3", "direct_pixels", "T_C=64,T_TILE=56", "of local memory"},
    {"fwd-f32-n1-c8-k4-i9999x9-f3x3-d4000x1", "direct_pixels", "", "of local memory"},
    {"bwd-f32-n1-c9-k1-i3x3-f1x1-s2000000000x2000000000", "direct_pixels", "", "of local memory"},
    {"wrw-f32-n1-c8-k4-i9x9-f3x3", "direct_pixels", "", "forward and backward data"},
    {"fwd-f32-n1-c16-k4-i9x9-f3x3-l:NCHW8c.OIHW.NCHW", "direct_pixels", "", "NCHW8c and NCHW"},
    {"fwd-f32-n1-c9-k4-i9x9-f3x3-l:NHWC8.OIHW.NCHW", "direct_pixels", "", "NHWC;C%8 and NCHW"},
    {"fwd-f32-n1-c8-k4-i9x9-f3x3-l:NCHW.OHWI.NCHW", "direct_pixels", "", "these are OHWI"},
    {"bwd-f32-n1-c3-k4-i9x9-f3x3", "first_layer", "", "it does forward"},
    {"fwd-f32-n1-c17-k4-i9x9-f3x3", "first_layer", "",
     "at most 16 channels; these are 17 channels"},
    {"fwd-f32-n1-c4-k4-i9x9-f3x3-g2", "first_layer", "", "these are 4 channels in 2"},
    {"fwd-f32-n1-c3-k4-i9x9-f1x1", "first_layer", "", "one tap reads each element once"},
    {"fwd-i8-n1-c3-k4-i9x9-f3x3", "first_layer", "", "direct_blocked and nhwc_direct take bytes"},
    {"fwd-f32-n1-c3-k4-i9x9-f3x3-l:NHWC.OIHW.NCHW", "first_layer", "", "x and y are NHWC and NCHW"},
    {"fwd-f32-n1-c3-k4-i9x9-f3x3-l:NCHW.OHWI.NCHW", "first_layer", "", "these are OHWI"},
    {"fwd-f32-n1-c3-k4-i9x9-f3x3-l:NCHW.OIHW.NHWC", "first_layer", "T_PIX=8", "only 7 pixels"},
    {"fwd-f32-n1-c3-k12-i9x9-f3x3-l:NCHW.OIHW.NCHW8c", "first_layer", "T_VEC=16",
     "only 8 channels"},
    {"fwd-f32-n1-c3-k16-i90x90-f3x3", "first_layer", "T_K=16,T_PIX=8", "for registers"},
    {"fwd-f32-n1-c3-k4-i9999x9-f3x3-d4000x1", "first_layer", "", "of local memory"},
    {"fwd-f32-n1-c3-k4-i9x9-f9x9-s2000000000x2000000000-l:NHWC.OIHW.NHWC", "first_layer", "",
     "2^30 elements or more"},
    {"fwd-f32-n1-c16-k99999999-i9x9-f3x3", "first_layer", "", "2^31 elements or more"},
};

START_TEST(a_refusal_says_why)
{
    const kiln_solver *solver = kiln_solver_named(refusals[_i].solver);
    kiln_device_facts facts = device(0);
    kiln_problem p;
    char text[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, refusals[_i].problem, text) == KILN_OK, "%s", text);
    kiln_shape s = kiln_shape_of(&p);
    kiln_why why = {.text = ""};
    kiln_config c = {0};
    if (!solver->reject(solver, &s, &facts, &why)) {
        solver->guess(solver, &s, &facts, &c);
        ck_assert_msg(kiln_config_parse(solver, refusals[_i].config, &c, &why), "%s", why.text);
        ck_assert(kiln_config_refused(solver, &s, &facts, &c, true, &why));
    }
    ck_assert_msg(strstr(why.text, refusals[_i].reason), "%s", why.text);
}
END_TEST

/* A search on either kind of device has candidates, and not too many. */
START_TEST(searches_are_neither_empty_nor_endless)
{
    static const char *const some[] = {
        "fwd-f32-n1-c64-k64-i56x56-f3x3-p1x1",
        "fwd-f32-n1-c64-k64-i28x28-f1x1",
        "fwd-f32-n2-c8-k20-i1x1-f1x1",
        "bwd-f32-n1-c64-k64-i56x56-f3x3-s2x2-p1x1",
        "wrw-f32-n1-c64-k64-i56x56-f3x3-p1x1",
        "fwd-f32-n1-c8-k8-i56x56-f3x3-p1x1-g8",
        "bwd-f32-n1-c8-k8-i1x1-f1x1-g8",
        "wrw-f32-n1-c8-k16-i9x9-f5x5-p2x2-g8",
        "fwd-f32-n1-c3-k64-i224x224-f7x7-s2x2-p3x3",
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int which = 0; which < 2; which++)
            for (int j = 0; j < NAMES; j++) {
                const kiln_solver *solver = kiln_solver_named(names[j]);
                kiln_device_facts facts = device(which);
                kiln_problem p;
                ck_assert_int_eq(kiln_problem_parse(&p, some[i], NULL), KILN_OK);
                kiln_shape s = kiln_shape_of(&p);
                kiln_why why;
                kiln_config c;
                int64_t position = 0, count = 0;
                if (solver->reject(solver, &s, &facts, &why))
                    continue;
                while (kiln_config_next(solver, &s, &facts, &position, &c))
                    count++;
                ck_assert_msg(count > 0 && count <= 2000, "%s: %lld configs of %s", some[i],
                              (long long)count, solver->name);
            }
}
END_TEST

static kiln_config guess_of(const char *problem, const kiln_device_facts *facts, kiln_plan *plan)
{
    const kiln_solver *solver = kiln_solver_named("direct");
    kiln_problem p;
    kiln_config c;
    kiln_why why = {.text = ""};
    ck_assert_int_eq(kiln_problem_parse(&p, problem, NULL), KILN_OK);
    kiln_shape s = kiln_shape_of(&p);
    solver->guess(solver, &s, facts, &c);
    ck_assert_msg(kiln_solver_plan(solver, &s, facts, &c, plan, &why), "%s", why.text);
    return c;
}

/* Lines that no cache holds would be read once for each channel of the destination. */
START_TEST(a_cpu_reads_long_lines_once)
{
    static kiln_plan plan;
    const kiln_device_facts facts = device(2);
    kiln_config c = guess_of("fwd-f32-n16-c256-k512-i56x56-f1x1-s2x2", &facts, &plan);
    ck_assert_int_eq(c.v[DIRECT_COPY], 1);
    ck_assert_int_eq(c.v[DIRECT_ORDER], 1);
    c = guess_of("fwd-f32-n1-c16-k512-i14x14-f3x3-p1x1", &facts, &plan);
    ck_assert_int_eq(c.v[DIRECT_ORDER], 0);
}
END_TEST

START_TEST(a_team_lays_out_lines)
{
    static const char *const some[] = {"fwd-f32-n1-c64-k64-i14x14-f3x3-p1x1",
                                       "bwd-f32-n1-c64-k64-i14x14-f3x3-s2x2-p1x1"};
    static kiln_plan plan;
    kiln_device_facts facts = device(2);
    facts.shares_work = true;
    facts.compute_units = 2;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const kiln_config c = guess_of(some[i], &facts, &plan);
        ck_assert_int_eq(c.v[DIRECT_COPY], 1);
        for (int j = 0; j < plan.nstages; j++)
            ck_assert_msg(plan.stage[j].pack || plan.stage[j].shared, "%s: %s", some[i],
                          plan.stage[j].kernel);
    }
}
END_TEST

/* Blocks round channels up, so that packed weights may need longer indices than any tensor. (What
 * packs them has such indices always.) */
START_TEST(packed_weights_may_be_wide)
{
    static kiln_plan plan;
    static const struct {
        const char *solver, *config;
    } some[] = {{"direct", "T_K=16,T_PIX=1,T_PACK=1"}, {"direct_pixels", "T_K=16,T_PIX=1"}};
    const kiln_device_facts facts = device(2);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int k = 16; k <= 17; k++) {
            const kiln_solver *solver = kiln_solver_named(some[i].solver);
            char text[64];
            kiln_problem p;
            kiln_why why = {.text = ""};
            kiln_config c;
            snprintf(text, sizeof text, "fwd-f32-n1-c9000000-k%d-i3x4-f3x3", k);
            ck_assert_int_eq(kiln_problem_parse(&p, text, NULL), KILN_OK);
            const kiln_shape s = kiln_shape_of(&p);
            solver->guess(solver, &s, &facts, &c);
            ck_assert_msg(kiln_config_parse(solver, some[i].config, &c, &why), "%s", why.text);
            ck_assert_msg(kiln_solver_plan(solver, &s, &facts, &c, &plan, &why), "%s", why.text);
            for (int j = 0; j < plan.nstages; j++)
                ck_assert_msg(!strstr(plan.stage[j].options, "P_WIDE") == (k == 16) ||
                                  strcmp(plan.stage[j].kernel, "lay_out") == 0 ||
                                  strcmp(plan.stage[j].kernel, "pack_channels") == 0,
                              "%s, %d channels: %s", some[i].solver, k, plan.stage[j].options);
        }
}
END_TEST

/* Tiles cover the grid and none is empty; activations are not copied. */
START_TEST(pieces_cover_the_grid)
{
    static kiln_plan plan;
    static const char *const layouts[] = {"NCHW", "NHWC"};
    const kiln_solver *solver = kiln_solver_named("direct_pixels");
    dice d = {.seed = 7};
    for (int i = 0; i < PROBLEMS; i++) {
        const kiln_device_facts facts = device(i % 2 ? 2 : 0);
        kiln_problem p = random_problem(&d, 40, 200);
        snprintf(p.x_layout, sizeof p.x_layout, "%s", layouts[i / 2 % 2]);
        snprintf(p.y_layout, sizeof p.y_layout, "%s", layouts[i / 4 % 2]);
        if (p.direction == KILN_BACKWARD_WEIGHTS || kiln_problem_check(&p, NULL) != KILN_OK)
            continue;
        const kiln_shape s = kiln_shape_of(&p);
        kiln_why why = {.text = ""};
        kiln_config c;
        if (solver->reject(solver, &s, &facts, &why))
            continue;
        solver->guess(solver, &s, &facts, &c);
        const kiln_direct_pixels g = kiln_direct_pixels_of(&s, &facts, &c);
        const int64_t *grid = g.lines.grid;
        ck_assert_int_ge(g.rows * g.tiles_h, grid[KILN_AXIS_H]);
        ck_assert_int_lt(g.rows * (g.tiles_h - 1), grid[KILN_AXIS_H]);
        ck_assert_int_ge(g.cols * g.tiles_w, grid[KILN_AXIS_W]);
        ck_assert_int_lt(g.cols * (g.tiles_w - 1), grid[KILN_AXIS_W]);
        ck_assert_int_ge(g.vectors * c.v[PIXELS_VEC], (g.rows - 1) * g.pitch + g.cols);
        ck_assert_int_le(4 * g.scratch, facts.local_memory);
        ck_assert_msg(kiln_solver_plan(solver, &s, &facts, &c, &plan, &why), "%s", why.text);
        ck_assert_int_eq(plan.workspace_bytes, 0);
    }
}
END_TEST

/* The same for tiles of few source channels; weights are packed for all blocks that are summed. */
START_TEST(rows_are_whole_or_in_parts)
{
    static const char *const layouts[] = {"NCHW", "NHWC", "NC/16HW16", "NC/4HW4"};
    static kiln_plan plan;
    const kiln_solver *solver = kiln_solver_named("first_layer");
    dice d = {.seed = 8};
    int taken = 0, in_parts = 0;
    for (int i = 0; i < 4 * PROBLEMS; i++) {
        const kiln_device_facts facts = device(i % 2 ? 2 : 0);
        kiln_problem p = random_problem(&d, 20, i % 5 ? 200 : 20000);
        snprintf(p.y_layout, sizeof p.y_layout, "%s", layouts[i / 2 % 4]);
        if (kiln_problem_check(&p, NULL) != KILN_OK)
            continue;
        const kiln_shape s = kiln_shape_of(&p);
        kiln_why why = {.text = ""};
        kiln_config c;
        if (solver->reject(solver, &s, &facts, &why))
            continue;
        solver->guess(solver, &s, &facts, &c);
        const kiln_first_layer g = kiln_first_layer_of(&s, &facts, &c);
        const int64_t h = g.dst[KILN_AXIS_H], w = g.dst[KILN_AXIS_W];
        taken++;
        in_parts += g.tiles_w > 1;
        ck_assert_int_ge(c.v[FIRST_ROWS] * g.tiles_h, h);
        ck_assert_int_lt(c.v[FIRST_ROWS] * (g.tiles_h - 1), h);
        ck_assert_int_ge(g.cols * g.tiles_w, w);
        ck_assert_int_lt(g.cols * (g.tiles_w - 1), w);
        ck_assert_int_le(g.cols, w);
        ck_assert(g.tiles_w == 1 || g.cols % g.tile_pix == 0);
        ck_assert_int_le(4 * g.scratch, facts.local_memory);
        ck_assert_msg(kiln_solver_plan(solver, &s, &facts, &c, &plan, &why), "%s", why.text);
        const int64_t summed = (s.k - 1) / g.tile_k + 1;
        ck_assert_int_eq(plan.packed_bytes, 4 * summed * g.tile_k * s.c * kiln_direct_taps(&s));
    }
    ck_assert_int_gt(taken, PROBLEMS / 10);
    ck_assert_int_gt(in_parts, 10);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("direct plan");
    TCase *c = tcase_create("direct plan");
    tcase_add_test(c, lines_hold_what_each_tap_reads);
    tcase_add_test(c, weights_meet_no_other_channel);
    tcase_add_loop_test(c, guesses_are_legal_and_make_plans, 0, 3 * NAMES);
    tcase_add_loop_test(c, a_refusal_says_why, 0, sizeof refusals / sizeof *refusals);
    tcase_add_test(c, packed_weights_may_be_wide);
    tcase_add_test(c, pieces_cover_the_grid);
    tcase_add_test(c, rows_are_whole_or_in_parts);
    tcase_add_test(c, a_cpu_reads_long_lines_once);
    tcase_add_test(c, a_team_lays_out_lines);
    tcase_add_test(c, searches_are_neither_empty_nor_endless);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
