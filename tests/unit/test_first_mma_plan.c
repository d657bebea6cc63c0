/* Plans of first_mma, with the facts of a GPU that has tensor cores: what it refuses, and guesses
 * that the device can hold. */
#include "generator/plan/solver.h"

#include <check.h>
#include <string.h>

static kiln_device_facts gpu(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_GPU;
    d.compute_units = 132;
    d.local_memory = 48 << 10;
    d.gpu = (kiln_gpu_facts){.subgroup = 32, .group_registers = 65536, .has_mma = true};
    kiln_device_set_roofline(&d, 1.98);
    return d;
}

static bool takes(const char *text, const kiln_device_facts *d, kiln_shape *own, kiln_why *why)
{
    kiln_problem p;
    char reason[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, text, reason) == KILN_OK, "%s: %s", text, reason);
    const kiln_shape s = kiln_shape_of(&p);
    return kiln_solver_takes(kiln_solver_named("first_mma"), &s, d, own, why);
}

START_TEST(what_it_cannot_do_is_refused)
{
    static const struct {
        const char *problem, *reason;
    } cases[] = {
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
    kiln_device_facts d = gpu();
    kiln_shape own;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_why why = {0};
        ck_assert_msg(!takes(cases[i].problem, &d, &own, &why), "%s", cases[i].problem);
        ck_assert_msg(strstr(why.text, cases[i].reason), "%s: %s", cases[i].problem, why.text);
    }
    kiln_why why = {0};
    d.gpu.has_mma = false;
    ck_assert(!takes("fwd-f16-n1-c3-k16-i9x9-f3x3-l:NHWC.OIHW.NHWC", &d, &own, &why));
    ck_assert_msg(strstr(why.text, "a probe found none"), "%s", why.text);
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
    const kiln_device_facts d = gpu();
    const kiln_solver *solver = kiln_solver_named("first_mma");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kiln_shape own;
        kiln_why why = {0};
        kiln_config c = {0};
        ck_assert_msg(takes(problems[i], &d, &own, &why), "%s: %s", problems[i], why.text);
        solver->guess(&own, &d, &c);
        ck_assert_msg(!kiln_config_refused(solver, &own, &d, &c, false, &why), "%s: %s",
                      problems[i], why.text);
        ck_assert_double_gt(solver->predict(&own, &d, &c), 0);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("first_mma plan");
    TCase *c = tcase_create("first_mma plan");
    tcase_add_test(c, what_it_cannot_do_is_refused);
    tcase_add_test(c, guesses_fit_the_device);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
