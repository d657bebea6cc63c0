/* The solver gemm_weights_mma: type, layout, tile and split, for equality, on devices whose tensor
 * cores a probe found. On others it must refuse. */
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

static void check(const kiln_problem *p, const char *config)
{
    if (support_gpu()->has_mma)
        support_check(p, "gemm_weights_mma", config, HOST_FILL_INT);
    else
        ck_assert(!support_try(p, "gemm_weights_mma", config, HOST_FILL_INT));
}

static void set_last(kiln_problem *p, int which)
{
    static const char *const x[] = {"NHWC", "NHWC", "NCHW"}, *const y[] = {"NHWC", "NCHW", "NHWC"};
    if (which < 3 && (p->spatial_rank == 2 || p->spatial_rank == 0))
        support_set_layouts(p, x[which], y[which]);
}

START_TEST(every_shape_is_exact)
{
    for (int i = 0; i < DIRECT_SHAPES; i++) {
        kiln_problem p = direct_problem(2, "f16", direct_shapes[i]);
        set_last(&p, i % 4);
        check(&p, NULL);
    }
}
END_TEST

/* Channels and columns that fill no tile, copies of 16 bytes and of 8, pixels that fill no step, of
 * several images, shared by groups; filters of one tap; groups. */
static const struct {
    const char *shape, *config;
} shapes[] = {
    {"n3-c24-k20-i4x6-f1x1", "64,64,2,2,64,2,1"},
    {"n5-c16-k40-i7x7-f1x1", "64,64,4,1,64,3,3"},
    {"n2-c64-k136-i9x9-f3x3-p1x1", "128,128,2,2,128,3,1"},
    {"n2-c32-k72-i15x15-f3x3-p1x1", "128,64,4,2,64,4,2"},
    {"n2-c20-k264-i9x9-f3x3-p1x1", "256,64,4,2,64,2,1"},
    {"n2-c3-k17-i21x19-f7x7-s2x2-p3x3", "64,256,1,4,64,3,4"},
    {"n2-c96-k96-i8x8-f3x3-p2x2-d2x2", "64,128,1,4,128,4,2"},
    {"n2-c16-k24-i6x6-f3x3-p1x1-g4", "64,64,2,2,64,3,1"},
    {"n5-c64-k64-i7x7-f3x3-s2x2-p1x1-g4", "64,64,1,4,64,3,2"},
    {"n2-c64-k64-i9x7-f3x3-p1x1-g8", "64,128,1,4,64,3,1"},
    {"n2-c48-k24-i8x8-f1x1-g6", "64,64,2,2,64,3,2"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(every_tile_is_exact)
{
    for (int layout = 0; layout < 4; layout += 3) {
        kiln_problem p = direct_problem(2, "f16", shapes[_i].shape);
        set_last(&p, layout);
        check(&p, shapes[_i].config);
    }
}
END_TEST

/* The same by the instructions of compute capability 9.0 alone, where a probe found them. */
static const struct {
    const char *type, *shape, *config;
} others[] = {
    {"f16", "n3-c24-k20-i4x6-f1x1", "64,64,4,1,128,3,1"},
    {"bf16", "n2-c64-k136-i9x9-f3x3-p1x1", "128,128,8,1,128,3,1"},
    {"f16", "n2-c32-k72-i15x15-f3x3-p1x1", "128,64,4,1,128,4,2"},
    {"f16", "n2-c20-k264-i9x9-f3x3-p1x1", "128,64,8,1,128,3,1"},
    {"bf16", "n2-c3-k17-i21x19-f7x7-s2x2-p3x3", "64,128,4,1,128,3,4"},
    {"f16", "n2-c96-k96-i8x8-f3x3-p2x2-d2x2", "64,128,4,1,128,6,2"},
    {"f16", "n2-c64-k64-i9x7-f3x3-p1x1-g8", "64,128,4,1,128,3,1"},
    {"f16", "n5-c64-k64-i7x7-f3x3-s2x2-p1x1-g4", "64,64,4,1,128,3,2"},
};

START_TEST(other_instructions_are_exact)
{
    kiln_problem p = direct_problem(2, others[_i].type, others[_i].shape);
    set_last(&p, _i % 4);
    if (support_gpu()->has_wgmma)
        support_check(&p, "gemm_weights_wgmma", others[_i].config, HOST_FILL_INT);
    else
        ck_assert(!support_try(&p, "gemm_weights_wgmma", others[_i].config, HOST_FILL_INT));
}
END_TEST

START_TEST(every_type_is_exact)
{
    for (int t = 0; t < SUPPORT_FLOATS; t++)
        for (int i = t; i < SHAPES; i += 3) {
            kiln_problem p = direct_problem(2, "f32", shapes[i].shape);
            support_set_types(&p, support_types_of[t]);
            set_last(&p, i % 4);
            check(&p, shapes[i].config);
        }
}
END_TEST

START_TEST(blocks_of_channels_are_exact)
{
    static const char *const layouts[] = {"NC/4HW4", "NC/8HW8", "NC/16HW16", "NHWC"};
    for (int i = 0; i < 4; i++) {
        kiln_problem p = direct_problem(2, i % 2 ? "bf16" : "f16", "n2-c48-k32-i9x7-f3x3-p1x1");
        support_set_layouts(&p, layouts[i], layouts[(i + 1) % 4]);
        check(&p, NULL);
    }
}
END_TEST

START_TEST(random_data_are_within_the_bound)
{
    for (int i = 0; i < SHAPES && support_gpu()->has_mma; i += 2) {
        kiln_problem p = direct_problem(2, i % 4 ? "f16" : "bf16", shapes[i].shape);
        set_last(&p, 0);
        support_check(&p, "gemm_weights_mma", shapes[i].config, HOST_FILL_UNIFORM);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemm_weights_mma");
    TCase *c = tcase_create("gemm_weights_mma");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, every_shape_is_exact);
    tcase_add_loop_test(c, every_tile_is_exact, 0, SHAPES);
    tcase_add_loop_test(c, other_instructions_are_exact, 0, sizeof others / sizeof *others);
    tcase_add_test(c, every_type_is_exact);
    tcase_add_test(c, blocks_of_channels_are_exact);
    tcase_add_test(c, random_data_are_within_the_bound);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
