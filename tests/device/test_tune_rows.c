/* Rows beside searches and predictions: which of them decides, and what a search makes of old ones.
 */
#include "runtime/kiln/load_rows.h"
#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_iqr_row(kiln_problem p, const char *solver, const char *config, double ms,
                        double iqr)
{
    kiln_row row = {.version = kiln_solver_named(solver)->version, .ms = ms, .iqr = iqr, .runs = 1};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    snprintf(row.config, sizeof row.config, "%s", config);
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln_reload_rows(tuning.kiln);
}

static void add_row_of(kiln_problem p, const char *solver, const char *config, double ms)
{
    add_iqr_row(p, solver, config, ms, 0);
}

static void add_row(const char *solver, const char *config, double ms)
{
    add_row_of(tuning_problem, solver, config, ms);
}

static kiln_op_info chosen(const kiln_problem *p)
{
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(tuning.kiln, p, NULL, &op), KILN_OK);
    kiln_op_describe(op, &info);
    kiln_op_release(op);
    return info;
}

static kiln_problem with_open_layouts(void)
{
    kiln_problem open = tuning_problem;
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

static double predicted_ms(const kiln_problem *p)
{
    kiln_verdict verdict;
    for (int i = 0; kiln_explain(tuning.kiln, p, i, &verdict) == KILN_OK; i++)
        if (verdict.chosen)
            return verdict.predicted_ms;
    ck_abort_msg("no solver is chosen");
}

/* Predictions err between solvers, and a machine that was slow for a while says so by the spread of
 * what was measured on it. */
START_TEST(a_guess_must_beat_a_row_clearly)
{
    const kiln_problem open = with_open_layouts();
    if (strcmp(chosen(&open).problem.x_layout, "NCHW") == 0)
        return;
    const double predicted = predicted_ms(&open);
    add_row("naive", "", predicted * 1.1);
    ck_assert_str_eq(chosen(&open).solver, "naive");
    add_row("naive", "", predicted * 1.5);
    ck_assert_str_ne(chosen(&open).solver, "naive");
    add_iqr_row(tuning_problem, "naive", "", predicted * 1.5, 0.6);
    ck_assert_str_eq(chosen(&open).solver, "naive");
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
    char path[sizeof tuning.folder + 16], key[KILN_KEY_TEXT];
    const kiln_settings settings = {
        .rows_file = "off", .cache_dir = "off", .shipped_dir = tuning.folder, .template_dir = NULL};
    kiln_problem p = tuning_problem;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, key, sizeof key);
    snprintf(path, sizeof path, "%s/generic.yaml", tuning.folder);
    FILE *file = fopen(path, "w");
    fprintf(file,
            "schema: 1\ndevice: \"any\"\nrows:\n"
            "- {key: \"%s\", solver: \"naive\", version: %d, config: \"\"}\n",
            key, kiln_solver_named("naive")->version);
    ck_assert_int_eq(fclose(file), 0);
    kiln *other;
    kiln_op *op[2];
    kiln_op_info info[2];
    ck_assert_int_eq(kiln_open(&other, tuning.context, tuning.device, &settings), KILN_OK);
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
    tuning_record all = {0}, r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&all, 6);
    o.keep = 0;
    o.solver = "13";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_str_ne(all.configs[0], all.configs[5]);
    add_row(best.solver, all.configs[5], 1);
    o.user = &r;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_str_eq(r.configs[0], all.configs[5]); /* the row's, */
    ck_assert_str_eq(r.configs[1], all.configs[0]); /* then the guess */
}
END_TEST

/* What was fastest for another batch begins the grid, the nearest batch first. */
START_TEST(rows_of_other_batches_are_tried_early)
{
    tuning_record all = {0}, r = {0};
    kiln_trial best;
    kiln_problem other = tuning_problem;
    kiln_tune_options o = tuning_options(&all, 6);
    o.keep = 0;
    o.solver = "13";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    other.batch = 16;
    add_row_of(other, best.solver, all.configs[4], 1);
    other.batch = 2;
    add_row_of(other, best.solver, all.configs[5], 1);
    o.user = &r;
    o.max_trials = 2;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_str_eq(r.configs[0], all.configs[0]);
    ck_assert_str_eq(r.configs[1], all.configs[5]);
    other.batch = 32; /* too far away */
    unlink(tuning.rows_file);
    add_row_of(other, best.solver, all.configs[5], 1);
    r = (tuning_record){0};
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_str_eq(r.configs[1], all.configs[1]);
}
END_TEST

/* Writes a file of shipped rows with one row of the problem. */
static void ship(const char *name, const char *device, const char *core, const char *solver,
                 const char *config)
{
    char file[256];
    kiln_problem p = tuning_problem;
    kiln_row row = {.version = kiln_solver_named(solver)->version, .ms = 1, .runs = 1};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    snprintf(row.config, sizeof row.config, "%s", config);
    snprintf(row.core, sizeof row.core, "%s", core);
    snprintf(file, sizeof file, "%s/%s.yaml", tuning.folder, name);
    ck_assert_int_eq(kiln_rows_append(file, device, &row), KILN_OK);
}

typedef struct elsewhere {
    int rows;
    kiln_row_verdict first;
} elsewhere;

static void note_elsewhere(void *user, const kiln_row_verdict *v)
{
    elsewhere *e = user;
    if (*v->device && e->rows++ == 0)
        e->first = *v;
}

/* What was fastest on another device with the same core begins the grid, and explain says so. Rows
 * of other cores, and rows that do not say of which they are, are no such rows. */
START_TEST(rows_of_kindred_devices_are_tried_early)
{
    tuning_record all = {0}, r = {0};
    kiln_trial best;
    elsewhere seen = {0};
    const char *core = tuning.kiln->facts.core;
    kiln_tune_options o = tuning_options(&all, 6);
    if (!*core)
        return; /* nothing is known of this device's kin */
    o.keep = 0;
    o.solver = "13";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ship("a", "a device", "another core", best.solver, all.configs[2]);
    ship("b", "b device", "", best.solver, all.configs[3]);
    ship("c", tuning.kiln->facts.name, core, best.solver, all.configs[4]);
    ship("d", "d device", core, best.solver, all.configs[5]);
    const kiln_settings settings = {
        .rows_file = "off", .cache_dir = "off", .shipped_dir = tuning.folder};
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, tuning.context, tuning.device, &settings), KILN_OK);
    o.user = &r;
    o.max_trials = 2;
    ck_assert_int_eq(tuning_run(k, &o, &best), KILN_OK);
    ck_assert_str_eq(r.configs[0], all.configs[0]);
    ck_assert_str_eq(r.configs[1], all.configs[5]);
    ck_assert_int_eq(kiln_explain_rows(k, &tuning_problem, note_elsewhere, &seen), KILN_OK);
    ck_assert_int_eq(seen.rows, 1);
    ck_assert_int_eq(seen.first.taken, 0);
    ck_assert_str_eq(seen.first.device, "d device");
    ck_assert_str_eq(seen.first.row.config, all.configs[5]);
    ck_assert_ptr_nonnull(strstr(seen.first.why, "a search begins with it"));
    kiln_close(k);
    for (const char *name = "abcd"; *name; name++) {
        char file[256];
        snprintf(file, sizeof file, "%s/%c.yaml", tuning.folder, *name);
        unlink(file);
    }
}
END_TEST

/* A row of another solver that promises too much is renewed, whether it still runs or not. */
START_TEST(old_promises_do_not_beat_the_winner)
{
    const char *guess = NULL;
    kiln_verdict verdict;
    for (int i = 0; !guess && kiln_explain(tuning.kiln, &tuning_problem, i, &verdict) == KILN_OK;
         i++)
        if (strcmp(verdict.solver, "ConvOclDirectFwd1x1") == 0)
            guess = verdict.config;
    ck_assert_ptr_nonnull(guess);
    for (int rejected = 0; rejected < 2; rejected++) {
        tuning_record r = {.accept = rejected ? guess : NULL};
        kiln_trial best;
        kiln_tune_options o = tuning_options(&r, 6); /* each solver's guess is among the first */
        add_row("naive", "", 1e-9);
        ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
        tuning_check_used(tuning.kiln, NULL, &best);
    }
}
END_TEST

static char warned[1024];
static int warnings;

static void remember(void *user, const char *line)
{
    (void)user;
    snprintf(warned, sizeof warned, "%s", line);
    warnings++;
}

/* Makes the file of rows: one, by which naive runs the problem, of the device `of` ("": unsaid). */
static void write_rows(const char *of)
{
    char key[KILN_KEY_TEXT], head[192] = "";
    kiln_problem p = tuning_problem;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, key, sizeof key);
    if (*of)
        snprintf(head, sizeof head, "device: \"%s\"\n", of);
    FILE *file = fopen(tuning.rows_file, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "schema: 1\n%srows:\n- {key: \"%s\", solver: \"naive\", version: %d, config: \"\"}\n",
            head, key, kiln_solver_named("naive")->version);
    ck_assert_int_eq(fclose(file), 0);
}

static kiln *open_watched(void)
{
    const kiln_settings settings = {
        .rows_file = tuning.rows_file, .cache_dir = "off", .shipped_dir = "off", .warn = remember};
    kiln *k;
    warnings = 0;
    ck_assert_int_eq(kiln_open(&k, tuning.context, tuning.device, &settings), KILN_OK);
    return k;
}

static kiln_origin origin_of(kiln *k)
{
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(k, &tuning_problem, NULL, &op), KILN_OK);
    kiln_op_describe(op, &info);
    kiln_op_release(op);
    return info.origin;
}

/* The newest row of the file. */
static kiln_row last_row(void)
{
    kiln_rows *rows = kiln_rows_load(tuning.rows_file, "", NULL);
    ck_assert_ptr_nonnull(rows);
    const size_t count = kiln_rows_count(rows);
    ck_assert_uint_gt(count, 0);
    const kiln_row row = *kiln_rows_at(rows, count - 1);
    kiln_rows_free(rows);
    return row;
}

static void search_of(const char *solver)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 2);
    o.solver = solver;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
}

/* Where a launch takes longer than so small a problem, naive is as fast as others are predicted. */
static void make_last_row_slow(void)
{
    kiln_row row = last_row();
    row.ms = 1e9;
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln_reload_rows(tuning.kiln);
}

/* Naive is the best of one. That says nothing of the others, by prediction faster, and who expects
 * the row to decide is told. */
START_TEST(a_search_of_one_solver_decides_for_that_solver)
{
    search_of("naive");
    make_last_row_slow();
    kiln *k = open_watched();
    ck_assert_int_eq(origin_of(k), KILN_ORIGIN_GUESS);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warned, "does not decide") && strstr(warned, "ConvOclDirectFwd1x1"), "%s",
                  warned);
    kiln_close(k);
    ck_assert_ptr_nonnull(strstr(last_row().without, "ConvOclDirectFwd1x1"));
    ck_assert_ptr_null(strstr(last_row().without, "naive"));
    ck_assert_str_ne(chosen(&tuning_problem).solver, "naive");
    const kiln_choice naive = {.solver = "naive"};
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_conv_create(tuning.kiln, &tuning_problem, &naive, &op), KILN_OK);
    kiln_op_describe(op, &info);
    kiln_op_release(op);
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
}
END_TEST

/* The row says what it was compared with: the guess is a finalist of every search. */
START_TEST(a_row_tells_of_its_turns_with_the_guess)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 12);
    o.runs = 16;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    const kiln_row row = last_row();
    char guess[KILN_INFO_TEXT + 64];
    snprintf(guess, sizeof guess, "%s%s%s", best.guess_config, *best.guess_config ? " of " : "",
             best.guess_solver);
    ck_assert_str_eq(row.guess, guess);
    ck_assert_int_eq(row.turns, KILN_ROW_TURNS);
    ck_assert_int_eq(row.turns, best.turns);
    ck_assert_int_eq(row.turns_won, best.turns_won);
    ck_assert_int_le(row.turns_won, row.turns);
    ck_assert(row.guess_ms > 0 && row.win_iqr >= 0);
}
END_TEST

/* A row of a search for plain sums is compared with what such a search would have begun with. */
START_TEST(a_row_is_compared_with_what_its_search_could_choose)
{
    kiln_problem p = tuning_problem, compared;
    kiln_row row = {.solver = "naive"};
    kiln_op_info guess, plain;
    p.filter[0] = p.filter[1] = 3;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    ck_assert_int_eq(kiln_row_guess(tuning.kiln, &row, &compared, &guess), KILN_OK);
    const kiln_op_info run = chosen(&p);
    ck_assert_str_eq(guess.solver, run.solver);
    ck_assert_str_eq(guess.config, run.config);
    ck_assert_int_ne(compared.math, KILN_MATH_EXACT);
    snprintf(row.without, sizeof row.without, "x%s %s", guess.solver, guess.solver);
    ck_assert_int_eq(kiln_row_guess(tuning.kiln, &row, &compared, &plain), KILN_OK);
    ck_assert_str_ne(plain.solver, guess.solver);
    if (compared.math != KILN_MATH_EXACT)
        ck_assert_str_eq(plain.solver, "naive");
    snprintf(row.without, sizeof row.without, "%s %s", guess.solver, plain.solver);
    ck_assert_int_eq(kiln_row_guess(tuning.kiln, &row, &compared, &plain), KILN_OK);
    ck_assert_str_eq(plain.solver, "naive");
    ck_assert_int_ne(compared.math, KILN_MATH_EXACT);
    strcpy(row.key, "nonsense");
    ck_assert_int_eq(kiln_row_guess(tuning.kiln, &row, &compared, &plain), KILN_INVALID);
}
END_TEST

/* All had their say in the search before, which the new row of the same solver passes on. */
START_TEST(what_was_ruled_out_stays_ruled_out)
{
    add_row("naive", "", 1e-9);
    search_of("naive");
    ck_assert_str_eq(last_row().without, "");
    ck_assert_str_eq(chosen(&tuning_problem).solver, "naive");
}
END_TEST

static bool is_taken_by(const kiln_problem *p, const char *solver)
{
    kiln_verdict v;
    for (int i = 0; kiln_explain(tuning.kiln, p, i, &v) == KILN_OK; i++)
        if (strcmp(v.solver, solver) == 0)
            return v.accepted;
    return false;
}

/* Where the solvers that a search could not choose are not allowed either, its row decides. */
START_TEST(a_row_decides_where_it_leaves_nobody_out)
{
    kiln_problem p = tuning_problem, exact;
    kiln_row row = {.version = kiln_solver_named("naive")->version, .ms = 1e9, .runs = 1};
    p.filter[0] = p.filter[1] = 3;
    exact = p;
    exact.math = KILN_MATH_EXACT;
    if (!is_taken_by(&p, "winograd_staged"))
        return;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "naive");
    snprintf(row.without, sizeof row.without, "of_another_version winograd_staged");
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln_reload_rows(tuning.kiln);
    ck_assert_str_eq(chosen(&exact).solver, "naive");
    ck_assert_str_ne(chosen(&p).solver, "naive");
}
END_TEST

/* Nothing is measured for a file that would not take the winner. */
START_TEST(rows_of_another_device_are_left_alone)
{
    write_rows("another card");
    kiln *k = open_watched();
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warned, tuning.rows_file) && strstr(warned, "\"another card\"") &&
                      strstr(warned, tuning.kiln->facts.name) &&
                      strstr(warned, "name another file, or \"off\", in settings.rows_file"),
                  "%s", warned);
    ck_assert_int_eq(origin_of(k), KILN_ORIGIN_GUESS);
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 2);
    ck_assert_int_eq(tuning_run(k, &o, &best), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "\"another card\""));
    ck_assert_int_eq(r.trials, 0);
    o.keep = 0;
    ck_assert_int_eq(tuning_run(k, &o, &best), KILN_OK);
    ck_assert_int_eq(warnings, 1);
    kiln_close(k);
}
END_TEST

START_TEST(rows_that_name_no_other_device_are_used)
{
    const char *const heads[] = {tuning.kiln->facts.name, "any", ""};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        write_rows(heads[i]);
        kiln *k = open_watched();
        ck_assert_int_eq(origin_of(k), KILN_ORIGIN_USER_ROW);
        ck_assert_int_eq(warnings, 0);
        kiln_close(k);
    }
}
END_TEST

/* A device's name may be that of several CPUs; where nobody knows which this is, all rows count. */
START_TEST(rows_of_another_core_are_told_of)
{
    kiln_row row = {.solver = "naive", .ms = 1, .core = "another core"};
    kiln_problem p = tuning_problem;
    const bool known = *tuning.kiln->facts.core;
    row.version = kiln_solver_named(row.solver)->version;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln *k = open_watched();
    ck_assert_int_eq(warnings, known);
    ck_assert(!known || (strstr(warned, "another CPU of the same name") &&
                         strstr(warned, tuning.kiln->facts.core)));
    ck_assert_int_eq(origin_of(k), known ? KILN_ORIGIN_GUESS : KILN_ORIGIN_USER_ROW);
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tune_rows");
    TCase *tests = tcase_create("tune_rows");
    tcase_add_checked_fixture(tests, tuning_set_up, tuning_tear_down);
    tcase_add_test(tests, open_layouts_find_rows_by_their_time);
    tcase_add_test(tests, a_guess_must_beat_a_row_clearly);
    tcase_add_test(tests, a_row_of_the_predicted_layouts_decides);
    tcase_add_test(tests, a_row_for_any_device_tells_a_config_but_no_solver);
    tcase_add_test(tests, a_row_is_tried_first);
    tcase_add_test(tests, rows_of_other_batches_are_tried_early);
    tcase_add_test(tests, rows_of_kindred_devices_are_tried_early);
    tcase_add_test(tests, a_search_of_one_solver_decides_for_that_solver);
    tcase_add_test(tests, a_row_tells_of_its_turns_with_the_guess);
    tcase_add_test(tests, a_row_is_compared_with_what_its_search_could_choose);
    tcase_add_test(tests, what_was_ruled_out_stays_ruled_out);
    tcase_add_test(tests, a_row_decides_where_it_leaves_nobody_out);
    tcase_add_test(tests, old_promises_do_not_beat_the_winner);
    tcase_add_test(tests, rows_of_another_device_are_left_alone);
    tcase_add_test(tests, rows_that_name_no_other_device_are_used);
    tcase_add_test(tests, rows_of_another_core_are_told_of);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
