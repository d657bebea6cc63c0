/* What was measured on a GPU is found again by the same device and driver alone, and nothing is
 * taken from a file that is damaged or hostile. */
#include "runtime/device/measured.h"
#include "runtime/programs/cache_file.h"
#include "support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/kiln_measured_XXXXXX";
static kiln_device_facts gpu;
static const kiln_logger quiet;
static const kiln_measured sample = {
    .copy_gbs = 4100.5, .enqueue_ms = 0.0045, .date = "2026-11-29"};

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    gpu = kiln_device_generic();
    gpu.kind = KILN_DEVICE_GPU;
    gpu.compute_units = 132;
    gpu.gpu.id = (kiln_gpu_id){KILN_GPU_NVIDIA, KILN_GPU_VERSION(9, 0)};
    snprintf(gpu.name, sizeof gpu.name, "a\ncard");
    snprintf(gpu.driver, sizeof gpu.driver, "580.159");
    kiln_device_set_roofline(&gpu, 1.98);
}

/* The only file of the folder; false: there is none. */
static bool find_file(char path[512])
{
    DIR *stream = opendir(dir);
    bool found = false;
    for (const struct dirent *e; (e = readdir(stream));)
        if (e->d_name[0] != '.') {
            snprintf(path, 512, "%s/%s", dir, e->d_name);
            found = true;
        }
    closedir(stream);
    return found;
}

static void tear_down(void)
{
    char path[512];
    while (find_file(path))
        unlink(path);
    rmdir(dir);
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
}

static bool load(const kiln_device_facts *facts, kiln_measured *m)
{
    return kiln_measured_load(dir, facts, m, &quiet);
}

START_TEST(the_same_device_and_driver_find_it)
{
    kiln_measured m;
    ck_assert(!load(&gpu, &m));
    kiln_measured_store(dir, &gpu, &sample, &quiet);
    ck_assert(load(&gpu, &m));
    ck_assert_double_eq_tol(m.copy_gbs, sample.copy_gbs, 1e-3);
    ck_assert_double_eq_tol(m.enqueue_ms, sample.enqueue_ms, 1e-6);
    ck_assert_str_eq(m.date, sample.date);
    kiln_device_facts other = gpu;
    snprintf(other.driver, sizeof other.driver, "590.1");
    ck_assert(!load(&other, &m));
    other = gpu;
    snprintf(other.name, sizeof other.name, "another card");
    ck_assert(!load(&other, &m));
    ck_assert(!kiln_measured_load("", &gpu, &m, &quiet));
    ck_assert(!kiln_measured_load("/nowhere", &gpu, &m, &quiet));
}
END_TEST

/* Each byte is changed in turn, and the file cut off before it. */
START_TEST(damage_is_a_miss)
{
    char path[512], bytes[1024];
    kiln_measured m;
    kiln_measured_store(dir, &gpu, &sample, &quiet);
    ck_assert(find_file(path));
    FILE *file = fopen(path, "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ck_assert_uint_lt(size, sizeof bytes);
    for (size_t i = 0; i < size; i++)
        for (int cut = 0; cut < 2; cut++) {
            bytes[i] ^= 1;
            file = fopen(path, "wb");
            fwrite(bytes, 1, cut ? i : size, file);
            fclose(file);
            bytes[i] ^= 1;
            ck_assert_msg(!load(&gpu, &m), "byte %zu, %d", i, cut);
        }
}
END_TEST

/* Files with a right checksum, and what they say. */
static void replace(const char *text)
{
    char path[512];
    unsigned char *data;
    kiln_cache_record record;
    kiln_measured_store(dir, &gpu, &sample, &quiet);
    ck_assert(find_file(path));
    const int at = open(dir, O_RDONLY | O_DIRECTORY);
    ck_assert_ptr_null(kiln_cache_read(at, strrchr(path, '/') + 1, false, &data, &record));
    record.binary = (const unsigned char *)text;
    record.binary_size = strlen(text);
    ck_assert_int_eq(kiln_cache_write(dir, strrchr(path, '/') + 1, &record, &quiet), 0);
    free(data);
    close(at);
}

START_TEST(hostile_numbers_are_a_miss)
{
    static const char *const texts[] = {
        "x",
        "date 2026-11-29\n",
        "date 2026-11-29\ncopy_mbs 4100000\n",
        "date 2026-11-29\ncopy_mbs 4100000\nenqueue_ns -5\n",
        "date 2026-11-29\ncopy_mbs 0\nenqueue_ns 4500\n",
        "date 2026-11-29\ncopy_mbs nan\nenqueue_ns 4500\n",
        "date 2026-11-29\ncopy_mbs 99999999999999999999999999\nenqueue_ns 4500\n",
        "date 2026-11-29\ncopy_mbs 4100000\nenqueue_ns 1000000000\n",
        "copy_mbs 4100000\nenqueue_ns 4500\n",
    };
    kiln_measured m;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        replace(texts[i]);
        ck_assert_msg(!load(&gpu, &m), "%s", texts[i]);
    }
    replace("date 2026-11-29\033[2J and more than there is room for\ncopy_mbs 4100000\n"
            "enqueue_ns 4500\n");
    ck_assert(load(&gpu, &m));
    ck_assert_str_eq(m.date, "2026-11-29");
}
END_TEST

START_TEST(a_folder_of_others_is_not_trusted)
{
    kiln_measured m;
    kiln_measured_store(dir, &gpu, &sample, &quiet);
    ck_assert_int_eq(chmod(dir, 0777), 0);
    ck_assert(!load(&gpu, &m));
    char path[512];
    ck_assert(find_file(path));
    unlink(path);
    kiln_measured_store(dir, &gpu, &sample, &quiet);
    ck_assert(!find_file(path));
}
END_TEST

/* Times of launches follow the host's pace, and times of moving the memory; a CPU's do not. */
START_TEST(facts_follow)
{
    kiln_device_facts slow = gpu, cpu = kiln_device_generic();
    const kiln_device_facts before = cpu;
    const kiln_measured twice = {.copy_gbs = gpu.gpu.memory_gbs / 2,
                                 .enqueue_ms = 2 * gpu.gpu.enqueue_ms};
    kiln_measured_use(&twice, &slow);
    ck_assert_double_eq_tol(kiln_device_copy_gbs(&slow), 1500, 1e-6);
    ck_assert_double_eq_tol(kiln_device_move_ms(&slow, 1e9), 2 * kiln_device_move_ms(&gpu, 1e9),
                            1e-9);
    ck_assert_double_eq_tol(kiln_device_enqueue_ms(&slow), 2 * kiln_device_enqueue_ms(&gpu), 1e-9);
    ck_assert_double_eq_tol(kiln_device_launch_ms(&slow), 2 * kiln_device_launch_ms(&gpu), 1e-9);
    ck_assert_double_eq(kiln_device_behind_ms(&slow), kiln_device_behind_ms(&gpu));
    ck_assert_double_eq(slow.peak_gflops, gpu.peak_gflops);
    kiln_measured_use(&twice, &cpu);
    ck_assert_int_eq(memcmp(&cpu, &before, sizeof cpu), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measured");
    TCase *tests = tcase_create("measured");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_same_device_and_driver_find_it);
    tcase_add_test(tests, damage_is_a_miss);
    tcase_add_test(tests, hostile_numbers_are_a_miss);
    tcase_add_test(tests, a_folder_of_others_is_not_trusted);
    tcase_add_test(tests, facts_follow);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
