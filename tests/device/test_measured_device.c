/* What is measured of a GPU, on the device under test: which need be none, as any device copies and
 * launches. */
#include "kiln_tune.h"
#include "runtime/device/measured.h"
#include "runtime/kiln/probes.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/kiln_measured_XXXXXX";

static kiln *open_kiln(void)
{
    const support_device *shared = support_open();
    const kiln_settings settings = {.cache_dir = dir, .rows_file = "off", .shipped_dir = "off"};
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, shared->context, shared->device, &settings), KILN_OK);
    k->facts.max_alloc = 64 << 20; /* a copy of 8 MiB: a CPU takes a second for large ones */
    return k;
}

/* The device is taken for a GPU. */
START_TEST(a_gpu_is_measured_once)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    kiln *k = open_kiln();
    kiln_measured m = {0}, again;
    k->facts.kind = KILN_DEVICE_GPU;
    const kiln_device_facts before = k->facts;
    ck_assert_int_eq(kiln_device_measure(k), KILN_OK);
    ck_assert_msg(memcmp(&before, &k->facts, sizeof before) == 0, "plans of this kiln change");
    ck_assert(kiln_measured_load(dir, &k->facts, &m, &k->logger));
    ck_assert_double_gt(m.copy_gbs, 0);
    ck_assert_double_gt(m.enqueue_ms, 0.0005);
    ck_assert_uint_eq(strlen(m.date), 10);
    k->probed.measured = false; /* another process */
    kiln_measured_store(dir, &k->facts, &(kiln_measured){2345, 0.005, "2026-01-31"}, &k->logger);
    kiln_probe_speed(k);
    ck_assert(kiln_measured_load(dir, &k->facts, &again, &k->logger));
    ck_assert_double_eq(again.copy_gbs, 2345);
    int64_t removed;
    ck_assert_int_eq(kiln_cache_clear(dir, &removed), KILN_OK);
    ck_assert_int_eq(removed, 1);
    kiln_close(k);
    rmdir(dir);
}
END_TEST

/* A CPU's times are those of its row, and without a cache there is no place for others. */
START_TEST(others_are_not_measured)
{
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    kiln *k = open_kiln();
    k->facts.kind = KILN_DEVICE_CPU;
    kiln_probe_speed(k);
    ck_assert(!k->probed.measured);
    k->facts.kind = KILN_DEVICE_GPU;
    *k->cache_dir = '\0';
    kiln_probe_speed(k);
    ck_assert(!k->probed.measured);
    kiln_close(k);
    ck_assert_int_eq(rmdir(dir), 0); /* it is empty */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("measured on a device");
    TCase *c = tcase_create("measured on a device");
    tcase_add_test(c, a_gpu_is_measured_once);
    tcase_add_test(c, others_are_not_measured);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
