/* Devices by name and number, and the threads that PoCL's CPU device is given. */
#include "support/suite.h"

#include "kiln_device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, THREADS = 3 };

static size_t list(kiln_device_entry *entry)
{
    size_t count = 0;
    ck_assert_msg(kiln_device_list(entry, MOST, &count) == KILN_OK, "%s", kiln_last_error());
    ck_assert_uint_ge(count, 1);
    return count < MOST ? count : MOST;
}

START_TEST(each_device_by_its_name)
{
    kiln_device_entry entry[MOST];
    const size_t count = list(entry);
    cl_device_id device;
    for (size_t i = 0; i < count; i++) {
        char name[160];
        snprintf(name, sizeof name, "%d:%d", entry[i].platform, entry[i].index);
        ck_assert_int_eq(kiln_device_pick(name, &device), KILN_OK);
        ck_assert_ptr_eq(device, entry[i].id);
        snprintf(name, sizeof name, "%d", (int)i);
        ck_assert_int_eq(kiln_device_pick(name, &device), KILN_OK);
        ck_assert_ptr_eq(device, entry[i].id);
        ck_assert_int_eq(kiln_device_pick(entry[i].name, &device), KILN_OK);
        setenv("KILN_DEVICE", "", 1);
        ck_assert_int_eq(kiln_device_pick(NULL, &device), KILN_OK);
        setenv("KILN_DEVICE", entry[i].name, 1);
        ck_assert_int_eq(kiln_device_pick("", &device), KILN_OK);
    }
    setenv("KILN_DEVICE", "nobody", 1);
    ck_assert_int_eq(kiln_device_pick(NULL, &device), KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "KILN_DEVICE is 'nobody'"), "%s", kiln_last_error());
    ck_assert_int_eq(kiln_device_pick("99:0", &device), KILN_INVALID);
    ck_assert_ptr_null(device);
}
END_TEST

START_TEST(pocl_has_the_threads)
{
    kiln_device_entry entry[MOST];
    const size_t count = list(entry);
    ck_assert_int_eq(kiln_threads(-1, 0), KILN_INVALID);
    for (size_t i = 0; i < count; i++) {
        cl_uint units = 0;
        clGetDeviceInfo(entry[i].id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
        if (strcmp(entry[i].platform_name, "Portable Computing Language") == 0 &&
            entry[i].type & CL_DEVICE_TYPE_CPU)
            ck_assert_uint_eq(units, THREADS);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device_pick");
    TCase *tcase = tcase_create("device_pick");
    tcase_add_test(tcase, each_device_by_its_name);
    tcase_add_test(tcase, pocl_has_the_threads);
    suite_add_tcase(suite, tcase);
    unsetenv("POCL_MAX_PTHREAD_COUNT");
    kiln_threads(THREADS, 0); /* before the first call of OpenCL */
    return support_run_suite(suite);
}
