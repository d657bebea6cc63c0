/* A tuning row decides only where the device has room for what it plans. */
#include "kiln_find.h"

#include "runtime/kiln/kiln_internal.h"
#include "runtime/kiln/load_rows.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const kiln_problem problem = {.batch = 4,
                                     .in_channels = 64,
                                     .out_channels = 64,
                                     .input = {28, 28},
                                     .filter = {3, 3},
                                     .pad_begin = {1, 1},
                                     .pad_end = {1, 1}};

static void add_row(kiln *k, const kiln_solution *solution)
{
    kiln_row row = {.version = solution->solver_version, .ms = 1e-6, .runs = 1};
    kiln_problem p = problem;
    ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
    kiln_problem_row_key(&p, row.key, sizeof row.key);
    snprintf(row.solver, sizeof row.solver, "%s", solution->solver);
    snprintf(row.config, sizeof row.config, "%s", solution->config);
    ck_assert_int_eq(kiln_rows_append(k->rows_file, k->facts.name, &row), KILN_OK);
    kiln_reload_rows(k);
}

/* Returns the solution with the largest workspace. */
static kiln_solution largest(kiln *k)
{
    static kiln_solution list[64];
    size_t count, best = 0;
    ck_assert_int_eq(kiln_solutions(k, &problem, list, 64, &count), KILN_OK);
    for (size_t i = 1; i < count; i++)
        if (list[i].workspace_size > list[best].workspace_size)
            best = i;
    return list[best];
}

START_TEST(a_row_without_room_gives_way)
{
    char folder[] = "/tmp/kiln-room-XXXXXX", rows_file[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(rows_file, sizeof rows_file, "%s/rows.yaml", folder);
    const kiln_settings settings = {
        .cache_dir = "off", .shipped_dir = "off", .rows_file = rows_file};
    kiln *k = NULL;
    kiln_op_info info;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &settings), KILN_OK);
    const kiln_solution solution = largest(k);
    add_row(k, &solution);
    ck_assert_int_eq(kiln_conv_plan(k, &problem, NULL, &info), KILN_OK);
    ck_assert_str_eq(info.solver, solution.solver);
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
    k->facts.max_alloc = solution.workspace_size - 1;
    ck_assert_msg(kiln_conv_plan(k, &problem, NULL, &info) == KILN_OK, "%s", kiln_last_error());
    ck_assert_int_eq(info.origin, KILN_ORIGIN_GUESS);
    kiln_close(k);
    unlink(rows_file);
    rmdir(folder);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rows and room");
    TCase *t = tcase_create("rows and room");
    tcase_add_test(t, a_row_without_room_gives_way);
    suite_add_tcase(s, t);
    return support_run_apart(s);
}
