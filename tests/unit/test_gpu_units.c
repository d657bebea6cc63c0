/* The rows of GPUs: each is found by what it says, no two are for the same GPU, their numbers are
 * within ranges, and the limits that follow from them are the published ones. */
#include "generator/plan/device.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const kiln_gpu_unit *unit_of(kiln_gpu_maker maker, int major, int minor)
{
    const kiln_gpu_id id = {maker, KILN_GPU_VERSION(major, minor)};
    return kiln_gpu_unit_of(&id);
}

START_TEST(rows_are_found_by_what_they_say)
{
    const kiln_gpu_unit *unit;
    for (int i = 0; (unit = kiln_gpu_unit_at(i)); i++) {
        ck_assert_ptr_eq(kiln_gpu_unit_named(unit->name), unit);
        const int versions[] = {unit->versions.first, unit->versions.last};
        for (int v = 0; v < 2; v++) {
            const kiln_gpu_id id = {unit->maker, versions[v]};
            ck_assert_msg(kiln_gpu_unit_of(&id) == unit, "%s, version %d, is taken for %s",
                          unit->name, versions[v], kiln_gpu_unit_of(&id)->name);
        }
    }
}
END_TEST

START_TEST(gpus_have_the_row_of_their_family)
{
    static const struct {
        kiln_gpu_maker maker;
        int major, minor;
        const char *row;
    } cases[] = {
        {KILN_GPU_NVIDIA, 9, 0, "nvidia_9_0"}, {KILN_GPU_NVIDIA, 8, 0, "nvidia_8_0"},
        {KILN_GPU_NVIDIA, 8, 6, "nvidia_8x"},  {KILN_GPU_NVIDIA, 8, 9, "nvidia_8x"},
        {KILN_GPU_NVIDIA, 7, 5, "nvidia"},     {KILN_GPU_NVIDIA, 10, 0, "nvidia"},
        {KILN_GPU_NVIDIA, 12, 1, "nvidia"},    {KILN_GPU_AMD, 9, 4, "amd_gfx9"},
        {KILN_GPU_AMD, 10, 3, "amd_gfx10"},    {KILN_GPU_AMD, 11, 0, "amd_gfx10"},
        {KILN_GPU_INTEL, 12, 55, "intel_xe"},  {KILN_GPU_INTEL, 20, 1, "intel_xe"},
        {KILN_GPU_AMD, 8, 0, "generic"},       {KILN_GPU_INTEL, 9, 0, "generic"},
        {KILN_GPU_UNKNOWN, 9, 0, "generic"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(unit_of(cases[i].maker, cases[i].major, cases[i].minor)->name,
                         cases[i].row);
    ck_assert_str_eq(kiln_gpu_unit_of(NULL)->name, "generic");
    ck_assert_ptr_null(kiln_gpu_unit_named("no such row"));
    ck_assert_ptr_null(kiln_gpu_unit_at(-1));
}
END_TEST

START_TEST(no_two_rows_are_for_the_same_gpu)
{
    const kiln_gpu_unit *unit, *other;
    for (int i = 0; (unit = kiln_gpu_unit_at(i)); i++)
        for (int j = i + 1; (other = kiln_gpu_unit_at(j)); j++) {
            ck_assert_str_ne(unit->name, other->name);
            ck_assert_msg(unit->maker != other->maker ||
                              unit->versions.last < other->versions.first ||
                              other->versions.last < unit->versions.first,
                          "%s and %s are for the same GPUs", unit->name, other->name);
        }
}
END_TEST

static void within(const kiln_gpu_unit *unit, const char *what, double value, double least,
                   double most)
{
    ck_assert_msg(value >= least && value <= most, "%s: %s is %g, not within %g and %g", unit->name,
                  what, value, least, most);
}

START_TEST(numbers_are_sane)
{
    const kiln_gpu_unit *u;
    for (int i = 0; (u = kiln_gpu_unit_at(i)); i++) {
        within(u, "subgroup", u->subgroup, u->maker ? 8 : 0, 64);
        within(u, "mads_f64", u->mads_f64, 1, u->mads_f32);
        within(u, "mads_f32", u->mads_f32, 8, 256);
        within(u, "mads_f16", u->mads_f16, u->mads_f32, 16 * u->mads_f32);
        within(u, "mads_bf16", u->mads_bf16, u->mads_f32, u->mads_f16);
        within(u, "mads_i8", u->mads_i8, u->mads_f32, 32 * u->mads_f32);
        within(u, "clock_ghz", u->clock_ghz, 1, 3);
        within(u, "registers", (double)u->registers, 4096, 1 << 18);
        within(u, "local_bytes", (double)u->local_bytes, 0, 256 << 10);
        within(u, "items", u->items, 128, 4096);
        within(u, "groups", u->groups, 4, 64);
        within(u, "memory_gbs", u->memory_gbs, 0.5, 50);
        within(u, "moved", u->moved, 0.5, 1);
        within(u, "behind_ms", u->behind_ms, 0.001, u->enqueue_ms);
        within(u, "enqueue_ms", u->enqueue_ms, 0.001, u->next_launch_ms);
        within(u, "next_launch_ms", u->next_launch_ms, 0.001, u->launch_ms);
        within(u, "rough_launch_ms", u->rough_launch_ms, u->launch_ms, 0.1);
    }
}
END_TEST

/* Instructions that only one capability has are probed on that one alone. */
START_TEST(gates_are_for_nvidia)
{
    const kiln_gpu_unit *u;
    for (int i = 0; (u = kiln_gpu_unit_at(i)); i++)
        ck_assert_int_eq(kiln_gpu_version_within(&u->mma, KILN_GPU_VERSION(9, 0)),
                         u->maker == KILN_GPU_NVIDIA);
    const kiln_gpu_unit *newer = unit_of(KILN_GPU_NVIDIA, 10, 0);
    ck_assert(kiln_gpu_version_within(&newer->mma, KILN_GPU_VERSION(10, 0)));
    ck_assert(kiln_gpu_version_within(&newer->large_local, KILN_GPU_VERSION(10, 0)));
    ck_assert(kiln_gpu_version_within(&newer->wgmma, KILN_GPU_VERSION(9, 0)));
    ck_assert(!kiln_gpu_version_within(&newer->wgmma, KILN_GPU_VERSION(10, 0)));
    ck_assert(!kiln_gpu_version_within(&newer->mma, KILN_GPU_VERSION(7, 5)));
}
END_TEST

/* ---- limits that follow ---- */

static kiln_device_facts gpu(kiln_gpu_maker maker, int major, int minor, int units)
{
    kiln_device_facts d = kiln_device_generic();
    d.kind = KILN_DEVICE_GPU;
    d.compute_units = units;
    d.gpu.id = (kiln_gpu_id){maker, KILN_GPU_VERSION(major, minor)};
    return d;
}

static void about(const char *name, const char *what, double value, double published)
{
    ck_assert_msg(value > 0 && (!published || fabs(value - published) < 0.1 * published),
                  "%s: %s is %g, and data sheets say %g", name, what, value, published);
}

/* Peaks of data sheets, in 1e9 a second: without tensor cores for f32 and f64, without sparsity; 0
 * where boards of a family differ. */
START_TEST(limits_are_those_of_data_sheets)
{
    static const struct {
        const char *name;
        kiln_gpu_maker maker;
        int major, minor, units, told_lanes;
        double ghz, f64, f32, f16, i8, gbs;
    } cases[] = {
        {"H100", KILN_GPU_NVIDIA, 9, 0, 132, 0, 1.83, 33.5e3, 66.9e3, 989e3, 1979e3, 3000},
        {"A100", KILN_GPU_NVIDIA, 8, 0, 108, 0, 1.41, 9.7e3, 19.5e3, 312e3, 624e3, 1555},
        {"RTX 3090", KILN_GPU_NVIDIA, 8, 6, 82, 0, 1.695, 556, 35.6e3, 142e3, 284e3, 936},
        {"RTX 4090", KILN_GPU_NVIDIA, 8, 9, 128, 0, 2.52, 1290, 82.6e3, 330e3, 661e3, 0},
        {"Vega 64", KILN_GPU_AMD, 9, 0, 64, 64, 1.546, 791, 12.66e3, 25.3e3, 12.66e3, 0},
        {"RX 6900 XT", KILN_GPU_AMD, 10, 3, 40, 128, 2.25, 0, 23.04e3, 46.08e3, 23.04e3, 512},
        {"Arc A770", KILN_GPU_INTEL, 12, 55, 512, 0, 2.1, 0, 17.2e3, 34.4e3, 68.8e3, 560},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_device_facts d = gpu(cases[i].maker, cases[i].major, cases[i].minor, cases[i].units);
        d.gpu.unit_lanes = cases[i].told_lanes;
        kiln_device_set_roofline(&d, cases[i].ghz);
        about(cases[i].name, "f64", d.gpu.peak_f64, cases[i].f64);
        about(cases[i].name, "f32", kiln_device_peak(&d, KILN_F32), cases[i].f32);
        about(cases[i].name, "f16", kiln_device_peak(&d, KILN_F16), cases[i].f16);
        about(cases[i].name, "i8", kiln_device_peak(&d, KILN_I8), cases[i].i8);
        about(cases[i].name, "GB/s", kiln_device_copy_gbs(&d), cases[i].gbs);
        ck_assert_double_gt(kiln_device_peak(&d, KILN_BF16), 0);
        ck_assert_double_eq(kiln_device_peak(&d, KILN_I32), 0);
        ck_assert_double_eq(d.peak_gflops, kiln_device_peak(&d, KILN_F32));
        ck_assert_double_lt(d.bandwidth_gbs, kiln_device_copy_gbs(&d));
    }
}
END_TEST

/* A GPU that tells nothing of itself, not even a clock, and a CPU. */
START_TEST(no_device_is_without_limits)
{
    kiln_device_facts d[] = {gpu(KILN_GPU_UNKNOWN, 0, 0, 10), gpu(KILN_GPU_INTEL, 9, 0, 24),
                             gpu(KILN_GPU_NVIDIA, 13, 0, 100), kiln_device_generic()};
    for (size_t i = 0; i < sizeof d / sizeof *d; i++) {
        kiln_device_set_roofline(&d[i], 0);
        const double f32 = kiln_device_peak(&d[i], KILN_F32), gbs = kiln_device_copy_gbs(&d[i]);
        ck_assert_msg(f32 > 10 && f32 < 1e6 && gbs > 1 && gbs < 1e5, "device %zu: %g and %g", i,
                      f32, gbs);
        ck_assert_double_gt(kiln_device_launch_ms(&d[i]), 0);
        ck_assert_double_gt(kiln_device_enqueue_ms(&d[i]), 0);
        ck_assert_double_ge(kiln_device_unit_lanes(&d[i]), 1);
        ck_assert_int_ge(kiln_device_unit_registers(&d[i]), 4096);
        ck_assert_int_ge(kiln_device_unit_local(&d[i]), d[i].local_memory);
    }
    ck_assert_ptr_eq(d[2].unit, kiln_gpu_unit_named("nvidia"));
}
END_TEST

/* A formula of cycles takes less time where the clock is higher. */
START_TEST(cycles_follow_the_clock)
{
    static const kiln_fit fit = {.ghz = 1.7, .told_ghz = 1.98};
    kiln_device_facts d = gpu(KILN_GPU_NVIDIA, 9, 0, 132);
    const kiln_device_facts cpu = kiln_device_generic();
    kiln_device_set_roofline(&d, 1.98);
    ck_assert_double_eq(kiln_device_fit_ghz(&d, &fit), 1.7);
    kiln_device_set_roofline(&d, 0.99);
    ck_assert_double_eq_tol(kiln_device_fit_ghz(&d, &fit), 0.85, 1e-12);
    ck_assert_double_eq(kiln_device_fit_ghz(&cpu, &fit), 1.7);
}
END_TEST

/* What a device tells and what was measured on it comes before its row. */
START_TEST(what_a_device_tells_comes_first)
{
    kiln_device_facts d = gpu(KILN_GPU_NVIDIA, 9, 0, 132);
    d.gpu.memory_gbs = 4100;
    d.gpu.group_registers = 32768;
    kiln_device_set_roofline(&d, 1.98);
    ck_assert_double_eq(kiln_device_copy_gbs(&d), 4100);
    ck_assert_double_eq_tol(d.bandwidth_gbs, 0.88 * 4100, 1e-9);
    ck_assert_int_eq(kiln_device_unit_registers(&d), 32768);
    ck_assert_int_eq(d.gpu.subgroup, 32);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu units");
    TCase *tests = tcase_create("gpu units");
    tcase_add_test(tests, rows_are_found_by_what_they_say);
    tcase_add_test(tests, gpus_have_the_row_of_their_family);
    tcase_add_test(tests, no_two_rows_are_for_the_same_gpu);
    tcase_add_test(tests, numbers_are_sane);
    tcase_add_test(tests, gates_are_for_nvidia);
    tcase_add_test(tests, limits_are_those_of_data_sheets);
    tcase_add_test(tests, no_device_is_without_limits);
    tcase_add_test(tests, what_a_device_tells_comes_first);
    tcase_add_test(tests, cycles_follow_the_clock);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
