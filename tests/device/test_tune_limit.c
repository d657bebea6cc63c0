/* The tuner's limit of time while programs take long to compile. */
#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>
#include <dlfcn.h>
#include <string.h>
#include <time.h>

static tuning_record seen;
static double build_seconds;

static void wait_for(double seconds)
{
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){whole, (long)((seconds - (double)whole) * 1e9)}, NULL);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *user)
{
    cl_int (*real)(cl_program, cl_uint, const cl_device_id *, const char *,
                   void(CL_CALLBACK *)(cl_program, void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "clBuildProgram");
    wait_for(build_seconds);
    return real(program, count, devices, options, notify, user);
}

/* The second candidate is still being compiled when the limit comes: it is not run. */
START_TEST(what_compiles_too_long_is_not_run)
{
    kiln_trial best;
    kiln_tune_options o = tuning_options(&seen, 0);
    build_seconds = 2;
    o.max_seconds = 3;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(seen.trials, 1);
    ck_assert_int_eq(seen.verified, 1);
    tuning_check_used(tuning.kiln, NULL, &best);
}
END_TEST

/* Without a limit it is. */
START_TEST(without_a_limit_it_is_run)
{
    kiln_trial best;
    kiln_tune_options o = tuning_options(&seen, 2);
    build_seconds = 0.2;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(seen.verified, 2);
}
END_TEST

/* Counts the guesses of solvers that were announced or tried, though predicted hopelessly slow. The
 * device is made slow, for predictions: on a fast one each of them is little more than a launch. */
static int hopeless_tried(bool limited)
{
    kiln_trial best;
    kiln_verdict v;
    double least = 0;
    int n = 0;
    kiln_tune_options o = tuning_options(&seen, 60);
    o.max_seconds = limited ? 120 : 0;
    o.solver = "naive,direct,general";
    o.max_trials = 6;
    tuning.kiln->facts.peak_gflops = 10;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    for (int i = 0; kiln_explain(tuning.kiln, &tuning_problem, i, &v) == KILN_OK; i++)
        if (v.accepted && strcmp(v.solver, "direct") == 0)
            least = v.predicted_ms;
    for (int i = 0; kiln_explain(tuning.kiln, &tuning_problem, i, &v) == KILN_OK; i++)
        for (int t = 0; t < seen.trials && v.accepted && v.predicted_ms > 10 * least; t++)
            n += strcmp(seen.solvers[t], v.solver) == 0;
    return n;
}

static void set_up_again(void)
{
    tuning_tear_down();
    seen = (tuning_record){0};
    tuning_set_up();
}

START_TEST(a_limit_leaves_hopeless_guesses_out)
{
    ck_assert_int_gt(hopeless_tried(false), 0);
    set_up_again();
    ck_assert_int_eq(hopeless_tried(true), 0);
    ck_assert_int_eq(seen.trials, 6);
}
END_TEST

static void set_up(void)
{
    seen = (tuning_record){0};
    build_seconds = 0;
    tuning_set_up();
}

int main(void)
{
    Suite *suite = suite_create("tune_limit");
    TCase *tests = tcase_create("tune_limit");
    tcase_add_checked_fixture(tests, set_up, tuning_tear_down);
    tcase_add_test(tests, what_compiles_too_long_is_not_run);
    tcase_add_test(tests, without_a_limit_it_is_run);
    tcase_add_test(tests, a_limit_leaves_hopeless_guesses_out);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
