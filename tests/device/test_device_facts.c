/* The facts that the library reads of the device under test contradict neither each other nor the
 * rows of CPUs. */
#include "runtime/device/device_facts.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static kiln_device_facts facts;

static void read_facts(void)
{
    ck_assert_int_eq(kiln_device_read(support_open()->device, &facts), KILN_OK);
}

START_TEST(counts_are_positive)
{
    ck_assert_int_ge(facts.compute_units, 1);
    ck_assert_int_ge(facts.simd_floats, 1);
    ck_assert_int_ge(facts.max_group, 1);
    ck_assert_int_ge(facts.base_align, 1);
    ck_assert_int_ge(facts.cache, 0);
    ck_assert_double_gt(facts.peak_gflops, 0);
    ck_assert_double_gt(facts.bandwidth_gbs, 0);
}
END_TEST

START_TEST(a_cpu_has_its_row)
{
    ck_assert_ptr_nonnull(facts.cpu);
    ck_assert_ptr_eq(kiln_core_named(facts.cpu->name), facts.cpu);
    if (facts.kind != KILN_DEVICE_CPU)
        ck_assert_str_eq(facts.cpu->name, "generic");
    if (facts.cpu->vendor)
        ck_assert_int_eq(facts.cpu->vector_floats, facts.simd_floats);
    ck_assert_msg(!*facts.core || kiln_device_is_pocl(&facts) ||
                      facts.gpu.id.maker == KILN_GPU_NVIDIA,
                  "%s", facts.core);
}
END_TEST

START_TEST(a_gpu_has_its_row_and_limits)
{
    ck_assert_ptr_eq(kiln_gpu_unit_named(facts.unit->name), facts.unit);
    if (facts.kind != KILN_DEVICE_GPU)
        ck_assert_str_eq(facts.unit->name, "generic");
    else
        ck_assert_int_eq(facts.unit->maker == KILN_GPU_NVIDIA,
                         facts.gpu.id.maker == KILN_GPU_NVIDIA);
    ck_assert_double_gt(kiln_device_peak(&facts, KILN_F32), 0);
    ck_assert_double_gt(kiln_device_copy_gbs(&facts), 0);
    if (facts.kind == KILN_DEVICE_GPU)
        ck_assert_double_ge(kiln_device_peak(&facts, KILN_F16), kiln_device_peak(&facts, KILN_F32));
}
END_TEST

START_TEST(pairs_are_for_cpus_where_they_pay)
{
    if (facts.has_bf16)
        ck_assert_msg(facts.cpu->pairs > 0 && facts.cpu->pairs < 2, "%s takes %g multiply-adds",
                      facts.cpu->name, facts.cpu->pairs);
}
END_TEST

START_TEST(only_a_gpu_has_facts_of_gpus)
{
    static const kiln_gpu_facts none;
    const kiln_gpu_facts *g = &facts.gpu;
    if (facts.kind != KILN_DEVICE_GPU)
        ck_assert_msg(memcmp(g, &none, sizeof none) == 0, "%s has facts of GPUs", facts.name);
    ck_assert_int_eq(g->subgroup & (g->subgroup - 1), 0);
    ck_assert_msg(g->subgroup <= facts.max_group, "%d items in step", g->subgroup);
    if (g->id.maker == KILN_GPU_NVIDIA) {
        ck_assert_int_gt(g->subgroup, 0);
        ck_assert_int_gt(g->group_registers, 0);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("device facts");
    TCase *c = tcase_create("device facts");
    tcase_add_checked_fixture(c, read_facts, NULL);
    tcase_add_test(c, counts_are_positive);
    tcase_add_test(c, a_cpu_has_its_row);
    tcase_add_test(c, a_gpu_has_its_row_and_limits);
    tcase_add_test(c, pairs_are_for_cpus_where_they_pay);
    tcase_add_test(c, only_a_gpu_has_facts_of_gpus);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
