/* When a row's win over the guess is believed, and what turns say of it. */
#include "runtime/tune/win.h"
#include "support/rows_box.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(turns_count_wins_and_their_spread)
{
    const double ms[] = {1, 2, 3, 4, 5}, guess[] = {2, 2, 2, 16, 50};
    const kiln_win win = kiln_win_of(ms, guess, 5); /* ratios 0.1 0.25 0.5 1 1.5 */
    ck_assert_int_eq(win.turns, 5);
    ck_assert_int_eq(win.won, 3); /* not the one that is as fast */
    ck_assert_double_eq(win.iqr, (1 - 0.25) / 0.5);
}
END_TEST

/* A clock that stood still makes no turn. */
START_TEST(turns_without_a_time_do_not_count)
{
    const double ms[] = {1, 0, 1}, guess[] = {2, 2, 0};
    const kiln_win win = kiln_win_of(ms, guess, 3);
    ck_assert_int_eq(win.turns, 1);
    ck_assert_int_eq(win.won, 1);
    ck_assert_double_eq(win.iqr, 0);
    ck_assert_int_eq(kiln_win_of(ms, guess, 0).turns, 0);
}
END_TEST

static kiln_row proven(void)
{
    kiln_row row = {.solver = "direct",
                    .config = "8,1",
                    .ms = 0.9,
                    .guess = "4,1 of direct",
                    .guess_ms = 1,
                    .turns = KILN_ROW_TURNS,
                    .turns_won = KILN_ROW_TURNS,
                    .win_iqr = 0.09};
    return row;
}

static void check_refused(const kiln_row *row, const char *reason)
{
    char why[KILN_ERROR_TEXT] = "";
    ck_assert_int_eq(kiln_row_wins(row, why), 0);
    ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
    ck_assert_int_eq(kiln_row_wins(row, NULL), 0);
}

START_TEST(a_win_beyond_its_spread_is_believed)
{
    char why[KILN_ERROR_TEXT] = "x";
    kiln_row row = proven();
    ck_assert_int_eq(kiln_row_wins(&row, why), 1);
    ck_assert_str_eq(why, "");
    row.turns_won = 6;
    ck_assert_int_eq(kiln_row_wins(&row, NULL), 1);
    row.win_iqr = 0.11;
    check_refused(&row, "its win over the guess, 10 %, is within the spread of 11 %");
    row.win_iqr = 0;
    row.ms = row.guess_ms; /* no win is beyond no spread */
    check_refused(&row, "within the spread");
}
END_TEST

START_TEST(too_few_turns_are_no_evidence)
{
    kiln_row row = proven();
    row.turns_won = 5;
    check_refused(&row, "it beat the guess in 5 of 8 turns, not in three quarters of them");
    row.turns_won = 9;
    check_refused(&row, "it says that it beat the guess in 9 of 8 turns");
    row.turns = row.turns_won = 7;
    check_refused(&row, "it was timed in 7 turns with the guess, not in 8");
    row.turns = 0;
    check_refused(&row, "not timed in turns");
    row = proven();
    row.ms = 0;
    check_refused(&row, "not timed in turns");
    row = proven();
    row.guess_ms = 0;
    check_refused(&row, "not timed in turns");
}
END_TEST

START_TEST(the_guess_needs_no_row)
{
    kiln_row row = proven();
    strcpy(row.guess, "8,1 of direct");
    check_refused(&row, "its config is the guess");
    strcpy(row.guess, "8,1 of direct_blocked");
    ck_assert_int_eq(kiln_row_wins(&row, NULL), 1);
    strcpy(row.guess, "8,1,1 of direct");
    ck_assert_int_eq(kiln_row_wins(&row, NULL), 1);
    row.config[0] = '\0'; /* a solver without parameters */
    strcpy(row.guess, "direct");
    check_refused(&row, "its config is the guess");
}
END_TEST

/* Rows that earlier versions wrote have a spread of another meaning, and no turns. */
START_TEST(an_old_row_is_read_and_claims_nothing)
{
    kiln_rows *rows = rows_load_text(
        ROWS_HEAD "- {key: \"a\", solver: S, version: 1, config: \"1\", ms: 1.5, spread: 4.34, "
                  "runs: 5, second: \"2 of S\", second_ms: 1.6}\n");
    const kiln_row *row = kiln_rows_at(rows, 0);
    ck_assert_ptr_nonnull(row);
    ck_assert_str_eq(rows_told, "");
    ck_assert_double_eq(row->ms, 1.5);
    ck_assert_double_eq(row->iqr, 0);
    ck_assert_int_eq(row->turns, 0);
    check_refused(row, "not timed in turns");
    kiln_rows_free(rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("win");
    TCase *tests = tcase_create("win");
    tcase_add_checked_fixture(tests, rows_make_folder, rows_remove_folder);
    tcase_add_test(tests, turns_count_wins_and_their_spread);
    tcase_add_test(tests, turns_without_a_time_do_not_count);
    tcase_add_test(tests, a_win_beyond_its_spread_is_believed);
    tcase_add_test(tests, too_few_turns_are_no_evidence);
    tcase_add_test(tests, the_guess_needs_no_row);
    tcase_add_test(tests, an_old_row_is_read_and_claims_nothing);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
