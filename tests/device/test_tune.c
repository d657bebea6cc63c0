/* The tuner: only what was verified may win, whatever fails is counted, and the winner is used. */
#include "bench.h"
#include "kiln_internal.h"
#include "support/support.h"
#include "template.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    N = 1,
    C = 64,
    K = 32,
    SIZE = 8,
    X = N * C * SIZE * SIZE,
    W = K * C,
    Y = N * K * SIZE * SIZE
};

static const kiln_problem problem = {
    .batch = N, .in_channels = C, .out_channels = K, .input = {SIZE, SIZE}, .filter = {1, 1}};

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static kiln_buffers buffers;
static float expected[Y];
static char folder[64], rows_file[128], template_dir[128];
static kiln *k;

static cl_mem make_buffer(size_t count, const float *data)
{
    cl_int code;
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                                count * sizeof *data, (void *)data, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

/* Small integers, so that every order of summation gives the same floats. */
static void make_tensors(void)
{
    static float x[X], w[W];
    for (int i = 0; i < X; i++)
        x[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < W; i++)
        w[i] = (float)(i * 5 % 7 - 3);
    for (int k1 = 0; k1 < K; k1++)
        for (int p = 0; p < SIZE * SIZE; p++) {
            float sum = 0;
            for (int c = 0; c < C; c++)
                sum += w[k1 * C + c] * x[c * SIZE * SIZE + p];
            expected[k1 * SIZE * SIZE + p] = sum;
        }
    buffers = (kiln_buffers){
        .x = {make_buffer(X, x), 0}, .w = {make_buffer(W, w), 0}, .y = {make_buffer(Y, NULL), 0}};
}

static kiln *open_kiln(const char *rows, const char *templates)
{
    kiln *opened;
    const kiln_settings settings = {
        .rows_file = rows, .cache_dir = "off", .shipped_dir = "off", .template_dir = templates};
    ck_assert_int_eq(kiln_open(&opened, context, device, &settings), KILN_OK);
    return opened;
}

static void set_up(void)
{
    cl_int code;
    device = support_find_device();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    make_tensors();
    strcpy(folder, "/tmp/kiln_tune_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(rows_file, sizeof rows_file, "%s/rows.yaml", folder);
    snprintf(template_dir, sizeof template_dir, "%s/types.cl", folder);
    k = open_kiln(rows_file, NULL);
}

static void tear_down(void)
{
    kiln_close(k);
    clReleaseMemObject(buffers.x.mem);
    clReleaseMemObject(buffers.w.mem);
    clReleaseMemObject(buffers.y.mem);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    unlink(rows_file);
    unlink(template_dir);
    rmdir(folder);
}

/* What the callbacks saw, and what they shall answer. */
typedef struct record {
    const char *accept; /* the only config that verifies; NULL: whatever is right */
    int64_t stop_after; /* trials; 0: never */
    int64_t trials, verified, poison;
    int64_t verdicts[KILN_TRIAL_SLOW + 1];
    char configs[64][KILN_INFO_TEXT], solvers[64][48];
} record;

static int verify(void *user, const kiln_op *op)
{
    record *r = user;
    float y[Y];
    kiln_op_info info;
    kiln_op_describe(op, &info);
    ck_assert_int_eq(
        clEnqueueReadBuffer(queue, buffers.y.mem, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL),
        CL_SUCCESS);
    for (int i = 0; i < Y; i++)
        r->poison += isnan(y[i]) != 0;
    r->verified++;
    if (r->accept)
        return strcmp(info.config, r->accept) != 0;
    return memcmp(y, expected, sizeof y) != 0;
}

static int progress(void *user, const kiln_trial *t)
{
    record *r = user;
    ck_assert_int_eq(t->index, r->trials);
    ck_assert_int_lt(t->index, t->count);
    r->verdicts[t->verdict]++;
    if (t->verdict == KILN_TRIAL_OK || t->verdict == KILN_TRIAL_SLOW)
        ck_assert_double_gt(t->ms, 0);
    if (r->trials < 64) {
        snprintf(r->configs[r->trials], sizeof r->configs[0], "%s", t->config);
        snprintf(r->solvers[r->trials], sizeof r->solvers[0], "%s", t->solver);
    }
    return ++r->trials == r->stop_after;
}

static kiln_tune_options options_for(record *r, int64_t max_trials)
{
    return (kiln_tune_options){.max_trials = max_trials,
                               .runs = 3,
                               .keep = 1,
                               .progress = progress,
                               .verify = verify,
                               .user = r};
}

static size_t kept_rows(void)
{
    kiln_rows *rows = kiln_rows_load(rows_file, NULL);
    size_t count = kiln_rows_count(rows);
    kiln_rows_free(rows);
    return count;
}

/* What a program that knows nothing of the search gets. */
static void check_used(kiln *opened, const kiln_trial *best)
{
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(opened, &problem, NULL, &op), KILN_OK);
    kiln_op_describe(op, &info);
    ck_assert_str_eq(info.solver, best->solver);
    ck_assert_str_eq(info.config, best->config);
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
    kiln_op_release(op);
}

START_TEST(the_winner_is_kept_and_used)
{
    record r = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 8);
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_int_eq(best.verdict, KILN_TRIAL_OK);
    ck_assert_double_gt(best.ms, 0);
    ck_assert_str_eq(best.config, best.best_config);
    ck_assert_str_eq(best.solver, best.best_solver);
    ck_assert_int_gt(r.trials, 0);
    ck_assert_int_le(r.trials, 8);
    ck_assert_int_eq(r.trials, best.count);
    ck_assert_int_eq(r.poison, 0);
    ck_assert_uint_eq(kept_rows(), 1);
    check_used(k, &best);
    kiln *fresh = open_kiln(rows_file, NULL);
    const kiln_row *row = kiln_rows_at(fresh->user_rows, 0);
    ck_assert_int_eq(row->runs, 3);
    ck_assert_str_eq(row->driver, fresh->facts.driver);
    ck_assert_uint_eq(strlen(row->hash), 16);
    ck_assert_uint_eq(strlen(row->date), 10);
    check_used(fresh, &best);
    kiln_close(fresh);
}
END_TEST

/* Whichever is fastest, the only config that verifies wins. */
START_TEST(what_is_wrong_never_wins)
{
    record all = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&all, 6);
    o.keep = 0;
    o.solver = "ConvOclDirectFwd1x1";
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_int_eq(all.trials, 6);
    for (int i = 0; i < 6; i++) {
        record r = {.accept = all.configs[i]};
        unlink(rows_file);
        kiln_reload_rows(k);
        o = options_for(&r, 6);
        o.solver = "13";
        ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
        ck_assert_str_eq(best.config, all.configs[i]);
        ck_assert_int_eq(r.verified, 6);
        ck_assert_int_eq(r.verdicts[KILN_TRIAL_WRONG], 5);
        check_used(k, &best);
    }
}
END_TEST

START_TEST(nothing_verified_means_no_winner)
{
    record r = {.accept = "none"};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 4);
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "wrong result"));
    ck_assert_int_eq(r.verdicts[KILN_TRIAL_WRONG], r.trials);
    ck_assert_uint_eq(kept_rows(), 0);
}
END_TEST

/* A kiln whose kernels begin with types.cl and this. */
static kiln *open_with(const char *addition)
{
    FILE *f = fopen(template_dir, "w");
    ck_assert_ptr_nonnull(f);
    for (const kiln_template *t = kiln_embedded_templates; t->file; t++)
        if (strcmp(t->file, "types.cl") == 0)
            fputs(t->text, f);
    fprintf(f, "\n%s\n", addition);
    fclose(f);
    return open_kiln(rows_file, folder);
}

/* A kernel that writes nothing leaves poison, even where y held the right values before. */
START_TEST(the_destination_is_poisoned)
{
    record r = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 1);
    o.solver = "naive";
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_int_eq(r.poison, 0);
    r = (record){0};
    kiln *lazy = open_with("#undef DST_STORE\n#define DST_STORE(p, i, v) ((void)(v))");
    ck_assert_int_eq(kiln_tune(lazy, &problem, queue, &buffers, &o, &best), KILN_UNSUPPORTED);
    ck_assert_int_eq(r.poison, Y);
    kiln_close(lazy);
}
END_TEST

START_TEST(a_failing_build_is_a_trial)
{
    record r = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 3);
    kiln *broken = open_with("#error no");
    ck_assert_int_eq(kiln_tune(broken, &problem, queue, &buffers, &o, &best), KILN_UNSUPPORTED);
    ck_assert_int_eq(r.trials, 3);
    ck_assert_int_eq(r.verdicts[KILN_TRIAL_BUILD], 3);
    ck_assert_int_eq(r.verified, 0);
    kiln_close(broken);
}
END_TEST

START_TEST(progress_stops_and_keeps_the_best)
{
    record r = {.stop_after = 2};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 8);
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_int_eq(r.trials, 2);
    ck_assert_uint_eq(kept_rows(), 1);
    check_used(k, &best);
}
END_TEST

START_TEST(a_short_time_still_tries_one)
{
    record r = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 0);
    o.max_seconds = 1e-9;
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_int_eq(r.trials, 1);
}
END_TEST

static void add_row_of(kiln_problem p, const char *solver, const char *config, double ms)
{
    kiln_row row = {.version = kiln_solver_named(solver)->version, .ms = ms, .runs = 1};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    snprintf(row.config, sizeof row.config, "%s", config);
    ck_assert_int_eq(kiln_rows_append(rows_file, k->facts.name, &row), KILN_OK);
    kiln_reload_rows(k);
}

static void add_row(const char *solver, const char *config, double ms)
{
    add_row_of(problem, solver, config, ms);
}

static kiln_op_info chosen(const kiln_problem *p)
{
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(k, p, NULL, &op), KILN_OK);
    kiln_op_describe(op, &info);
    kiln_op_release(op);
    return info;
}

static kiln_problem with_open_layouts(void)
{
    kiln_problem open = problem;
    strcpy(open.x_layout, "any");
    strcpy(open.y_layout, "any");
    return open;
}

/* Where layouts are open, rows of others than the predicted ones stand beside predictions. */
START_TEST(open_layouts_find_rows_by_their_time)
{
    const kiln_problem open = with_open_layouts();
    if (strcmp(chosen(&open).problem.x_layout, "NCHW") == 0)
        return; /* on this device the row below is of the predicted ones */
    add_row("naive", "", 1e9);
    ck_assert_str_ne(chosen(&open).solver, "naive");
    add_row("naive", "", 1e-9);
    kiln_op_info info = chosen(&open);
    ck_assert_str_eq(info.solver, "naive");
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
}
END_TEST

/* A search is about the predicted layouts. Its winner is not put aside for what a solver predicts
 * that lost, be it measured while the machine was slow. */
START_TEST(a_row_of_the_predicted_layouts_decides)
{
    const kiln_problem open = with_open_layouts();
    const kiln_op_info predicted = chosen(&open);
    ck_assert_int_eq(predicted.origin, KILN_ORIGIN_GUESS);
    add_row_of(predicted.problem, predicted.solver, predicted.config, 1e9);
    const kiln_op_info info = chosen(&open);
    ck_assert_str_eq(info.solver, predicted.solver);
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
}
END_TEST

START_TEST(a_row_for_any_device_tells_a_config_but_no_solver)
{
    char path[sizeof folder + 16], key[KILN_KEY_TEXT];
    const kiln_settings settings = {
        .rows_file = "off", .cache_dir = "off", .shipped_dir = folder, .template_dir = NULL};
    kiln_problem p = problem;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, key, sizeof key);
    snprintf(path, sizeof path, "%s/generic.yaml", folder);
    FILE *file = fopen(path, "w");
    fprintf(file,
            "schema: 1\ndevice: \"any\"\nrows:\n"
            "- {key: \"%s\", solver: \"naive\", version: %d, config: \"\"}\n",
            key, kiln_solver_named("naive")->version);
    ck_assert_int_eq(fclose(file), 0);
    kiln *other;
    kiln_op *op[2];
    kiln_op_info info[2];
    ck_assert_int_eq(kiln_open(&other, context, device, &settings), KILN_OK);
    for (int i = 0; i < 2; i++) {
        const kiln_choice choice = {.solver = i ? "naive" : NULL};
        ck_assert_int_eq(kiln_conv_create(other, &p, &choice, &op[i]), KILN_OK);
        kiln_op_describe(op[i], &info[i]);
        kiln_op_release(op[i]);
    }
    kiln_close(other);
    unlink(path);
    ck_assert_str_ne(info[0].solver, "naive");
    ck_assert_int_eq(info[1].origin, KILN_ORIGIN_SHIPPED_ROW);
}
END_TEST

START_TEST(a_row_is_tried_first)
{
    record all = {0}, r = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&all, 6);
    o.keep = 0;
    o.solver = "13";
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_str_ne(all.configs[0], all.configs[5]);
    add_row(best.solver, all.configs[5], 1);
    o.user = &r;
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
    ck_assert_str_eq(r.configs[0], all.configs[5]); /* the row's, */
    ck_assert_str_eq(r.configs[1], all.configs[0]); /* then the guess */
}
END_TEST

/* A row of another solver that promises too much is renewed, whether it still runs or not. */
START_TEST(old_promises_do_not_beat_the_winner)
{
    const char *guess = NULL;
    kiln_verdict verdict;
    for (int i = 0; !guess && kiln_explain(k, &problem, i, &verdict) == KILN_OK; i++)
        if (strcmp(verdict.solver, "ConvOclDirectFwd1x1") == 0)
            guess = verdict.config;
    ck_assert_ptr_nonnull(guess);
    for (int rejected = 0; rejected < 2; rejected++) {
        record r = {.accept = rejected ? guess : NULL};
        kiln_trial best;
        kiln_tune_options o = options_for(&r, 6); /* each solver's guess is among the first */
        add_row("naive", "", 1e-9);
        ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &o, &best), KILN_OK);
        check_used(k, &best);
    }
}
END_TEST

/* Refused before anything is measured. */
START_TEST(calls_that_make_no_sense)
{
    record r = {0};
    kiln_trial best;
    kiln_tune_options o = options_for(&r, 1), bad = o;
    cl_int code;
    bad.verify = NULL;
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &bad, &best), KILN_INVALID);
    bad = o;
    bad.solver = "nobody";
    ck_assert_int_eq(kiln_tune(k, &problem, queue, &buffers, &bad, &best), KILN_INVALID);
    cl_command_queue plain = clCreateCommandQueue(context, device, 0, &code);
    ck_assert_int_eq(kiln_tune(k, &problem, plain, &buffers, &o, &best), KILN_INVALID);
    clReleaseCommandQueue(plain);
    kiln *off = open_kiln("off", NULL);
    ck_assert_int_eq(kiln_tune(off, &problem, queue, &buffers, &o, &best), KILN_FILE);
    kiln_close(off);
    off = open_kiln("/proc/nowhere/rows.yaml", NULL);
    ck_assert_int_eq(kiln_tune(off, &problem, queue, &buffers, &o, &best), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "/proc/nowhere/rows.yaml"));
    kiln_close(off);
    kiln_problem residual = problem;
    residual.epilogue.beta = 1;
    kiln_buffers shared = buffers;
    shared.residual = shared.y;
    ck_assert_int_eq(kiln_tune(k, &residual, queue, &shared, &o, &best), KILN_INVALID);
    ck_assert_int_eq(r.trials, 0);
}
END_TEST

START_TEST(median_and_spread)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {7};
    double many[] = {11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    ck_assert_double_eq(kiln_times_of(odd, 3).ms, 3);
    ck_assert_double_eq(kiln_times_of(even, 4).ms, 2.5);
    ck_assert_double_eq(kiln_times_of(one, 1).ms, 7);
    ck_assert_double_eq(kiln_times_of(one, 1).spread, 0);
    kiln_times t = kiln_times_of(many, 11);
    ck_assert_double_eq(t.ms, 6);
    ck_assert_double_eq(t.spread, (10.0 - 2.0) / 6);
    ck_assert_int_eq(t.runs, 11);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tune");
    TCase *tests = tcase_create("tune");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_winner_is_kept_and_used);
    tcase_add_test(tests, what_is_wrong_never_wins);
    tcase_add_test(tests, nothing_verified_means_no_winner);
    tcase_add_test(tests, the_destination_is_poisoned);
    tcase_add_test(tests, a_failing_build_is_a_trial);
    tcase_add_test(tests, progress_stops_and_keeps_the_best);
    tcase_add_test(tests, a_short_time_still_tries_one);
    tcase_add_test(tests, open_layouts_find_rows_by_their_time);
    tcase_add_test(tests, a_row_of_the_predicted_layouts_decides);
    tcase_add_test(tests, a_row_for_any_device_tells_a_config_but_no_solver);
    tcase_add_test(tests, a_row_is_tried_first);
    tcase_add_test(tests, old_promises_do_not_beat_the_winner);
    tcase_add_test(tests, calls_that_make_no_sense);
    tcase_add_test(tests, median_and_spread);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
