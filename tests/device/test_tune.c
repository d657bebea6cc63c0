/* The tuner: only what was verified may win, whatever fails is counted, and the winner is used. */
#include "runtime/programs/template.h"
#include "runtime/kiln/load_rows.h"
#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t kept_rows(void)
{
    kiln_rows *rows = kiln_rows_load(tuning.rows_file, "", NULL);
    size_t count = kiln_rows_count(rows);
    kiln_rows_free(rows);
    return count;
}

START_TEST(the_winner_is_kept_and_used)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 8);
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(best.verdict, KILN_TRIAL_OK);
    ck_assert_double_gt(best.ms, 0);
    ck_assert_str_eq(best.config, best.best_config);
    ck_assert_str_eq(best.solver, best.best_solver);
    ck_assert_int_gt(r.trials, 0);
    ck_assert_int_le(r.trials, 8);
    ck_assert_int_eq(r.trials, best.count);
    ck_assert_int_eq(r.poison, 0);
    ck_assert_uint_eq(kept_rows(), 1);
    tuning_check_used(tuning.kiln, NULL, &best);
    kiln *fresh = tuning_open(tuning.rows_file, NULL);
    const kiln_row *row = kiln_rows_at(fresh->user_rows, 0);
    ck_assert_int_eq(row->runs, 3);
    ck_assert_str_eq(row->driver, fresh->facts.driver);
    ck_assert_uint_eq(strlen(row->hash), 16);
    ck_assert_uint_eq(strlen(row->date), 10);
    tuning_check_used(fresh, NULL, &best);
    kiln_close(fresh);
}
END_TEST

/* Whichever is fastest, the only config that verifies wins. Up to that config the order is that of
 * a search in which none does. */
START_TEST(what_is_wrong_never_wins)
{
    tuning_record all = {.accept = "none"};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&all, 6);
    o.keep = 0;
    o.solver = "ConvOclDirectFwd1x1";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_UNSUPPORTED);
    ck_assert_int_eq(all.trials, 6);
    for (int i = 0; i < 6; i++) {
        tuning_record r = {.accept = all.configs[i]};
        unlink(tuning.rows_file);
        kiln_reload_rows(tuning.kiln);
        o = tuning_options(&r, 6);
        o.solver = "13";
        ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
        ck_assert_str_eq(best.config, all.configs[i]);
        ck_assert_int_eq(r.verified, 6);
        ck_assert_int_eq(r.verdicts[KILN_TRIAL_WRONG], 5);
        tuning_check_used(tuning.kiln, o.solver, &best);
    }
}
END_TEST

static size_t note_upcoming(void *user, const kiln_trial *trials, size_t count)
{
    tuning_record *r = user;
    ck_assert_uint_gt(count, 0);
    ck_assert_int_eq(trials[0].index, r->upcoming);
    for (size_t i = 1; i < count; i++)
        ck_assert_int_eq(trials[i].index, trials[0].index + (int64_t)i);
    ck_assert_uint_eq(strlen(trials[0].hash), 16);
    r->upcoming++;
    return 0;
}

static char foreseen[6][KILN_INFO_TEXT];

static size_t note_foreseen(void *user, const kiln_trial *trials, size_t count)
{
    (void)user;
    if (trials[0].index != 0)
        return 0;
    ck_assert_uint_ge(count, 5);
    for (int i = 0; i < 5; i++)
        strcpy(foreseen[i], trials[i].config);
    return 0;
}

/* Before the first trial, the begin of the grids is known where only one solver takes part. */
START_TEST(the_grids_are_foreseen)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 6);
    o.keep = 0;
    o.solver = "ConvOclDirectFwd1x1";
    o.upcoming = note_foreseen;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    for (int i = 0; i < 5; i++)
        ck_assert_str_eq(foreseen[i], r.configs[i]);
}
END_TEST

/* A caller that wants the third of the trials that are next. */
enum { THIRD = 2, WANTING = 8, FIRSTS = 3 };

static char wanted[WANTING][KILN_INFO_TEXT], tried[WANTING][KILN_INFO_TEXT];
static int calls;

static size_t want_third(void *user, const kiln_trial *trials, size_t count)
{
    (void)user;
    ck_assert_int_lt(calls, WANTING);
    strcpy(wanted[calls++], count > THIRD ? trials[THIRD].config : "none");
    return THIRD; /* at the end, a number that is none of theirs */
}

static int note_tried(void *user, const kiln_trial *t)
{
    (void)user;
    strcpy(tried[t->index], t->config);
    return 0;
}

static bool is_tried_among_firsts(const char *config)
{
    bool is = false;
    for (int i = 0; i < FIRSTS; i++)
        is = is || strcmp(config, tried[i]) == 0;
    return is;
}

/* The caller chooses among the firsts, and then among the grids, and the guess stays what it is. */
START_TEST(the_caller_chooses_what_is_next)
{
    tuning_record plain = {0};
    kiln_trial best, chosen;
    kiln_tune_options o = tuning_options(&plain, WANTING);
    o.keep = 0;
    o.solver = "direct,13,naive";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    o.upcoming = want_third;
    o.progress = note_tried;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &chosen), KILN_OK);
    ck_assert_int_eq(calls, WANTING);
    ck_assert_str_eq(chosen.guess_solver, best.guess_solver);
    ck_assert_str_eq(chosen.guess_config, best.guess_config);
    ck_assert_double_gt(chosen.guess_ms, 0);
    for (int i = 0; i < FIRSTS; i++)
        ck_assert_msg(is_tried_among_firsts(plain.configs[i]), "%s came late", plain.configs[i]);
    /* Two of the firsts have no third behind them that is one of the firsts, too. */
    for (int i = 0; i < WANTING - THIRD; i++)
        ck_assert_int_eq(strcmp(wanted[i], tried[i]) == 0, i < 1 || i >= FIRSTS);
}
END_TEST

static kiln_trial all_of[6];

static int note_whole(void *user, const kiln_trial *t)
{
    (void)user;
    all_of[t->index] = *t;
    return 0;
}

/* What an earlier search tried is counted but not tried, unless it is one of the fastest. */
START_TEST(known_trials_are_not_tried_again)
{
    tuning_record first = {0}, again = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&first, 6);
    o.keep = 0;
    o.solver = "direct,13,naive";
    o.progress = note_whole;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    int good = 0;
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(all_of[i].error, 0.5);
        good += all_of[i].verdict == KILN_TRIAL_OK; /* on a busy machine, some are slow */
    }
    ck_assert_int_eq(best.second_solver != NULL, good > 1);
    ck_assert_double_gt(best.guess_ms, 0);
    all_of[5].verdict = KILN_TRIAL_CRASHED;
    for (int i = 0; i < 5; i++)
        all_of[i].verdict = KILN_TRIAL_WRONG;
    o = tuning_options(&again, 7);
    o.solver = "direct,13,naive";
    o.known = all_of;
    o.nknown = 6;
    o.progress = NULL;
    o.upcoming = note_upcoming;
    again.upcoming = 6;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(again.upcoming, 7);
    ck_assert_int_eq(again.verified, 1);
    /* Templates that have changed since make a new trial of each. */
    for (int i = 0; i < 6; i++)
        strcpy(all_of[i].hash, "0");
    again = (tuning_record){.upcoming = 0};
    o.max_trials = 2;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(again.verified, 2);
}
END_TEST

enum { KNOWN = 8, MORE = 4, MOST_REPEATS = 6 };

static kiln_trial known_of[KNOWN];
static int64_t tried_new, repeats, repeats_at_first, repeats_before_the_last;

static int note_known(void *user, const kiln_trial *t)
{
    (void)user;
    known_of[t->index] = *t;
    return 0;
}

static int note_order(void *user, const kiln_trial *t)
{
    const tuning_record *r = user;
    for (int i = 0; i < KNOWN; i++) {
        const bool same = strcmp(known_of[i].solver, t->solver) == 0 &&
                          strcmp(known_of[i].config, t->config) == 0;
        ck_assert(!same || t->repeated);
    }
    tried_new += !t->repeated;
    repeats += t->repeated;
    if (tried_new == 0)
        repeats_at_first++;
    if (!t->repeated)
        repeats_before_the_last = repeats;
    return tried_new == r->stop_after;
}

/* Searches a first time for what is known then, and makes options for going on. */
static kiln_tune_options go_on(tuning_record *r)
{
    kiln_trial best;
    tuning_record first = {0};
    kiln_tune_options o = tuning_options(&first, KNOWN);
    o.keep = 0;
    o.solver = "direct,13,naive";
    o.progress = note_known;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    for (int i = 0; i < KNOWN; i++) /* whatever the machine did meanwhile */
        known_of[i].verdict = KILN_TRIAL_OK;
    o.user = r;
    o.max_trials = KNOWN + MORE;
    o.known = known_of;
    o.nknown = KNOWN;
    o.progress = note_order;
    tried_new = repeats = repeats_at_first = repeats_before_the_last = 0;
    return o;
}

/* A search that goes on tries something new first, and repeats the best at its end, which counts
 * for no trial. */
START_TEST(what_is_repeated_comes_last_and_does_not_count)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = go_on(&r);
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(tried_new, MORE);
    ck_assert_int_eq(repeats_at_first, 0);
    ck_assert_int_gt(repeats, 0);
    ck_assert_int_le(repeats, MOST_REPEATS);
    ck_assert_int_le(repeats_before_the_last, 2); /* what measures the pace, and the guess */
    ck_assert_int_eq(best.index + 1, KNOWN + MORE);
    /* With nothing left to try, the known ones are compared. */
    r = (tuning_record){0};
    o = go_on(&r);
    o.max_trials = KNOWN;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(tried_new, 0);
    ck_assert_int_gt(repeats, 0);
    ck_assert_int_eq(best.repeated, 1);
}
END_TEST

/* Where a search is stopped before the best known config was repeated, that keeps its row; where it
 * is not, the config's own time now counts. */
START_TEST(a_stopped_search_keeps_what_is_known_to_be_faster)
{
    const double least = 1e-7;
    tuning_record r = {.stop_after = 1};
    kiln_trial best;
    for (int stops = 1; stops >= 0; stops--) {
        r.stop_after = stops ? 1 : -1;
        kiln_tune_options o = go_on(&r);
        o.keep = 1;
        known_of[KNOWN - 1].ms = least;
        known_of[KNOWN - 1].iqr = 0.25;
        known_of[KNOWN - 1].runs = 7;
        unlink(tuning.rows_file);
        kiln_reload_rows(tuning.kiln);
        ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
        const kiln_row *row = kiln_rows_at(tuning.kiln->user_rows, 0);
        ck_assert_uint_eq(kept_rows(), 1);
        ck_assert_double_eq_tol(row->ms, best.ms, 1e-4 * best.ms); /* the file has six digits */
        ck_assert_str_eq(row->config, best.config);
        if (!stops) {
            ck_assert_double_gt(best.ms, least);
            continue;
        }
        ck_assert_int_eq(tried_new, 1);
        ck_assert_double_eq(best.ms, least);
        ck_assert_str_eq(best.config, known_of[KNOWN - 1].config);
        ck_assert_double_eq(row->iqr, 0.25);
        ck_assert_int_eq(row->runs, 7);
    }
}
END_TEST

START_TEST(nothing_verified_means_no_winner)
{
    tuning_record r = {.accept = "none"};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 4);
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "wrong result"));
    ck_assert_int_eq(r.verdicts[KILN_TRIAL_WRONG], r.trials);
    ck_assert_uint_eq(kept_rows(), 0);
}
END_TEST

/* A kiln whose kernels begin with types.cl and this. */
static kiln *open_with(const char *addition)
{
    FILE *f = fopen(tuning.types_file, "w");
    ck_assert_ptr_nonnull(f);
    for (const kiln_template *t = kiln_embedded_templates; t->file; t++)
        if (strcmp(t->file, "types.cl") == 0)
            fputs(t->text, f);
    fprintf(f, "\n%s\n", addition);
    fclose(f);
    return tuning_open(tuning.rows_file, tuning.folder);
}

/* A kernel that writes nothing leaves poison, even where y held the right values before. */
START_TEST(the_destination_is_poisoned)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 1);
    o.solver = "naive";
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(r.poison, 0);
    r = (tuning_record){0};
    kiln *lazy = open_with("#undef DST_STORE\n#define DST_STORE(p, i, v) ((void)(v))");
    ck_assert_int_eq(tuning_run(lazy, &o, &best), KILN_UNSUPPORTED);
    ck_assert_int_eq(r.poison, TUNING_RESULTS);
    kiln_close(lazy);
}
END_TEST

START_TEST(a_failing_build_is_a_trial)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 3);
    kiln *broken = open_with("#error no");
    ck_assert_int_eq(tuning_run(broken, &o, &best), KILN_UNSUPPORTED);
    ck_assert_int_eq(r.trials, 3);
    ck_assert_int_eq(r.verdicts[KILN_TRIAL_BUILD], 3);
    ck_assert_int_eq(r.verified, 0);
    kiln_close(broken);
}
END_TEST

START_TEST(progress_stops_and_keeps_the_best)
{
    tuning_record r = {.stop_after = 2};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 8);
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(r.trials, 2);
    ck_assert_uint_eq(kept_rows(), 1);
    tuning_check_used(tuning.kiln, NULL, &best);
}
END_TEST

START_TEST(a_short_time_still_tries_one)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 0);
    o.max_seconds = 1e-9;
    ck_assert_int_eq(tuning_run(tuning.kiln, &o, &best), KILN_OK);
    ck_assert_int_eq(r.trials, 1);
}
END_TEST

/* Refused before anything is measured. */
START_TEST(calls_that_make_no_sense)
{
    tuning_record r = {0};
    kiln_trial best;
    kiln_tune_options o = tuning_options(&r, 1), bad = o;
    cl_int code;
    bad.verify = NULL;
    ck_assert_int_eq(tuning_run(tuning.kiln, &bad, &best), KILN_INVALID);
    static const char *const nobodies[] = {"nobody", ",", "naive,,direct", "naive,nobody"};
    for (size_t i = 0; i < sizeof nobodies / sizeof *nobodies; i++) {
        bad = o;
        bad.solver = nobodies[i];
        ck_assert_int_eq(tuning_run(tuning.kiln, &bad, &best), KILN_INVALID);
    }
    const kiln_trial nameless = {0};
    const kiln_tune_options odd[] = {{.max_trials = -1},
                                     {.patience = -1},
                                     {.max_seconds = -1},
                                     {.max_seconds = NAN},
                                     {.nknown = 1},
                                     {.runs = -1},
                                     {.known = &nameless, .nknown = 1}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        bad = odd[i];
        bad.verify = o.verify;
        ck_assert_int_eq(tuning_run(tuning.kiln, &bad, &best), KILN_INVALID);
    }
    cl_command_queue plain = clCreateCommandQueue(tuning.context, tuning.device, 0, &code);
    ck_assert_int_eq(kiln_tune(tuning.kiln, &tuning_problem, plain, &tuning.buffers, &o, &best),
                     KILN_INVALID);
    clReleaseCommandQueue(plain);
    kiln *off = tuning_open("off", NULL);
    ck_assert_int_eq(tuning_run(off, &o, &best), KILN_FILE);
    kiln_close(off);
    off = tuning_open("/proc/nowhere/rows.yaml", NULL);
    ck_assert_int_eq(tuning_run(off, &o, &best), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "/proc/nowhere/rows.yaml"));
    kiln_close(off);
    kiln_buffers small = tuning.buffers, crooked = tuning.buffers;
    small.x = small.w;
    small.w = tuning.buffers.x;
    crooked.y.offset = 4;
    ck_assert_int_eq(kiln_tune(tuning.kiln, &tuning_problem, tuning.queue, &small, &o, &best),
                     KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "buffer x needs"), "%s", kiln_last_error());
    ck_assert_int_eq(kiln_tune(tuning.kiln, &tuning_problem, tuning.queue, &crooked, &o, &best),
                     KILN_INVALID);
    ck_assert_msg(strstr(kiln_last_error(), "offset 4 of buffer y"), "%s", kiln_last_error());
    kiln_problem residual = tuning_problem;
    residual.epilogue.beta = 1;
    kiln_buffers shared = tuning.buffers;
    shared.residual = shared.y;
    ck_assert_int_eq(kiln_tune(tuning.kiln, &residual, tuning.queue, &shared, &o, &best),
                     KILN_INVALID);
    ck_assert_int_eq(r.trials, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tune");
    TCase *tests = tcase_create("tune");
    tcase_add_checked_fixture(tests, tuning_set_up, tuning_tear_down);
    tcase_add_test(tests, the_winner_is_kept_and_used);
    tcase_add_test(tests, what_is_wrong_never_wins);
    tcase_add_test(tests, the_grids_are_foreseen);
    tcase_add_test(tests, the_caller_chooses_what_is_next);
    tcase_add_test(tests, known_trials_are_not_tried_again);
    tcase_add_test(tests, what_is_repeated_comes_last_and_does_not_count);
    tcase_add_test(tests, a_stopped_search_keeps_what_is_known_to_be_faster);
    tcase_add_test(tests, nothing_verified_means_no_winner);
    tcase_add_test(tests, the_destination_is_poisoned);
    tcase_add_test(tests, a_failing_build_is_a_trial);
    tcase_add_test(tests, progress_stops_and_keeps_the_best);
    tcase_add_test(tests, a_short_time_still_tries_one);
    tcase_add_test(tests, calls_that_make_no_sense);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
