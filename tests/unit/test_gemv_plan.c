/* Plans of gemv: what it refuses, its stages, and guesses that are legal. */
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>

static const kiln_solver *solver(void)
{
    return kiln_solver_named("gemv");
}

START_TEST(what_it_cannot_do_is_refused)
{
    static const support_refusal cases[] = {
        {"wrw-f32-n1-c64-k64-i1x1-f1x1", "forward and backward data"},
        {"fwd-f32-n1-c64-k64-i9x9-f3x3-p1x1", "at its own place alone"},
        {"fwd-f32-n1-c64-k64-i1x1-f3x3-p1x1", "at its own place alone"},
        {"fwd-f32-n257-c64-k64-i1x1-f1x1", "256 at most; these are 257"},
        {"fwd-f32-n1-c64-k64-i3x3-f1x1", "no neighbours in NCHW and NCHW"},
        {"fwd-f32-n1-c64-k64-i3x4-f1x1-l:NHWC.OIHW.NWHC", "no neighbours in NHWC and NWHC"},
    };
    const kiln_device_facts d = support_h100();
    support_check_refusals(solver(), &d, cases, SUPPORT_COUNT(cases));
}
END_TEST

static void check_stages(const char *problem, const char *config, const char *stages)
{
    const kiln_device_facts d = support_h100();
    support_check_stages(solver(), problem, &d, config, stages);
}

START_TEST(stages_are_as_planned_by_hand)
{
    /* Two teams, two channels a group; a filter as large as the image is read as it lies, too. */
    check_stages("fwd-f16-n1-c480-k20-i1x1-f1x1", "128,64,1,1", "gemv 1280x1x1/128");
    check_stages("fwd-f16-n3-c480-k20-i2x3-f2x3", "128,64,1,1", "gemv 1280x3x1/128");
    /* Eight teams of four channels; four pixels. */
    check_stages("bwd-f16-n63-c480-k20-i1x1-f1x1", "128,16,4,4",
                 "gemv_pack 20x480x1/64, gemv 1920x16x1/128");
    check_stages("bwd-f32-n2-c24-k15-i3x5-f1x1-g3-l:NHWC.OIHW.NHWC", "64,32,8,2",
                 "gemv_pack 5x8x3/64, gemv 128x4x3/64");
}
END_TEST

START_TEST(guesses_are_legal)
{
    static const char *const problems[] = {
        "fwd-f32-n1-c1-k1-i1x1-f1x1",
        "fwd-i8-n256-c4096-k4096-i1x1-f1x1",
        "bwd-bf16-n1-c25088-k4096-i1x1-f1x1",
        "fwd-f16-n1-c96-k960-i16x16-f1x1-g96-l:NHWC.OIHW.NHWC",
    };
    const kiln_device_facts gpu = support_h100(), cpu = kiln_device_generic();
    kiln_config guess;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        support_check_guess(solver(), problems[i], &gpu, &guess);
        support_check_guess(solver(), problems[i], &cpu, &guess);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gemv plan");
    TCase *c = tcase_create("gemv plan");
    tcase_add_test(c, what_it_cannot_do_is_refused);
    tcase_add_test(c, stages_are_as_planned_by_hand);
    tcase_add_test(c, guesses_are_legal);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
