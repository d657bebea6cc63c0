/* How `kiln tune --total-time` shares its time: a first round for all, then searches that gain
 * most.
 */
#include "driver/tune/tune_rounds.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 4 };

static tune_options options;
static tune_item items[ITEMS];
static tune_list list;
static tune_run run;
static tune_state states[ITEMS];
static tune_result results[ITEMS];
static tune_progress progress[ITEMS];
static char log_file[] = "/tmp/kiln_rounds_XXXXXX";
static char why[KILN_ERROR_TEXT];

static tune_kind *kind(void)
{
    return &run.kind[0];
}

static void setup(void)
{
    close(mkstemp(log_file));
    options = (tune_options){.total_time = 400, .solvers = ""};
    memset(items, 0, sizeof items);
    memset(states, 0, sizeof states);
    memset(results, 0, sizeof results);
    memset(progress, 0, sizeof progress);
    list = (tune_list){.item = items, .count = ITEMS};
    run = (tune_run){.options = &options, .list = &list, .kinds = 1, .began = kiln_run_seconds()};
    *kind() = (tune_kind){.devices = 1, .state = states, .result = results, .progress = progress};
    snprintf(kind()->log, sizeof kind()->log, "%s", log_file);
    ck_assert_int_eq(trial_book_load(&kind()->book, "", NULL, why), KILN_OK);
}

static void teardown(void)
{
    trial_book_free(kind()->book);
    unlink(log_file);
    strcpy(log_file + strlen(log_file) - 6, "XXXXXX");
}

/* So much time of the run has passed. */
static void pass(double seconds)
{
    run.began = kiln_run_seconds() - seconds;
}

static void end(int item, double guess_ms, double ms, bool late, const char *verdict)
{
    tune_result r = {.ended_late = late};
    r.end = (kiln_trial_line){.kind = KILN_LINE_SEARCH,
                              .ms = ms,
                              .guess_ms = guess_ms,
                              .index = 10,
                              .count = strcmp(verdict, "done") == 0 ? 10 : 500,
                              .version = 1};
    snprintf(r.end.verdict, sizeof r.end.verdict, "%s", verdict);
    snprintf(r.end.problem, sizeof r.end.problem, "p%d", item);
    strcpy(r.end.key, "k");
    strcpy(r.end.solver, "direct");
    states[item] = TUNE_RUNNING;
    tune_rounds_note(&run, kind(), item, &r);
}

static void check_next(int item)
{
    ck_assert_int_eq(tune_rounds_next(&run, kind()), item);
}

static double seconds_of(int item)
{
    return tune_rounds_slice(&run, kind(), item).seconds;
}

START_TEST(the_first_round_takes_one_half)
{
    check_next(0);
    const tune_slice slice = tune_rounds_slice(&run, kind(), 0);
    ck_assert_double_eq_tol(slice.seconds, 50, 0.5);
    ck_assert(slice.alone && slice.round == 1 && slice.patience > 0);
    end(0, 2, 2, false, "paused"); /* it needed little: the others get what is left */
    pass(20);
    check_next(1);
    ck_assert_double_eq_tol(seconds_of(1), 60, 0.5);
}
END_TEST

START_TEST(further_rounds_go_to_those_that_gain)
{
    end(0, 2, 2, false, "paused");
    end(1, 2, 1.9, true, "paused");
    end(2, 2, 1, false, "paused");
    end(3, 2, 1, true, "paused");
    pass(200);
    ck_assert_uint_eq(kind()->ended, ITEMS);
    check_next(3); /* by time, and gained most */
    const tune_slice slice = tune_rounds_slice(&run, kind(), 3);
    ck_assert_double_eq_tol(slice.seconds, 25, 0.5);
    ck_assert_int_eq(slice.round, 2);
    end(3, 2, 0.9, true, "paused");
    check_next(1);
    end(1, 2, 1.9, false, "paused");
    check_next(2);
    end(2, 2, 1, false, "paused");
    check_next(0);
    end(0, 2, 2, false, "done"); /* nothing is left to try */
    ck_assert_int_eq(states[0], TUNE_ENDED);
    check_next(3);
    pass(395);
    check_next(-1);
    ck_assert_uint_eq(kind()->ended, ITEMS);
}
END_TEST

START_TEST(little_time_is_for_one_round)
{
    options.total_time = 20;
    ck_assert_double_eq_tol(seconds_of(0), 5, 0.5);
}
END_TEST

START_TEST(without_a_limit_there_is_one_round)
{
    options.total_time = 0;
    options.seconds = 7;
    const tune_slice slice = tune_rounds_slice(&run, kind(), 0);
    ck_assert(slice.seconds == 7 && slice.patience == 0 && !slice.alone);
    for (int i = 0; i < ITEMS; i++)
        end(i, 2, 1, true, "done");
    check_next(-1);
    options.total_time = 400;
    options.patience = 9;
    ck_assert_int_eq(tune_rounds_slice(&run, kind(), 0).patience, 9);
}
END_TEST

START_TEST(the_users_patience_ends_a_problem)
{
    options.patience = 9;
    end(0, 2, 1, false, "paused");
    end(1, 2, 1, true, "paused");
    ck_assert_int_eq(states[0], TUNE_ENDED);
    ck_assert_int_eq(states[1], TUNE_AGAIN);
}
END_TEST

START_TEST(a_profile_weights_problems)
{
    options.profile = 1;
    for (int i = 0; i < ITEMS; i++)
        items[i] = (tune_item){.count = i == 2 ? 7 : 1, .cost = 1};
    ck_assert_double_eq_tol(seconds_of(2), 140, 0.5);
    ck_assert_double_eq_tol(seconds_of(0), 20, 0.5);
}
END_TEST

START_TEST(a_round_that_fails_keeps_what_was_found)
{
    end(0, 2, 1, true, "paused");
    tune_result lost = {.status = KILN_OPENCL};
    tune_rounds_note(&run, kind(), 0, &lost);
    ck_assert_int_eq(results[0].status, KILN_OK);
    ck_assert_double_eq(results[0].end.ms, 1);
    ck_assert_int_eq(states[0], TUNE_ENDED);
    end(0, 0, 0.8, true, "paused"); /* a round that did not time the guess */
    ck_assert_double_eq(results[0].end.guess_ms, 2);
}
END_TEST

static void count_done(void *user, const kiln_trial_line *line)
{
    *(int *)user += strcmp(line->verdict, "done") == 0;
}

START_TEST(pauses_end_when_the_run_ends)
{
    int done = 0;
    end(0, 2, 1, true, "paused");
    end(1, 2, 1, true, "done");
    ck_assert_int_eq(tune_rounds_end(&run), KILN_OK);
    ck_assert_int_eq(kiln_trials_read(log_file, NULL, count_done, &done, NULL), KILN_OK);
    ck_assert_int_eq(done, 1); /* the search itself has written the other one */
    run.interrupted = true;
    end(2, 2, 1, true, "paused");
    ck_assert_int_eq(tune_rounds_end(&run), KILN_OK);
    ck_assert_int_eq(kiln_trials_read(log_file, NULL, count_done, &done, NULL), KILN_OK);
    ck_assert_int_eq(done, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tune_rounds");
    TCase *all = tcase_create("tune_rounds");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, the_first_round_takes_one_half);
    tcase_add_test(all, further_rounds_go_to_those_that_gain);
    tcase_add_test(all, little_time_is_for_one_round);
    tcase_add_test(all, without_a_limit_there_is_one_round);
    tcase_add_test(all, the_users_patience_ends_a_problem);
    tcase_add_test(all, a_profile_weights_problems);
    tcase_add_test(all, a_round_that_fails_keeps_what_was_found);
    tcase_add_test(all, pauses_end_when_the_run_ends);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
