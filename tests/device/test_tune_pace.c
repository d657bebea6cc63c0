/* The tuner on a machine whose speed changes: kernels take what this program says, by a clock that
 * stands in for the driver's. */
#include "runtime/kiln/load_rows.h"
#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 7, KERNELS = 64, EVENTS = 1024 };

static tuning_record seen;
static double true_ms[TRIALS];
static double slowness[TRIALS];     /* of the machine, while each is tried; 0: 1 */
static double bad_luck;             /* of all but the one that is tried; 0: 1 */
static double own_luck[TRIALS];     /* of the one that is tried; 0: 1 */
static int hitches, others[TRIALS]; /* so many of the other launches before a trial take long */
static int64_t after;               /* so many trials... */
static int slow_launches;           /* so many launches take this many times as long */
static double slow_times[TRIALS];
static double least_ms;    /* of all trials */
static const char *solver; /* NULL: all */

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
    const double slow = seen.trials < TRIALS ? slowness[seen.trials] : 0;
    const bool of_other = seen.trials < TRIALS && trial != seen.trials;
    const double own = seen.trials < TRIALS ? own_luck[seen.trials] : 0;
    const double chance = of_other ? bad_luck : own;
    const bool slow_now = seen.trials == after && trial >= 0 && slow_launches-- > 0;
    const double luck = slow_now ? slow_times[trial] : chance > 0 ? chance : 1;
    const double hitch = of_other && others[seen.trials]++ < hitches ? 6 : 1;
    if (trial >= 0 && trial < TRIALS)
        clock_ns += (cl_ulong)(true_ms[trial] * (slow > 0 ? slow : 1) * luck * hitch * 1e6);
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

static int (*record)(void *user, const kiln_trial *t);

static int watch(void *user, const kiln_trial *t)
{
    least_ms = t->index == 0 || t->ms < least_ms ? t->ms : least_ms;
    return record(user, t);
}

static void search(const double *ms, const double *slow, int n, kiln_trial *best)
{
    for (int i = 0; i < n; i++) {
        true_ms[i] = ms[i];
        slowness[i] = slow[i];
    }
    kiln_tune_options o = tuning_options(&seen, n);
    o.solver = solver;
    record = o.progress;
    o.progress = watch;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, best), KILN_OK);
    ck_assert_int_eq(seen.trials, n);
    ck_assert_int_eq(seen.verdicts[KILN_TRIAL_WRONG], 0);
}

static void wins(int which, const kiln_trial *best)
{
    ck_assert_str_eq(best->config, seen.configs[which]);
    ck_assert_double_eq_tol(best->ms, true_ms[which], 1e-3);
}

/* While it is tried it takes thrice its time: longer than the first did. */
static void the_second_wins(const double *ms)
{
    kiln_trial best;
    search(ms, (const double[]){1, 3, 1}, 3, &best);
    wins(1, &best);
    ck_assert_int_eq(seen.verdicts[KILN_TRIAL_SLOW], 1);
}

START_TEST(a_slow_machine_is_no_slow_config)
{
    the_second_wins((const double[]){10, 6, 30});
}
END_TEST

/* Launches in a row. */
START_TEST(nor_where_kernels_are_short)
{
    the_second_wins((const double[]){0.010, 0.006, 0.030});
}
END_TEST

START_TEST(a_fast_machine_is_no_fast_config)
{
    kiln_trial best;
    search((const double[]){10, 12, 40}, (const double[]){1, 0.3, 0.3}, 3, &best);
    wins(0, &best);
}
END_TEST

/* Each of those after the first is tried in a lucky moment, more of them than there are finalists.
 */
START_TEST(luck_does_not_displace_what_needs_no_search)
{
    kiln_trial best;
    search((const double[]){10, 11, 11, 11, 11, 11, 11},
           (const double[]){1, 0.87, 0.87, 0.87, 0.87, 0.87, 0.87}, 7, &best);
    wins(0, &best);
}
END_TEST

/* What is timed beside the trials always takes longer than in its own trial. */
START_TEST(luck_does_not_add_up)
{
    kiln_trial best;
    bad_luck = 1.5;
    search((const double[]){10, 10, 10, 10, 10, 10, 10}, (const double[7]){0}, 7, &best);
    ck_assert_double_gt(least_ms, 10 / bad_luck - 1e-3);
    wins(0, &best);
}
END_TEST

/* What is timed beside a trial takes long before it, but not after it. */
START_TEST(a_hitch_is_no_slow_machine)
{
    kiln_trial best;
    hitches = 1;
    search((const double[]){10, 12, 12, 12}, (const double[4]){0}, 4, &best);
    ck_assert_double_gt(least_ms, 10 - 1e-3);
    wins(0, &best);
}
END_TEST

/* The first of another solver takes so many times its time when it is tried, and more configs than
 * there are finalists are between. */
static void the_second_wins_in_spite_of(double luck, const double *ms)
{
    kiln_trial best;
    solver = NULL;
    own_luck[1] = luck;
    search(ms, (const double[7]){0}, 7, &best);
    ck_assert_str_ne(seen.solvers[0], seen.solvers[1]);
    wins(1, &best);
}

START_TEST(bad_luck_rules_no_solver_out)
{
    the_second_wins_in_spite_of(1.9, (const double[]){1, 0.8, 1.1, 1.1, 1.1, 1.1, 1.1});
}
END_TEST

/* A row's config runs before the guess, which takes thrice its time when it is tried. */
START_TEST(nor_the_guess)
{
    kiln_problem p = tuning_problem;
    kiln_row row = {.version = kiln_solver_named(solver)->version, .ms = 1, .runs = 1};
    kiln_trial best;
    search((const double[]){1, 1.2, 1.3}, (const double[3]){0}, 3, &best);
    wins(0, &best);
    char guess[KILN_INFO_TEXT];
    snprintf(guess, sizeof guess, "%s", seen.configs[0]);
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    snprintf(row.config, sizeof row.config, "%s", seen.configs[2]);
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln_reload_rows(tuning.kiln);
    seen = (tuning_record){0};
    nmade = 0;
    own_luck[1] = 3;
    search((const double[]){12, 10, 13, 13, 13, 13, 13}, (const double[7]){0}, 7, &best);
    ck_assert_str_eq(seen.configs[1], guess);
    wins(1, &best);
    ck_assert_str_eq(best.guess_config, guess);
    ck_assert_double_eq_tol(best.guess_ms, 10, 1e-3);
}
END_TEST

START_TEST(nor_where_kernels_are_long)
{
    the_second_wins_in_spite_of(1.4, (const double[]){10, 8, 11, 11, 11, 11, 11});
}
END_TEST

/* The final rounds begin on a machine where the better one is slowed down more. */
START_TEST(final_rounds_wait_for_a_fast_machine)
{
    kiln_trial best;
    after = 2;
    slow_launches = 16;
    slow_times[0] = 1.5;
    slow_times[1] = 3;
    search((const double[]){10, 8}, (const double[2]){0}, 2, &best);
    ck_assert_int_lt(slow_launches, 0);
    wins(1, &best);
}
END_TEST

/* A row of naive's, which is tried again, and for once takes a twentieth of its time. */
START_TEST(a_lucky_loser_gets_no_row_that_decides)
{
    static const double ms[] = {1, 0.8, 0.9, 0.9, 0.9, 0.9, 0.9};
    kiln_problem p = tuning_problem;
    kiln_row row = {.version = kiln_solver_named("naive")->version, .ms = 1e-9, .runs = 1};
    kiln_trial best;
    int naive = 0;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    strcpy(row.solver, "naive");
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln_reload_rows(tuning.kiln);
    solver = NULL;
    search(ms, (const double[7]){0}, 7, &best);
    while (naive < TRIALS && strcmp(seen.solvers[naive], "naive") != 0)
        naive++;
    ck_assert_int_lt(naive, TRIALS);
    double with_naive[TRIALS];
    memcpy(with_naive, ms, sizeof with_naive);
    with_naive[naive] = 2;
    seen = (tuning_record){0};
    nmade = 0;
    own_luck[naive] = 0.05;
    search(with_naive, (const double[7]){0}, 7, &best);
    ck_assert_double_lt(least_ms, 0.2);
    wins(1, &best);
    tuning_check_used(tuning.kiln, NULL, &best);
}
END_TEST

START_TEST(one_percent_is_noise)
{
    kiln_trial best;
    search((const double[]){10, 9.9}, (const double[]){1, 1}, 2, &best);
    wins(0, &best);
}
END_TEST

START_TEST(five_percent_is_not)
{
    kiln_trial best;
    search((const double[]){10, 9.5}, (const double[]){1, 1}, 2, &best);
    wins(1, &best);
}
END_TEST

static void set_up(void)
{
    seen = (tuning_record){0};
    nmade = nlaunched = 0;
    bad_luck = hitches = slow_launches = 0;
    after = -1;
    memset(others, 0, sizeof others);
    memset(own_luck, 0, sizeof own_luck);
    solver = "ConvOclDirectFwd1x1";
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
    tcase_add_test(tests, luck_does_not_displace_what_needs_no_search);
    tcase_add_test(tests, luck_does_not_add_up);
    tcase_add_test(tests, a_hitch_is_no_slow_machine);
    tcase_add_test(tests, bad_luck_rules_no_solver_out);
    tcase_add_test(tests, nor_where_kernels_are_long);
    tcase_add_test(tests, nor_the_guess);
    tcase_add_test(tests, final_rounds_wait_for_a_fast_machine);
    tcase_add_test(tests, a_lucky_loser_gets_no_row_that_decides);
    tcase_add_test(tests, one_percent_is_noise);
    tcase_add_test(tests, five_percent_is_not);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
