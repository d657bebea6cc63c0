/* Plans for tensor cores, with the facts of a GPU that has some: refusals, stages, and guesses that
 * the device can hold. */
#include "generator/solvers/gpu/mma_tiles.h"
#include "problems.h"
#include "support/plans.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

/* Without the instruction wgmma. */
static kiln_device_facts gpu(int64_t static_local_memory)
{
    kiln_device_facts d = support_h100();
    d.gpu.has_wgmma = false;
    d.gpu.static_local_memory = static_local_memory;
    return d;
}

static const kiln_solver *solver_of(const kiln_shape *s)
{
    return kiln_solver_named(s->direction == KILN_BACKWARD_WEIGHTS ? "gemm_weights_mma"
                                                                   : "gemm_mma");
}

/* ---- refusals ---- */

static void check_refused(const char *text, const kiln_device_facts *d, const char *reason)
{
    const kiln_shape s = support_shape(text);
    support_check_refused(solver_of(&s), text, d, reason);
}

START_TEST(tensor_cores_and_types_are_asked_for)
{
    const kiln_device_facts d = gpu(0);
    kiln_device_facts without = d;
    without.gpu.has_mma = false;
    check_refused("fwd-f16-n1-c16-k16-i8x8-f3x3", &without, "a probe found none");
    check_refused("wrw-f16-n1-c16-k16-i8x8-f3x3", &without, "a probe found none");
    check_refused("fwd-f32-n1-c16-k16-i8x8-f3x3", &d, "--math reduced");
    check_refused("wrw-f32-n1-c16-k16-i8x8-f3x3-reduced", &d, "f16 and bf16");
}
END_TEST

/* Capability 9.0 has instructions that newer ones lack; a probe does not ask these for them. */
START_TEST(newer_and_older_devices_are_told_what_they_lack)
{
    static const struct {
        const char *solver, *problem;
        kiln_gpu_maker maker;
        int major, minor;
        const char *reason;
    } cases[] = {
        {"gemm_wgmma", "fwd-f16-n1-c16-k16-i8x8-f3x3", KILN_GPU_NVIDIA, 10, 0,
         "by the instruction wgmma; compute capability 9.0 alone has them, and the device has "
         "10.0"},
        {"gemm_weights_wgmma", "wrw-f16-n1-c16-k16-i8x8-f3x3", KILN_GPU_NVIDIA, 12, 1,
         "compute capability 9.0 alone has them, and the device has 12.1"},
        {"gemm_tma", "fwd-f16-n1-c16-k16-i8x8-f3x3", KILN_GPU_NVIDIA, 10, 0,
         "compute capability 9.0 alone has them, and the device has 10.0"},
        {"halo_wgmma", "fwd-f16-n1-c64-k64-i8x8-f3x3-p1x1", KILN_GPU_NVIDIA, 8, 9,
         "compute capability 9.0 alone has them, and the device has 8.9"},
        {"gemm_mma", "fwd-f16-n1-c16-k16-i8x8-f3x3", KILN_GPU_NVIDIA, 7, 5,
         "compute capability 8.0 or more has them, and the device has 7.5"},
        {"gemm_mma", "fwd-f16-n1-c16-k16-i8x8-f3x3", KILN_GPU_AMD, 11, 0,
         "only NVIDIA's GPUs are asked for them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_device_facts d = support_h100();
        d.gpu.id = (kiln_gpu_id){cases[i].maker, KILN_GPU_VERSION(cases[i].major, cases[i].minor)};
        d.gpu.has_mma = d.gpu.has_wgmma = d.gpu.has_tma = false;
        kiln_device_set_roofline(&d, d.gpu.clock_ghz);
        support_check_refused(kiln_solver_named(cases[i].solver), cases[i].problem, &d,
                              cases[i].reason);
    }
}
END_TEST

/* ---- stages ---- */

static void check_stages(const char *text, const char *config, const char *stages)
{
    const kiln_device_facts d = gpu(0);
    const kiln_shape s = support_shape(text);
    support_check_stages(solver_of(&s), text, &d, config, stages);
}

START_TEST(stages_are_as_planned_by_hand)
{
    /* 2 * 8 * 8 pixels in 2 tiles, 40 channels in 2; 9 * 16 terms in 5 rows of 32. */
    check_stages("fwd-f16-n2-c16-k40-i8x8-f3x3-p1x1-l:NHWC.OIHW.NHWC", "64,32,4,1,64,2,1",
                 "gemm_mma_pack 160x64x1/64, gemm_mma 512x1x1/128");
    /* Five channels become eight, in NHWC as in NCHW, an item a pixel: 9 * 8 terms. */
    check_stages("fwd-bf16-n2-c5-k40-i8x8-f3x3-p1x1-l:NHWC.OIHW.NHWC", "64,64,2,2,64,2,1",
                 "gemm_mma_pack 96x64x1/64, gemm_mma_source 128x1x1/256, gemm_mma 256x1x1/128");
    check_stages("fwd-bf16-n2-c5-k40-i8x8-f3x3-p1x1", "64,64,2,2,64,2,1",
                 "gemm_mma_pack 96x64x1/64, gemm_mma_source 128x1x1/256, gemm_mma 256x1x1/128");
    /* Whole blocks of channels are read and written as they lie; blocks of 4 bytes, and blocks that
     * are filled up, by way of a stage. */
    check_stages("fwd-f16-n2-c16-k40-i8x8-f3x3-p1x1-l:NCHW8c.OIHW.NCHW8c", "64,32,4,1,64,2,1",
                 "gemm_mma_pack 160x64x1/64, gemm_mma 512x1x1/128");
    check_stages("fwd-i8-n2-c32-k32-i8x8-f1x1-l:NCHW32c.OIHW.NCHW32c", "64,32,4,1,64,2,1",
                 "gemm_mma_pack 64x32x1/64, gemm_mma 256x1x1/128");
    check_stages("fwd-i8-n2-c32-k32-i8x8-f1x1-l:NCHW4c.OIHW.NCHW4c", "64,32,4,1,64,2,1",
                 "gemm_mma_pack 64x32x1/64, turn 512x1x1/256, gemm_mma 256x1x1/128");
    check_stages("wrw-f16-n2-c16-k16-i8x8-f3x3-p1x1-l:NCHW8c.OIHW.NHWC", "64,64,2,2,64,2,1",
                 "turn 512x1x1/256, gemm_weights_mma 384x1x1/128, "
                 "gemm_weights_mma_sum 2304x1x1/128");
    /* Pixels of a phase are no neighbours: planes of results by way of a stage. */
    check_stages("bwd-f16-n2-c16-k16-i16x16-f1x1-s2x2", "64,32,4,1,64,2,1",
                 "gemm_mma_pack 32x32x4/64, turn 512x1x1/256, gemm_mma 256x4x1/128, "
                 "turn 512x1x1/256");
    /* Eight groups of 8 channels are one of 64. */
    check_stages("fwd-f16-n2-c64-k64-i8x8-f3x3-p1x1-g8-l:NHWC.OIHW.NHWC", "64,64,4,1,128,2,1",
                 "gemm_mma_pack 576x64x1/64, gemm_mma 256x1x1/128");
    check_stages("fwd-i8-n2-c64-k64-i8x8-f3x3-p1x1-g8-l:NHWC.OIHW.NHWC", "64,64,4,1,128,2,1",
                 "gemm_mma_pack 640x64x1/64, gemm_mma 256x1x1/128");
    /* Backward data with stride 2: four phases of up to four taps, 32 pixels of each. */
    check_stages("bwd-f16-n2-c32-k16-i8x8-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC", "64,32,4,1,64,2,1",
                 "gemm_mma_pack 64x32x4/64, gemm_mma 128x4x1/128");
    /* Terms in three parts; groups of bytes. */
    check_stages("fwd-i8-n1-c64-k64-i8x8-f3x3-p1x1-g2-l:NHWC.OIHW.NHWC", "64,32,4,1,64,2,3",
                 "gemm_mma_pack 320x32x2/64, gemm_mma 128x2x3/128, gemm_mma_sum 4096x1x1/128");
    /* 16 channels by 9 * 8 columns in 2 tiles, 128 pixels in 4 steps. */
    check_stages("wrw-f16-n2-c8-k16-i8x8-f3x3-p1x1-l:NHWC.OIHW.NHWC", "64,64,2,2,64,2,4",
                 "gemm_weights_mma 256x1x4/128, gemm_weights_mma_sum 1152x1x1/128");
}
END_TEST

/* ---- guesses ---- */

START_TEST(guesses_fit_the_device)
{
    static const char *const shapes[] = {
        "f16-n64-c256-k256-i14x14-f3x3-p1x1", "bf16-n1-c512-k512-i7x7-f3x3-p1x1",
        "f16-n64-c3-k64-i224x224-f7x7-s2x2-p3x3", "f16-n1-c480-k20-i1x1-f1x1",
        "bf16-n64-c256-k256-i28x28-f3x3-p1x1-g32"};
    static const char *const directions[] = {"fwd", "bwd", "wrw"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int at = 0; at < 6; at++) {
            const kiln_device_facts d = gpu(at % 2 ? 227 << 10 : 0);
            char text[KILN_KEY_TEXT];
            kiln_config c;
            snprintf(text, sizeof text, "%s-%s", directions[at / 2], shapes[i]);
            const kiln_shape s = support_shape(text);
            support_check_guess(solver_of(&s), text, &d, &c);
            const kiln_mma_tiles t = kiln_mma_tiles_of(KILN_MMA, KILN_F16, 2, true, 1, &c);
            ck_assert_int_le(t.local_bytes, at % 2 ? 227 << 10 : 48 << 10);
        }
}
END_TEST

/* What an H100 gets without a row: solver and config, as predicted among all solvers. A change here
 * is a change of the fitted times, and needs a measurement. */
static const struct {
    const char *problem, *choice;
} choices[] = {
    {"fwd-f16-n64-c256-k256-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC", "gemm_wgmma 192,128,12,1,128,5,1"},
    {"fwd-f16-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC", "halo_wgmma 1,1,3,64"},
    {"bwd-bf16-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC", "halo_wgmma 1,1,3,64"},
    {"fwd-f16-n64-c64-k128-i112x112-f3x3-p1x1-l:NHWC.OIHW.NHWC", "halo_wgmma 2,1,2,128"},
    {"fwd-f16-n64-c32-k32-i112x112-f3x3-p1x1-l:NHWC.OIHW.NHWC", "halo_wgmma 1,2,3,32"},
    {"fwd-f16-n64-c128-k128-i28x28-f3x3-p1x1-l:NHWC.OIHW.NHWC", "gemm_tma 3,1,128,3"},
    {"fwd-f16-n64-c256-k256-i28x28-f3x3-p1x1-g32-l:NHWC.OIHW.NHWC", "gemm_mma 256,32,4,1,64,4,1"},
    {"fwd-i8-n64-c256-k256-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC", "gemm_tma 3,1,128,3"},
    {"fwd-f32-n64-c128-k128-i28x28-f3x3-p1x1-l:NHWC.OIHW.NHWC-reduced", "gemm_tma 3,1,128,3"},
    {"fwd-f16-n1-c256-k256-i14x14-f3x3-p1x1-l:NHWC.OIHW.NHWC", "gemm_tma 1,1,32,4"},
    {"fwd-bf16-n1-c512-k512-i7x7-f3x3-p1x1-l:NHWC.OIHW.NHWC", "gemm_wgmma 64,32,4,1,128,6,8"},
    {"fwd-f16-n64-c96-k24-i56x56-f1x1-l:NHWC.OIHW.NHWC", "gemm_tma 3,2,32,3"},
    {"fwd-f16-n64-c192-k48-i35x35-f1x1-l:NHWC.OIHW.NHWC", "gemm_tma 1,2,64,3"},
    {"bwd-f16-n64-c128-k128-i56x56-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC",
     "gemm_wgmma 256,128,8,1,128,4,1"},
    {"wrw-f16-n64-c512-k512-i7x7-f3x3-p1x1-l:NHWC.OIHW.NHWC",
     "gemm_weights_wgmma 128,128,8,1,128,6,2"},
    {"wrw-bf16-n64-c64-k64-i56x56-f3x3-p1x1-l:NHWC.OIHW.NHWC",
     "gemm_weights_mma 64,128,1,4,128,4,48"},
    {"wrw-f16-n64-c256-k256-i28x28-f3x3-p1x1-g32-l:NHWC.OIHW.NHWC",
     "gemm_weights_mma 64,128,1,4,128,4,12"},
};

static void choose(const kiln_shape *s, const kiln_device_facts *d, char *text, size_t size)
{
    const kiln_solver *solver;
    double best = INFINITY;
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        char config[KILN_CONFIG_TEXT];
        kiln_shape own;
        kiln_why why;
        kiln_config c;
        if (!kiln_solver_takes(solver, s, d, &own, &why))
            continue;
        solver->guess(solver, &own, d, &c);
        const double ms = kiln_solver_predict(solver, &own, d, &c);
        if (ms >= best)
            continue;
        best = ms;
        kiln_config_text(solver, &c, config, sizeof config);
        snprintf(text, size, "%s %s", solver->name, config);
    }
}

START_TEST(choices_are_known)
{
    kiln_device_facts d = gpu(200 << 10);
    char text[256] = "";
    d.gpu.has_wgmma = true;
    const kiln_shape s = support_shape(choices[_i].problem);
    choose(&s, &d, text, sizeof text);
    ck_assert_str_eq(text, choices[_i].choice);
}
END_TEST

/* Returns the plan of the solver that is predicted to be the fastest of all. */
static const kiln_plan *fastest_plan(const kiln_shape *s, const kiln_device_facts *d)
{
    static kiln_plan plan;
    const kiln_solver *solver;
    double best = INFINITY;
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_shape own;
        kiln_why why;
        kiln_config c;
        if (!kiln_solver_takes(solver, s, d, &own, &why))
            continue;
        solver->guess(solver, &own, d, &c);
        const double ms = kiln_solver_predict(solver, &own, d, &c);
        if (ms >= best)
            continue;
        best = ms;
        ck_assert_msg(kiln_solver_plan(solver, &own, d, &c, &plan, &why), "%s", why.text);
    }
    return &plan;
}

/* The host needs longer to enqueue a second launch than these layers take. */
static const char *const small[] = {
    "wrw-f16-n64-c8-k16-i7x7-f7x7-l:NHWC.OIHW.NHWC",
    "wrw-f16-n64-c3-k5-i8x8-f5x5-s3x3-p2x2-l:NHWC.OIHW.NHWC",
    "bwd-f16-n64-c480-k20-i1x1-f1x1-l:NHWC.OIHW.NHWC",
    "fwd-f16-n64-c3-k5-i8x8-f5x5-s3x3-p2x2-l:NHWC.OIHW.NHWC",
    "fwd-f16-n1-c256-k512-i14x14-f3x3-s2x2-p1x1-l:NHWC.OIHW.NHWC",
    "fwd-f32-n64-c960-k240-i1x1-f1x1-l:NHWC.OIHW.NHWC-reduced",
};

START_TEST(a_small_problem_is_one_launch)
{
    kiln_device_facts d = gpu(200 << 10);
    d.gpu.has_wgmma = true;
    const kiln_shape s = support_shape(small[_i]);
    const kiln_plan *plan = fastest_plan(&s, &d);
    int launches = 0;
    for (int i = 0; i < plan->nstages; i++)
        launches += !plan->stage[i].pack;
    ck_assert_int_eq(launches, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mma plan");
    TCase *c = tcase_create("mma plan");
    tcase_add_test(c, tensor_cores_and_types_are_asked_for);
    tcase_add_test(c, newer_and_older_devices_are_told_what_they_lack);
    tcase_add_test(c, stages_are_as_planned_by_hand);
    tcase_add_test(c, guesses_fit_the_device);
    tcase_add_loop_test(c, choices_are_known, 0, sizeof choices / sizeof *choices);
    tcase_add_loop_test(c, a_small_problem_is_one_launch, 0, sizeof small / sizeof *small);
    suite_add_tcase(s, c);
    return support_run_apart(s);
}
