/* Find and Immediate: solutions are ranked by row or prediction, measured on request, created. */
#include "kiln_find.h"

#include "runtime/kiln/load_rows.h"
#include "support/suite.h"
#include "support/tuning.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 64 };

static kiln_solution list[ROOM];
static size_t count;

static void check_ranked(size_t from)
{
    ck_assert_uint_gt(count, 1);
    ck_assert_uint_le(count, ROOM);
    for (size_t i = from + 1; i < count; i++)
        ck_assert(list[i - 1].ms <= list[i].ms);
    for (size_t i = 0; i < count; i++) {
        ck_assert(list[i].ms > 0 && list[i].amplification >= 1);
        ck_assert_int_eq(list[i].accuracy == KILN_ACCURACY_AMPLIFIED, list[i].amplification > 1);
        ck_assert_str_ne(list[i].problem.x_layout, "any");
    }
}

static void add_row(const char *solver, const char *config, double ms)
{
    kiln_problem p = tuning_problem;
    kiln_row row = {.version = kiln_solver_named(solver)->version, .ms = ms, .runs = 1};
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "%s", solver);
    snprintf(row.config, sizeof row.config, "%s", config);
    ck_assert_int_eq(kiln_rows_append(tuning.rows_file, tuning.kiln->facts.name, &row), KILN_OK);
    kiln_reload_rows(tuning.kiln);
}

START_TEST(predictions_rank_solutions)
{
    kiln_op_info info;
    kiln_problem open = tuning_problem;
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &tuning_problem, list, ROOM, &count), KILN_OK);
    check_ranked(1);
    ck_assert_int_eq(kiln_conv_plan(tuning.kiln, &tuning_problem, NULL, &info), KILN_OK);
    ck_assert_str_eq(list[0].solver, info.solver);
    ck_assert_str_eq(list[0].config, info.config);
    ck_assert_int_eq(list[0].workspace_size, info.workspace_size);
    ck_assert_int_eq(list[0].measured, 0);
    strcpy(open.y_layout, "any");
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &open, list, ROOM, &count), KILN_OK);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_ne(list[i].problem.y_layout, "any");
}
END_TEST

START_TEST(a_row_ranks_its_solver_first)
{
    size_t all;
    add_row("naive", "", 1e-9);
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &tuning_problem, list, 1, &all), KILN_OK);
    ck_assert_uint_gt(all, 1);
    ck_assert_str_eq(list[0].solver, "naive");
    ck_assert_int_eq(list[0].origin, KILN_ORIGIN_USER_ROW);
    ck_assert_int_eq(list[0].measured, 1);
    ck_assert_double_eq(list[0].ms, 1e-9);
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &tuning_problem, NULL, 0, &count), KILN_OK);
    ck_assert_uint_eq(count, all);
}
END_TEST

/* What each solution's operation computes, and where it was refused. */
static int refuse_naive(void *user, const kiln_op *op, double *error)
{
    kiln_op_info info;
    kiln_op_describe(op, &info);
    ++*(int *)user;
    *error = 0;
    return strcmp(info.solver, "naive") == 0;
}

START_TEST(what_ran_is_ranked_by_its_time)
{
    size_t solutions;
    int verified = 0;
    const kiln_find_options o = {.verify = refuse_naive, .user = &verified};
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &tuning_problem, NULL, 0, &solutions), KILN_OK);
    ck_assert_int_eq(kiln_find(tuning.kiln, &tuning_problem, tuning.queue, &tuning.buffers, &o,
                               list, ROOM, &count),
                     KILN_OK);
    ck_assert_int_eq(verified, (int)solutions);
    ck_assert_uint_eq(count, solutions - 1);
    check_ranked(0);
    for (size_t i = 0; i < count; i++) {
        kiln_op *op;
        kiln_op_info info;
        ck_assert_int_eq(list[i].measured, 1);
        ck_assert_str_ne(list[i].solver, "naive");
        ck_assert_int_eq(kiln_solution_create(tuning.kiln, &list[i], &op), KILN_OK);
        kiln_op_describe(op, &info);
        ck_assert_str_eq(info.solver, list[i].solver);
        ck_assert_str_eq(info.config, list[i].config);
        ck_assert_int_eq(info.workspace_size, list[i].workspace_size);
        kiln_op_release(op);
    }
    /* Nothing was kept. */
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &tuning_problem, list, ROOM, &count), KILN_OK);
    ck_assert_int_eq(list[0].measured, 0);
}
END_TEST

static int refuse_all(void *user, const kiln_op *op, double *error)
{
    (void)user;
    (void)op;
    *error = 1;
    return 1;
}

START_TEST(where_nothing_is_right_the_last_failure_is_told)
{
    const kiln_find_options o = {.verify = refuse_all};
    ck_assert_int_eq(kiln_find(tuning.kiln, &tuning_problem, tuning.queue, &tuning.buffers, &o,
                               list, ROOM, &count),
                     KILN_UNSUPPORTED);
    ck_assert_uint_eq(count, 0);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "no solution ran; the last: solver "));
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "computed a wrong result"));
}
END_TEST

START_TEST(a_limit_leaves_the_first)
{
    const kiln_find_options o = {.max_seconds = 1e-9};
    ck_assert_int_eq(kiln_find(tuning.kiln, &tuning_problem, tuning.queue, &tuning.buffers, &o,
                               list, ROOM, &count),
                     KILN_OK);
    ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
    kiln_problem open = tuning_problem;
    kiln_buffers none = {0};
    kiln_op *op;
    strcpy(open.x_layout, "any");
    ck_assert_int_eq(
        kiln_find(tuning.kiln, &open, tuning.queue, &tuning.buffers, NULL, list, ROOM, &count),
        KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "\"any\""));
    ck_assert_int_eq(
        kiln_find(tuning.kiln, &tuning_problem, tuning.queue, &none, NULL, list, ROOM, &count),
        KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "kiln_find: the problem needs buffer x"));
    ck_assert_uint_eq(count, 0);
    const kiln_find_options never = {.max_seconds = -1};
    ck_assert_int_eq(kiln_find(tuning.kiln, &tuning_problem, tuning.queue, &tuning.buffers, &never,
                               list, ROOM, &count),
                     KILN_INVALID);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "kiln_find: max_seconds is -1"));
    ck_assert_int_eq(kiln_solutions(tuning.kiln, &tuning_problem, list, ROOM, &count), KILN_OK);
    strcpy(list[0].config, "nonsense");
    ck_assert_int_eq(kiln_solution_create(tuning.kiln, &list[0], &op), KILN_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("find");
    TCase *tests = tcase_create("find");
    tcase_add_checked_fixture(tests, tuning_set_up, tuning_tear_down);
    tcase_add_test(tests, predictions_rank_solutions);
    tcase_add_test(tests, a_row_ranks_its_solver_first);
    tcase_add_test(tests, what_ran_is_ranked_by_its_time);
    tcase_add_test(tests, where_nothing_is_right_the_last_failure_is_told);
    tcase_add_test(tests, a_limit_leaves_the_first);
    tcase_add_test(tests, what_makes_no_sense_is_refused);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
