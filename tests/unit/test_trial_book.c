/* What counts of the log of trials when a search goes on. */
#include "driver/conv/trial_book.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[] = "/tmp/kiln_book_XXXXXX";
static trial_book *book;

static kiln_trial_line line_of(const char *problem, kiln_line_kind kind, const char *verdict,
                               const char *config, double seconds)
{
    kiln_trial_line line = {.kind = kind, .version = 2, .ms = 1, .seconds = seconds};
    snprintf(line.problem, sizeof line.problem, "%s", problem);
    snprintf(line.verdict, sizeof line.verdict, "%s", verdict);
    snprintf(line.config, sizeof line.config, "%s", config);
    strcpy(line.key, "k");
    strcpy(line.solver, "direct");
    strcpy(line.device, "a GPU");
    strcpy(line.driver, "1.0");
    return line;
}

static void add(const char *problem, kiln_line_kind kind, const char *verdict, const char *config)
{
    const kiln_trial_line line = line_of(problem, kind, verdict, config, 2);
    ck_assert(trial_book_add(book, &line));
}

static size_t count(const char *problem, bool finished, double seconds)
{
    const kiln_trial_line of = line_of(problem, KILN_LINE_TRIAL, "", "", 0);
    trial_book_known known;
    ck_assert(trial_book_known_of(book, &of, trial_book_restart_of(book, &of), finished, &known));
    ck_assert_double_eq(known.seconds, seconds);
    free(known.trial);
    return known.count;
}

static bool has_ended(const char *problem)
{
    const kiln_trial_line of = line_of(problem, KILN_LINE_TRIAL, "", "", 0);
    return trial_book_end_of(book, &of, trial_book_restart_of(book, &of)) != NULL;
}

START_TEST(a_search_that_was_killed_goes_on)
{
    add("p", KILN_LINE_TRIAL, "ok", "1");
    add("q", KILN_LINE_TRIAL, "ok", "1");
    add("p", KILN_LINE_TRIAL, "wrong", "2");
    ck_assert_uint_eq(count("p", false, 4), 2);
    ck_assert(!has_ended("p"));
    ck_assert_uint_eq(count("r", true, 0), 0);
}
END_TEST

START_TEST(trials_come_in_the_order_of_the_log)
{
    const kiln_trial_line of = line_of("p", KILN_LINE_TRIAL, "", "", 0);
    trial_book_known known;
    add("p", KILN_LINE_TRIAL, "ok", "1");
    add("p", KILN_LINE_TRIAL, "slow", "1");
    add("p", KILN_LINE_TRIAL, "crashed", "2");
    ck_assert(trial_book_known_of(book, &of, 0, true, &known));
    ck_assert_uint_eq(known.count, 3);
    ck_assert_int_eq(known.trial[0].verdict, KILN_TRIAL_OK);
    ck_assert_int_eq(known.trial[1].verdict, KILN_TRIAL_SLOW);
    ck_assert_int_eq(known.trial[2].verdict, KILN_TRIAL_CRASHED);
    ck_assert_str_eq(known.trial[2].solver, "direct");
    ck_assert_int_eq(known.trial[2].version, 2);
    free(known.trial);
}
END_TEST

/* What crashed is remembered; the rest counts for whoever goes on with a search that ended. */
START_TEST(a_search_that_ended)
{
    add("p", KILN_LINE_TRIAL, "ok", "1");
    add("p", KILN_LINE_TRIAL, "timeout", "2");
    add("p", KILN_LINE_SEARCH, "done", "1");
    ck_assert(has_ended("p"));
    ck_assert_uint_eq(count("p", false, 0), 1);
    ck_assert_uint_eq(count("p", true, 4), 2);
    add("p", KILN_LINE_TRIAL, "ok", "3");
    ck_assert_uint_eq(count("p", false, 2), 2);
}
END_TEST

START_TEST(a_search_that_was_restarted)
{
    add("p", KILN_LINE_TRIAL, "ok", "1");
    add("p", KILN_LINE_TRIAL, "crashed", "2");
    add("p", KILN_LINE_SEARCH, "done", "1");
    add("p", KILN_LINE_SEARCH, "restarted", "");
    ck_assert(!has_ended("p"));
    ck_assert_uint_eq(count("p", true, 0), 0); /* what crashed is forgotten, too */
    add("p", KILN_LINE_TRIAL, "ok", "1");
    add("p", KILN_LINE_SEARCH, "done", "1");
    ck_assert(has_ended("p"));
    ck_assert_uint_eq(count("p", true, 2), 1);
}
END_TEST

/* What a run left behind by a bad moment gets one more try, and what crashed does not. */
START_TEST(a_failure_of_an_earlier_run_is_tried_once_more)
{
    static const char *const doubtful[] = {"build failed", "run failed", "timeout"};
    char why[KILN_ERROR_TEXT];
    for (int i = 0; i < 3; i++) {
        char config[8];
        snprintf(config, sizeof config, "%d", i);
        const kiln_trial_line line = line_of("p", KILN_LINE_TRIAL, doubtful[i], config, 2);
        ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    }
    const kiln_trial_line crashed = line_of("p", KILN_LINE_TRIAL, "crashed", "9", 2);
    ck_assert_int_eq(kiln_trials_append(file, &crashed), KILN_OK);
    trial_book_free(book);
    ck_assert_int_eq(trial_book_load(&book, file, NULL, why), KILN_OK);
    ck_assert_uint_eq(count("p", true, 8), 1);
    for (int i = 0; i < 3; i++) { /* this run tries them again: they are known from now on */
        char config[8];
        snprintf(config, sizeof config, "%d", i);
        add("p", KILN_LINE_TRIAL, doubtful[i], config);
    }
    ck_assert_uint_eq(count("p", true, 14), 7);
    add("q", KILN_LINE_TRIAL, "timeout", "1");
    ck_assert_uint_eq(count("q", true, 2), 1); /* not again in this run */
}
END_TEST

START_TEST(another_driver_is_another_story)
{
    kiln_trial_line of = line_of("p", KILN_LINE_TRIAL, "", "", 0);
    trial_book_known known;
    add("p", KILN_LINE_TRIAL, "crashed", "1");
    add("p", KILN_LINE_SEARCH, "done", "1");
    strcpy(of.driver, "1.1");
    ck_assert(trial_book_known_of(book, &of, 0, true, &known));
    ck_assert_uint_eq(known.count, 0);
    ck_assert_ptr_null(trial_book_end_of(book, &of, 0));
}
END_TEST

START_TEST(many_lines_from_a_file)
{
    enum { MANY = 3000 };
    char name[32], why[KILN_ERROR_TEXT];
    trial_book *loaded;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "p%d", i % 100);
        add(name, KILN_LINE_TRIAL, "ok", "1");
    }
    ck_assert_uint_eq(count("p7", true, 60), 30);
    const kiln_trial_line one = line_of("p7", KILN_LINE_TRIAL, "ok", "1", 2);
    ck_assert_int_eq(kiln_trials_append(file, &one), KILN_OK);
    ck_assert_int_eq(trial_book_load(&loaded, file, NULL, why), KILN_OK);
    trial_book_free(book);
    book = loaded;
    ck_assert_uint_eq(count("p7", true, 2), 1);
}
END_TEST

static void set_up(void)
{
    char why[KILN_ERROR_TEXT];
    strcpy(file + strlen(file) - 6, "XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(trial_book_load(&book, "", NULL, why), KILN_OK);
}

static void tear_down(void)
{
    trial_book_free(book);
    unlink(file);
}

int main(void)
{
    Suite *suite = suite_create("trial_book");
    TCase *tests = tcase_create("trial_book");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_search_that_was_killed_goes_on);
    tcase_add_test(tests, trials_come_in_the_order_of_the_log);
    tcase_add_test(tests, a_search_that_ended);
    tcase_add_test(tests, a_search_that_was_restarted);
    tcase_add_test(tests, a_failure_of_an_earlier_run_is_tried_once_more);
    tcase_add_test(tests, another_driver_is_another_story);
    tcase_add_test(tests, many_lines_from_a_file);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
