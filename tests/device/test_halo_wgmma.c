/* The solver halo_wgmma: shapes, types, tiles, both directions and epilogues, for equality. Devices
 * whose tensor cores a probe found run its instructions; on others templates of tests/data/emulated
 * do in plain C what these instructions do, so that all the rest of the kernel is seen to be right.
 */
#include "runtime/kiln/kiln_internal.h"
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool emulated;

static void emulate(void)
{
    kiln *k = support_open()->kiln;
    if (emulated || support_gpu()->has_wgmma)
        return;
    emulated = true;
    k->facts.gpu.has_wgmma = k->probed.tensor_cores = true;
    k->facts.gpu.static_local_memory = 200 << 10;
    snprintf(k->template_dir, sizeof k->template_dir, "%s/emulated", getenv("KILN_TEST_DATA"));
}

static void check(const kiln_problem *p, const char *config, host_fill fill)
{
    emulate();
    support_check(p, "halo_wgmma", config, fill);
}

/* Two teams, with as many tiles (an emulated barrier is the group's); channels that are no whole
 * rows or products, of 16 bytes and of 8, and such that a stage fills up; elements of one, two and
 * four bytes; results of 2, 4 and 16 bytes at a time, along channels, blocks and pixels; more
 * channels than columns; tiles that are cut off, more of them than groups; filters of a row, of a
 * column, and of an even size; padding that differs, is more than the filter, or is none;
 * dilations. */
static const struct {
    int direction;
    const char *type, *x, *y, *shape, *config;
} shapes[] = {
    {0, "f16", "NHWC", "NHWC", "n2-c64-k64-i16x24-f3x3-p1x1", "1,1,2,64"},
    {1, "bf16", "NHWC", "NHWC", "n3-c40-k64-i17x15-f3x3-p1x1", "2,1,2,64"},
    {0, "f16", "NCHW", "NHWC", "n1-c32-k64-i20x9-f3x3-p1x1", "1,2,3,32"},
    {0, "bf16", "NHWC", "NHWC", "n1-c20-k34-i9x10-f3x3-p2x1-e0x3", "1,1,2,64"},
    {1, "f16", "NHWC", "NHWC", "n2-c17-k24-i8x11-f2x4-p1x2-e2x0", "1,1,2,32"},
    {0, "f16", "NHWC", "NHWC", "n1-c13-k48-i12x19-f1x5-p0x2", "1,2,2,96"},
    {0, "bf16", "NHWC", "NHWC", "n2-c96-k32-i11x7-f5x1-p4x0", "1,1,2,32"},
    {1, "f16", "NHWC", "NHWC", "n1-c72-k40-i14x15-f3x3-p3x4-d1x3", "1,1,2,128"},
    {0, "i8", "NHWC", "NHWC", "n2-c48-k40-i9x14-f3x3-p1x1", "1,1,2,64"},
    {0, "i8", "NCHW", "NHWC", "n1-c136-k24-i11x9-f2x3-p0x1", "1,1,2,32"},
    {0, "f32", "NHWC", "NHWC", "n1-c40-k36-i10x12-f3x3-p1x1", "1,1,2,64"},
    {1, "f32", "NHWC", "NHWC", "n2-c24-k12-i9x8-f3x2-p1x1", "1,1,3,32"},
    {0, "f16", "NCHW", "NCHW", "n2-c32-k40-i16x24-f3x3-p1x1", "1,1,2,64"},
    {1, "bf16", "NCHW", "NCHW", "n1-c34-k24-i11x12-f3x3-p1x1", "1,2,2,32"},
    {0, "f16", "NHWC", "NCHW", "n1-c16-k17-i9x11-f3x3-p1x1", "1,1,2,32"},
    {0, "i8", "NHWC", "NCHW", "n1-c32-k24-i9x18-f3x2-p1x1", "1,1,2,32"},
    {0, "f16", "NCHW", "NCHW8c", "n2-c32-k40-i9x10-f3x3-p1x1", "1,1,2,32"},
    {0, "i8", "NHWC", "NCHW32c", "n1-c32-k64-i9x10-f3x3-p1x1", "1,1,2,64"},
    {0, "f16", "NCHW8c", "NCHW", "n1-c40-k24-i9x10-f3x3-p1x1", "1,1,2,32"},
    {1, "i8", "NCHW16c", "NCHW8c", "n1-c64-k64-i9x10-f3x3-p1x1", "1,1,2,64"},
    {0, "f32", "NHWC", "NCHW", "n1-c16-k20-i10x12-f3x3-p1x1", "1,1,2,32"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static kiln_problem problem_of(int i)
{
    kiln_problem p = direct_problem(shapes[i].direction, shapes[i].type, shapes[i].shape);
    support_set_layouts(&p, shapes[i].x, shapes[i].y);
    if (strcmp(shapes[i].type, "f32") == 0)
        p.math = KILN_MATH_REDUCED;
    return p;
}

START_TEST(every_shape_is_exact)
{
    const kiln_problem p = problem_of(_i);
    check(&p, shapes[_i].config, HOST_FILL_INT);
}
END_TEST

/* Teams with and without a last tile: a barrier that is emulated is the group's, not a team's. */
START_TEST(several_teams_are_exact)
{
    emulate();
    for (int i = 0; i < SHAPES && !emulated; i++) {
        const kiln_problem p = problem_of(i);
        check(&p, i % 2 ? "3,1,2,32" : "2,1,2,32", HOST_FILL_INT);
    }
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    emulate();
    for (int i = emulated ? 1 : 0; i < (emulated ? 2 : DIRECT_EPILOGUES); i++) {
        kiln_problem p = problem_of(3);
        support_set_types(&p, (support_types){KILN_F16, i == 1 ? KILN_F32 : KILN_F16});
        p.epilogue = direct_epilogues[i];
        check(&p, NULL, HOST_FILL_INT);
    }
}
END_TEST

/* Planes of results that no stage turns. */
START_TEST(residuals_of_planes_are_added)
{
    emulate();
    for (int i = 0; i < SHAPES; i++) {
        kiln_problem p = problem_of(i);
        if (strcmp(shapes[i].y, "NCHW") != 0 || shapes[i].direction != 0 ||
            strcmp(shapes[i].type, "f16") != 0)
            continue;
        p.epilogue = direct_epilogues[1];
        check(&p, shapes[i].config, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(random_data_are_within_the_bound)
{
    for (int i = 0; i < 2; i++) {
        const kiln_problem p = problem_of(i);
        check(&p, shapes[i].config, HOST_FILL_UNIFORM);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("halo_wgmma");
    TCase *c = tcase_create("halo_wgmma");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, SHAPES);
    tcase_add_test(c, several_teams_are_exact);
    tcase_add_test(c, the_epilogue_is_applied);
    tcase_add_test(c, residuals_of_planes_are_added);
    tcase_add_test(c, random_data_are_within_the_bound);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
