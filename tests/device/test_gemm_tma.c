/* The solver gemm_tma: boxes, tiles, types, both directions and epilogues, for equality, on devices
 * where a probe found that kernels make tensor maps. On others it must refuse. Each case runs
 * twice, with other buffers: the maps are to follow. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

static void check(const kiln_problem *p, const char *config, host_fill fill)
{
    if (support_gpu()->has_tma)
        support_check(p, "gemm_tma", config, fill);
    else
        ck_assert(!support_try(p, "gemm_tma", config, fill));
}

/* One to four teams of one and two boxes; rings of two stages and of more than there are steps;
 * boxes over rows, images and all pixels; the last tiles empty in part; channels that are no whole
 * rows, and such that a stage fills up; more and fewer channels than columns; tiles that a group
 * has one after the other; padding that differs, or is more than the filter; strides, dilations. */
static const struct {
    int direction;
    const char *type, *x, *y, *shape, *config;
} shapes[] = {
    {0, "f16", "NHWC", "NHWC", "n8-c64-k64-i8x8-f1x1", "1,1,64,2"},
    {0, "f16", "NHWC", "NHWC", "n16-c128-k256-i14x14-f3x3-p1x1", "3,1,128,4"},
    {1, "bf16", "NHWC", "NHWC", "n16-c256-k128-i14x14-f3x3-p1x1", "2,1,256,4"},
    {0, "bf16", "NHWC", "NHWC", "n3-c40-k72-i17x15-f3x3-p1x1", "2,2,64,3"},
    {0, "f16", "NHWC", "NHWC", "n64-c64-k256-i7x7-f3x3-p1x1", "1,1,256,3"},
    {1, "f16", "NHWC", "NHWC", "n2-c24-k40-i9x11-f2x4-p1x2-e2x0", "1,2,32,8"},
    {0, "f16", "NHWC", "NHWC", "n5-c136-k200-i23x19-f5x5-p2x2", "3,1,192,3"},
    {0, "f16", "NHWC", "NHWC", "n1-c64-k17-i30x31-f3x3-p4x4-d2x3", "4,1,32,5"},
    {0, "f16", "NHWC", "NHWC", "n7-c64-k96-i33x29-f3x3-s2x2-p1x1", "2,1,96,4"},
    {0, "bf16", "NHWC", "NHWC", "n3-c64-k130-i40x37-f4x3-s3x5-p2x1", "4,1,128,4"},
    {0, "f16", "NCHW", "NHWC", "n3-c13-k48-i12x19-f1x5-p0x2", "1,1,64,4"},
    {1, "bf16", "NHWC", "NHWC", "n3-c128-k256-i28x28-f1x1", "2,2,128,4"},
    {0, "f16", "NHWC", "NHWC", "n2-c64-k64-i112x112-f3x3-p1x1", "3,2,64,3"},
    {0, "f16", "NCHW", "NCHW", "n4-c64-k64-i8x8-f1x1", "1,1,64,2"},
    {0, "bf16", "NCHW", "NCHW", "n3-c72-k130-i56x56-f1x1", "3,1,128,4"},
    {1, "f16", "NCHW", "NCHW", "n5-c40-k34-i14x14-f1x1", "2,2,64,3"},
    {0, "f16", "NCHW", "NHWC", "n2-c104-k17-i7x7-f1x1", "1,1,32,4"},
    {1, "bf16", "NHWC", "NCHW", "n3-c24-k128-i9x14-f1x1", "2,1,128,2"},
    {0, "f16", "NCHW", "NCHW", "n2-c13-k24-i7x9-f1x1", "1,1,32,2"},
    {0, "f16", "NCHW", "NCHW", "n8-c64-k96-i14x14-f3x3-p1x1", "2,1,96,4"},
    {1, "f16", "NCHW", "NCHW", "n6-c72-k64-i7x7-f3x3-p1x1", "1,1,64,3"},
    {0, "bf16", "NCHW8c", "NCHW16c", "n3-c64-k96-i13x9-f3x3-p1x1", "1,2,96,3"},
    {0, "f16", "NCHW4c", "NCHW", "n2-c64-k32-i28x28-f3x3-s2x2-p1x1", "1,1,32,4"},
    {0, "f16", "NCHW", "NCHW", "n1-c16-k16-i1x1-f1x1", "1,1,32,2"},
    {0, "f16", "NCHW", "NCHW", "n3-c24-k40-i12x14-f1x1", "2,1,64,2"},
    {0, "f16", "NCHW8c", "NCHW8c", "n3-c104-k64-i13x9-f3x3-p1x1", "1,1,64,3"},
    {1, "bf16", "NCHW16c", "NCHW16c", "n2-c64-k48-i20x9-f3x3-p1x1", "2,1,64,3"},
    {0, "f16", "NCHW32c", "NCHW32c", "n2-c96-k64-i15x17-f3x3-s2x2-p1x1", "1,2,64,3"},
    {0, "i8", "NCHW32c", "NCHW32c", "n2-c96-k64-i15x17-f3x3-p1x1", "1,1,64,3"},
    {0, "i8", "NCHW16c", "NHWC", "n2-c80-k40-i28x28-f1x1", "1,1,64,3"},
    {0, "f16", "NCHW64c", "NHWC", "n2-c128-k40-i28x28-f1x1", "1,1,64,3"},
    {0, "i8", "NCHW64c", "NCHW", "n2-c128-k40-i9x9-f3x3-p1x1", "1,1,64,3"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static kiln_problem problem_of(int i)
{
    kiln_problem p = direct_problem(shapes[i].direction, shapes[i].type, shapes[i].shape);
    support_set_layouts(&p, shapes[i].x, shapes[i].y);
    return p;
}

START_TEST(every_shape_is_exact)
{
    const kiln_problem p = problem_of(_i);
    check(&p, shapes[_i].config, HOST_FILL_INT);
}
END_TEST

START_TEST(every_type_is_exact)
{
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = direct_problem(0, "f32", "n4-c48-k72-i13x9-f3x3-p1x1");
        support_set_types(&p, support_types_of[t]);
        support_set_layouts(&p, "NHWC", "NHWC");
        check(&p, NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(floats_are_rounded_where_that_is_allowed)
{
    kiln_problem p = direct_problem(0, "f32", "n2-c40-k64-i9x12-f3x3-p1x1");
    support_set_layouts(&p, "NHWC", "NHWC");
    p.math = KILN_MATH_REDUCED;
    check(&p, NULL, HOST_FILL_INT);
    check(&p, NULL, HOST_FILL_UNIFORM);
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    for (int i = 0; i < DIRECT_EPILOGUES; i++) {
        kiln_problem p = problem_of(3);
        support_set_types(&p, (support_types){KILN_F16, i == 1 ? KILN_F32 : KILN_F16});
        p.epilogue = direct_epilogues[i];
        check(&p, NULL, HOST_FILL_INT);
    }
}
END_TEST

START_TEST(random_data_are_within_the_bound)
{
    for (int i = 0; i < SHAPES; i += 3) {
        const kiln_problem p = problem_of(i);
        check(&p, shapes[i].config, HOST_FILL_UNIFORM);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemm_tma");
    TCase *c = tcase_create("gemm_tma");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_shape_is_exact, 0, SHAPES);
    tcase_add_test(c, every_type_is_exact);
    tcase_add_test(c, floats_are_rounded_where_that_is_allowed);
    tcase_add_test(c, the_epilogue_is_applied);
    tcase_add_test(c, random_data_are_within_the_bound);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
