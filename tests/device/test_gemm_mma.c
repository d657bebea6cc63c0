/* The solver gemm_mma: every direction it does, type, layout, tile and epilogue, for equality, on
 * devices whose tensor cores a probe found. On others it must refuse. */
#include "runtime/kiln/kiln_internal.h"
#include "support/direct_cases.h"
#include "support/kinds.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>

/* A kiln asks a device for tensor cores when the first shape comes that suits them. */
START_TEST(floats_ask_for_no_tensor_cores)
{
    const support_device *d = support_open();
    kiln *k;
    kiln_op_info info;
    const kiln_problem floats = direct_problem(0, "f32", "n1-c16-k16-i4x4-f1x1"),
                       halves = direct_problem(0, "f16", "n1-c16-k16-i4x4-f1x1");
    ck_assert_int_eq(kiln_open(&k, d->context, d->device, NULL), KILN_OK);
    ck_assert_int_eq(kiln_conv_plan(k, &floats, NULL, &info), KILN_OK);
    ck_assert(!k->probed.tensor_cores);
    ck_assert_int_eq(kiln_conv_plan(k, &halves, NULL, &info), KILN_OK);
    ck_assert(k->probed.tensor_cores);
    kiln_close(k);
}
END_TEST

static void check(const kiln_problem *p, const char *config)
{
    if (support_gpu()->has_mma)
        support_check(p, "gemm_mma", config, HOST_FILL_INT);
    else
        ck_assert(!support_try(p, "gemm_mma", config, HOST_FILL_INT));
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
        kiln_problem p = direct_problem(_i, "f16", direct_shapes[i]);
        set_last(&p, i % 4);
        check(&p, NULL);
    }
}
END_TEST

/* What tiles and copies meet: channels and terms that fill none, of 16 bytes and of 8, pixels of
 * several images in one tile, phases with taps of their own and with none, groups. */
static const struct {
    int direction;
    const char *shape, *config;
} shapes[] = {
    {0, "n3-c24-k20-i4x6-f1x1", "64,32,4,1,64,2,1"},
    {0, "n5-c16-k40-i7x7-f1x1", "64,64,2,2,64,3,1"},
    {0, "n2-c64-k136-i9x9-f3x3-p1x1", "128,128,2,2,128,3,1"},
    {0, "n2-c32-k72-i15x15-f3x3-p1x1", "256,64,4,2,64,4,1"},
    {0, "n2-c20-k64-i9x9-f3x3-p1x1", "64,256,1,4,64,2,1"},
    {0, "n2-c3-k17-i21x19-f7x7-s2x2-p3x3", "128,32,4,1,64,5,1"},
    {0, "n2-c96-k96-i8x8-f3x3-p2x2-d2x2", "64,128,1,4,128,4,3"},
    {0, "n1-c512-k64-i7x7-f1x1", "64,32,2,2,64,4,8"},
    {1, "n2-c20-k24-i9x8-f3x3-s2x2-p1x1", "64,32,4,1,64,3,1"},
    {1, "n2-c64-k64-i13x7-f1x1-s2x3", "128,64,4,2,128,2,1"},
    {1, "n1-c16-k8-i11x11-f3x3-s2x2-p2x2-d2x2", "64,32,4,1,64,3,2"},
    {1, "n2-c72-k136-i10x10-f5x5-p2x2", "128,128,4,2,64,3,1"},
    {0, "n2-c16-k24-i6x6-f3x3-p1x1-g4", "64,32,2,2,128,3,1"},
    {0, "n2-c64-k64-i6x6-f3x3-p1x1-g4", "64,32,4,1,64,4,1"},
    {1, "n2-c18-k30-i6x6-f3x3-p1x1-g6", "64,32,4,1,64,2,1"},
    /* Groups that share a tile: eight of 16 bytes, with and without columns to spare; two of 32 in
     * a step, in a step of two taps, over more columns; four of 16 that are no whole step, split.
     */
    {0, "n2-c64-k64-i9x7-f3x3-p1x1-g8", "64,64,4,1,128,3,1"},
    {1, "n2-c128-k128-i7x7-f3x3-p1x1-g16", "128,96,4,1,128,2,1"},
    {0, "n3-c32-k64-i6x6-f1x1-g2", "64,64,4,1,64,3,1"},
    {0, "n2-c96-k192-i7x7-f3x3-s2x2-p1x1-g6", "64,64,4,1,128,3,1"},
    {0, "n2-c96-k96-i8x8-f3x3-s2x2-p1x1-g12", "64,32,4,1,128,4,2"},
    /* Two and four teams of warps. */
    {0, "n1-c40-k24-i9x7-f3x3-p1x1", "64,16,4,1,256,3,1"},
    {0, "n1-c256-k64-i7x7-f3x3-p1x1", "64,32,2,2,512,2,2"},
    {1, "n2-c64-k64-i8x8-f3x3-s2x2-p1x1-g8", "64,64,4,1,256,2,1"},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

START_TEST(every_tile_is_exact)
{
    for (int layout = 0; layout < 4; layout += 3) {
        kiln_problem p = direct_problem(shapes[_i].direction, "f16", shapes[_i].shape);
        set_last(&p, layout);
        check(&p, shapes[_i].config);
    }
}
END_TEST

START_TEST(every_type_is_exact)
{
    static const int some[] = {0, 2, 8, 12, 16, 21, 15};
    const int i = some[_i];
    for (int t = 0; t < SUPPORT_TYPES; t++) {
        kiln_problem p = direct_problem(shapes[i].direction, "f32", shapes[i].shape);
        support_set_types(&p, support_types_of[t]);
        set_last(&p, t % 4);
        check(&p, shapes[i].config);
    }
}
END_TEST

START_TEST(blocks_of_channels_are_exact)
{
    static const char *const layouts[] = {"NC/4HW4", "NC/8HW8", "NC/16HW16", "NC/32HW32", "NHWC"};
    static const char *const types[] = {"f16", "bf16", "i8"};
    for (int i = 0; i < 5; i++)
        for (int t = 0; t < 3; t++) {
            kiln_problem p = direct_problem(t == 1, types[t],
                                            i % 2 ? "n2-c64-k96-i9x7-f3x3-s2x1-p1x1"
                                                  : "n2-c64-k128-i7x6-f3x3-p1x1-g2");
            support_set_layouts(&p, layouts[(i + _i) % 5], layouts[i]);
            if (t == 2)
                p.y_type = KILN_I8;
            if (t != 1)
                p.epilogue = direct_epilogues[i % DIRECT_EPILOGUES];
            check(&p, i % 2 ? "64,32,4,1,64,3,1" : NULL);
        }
}
END_TEST

START_TEST(floats_are_rounded_where_that_is_allowed)
{
    for (int i = 0; i < SHAPES; i += 4) {
        kiln_problem p = direct_problem(shapes[i].direction, "f32", shapes[i].shape);
        ck_assert(!support_try(&p, "gemm_mma", NULL, HOST_FILL_INT));
        p.math = KILN_MATH_REDUCED;
        set_last(&p, i % 3);
        check(&p, shapes[i].config);
        if (support_gpu()->has_mma)
            support_check(&p, "gemm_mma", shapes[i].config, HOST_FILL_UNIFORM);
    }
}
END_TEST

START_TEST(the_epilogue_is_applied)
{
    static const char *const types[] = {"f16", "bf16", "i8"};
    static const int some[] = {1, 4, 7, 20};
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < 3; t++) {
            kiln_problem p = direct_problem(0, types[t], shapes[some[i]].shape);
            if (t == 2)
                p.y_type = i % 2 ? KILN_I8 : KILN_F32;
            p.epilogue = direct_epilogues[_i];
            set_last(&p, (i + t) % 4);
            check(&p, shapes[some[i]].config);
        }
}
END_TEST

START_TEST(random_data_are_within_the_bound)
{
    for (int i = _i; i < SHAPES; i += 3) {
        kiln_problem p =
            direct_problem(shapes[i].direction, i % 2 ? "f16" : "bf16", shapes[i].shape);
        set_last(&p, 0);
        if (support_gpu()->has_mma)
            support_check(&p, "gemm_mma", shapes[i].config, HOST_FILL_UNIFORM);
    }
}
END_TEST

/* The same by the instructions of compute capability 9.0 alone, where a probe found them. */
static const struct {
    int direction;
    const char *type, *shape, *config;
} others[] = {
    {0, "f16", "n3-c24-k20-i4x6-f1x1", "64,32,4,1,128,3,1"},
    {0, "bf16", "n2-c64-k136-i9x9-f3x3-p1x1", "128,128,8,1,128,3,1"},
    {0, "f16", "n2-c20-k264-i9x9-f3x3-p1x1", "64,256,4,1,128,3,1"},
    {0, "f16", "n2-c3-k17-i21x19-f7x7-s2x2-p3x3", "128,32,4,1,128,4,1"},
    {0, "f16", "n2-c96-k96-i8x8-f3x3-p2x2-d2x2", "192,64,12,1,128,4,3"},
    {1, "f16", "n2-c72-k136-i10x10-f5x5-p2x2", "256,128,8,1,128,3,1"},
    {1, "bf16", "n2-c64-k64-i13x7-f3x3-s2x3-p1x1", "192,64,4,1,128,3,2"},
    {0, "i8", "n2-c64-k64-i6x6-f3x3-p1x1-g4", "64,32,4,1,128,3,1"},
    {0, "i8", "n2-c256-k72-i9x9-f3x3-p1x1", "128,64,4,1,128,4,1"},
};

START_TEST(other_instructions_are_exact)
{
    kiln_problem p = direct_problem(others[_i].direction, others[_i].type, others[_i].shape);
    set_last(&p, _i % 4);
    if (support_gpu()->has_wgmma)
        support_check(&p, "gemm_wgmma", others[_i].config, HOST_FILL_INT);
    else
        ck_assert(!support_try(&p, "gemm_wgmma", others[_i].config, HOST_FILL_INT));
}
END_TEST

START_TEST(other_instructions_round_floats)
{
    kiln_problem p = direct_problem(0, "f32", "n2-c40-k72-i9x9-f3x3-p1x1");
    p.math = KILN_MATH_REDUCED;
    set_last(&p, 0);
    if (support_gpu()->has_wgmma) {
        support_check(&p, "gemm_wgmma", "128,64,8,1,128,3,1", HOST_FILL_INT);
        support_check(&p, "gemm_wgmma", "128,64,8,1,128,3,1", HOST_FILL_UNIFORM);
    }
}
END_TEST

/* A case for each, so that processes can share them (CK_RUN_CASE). */
static TCase *add_case(Suite *s, const char *name)
{
    TCase *c = tcase_create(name);
    tcase_set_timeout(c, 600);
    suite_add_tcase(s, c);
    return c;
}

int main(void)
{
    Suite *s = suite_create("gemm_mma");
    tcase_add_test(add_case(s, "probe"), floats_ask_for_no_tensor_cores);
    tcase_add_loop_test(add_case(s, "shapes"), every_shape_is_exact, 0, 2);
    tcase_add_loop_test(add_case(s, "tiles"), every_tile_is_exact, 0, SHAPES);
    tcase_add_loop_test(add_case(s, "types"), every_type_is_exact, 0, 7);
    tcase_add_loop_test(add_case(s, "blocks"), blocks_of_channels_are_exact, 0, 3);
    tcase_add_test(add_case(s, "floats"), floats_are_rounded_where_that_is_allowed);
    tcase_add_loop_test(add_case(s, "epilogue"), the_epilogue_is_applied, 0, DIRECT_EPILOGUES);
    tcase_add_loop_test(add_case(s, "random"), random_data_are_within_the_bound, 0, 3);
    TCase *other = add_case(s, "wgmma");
    tcase_add_loop_test(other, other_instructions_are_exact, 0, sizeof others / sizeof *others);
    tcase_add_test(other, other_instructions_round_floats);
    return support_run_suite(s);
}
