/* Plans of halo_wgmma, with the facts of a GPU that has the instruction wgmma: what it refuses, its
 * stages, and guesses that the device can hold. */
#include "generator/plan/solver.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static kiln_device_facts gpu(void)
{
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_GPU;
    d.compute_units = 132;
    d.local_memory = 48 << 10;
    d.max_group = 1024;
    for (int a = 0; a < 3; a++)
        d.max_local[a] = 1024;
    d.cuda_capability = 90;
    d.gpu = (kiln_gpu_facts){.subgroup = 32,
                             .group_registers = 65536,
                             .has_mma = true,
                             .has_wgmma = true,
                             .static_local_memory = 200 << 10};
    kiln_device_set_roofline(&d, 1.98);
    return d;
}

static const kiln_solver *solver(void)
{
    return kiln_solver_named("halo_wgmma");
}

static bool takes(const char *text, const kiln_device_facts *d, kiln_shape *own, kiln_why *why)
{
    kiln_problem p;
    char reason[KILN_ERROR_TEXT];
    ck_assert_msg(kiln_problem_parse(&p, text, reason) == KILN_OK, "%s: %s", text, reason);
    const kiln_shape s = kiln_shape_of(&p);
    return kiln_solver_takes(solver(), &s, d, own, why);
}

START_TEST(what_it_cannot_do_is_refused)
{
    static const struct {
        const char *problem, *reason;
    } cases[] = {
        {"wrw-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "forward and backward data"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-g2-l:NHWC.OIHW.NHWC", "without groups"},
        {"fwd-f32-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC-reduced", "f16 and bf16"},
        {"fwd-i8-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "f16 and bf16"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-s2x2-l:NHWC.OIHW.NHWC", "one pixel, not by 2 x 2"},
        {"fwd-f16-n1-c64-k64-i9x9-f1x1-l:NHWC.OIHW.NHWC", "one tap"},
        {"fwd-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NCHW", "not NCHW"},
        {"fwd-f16-n1-c64-k64-i5x9x9-f3x3x3-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
        {"fwd-f16-n1-c64-k64-i1x9x9-f1x3x3-s3x1x1-p1x1x1-l:NDHWC.OIDHW.NDHWC", "one and two axes"},
        {"fwd-f16-n1-c512-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", "bytes of local memory"},
    };
    kiln_device_facts d = gpu();
    kiln_shape own;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_why why = {0};
        ck_assert_msg(!takes(cases[i].problem, &d, &own, &why), "%s", cases[i].problem);
        ck_assert_msg(strstr(why.text, cases[i].reason), "%s: %s", cases[i].problem, why.text);
    }
    kiln_why why = {0};
    d.gpu.has_wgmma = false;
    ck_assert(!takes("fwd-f16-n1-c64-k64-i9x9-f3x3-l:NHWC.OIHW.NHWC", &d, &own, &why));
    ck_assert_msg(strstr(why.text, "a probe found none"), "%s", why.text);
}
END_TEST

static void check_stages(const char *text, const char *config, const char *wanted)
{
    const kiln_device_facts d = gpu();
    kiln_shape own;
    kiln_why why = {0};
    kiln_config c = {0};
    kiln_plan plan;
    char stages[512] = "";
    ck_assert_msg(takes(text, &d, &own, &why), "%s: %s", text, why.text);
    ck_assert_msg(kiln_config_parse(solver(), config, &c, &why), "%s", why.text);
    ck_assert_msg(!kiln_config_refused(solver(), &own, &d, &c, true, &why), "%s: %s", text,
                  why.text);
    ck_assert_msg(kiln_solver_plan(solver(), &own, &d, &c, &plan, &why), "%s: %s", text, why.text);
    for (int i = 0; i < plan.nstages; i++) {
        const kiln_stage *at = &plan.stage[i];
        const size_t used = strlen(stages);
        snprintf(stages + used, sizeof stages - used, "%s%s %zux%zux%zu/%zu", i ? ", " : "",
                 at->kernel, at->global[0], at->global[1], at->global[2], at->local[0]);
    }
    ck_assert_str_eq(stages, wanted);
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
                 "halo_wgmma_pack 64x96x9/64, gemm_mma_source 1024x1x1/256, "
                 "halo_wgmma 256x1x1/128");
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
    const kiln_device_facts d = gpu();
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kiln_shape own;
        kiln_why why = {0};
        kiln_config c = {0};
        ck_assert_msg(takes(problems[i], &d, &own, &why), "%s: %s", problems[i], why.text);
        solver()->guess(&own, &d, &c);
        ck_assert_msg(!kiln_config_refused(solver(), &own, &d, &c, false, &why), "%s: %s",
                      problems[i], why.text);
        ck_assert_double_gt(solver()->predict(&own, &d, &c), 0);
    }
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
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
