/* Plans of first_mma, with the facts of a GPU that has tensor cores: what it refuses, and guesses
 * that the device can hold. */
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>

static const kiln_solver *solver(void)
{
    return kiln_solver_named("first_mma");
}

START_TEST(what_it_cannot_do_is_refused)
{
    static const support_refusal cases[] = {
        {"bwd-f16-n1-c3-k16-i9x9-f3x3-l:NHWC.OIHW.NHWC", "forward"},
        {"fwd-f32-n1-c3-k16-i9x9-f3x3-l:NHWC.OIHW.NHWC", "f16, bf16 and int8"},
        {"fwd-f16-n1-c5-k16-i9x9-f3x3-l:NHWC.OIHW.NHWC", "four source channels"},
        {"fwd-f16-n1-c3-k12-i9x9-f3x3-l:NHWC.OIHW.NHWC", "eight neighbouring channels"},
        {"fwd-f16-n1-c3-k16-i9x9-f3x3-l:NHWC.OIHW.NCHW", "eight neighbouring channels"},
        {"fwd-f16-n1-c3-k16-i30x30-f11x11-l:NHWC.OIHW.NHWC", "121 taps"},
        {"fwd-f16-n1-c3-k16-i5x9x9-f3x3x3-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
        /* The only pixels of depth that meet lie in the padding. */
        {"fwd-f16-n1-c3-k16-i1x9x9-f1x3x3-s3x1x1-p1x1x1-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
    };
    kiln_device_facts d = support_h100();
    support_check_refusals(solver(), &d, cases, SUPPORT_COUNT(cases));
    d.gpu.has_mma = false;
    support_check_refused(solver(), "fwd-f16-n1-c3-k16-i9x9-f3x3-l:NHWC.OIHW.NHWC", &d,
                          "a probe found none");
}
END_TEST

START_TEST(guesses_fit_the_device)
{
    static const char *const problems[] = {
        "fwd-f16-n64-c3-k64-i224x224-f7x7-s2x2-p3x3-l:any.OIHW.any",
        "fwd-i8-n1-c3-k32-i224x224-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC",
        "fwd-bf16-n2-c4-k136-i5x5-f3x3-p1x1-l:NCHW.OIHW.NHWC",
        "fwd-f16-n1-c1-k8-i1x1-f1x1-l:NHWC.OIHW.NHWC",
        "fwd-f16-n1-c3-k8-i90x500-f2x2-s9x7-d3x40-l:NHWC.OIHW.NHWC",
    };
    const kiln_device_facts d = support_h100();
    support_check_guesses(solver(), &d, problems, SUPPORT_COUNT(problems));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("first_mma plan");
    TCase *c = tcase_create("first_mma plan");
    tcase_add_test(c, what_it_cannot_do_is_refused);
    tcase_add_test(c, guesses_fit_the_device);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
