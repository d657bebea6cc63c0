/* Plans for AMX, with the facts of a CPU that has it: refusals, steps, tiles and guesses. */
#include "generator/solvers/amx/direct_amx.h"
#include "problems.h"
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>

static kiln_device_facts cpu(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.cpu = kiln_core_named("emerald_rapids");
    d.local_memory = 1 << 20;
    d.simd_floats = 16;
    d.cache = 32 << 20;
    d.has_amx = true;
    return d;
}

static void check_refused(const char *text, const kiln_device_facts *d, const char *reason)
{
    support_check_refused(kiln_solver_named("direct_amx"), text, d, reason);
}

START_TEST(what_it_cannot_do_is_refused_with_the_reason)
{
    const kiln_device_facts d = cpu();
    kiln_device_facts without = d, small = d;
    without.has_amx = false;
    small.local_memory = 1 << 10;
    check_refused("fwd-bf16-n1-c16-k16-i8x8-f3x3-l:NHWC.OIHW.NHWC", &without, "lacks AMX");
    check_refused("fwd-bf16-n1-c256-k16-i8x8-f3x3-l:NHWC.OIHW.NHWC", &small, "local memory");
    check_refused("fwd-f32-n1-c16-k16-i8x8-f3x3-l:NHWC.OIHW.NHWC", &d, "bf16 and int8");
    check_refused("fwd-bf16-n1-c16-k16-i8x8-f3x3-l:NHWC.OIHW.NHWC-exact", &d, "2^-126");
    check_refused("wrw-bf16-n1-c16-k16-i8x8-f3x3-l:NHWC.OIHW.NHWC", &d, "backward data");
    check_refused("bwd-bf16-n1-c16-k16-i8x8-f3x3-s2x2-l:NHWC.OIHW.NHWC", &d, "without stride");
    check_refused("fwd-bf16-n1-c16-k16-i8x8-f3x3", &d, "the layouts are NCHW and NCHW");
    check_refused("fwd-bf16-n1-c48-k48-i8x8-f3x3-g2-l:NCHW16c.OIHW.NCHW16c", &d, "blocks of 16");
}
END_TEST

/* By hand: elements of a pixel, steps of a row of the filter, steps; rows, columns, positions,
 * tiles, parts. */
static const struct {
    const char *problem;
    int tile, parts;
    int64_t pixel, steps_w, steps, rows, cols, positions, tile_rows, pairs_of_part;
} geometry[] = {
    /* Two blocks of 32 channels, nine taps; rows of 58 pixels: 3 * 58 + 56. */
    {"fwd-bf16-n1-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC", 230, 1, 32, 3, 18, 4, 56, 230, 16, 2},
    /* Seven taps of four elements in 56 bytes. Steps of two pixels: rows of 115 positions. */
    {"fwd-bf16-n1-c3-k64-i224x224-f7x7-s2x2-p3x3-l:NHWC.OIHW.NHWC", 112, 2, 4, 1, 7, 1, 112, 112,
     16, 1},
    /* 11 taps of four elements in two steps of 22. */
    {"fwd-bf16-n1-c3-k64-i227x227-f11x11-s4x4-l:NHWC.OIHW.NHWC", 55, 1, 4, 2, 22, 1, 55, 55, 14, 2},
    /* In bytes two rows are one: four rows of 7 taps of 8 bytes; three of 11 of 12, in steps of 44.
     */
    {"fwd-i8-n1-c3-k64-i224x224-f7x7-s2x2-p3x3-l:NHWC.OIHW.NHWC", 112, 2, 8, 1, 4, 1, 112, 112, 16,
     1},
    {"fwd-i8-n1-c3-k64-i227x227-f11x11-s4x4-l:NHWC.OIHW.NHWC", 55, 1, 12, 3, 9, 1, 55, 55, 14, 2},
    /* Four rows of bf16 are two; were they three, the fourth would be a factor of zero. */
    {"fwd-bf16-n1-c4-k16-i16x16-f4x4-s2x2-l:NHWC.OIHW.NHWC", 7, 1, 8, 1, 2, 1, 7, 7, 7, 1},
    {"fwd-bf16-n1-c4-k16-i16x16-f3x4-s2x2-l:NHWC.OIHW.NHWC", 7, 1, 4, 1, 3, 1, 7, 7, 7, 1},
    /* 20 taps of one channel. */
    {"fwd-bf16-n1-c1-k32-i41x80-f5x20-s2x2-l:NHWC.OIHW.NHWC", 31, 1, 1, 1, 5, 1, 31, 31, 16, 1},
    /* A pixel alone: all pixels of both images are one row, of 98; three tiles of at most 16. */
    {"fwd-i8-n2-c96-k40-i7x7-f1x1-l:NHWC.OIHW.NHWC", 40, 1, 96, 2, 2, 1, 33, 33, 11, 2},
    /* One tap with a stride: only its pixels are copied. */
    {"fwd-bf16-n1-c64-k32-i9x9-f1x1-s2x2-l:NHWC.OIHW.NHWC", 40, 1, 32, 1, 2, 5, 5, 25, 13, 1},
    /* Whole images: 5 rows, 4 * 7 + 5 positions in three tiles of 11. */
    {"bwd-bf16-n2-c16-k48-i5x5-f3x3-p1x1-l:NHWC.OIHW.NHWC", 64, 1, 32, 3, 18, 5, 5, 33, 11, 1},
};

START_TEST(geometry_is_as_computed_by_hand)
{
    const kiln_shape s = support_shape(geometry[_i].problem);
    const kiln_config c = {{[AMX_TILE] = geometry[_i].tile, [AMX_PARTS] = geometry[_i].parts}};
    const kiln_direct_amx g = kiln_direct_amx_of(&s, &c);
    ck_assert_int_eq(g.pixel, geometry[_i].pixel);
    ck_assert_int_eq(g.steps_w, geometry[_i].steps_w);
    ck_assert_int_eq(g.steps, geometry[_i].steps);
    ck_assert_int_eq(g.rows, geometry[_i].rows);
    ck_assert_int_eq(g.cols, geometry[_i].cols);
    ck_assert_int_eq(g.positions, geometry[_i].positions);
    ck_assert_int_eq(g.tile_rows, geometry[_i].tile_rows);
    ck_assert_int_eq(g.part, geometry[_i].pairs_of_part);
}
END_TEST

/* Tiles read whole rows of 64 bytes from each position on, for each tap. */
static void check_piece(const kiln_direct_amx *g)
{
    if (g->direct)
        return;
    const kiln_blocked *b = &g->b;
    const int64_t sw = g->phases[KILN_AXIS_W], sh = g->phases[KILN_AXIS_H];
    const int64_t r = (b->filter[KILN_AXIS_H] - 1) * b->dilation[KILN_AXIS_H];
    const int64_t s = (g->steps_w - 1) * g->step * b->dilation[KILN_AXIS_W];
    const int64_t row = (sh - 1 < r % sh ? sh - 1 : r % sh) * g->phase_rows + r / sh;
    const int64_t last = (b->filter[0] * g->blocks - 1) * g->plane + row * g->pitch +
                         (g->tiles * g->tile_rows - 1) * sw;
    ck_assert_int_le(last * g->pixel + s + g->step, g->piece);
    ck_assert_int_eq(g->pitch % sw, 0);
    ck_assert_int_le(g->tile_rows, AMX_ROWS);
}

START_TEST(guesses_fit_the_device)
{
    static const char *const shapes[] = {
        "fwd-bf16-n16-c256-k256-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC",
        "fwd-i8-n1-c2048-k512-i7x7-f3x3-p1x1-l:NHWC.OIHW.NHWC",
        "fwd-bf16-n1-c3-k64-i227x227-f11x11-s4x4-l:NHWC.OIHW.NHWC",
        "fwd-bf16-n1-c480-k20-i1x1-f1x1-l:NHWC.OIHW.NHWC",
        "fwd-bf16-n1-c64-k64-i28x28-f3x3-s2x2-p6x6-d6x6-g2-l:NHWC.OIHW.NHWC",
        "bwd-bf16-n1-c512-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC"};
    const kiln_device_facts d = cpu();
    const kiln_solver *solver = kiln_solver_named("direct_amx");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        kiln_config c;
        const kiln_shape own = support_check_guess(solver, shapes[i], &d, &c);
        const kiln_direct_amx g = kiln_direct_amx_of(&own, &c);
        check_piece(&g);
    }
}
END_TEST

/* Two cores would store to the same lines: pixels of 240 and of 480 bytes, cut in the middle. */
START_TEST(parts_share_no_lines)
{
    static const char *const shapes[] = {"fwd-bf16-n1-c40-k120-i28x28-f1x1-l:NHWC.OIHW.NHWC",
                                         "fwd-bf16-n1-c40-k240-i28x28-f1x1-l:NHWC.OIHW.NHWC"};
    const kiln_device_facts d = cpu();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        kiln_config c;
        support_check_guess(kiln_solver_named("direct_amx"), shapes[i], &d, &c);
        ck_assert_int_eq(c.v[AMX_PARTS], 1);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("amx plan");
    TCase *c = tcase_create("amx_plan");
    tcase_add_test(c, what_it_cannot_do_is_refused_with_the_reason);
    tcase_add_loop_test(c, geometry_is_as_computed_by_hand, 0, sizeof geometry / sizeof *geometry);
    tcase_add_test(c, guesses_fit_the_device);
    tcase_add_test(c, parts_share_no_lines);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
