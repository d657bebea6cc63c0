/* Plans of halo_wgmma, with the facts of a GPU that has the instruction wgmma: what it refuses, its
 * stages, and guesses that the device can hold. */
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>

static const kiln_solver *solver(void)
{
    return kiln_solver_named("halo_wgmma");
}

START_TEST(what_it_cannot_do_is_refused)
{
    static const support_refusal cases[] = {
        {"wrw-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "forward and backward data"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-g2-l:NHWC.OIHW.NHWC", "without groups"},
        {"fwd-f32-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "--math reduced"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-s2x2-l:NHWC.OIHW.NHWC", "one pixel, not by 2 x 2"},
        {"fwd-f16-n1-c64-k64-i9x9-f1x1-l:NHWC.OIHW.NHWC", "one tap"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC;H%8", "and their kin"},
        {"fwd-f16-n1-c64-k64-i5x9x9-f3x3x3-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
        {"fwd-f16-n1-c64-k64-i1x9x9-f1x3x3-s3x1x1-p1x1x1-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
        {"fwd-f16-n1-c512-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "bytes of local memory"},
    };
    kiln_device_facts d = support_h100();
    support_check_refusals(solver(), &d, cases, SUPPORT_COUNT(cases));
    d.gpu.has_wgmma = false;
    support_check_refused(solver(), "fwd-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", &d,
                          "a probe found none");
}
END_TEST

static void check_stages(const char *problem, const char *config, const char *stages)
{
    const kiln_device_facts d = support_h100();
    support_check_stages(solver(), problem, &d, config, stages);
}

START_TEST(stages_are_as_planned_by_hand)
{
    /* As many groups as run at a time: 100 kB of local memory, two in a unit; 127 kB, one. */
    check_stages("fwd-f16-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC", "1,1,2,64",
                 "halo_wgmma_pack 64x64x9/64, halo_wgmma 33792x1x1/128");
    check_stages("bwd-bf16-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC", "2,1,2,64",
                 "halo_wgmma_pack 64x64x9/64, halo_wgmma 33792x1x1/256");
    /* No more groups than tiles: two images of 2 x 1 tiles, for two tiles of channels. Two rows of
     * 128 bytes a tap. */
    check_stages("fwd-f16-n2-c96-k40-i16x8-f3x3-p1x1-l:NHWC.OIHW.NHWC", "1,1,2,32",
                 "halo_wgmma_pack 64x64x18/64, halo_wgmma 512x2x1/128");
    /* Backward data: 40 channels are the source. Channels first by way of a stage. */
    check_stages("bwd-f16-n2-c96-k40-i16x8-f3x3-p1x1-l:NHWC.OIHW.NCHW", "1,2,2,96",
                 "halo_wgmma_pack 64x96x9/64, turn 512x1x1/256, "
                 "halo_wgmma 256x1x1/128");
    /* Results as well where rows are no whole eights; where a residual lies so, they are stored as
     * they are to lie. */
    check_stages("fwd-f16-n1-c64-k64-i16x12-f3x3-p1x1", "1,1,2,64",
                 "halo_wgmma_pack 64x64x9/64, turn 512x1x1/256, halo_wgmma 512x1x1/128, "
                 "turn 512x1x1/256");
    check_stages("fwd-f16-n1-c64-k64-i16x12-f3x3-p1x1-r1", "1,1,2,64",
                 "halo_wgmma_pack 64x64x9/64, turn 512x1x1/256, halo_wgmma 512x1x1/128");
    check_stages("fwd-f16-n1-c64-k64-i16x16-f3x3-p1x1", "1,1,2,64",
                 "halo_wgmma_pack 64x64x9/64, turn 512x1x1/256, halo_wgmma 512x1x1/128");
    /* A row of 128 bytes has 128 bytes or 32 floats. */
    check_stages("fwd-i8-n64-c128-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC", "1,1,2,64",
                 "halo_wgmma_pack 128x64x9/64, halo_wgmma 33792x1x1/128");
    check_stages("fwd-f32-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC-reduced", "1,1,2,64",
                 "halo_wgmma_pack 32x64x18/64, halo_wgmma 16896x1x1/128");
}
END_TEST

START_TEST(guesses_fit_the_device)
{
    static const char *const problems[] = {
        "fwd-f16-n64-c64-k64-i56x56-f3x3-p1x1-l:any.OIHW.any",
        "bwd-bf16-n64-c64-k128-i112x112-f3x3-p1x1-l:NHWC.OIHW.NHWC",
        "fwd-bf16-n2-c13-k17-i5x5-f3x3-p1x1-l:NHWC.OIHW.NHWC",
        "fwd-f16-n1-c8-k8-i300-f9-l:NWC.OIW.NWC",
        "fwd-f16-n1-c96-k32-i40x50-f2x2-d3x4-l:NHWC.OIHW.NHWC",
    };
    const kiln_device_facts d = support_h100();
    support_check_guesses(solver(), &d, problems, SUPPORT_COUNT(problems));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("halo plan");
    TCase *c = tcase_create("halo plan");
    tcase_add_test(c, what_it_cannot_do_is_refused);
    tcase_add_test(c, stages_are_as_planned_by_hand);
    tcase_add_test(c, guesses_fit_the_device);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
