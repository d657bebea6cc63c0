/* Plans of gemm_tma, with the facts of a GPU on which kernels make tensor maps: what it refuses,
 * its boxes and stages, and guesses that the device can hold. */
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>
#include <string.h>

static const kiln_solver *solver(void)
{
    return kiln_solver_named("gemm_tma");
}

START_TEST(what_it_cannot_do_is_refused)
{
    static const support_refusal cases[] = {
        {"wrw-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "forward and backward data"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-g2-l:NHWC.OIHW.NHWC", "without groups"},
        {"fwd-f16-n1-c64-k64-i5x9x9-f3x3x3-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
        {"bwd-f16-n1-c64-k64-i9x9-f3x3-s2x2-l:NHWC.OIHW.NHWC", "a stride of 2 x 2"},
        {"fwd-f16-n1-c64-k64-i29x29-f3x3-s1x9-l:NHWC.OIHW.NHWC", "a stride of 1 x 9"},
        {"fwd-f32-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "--math reduced"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC;H%8", "and their kin"},
        {"fwd-f16-n1-c20-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "multiples of 8 bytes, not of 16"},
        {"fwd-i8-n1-c24-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "multiples of 8 bytes, not of 16"},
    };
    kiln_device_facts d = support_h100();
    support_check_refusals(solver(), &d, cases, SUPPORT_COUNT(cases));
    d.gpu.has_tma = false;
    support_check_refused(solver(), "fwd-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", &d,
                          "tensor map");
}
END_TEST

static void check_stages(const char *problem, const char *config, const char *stages)
{
    const kiln_device_facts d = support_h100();
    support_check_stages(solver(), problem, &d, config, stages);
}

START_TEST(stages_are_as_planned_by_hand)
{
    /* 196 boxes in 66 tiles of three, two of channels: a group each. Nine taps of four rows. */
    check_stages("fwd-f16-n64-c256-k256-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC", "3,1,128,4",
                 "gemm_tma_pack 64x256x36/64, gemm_tma 67584x1x1/512");
    /* More tiles than units: 196 of one box, four of channels. Registers of two groups in a unit.
     */
    check_stages("bwd-bf16-n64-c256-k256-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC", "1,1,64,4",
                 "gemm_tma_pack 64x256x36/64, gemm_tma 67584x1x1/256");
    /* 50 pixels of a row each are one line of 100; 40 of 64 halves and 72 of 96 channels. Planes
     * of 100 bytes by way of a stage; of 128 bytes and more they are read and written as they lie.
     */
    check_stages("fwd-f16-n2-c40-k72-i5x10-f1x1-l:NCHW.OIHW.NHWC", "1,1,96,2",
                 "gemm_tma_pack 64x96x1/64, turn 512x1x1/256, gemm_tma 512x1x1/256");
    check_stages("fwd-f16-n2-c40-k72-i8x8-f1x1", "1,1,96,2",
                 "gemm_tma_pack 64x96x1/64, gemm_tma 512x1x1/256");
    /* Runs of four pixels are short: a stage turns the result as well. */
    check_stages("fwd-f16-n4-c64-k64-i12x12-f3x3-p1x1", "1,1,64,2",
                 "gemm_tma_pack 64x64x9/64, turn 2048x1x1/256, gemm_tma 2304x1x1/256, "
                 "turn 2048x1x1/256");
    /* Bytes: 128 to a row. */
    check_stages("fwd-i8-n4-c160-k32-i8x8-f3x3-p1x1-l:NHWC.OIHW.NHWC", "2,2,32,3",
                 "gemm_tma_pack 128x32x18/64, gemm_tma 384x1x1/384");
}
END_TEST

/* The box of a problem, as the options of its last stage define it. */
static void check_box(const char *problem, const char *box)
{
    const kiln_device_facts d = support_h100();
    kiln_config guess;
    kiln_plan plan;
    kiln_why why = {0};
    const kiln_shape own = support_check_guess(solver(), problem, &d, &guess);
    ck_assert_msg(kiln_solver_plan(solver(), &own, &d, &guess, &plan, &why), "%s: %s", problem,
                  why.text);
    const char *options = plan.stage[plan.nstages - 1].options;
    ck_assert_msg(strstr(options, box), "%s: %s", problem, options);
}

START_TEST(boxes_waste_little)
{
    check_box("fwd-f16-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC",
              "-DD_BOX_W=8 -DD_BOX_H=8 -DD_BOX_N=1 ");
    check_box("fwd-f16-n64-c64-k64-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC",
              "-DD_BOX_W=2 -DD_BOX_H=2 -DD_BOX_N=16 ");
    check_box("bwd-f16-n64-c64-k64-i7x7-f3x3-p1x1-l:NHWC.OIHW.NHWC",
              "-DD_BOX_W=1 -DD_BOX_H=1 -DD_BOX_N=64 ");
    check_box("fwd-f16-n1-c64-k64-i7x7-f1x1-l:NHWC.OIHW.NHWC",
              "-DD_BOX_W=64 -DD_BOX_H=1 -DD_BOX_N=1 ");
    /* 63 pixels eight apart are more than a map can say of a box. */
    check_box("fwd-f16-n1-c64-k64-i8x505-f1x1-s8x8-l:NHWC.OIHW.NHWC",
              "-DD_BOX_W=32 -DD_BOX_H=2 -DD_BOX_N=1 ");
}
END_TEST

START_TEST(guesses_fit_the_device)
{
    static const char *const problems[] = {
        "fwd-f16-n64-c64-k64-i56x56-f3x3-p1x1-l:any.OIHW.any",
        "bwd-bf16-n64-c64-k128-i112x112-f3x3-p1x1-l:NHWC.OIHW.NHWC",
        "fwd-bf16-n2-c13-k17-i5x5-f3x3-p1x1-l:NCHW.OIHW.NHWC",
        "fwd-f16-n1-c8-k8-i300-f9-l:NWC.OIW.NWC",
        "fwd-f32-n2-c64-k512-i14x14-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC-reduced",
        "fwd-f16-n1-c4096-k1000-i1x1-f1x1-l:NHWC.OIHW.NHWC",
    };
    const kiln_device_facts d = support_h100();
    support_check_guesses(solver(), &d, problems, SUPPORT_COUNT(problems));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tma plan");
    TCase *c = tcase_create("tma plan");
    tcase_add_test(c, what_it_cannot_do_is_refused);
    tcase_add_test(c, stages_are_as_planned_by_hand);
    tcase_add_test(c, boxes_waste_little);
    tcase_add_test(c, guesses_fit_the_device);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
