/* How the command looks for devices. Of PoCL it asks nothing before where it has only some of the
 * machine's cores, as PoCL would bind its threads to cores of other processes. */
#include "driver/base/session.h"
#include "support/suite.h"

#include <check.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char spec[DEVICE_MOST][DEVICE_SPEC], why[KILN_ERROR_TEXT];
static int count;

static void look(void)
{
    unsetenv("POCL_AFFINITY");
    ck_assert_msg(device_find("all", spec, &count, why) == KILN_OK, "%s", why);
}

START_TEST(pins_where_all_cores_are_its_own)
{
    cpu_set_t may;
    ck_assert_int_eq(sched_getaffinity(0, sizeof may, &may), 0);
    look();
    if (CPU_COUNT(&may) == sysconf(_SC_NPROCESSORS_ONLN))
        ck_assert_str_eq(getenv("POCL_AFFINITY"), "1");
}
END_TEST

START_TEST(does_not_pin_on_a_share_of_the_cores)
{
    cpu_set_t one;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    look();
    ck_assert_ptr_null(getenv("POCL_AFFINITY"));
}
END_TEST

static bool silent; /* devices do not tell what they are */

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                       size_t *told)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    return silent && what == CL_DEVICE_TYPE ? CL_OUT_OF_HOST_MEMORY
                                            : real(device, what, size, value, told);
}

START_TEST(does_without_devices_that_answer_nothing)
{
    session s;
    unsetenv("KILN_DEVICE");
    silent = true;
    ck_assert_int_eq(session_open(&s, NULL, why), KILN_OPENCL);
    ck_assert_msg(strstr(why, "no OpenCL device found") == why, "%s", why);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session");
    TCase *tests = tcase_create("cores");
    tcase_add_test(tests, pins_where_all_cores_are_its_own);
    tcase_add_test(tests, does_not_pin_on_a_share_of_the_cores);
    tcase_add_test(tests, does_without_devices_that_answer_nothing);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
