/* The tuner on a machine whose speed changes: kernels take what this program says, by a clock that
 * stands in for the driver's. */
#include "support/tuning.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>

enum { TRIALS = 3, KERNELS = 64, EVENTS = 1024 };

static tuning_record seen;
static double true_ms[TRIALS], slowness; /* while the second is tried */

static struct {
    cl_kernel kernel;
    int64_t trial;
} made[KERNELS];
static int nmade;

static struct {
    cl_event event;
    cl_ulong start, end;
} launched[EVENTS];
static int nlaunched;
static cl_ulong clock_ns;

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    cl_kernel (*real)(cl_program, const char *, cl_int *);
    *(void **)&real = dlsym(RTLD_NEXT, "clCreateKernel");
    cl_kernel kernel = real(program, name, code);
    made[nmade % KERNELS].kernel = kernel;
    made[nmade++ % KERNELS].trial = seen.trials;
    return kernel;
}

/* Handles come again once they are released: the last one counts. */
static int64_t trial_of(cl_kernel kernel)
{
    for (int i = nmade - 1; i >= 0 && i >= nmade - KERNELS; i--)
        if (made[i % KERNELS].kernel == kernel)
            return made[i % KERNELS].trial;
    return -1;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint axes,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    *(void **)&real = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    const cl_int code = real(queue, kernel, axes, offset, global, local, n_wait, wait, event);
    const int64_t trial = trial_of(kernel);
    const cl_ulong start = clock_ns;
    if (trial >= 0 && trial < TRIALS)
        clock_ns += (cl_ulong)(true_ms[trial] * (seen.trials == 1 ? slowness : 1) * 1e6);
    if (event) {
        launched[nlaunched % EVENTS].event = *event;
        launched[nlaunched % EVENTS].start = start;
        launched[nlaunched++ % EVENTS].end = clock_ns;
    }
    return code;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value,
                               size_t *needed)
{
    (void)size, (void)needed;
    int i = nlaunched - 1;
    while (i > 0 && launched[i % EVENTS].event != event)
        i--;
    *(cl_ulong *)value =
        name == CL_PROFILING_COMMAND_END ? launched[i % EVENTS].end : launched[i % EVENTS].start;
    return CL_SUCCESS;
}

static void search(const double ms[TRIALS], double slow, kiln_trial *best)
{
    for (int i = 0; i < TRIALS; i++)
        true_ms[i] = ms[i];
    slowness = slow;
    kiln_tune_options o = tuning_options(&seen, TRIALS);
    o.solver = "ConvOclDirectFwd1x1";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, best), KILN_OK);
    ck_assert_int_eq(seen.trials, TRIALS);
    ck_assert_int_eq(seen.verdicts[KILN_TRIAL_WRONG], 0);
}

/* While it is tried it takes thrice that: longer than the first did. */
static void the_second_wins(const double ms[TRIALS], double slow)
{
    kiln_trial best;
    search(ms, slow, &best);
    ck_assert_str_eq(best.config, seen.configs[1]);
    ck_assert_double_eq_tol(best.ms, ms[1], 1e-3);
    ck_assert_int_eq(seen.verdicts[KILN_TRIAL_SLOW], 1);
}

START_TEST(a_slow_machine_is_no_slow_config)
{
    the_second_wins((const double[TRIALS]){10, 6, 30}, 3);
}
END_TEST

/* Launches in a row: the same with kernels of microseconds. */
START_TEST(nor_where_kernels_are_short)
{
    the_second_wins((const double[TRIALS]){0.010, 0.006, 0.030}, 3);
}
END_TEST

/* The first is the fastest, though the others are tried at another speed. */
START_TEST(a_fast_machine_is_no_fast_config)
{
    kiln_trial best;
    search((const double[TRIALS]){10, 12, 40}, 0.3, &best);
    ck_assert_str_eq(best.config, seen.configs[0]);
    ck_assert_double_eq_tol(best.ms, 10, 1e-3);
}
END_TEST

static void set_up(void)
{
    seen = (tuning_record){0};
    nmade = nlaunched = 0;
    tuning_set_up();
}

int main(void)
{
    Suite *suite = suite_create("tune_pace");
    TCase *tests = tcase_create("tune_pace");
    tcase_add_checked_fixture(tests, set_up, tuning_tear_down);
    tcase_add_test(tests, a_slow_machine_is_no_slow_config);
    tcase_add_test(tests, nor_where_kernels_are_short);
    tcase_add_test(tests, a_fast_machine_is_no_fast_config);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
