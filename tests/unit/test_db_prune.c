/* `kiln db prune` beside processes that append to the same file: no row is lost. */
#include "support/rows_box.h"

#include "driver/db/db_command.h"
#include "generator/plan/solver.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Many rows before make each rewrite long enough to be met. */
enum { PROCESSES = 4, ROWS = 400, BEFORE = 2000 };

static void append(int channels, int version)
{
    kiln_row row = {.version = version, .ms = 1, .runs = 1};
    snprintf(row.key, sizeof row.key, "fwd-f32-n1-c%d-k16-i4x4-f1x1", channels);
    snprintf(row.solver, sizeof row.solver, "naive");
    ck_assert_int_eq(kiln_rows_append(rows_file, "d", &row), KILN_OK);
}

static int version_now(void)
{
    return kiln_solver_named("naive")->version;
}

/* Returns the exit status, and nothing on standard output. */
static int prune(void)
{
    char *words[] = {"db", "prune", rows_file, NULL};
    return db_command(3, words);
}

static int first_of(int who)
{
    return BEFORE + 1 + who * ROWS;
}

static pid_t start(int who)
{
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    for (int i = 0; i < ROWS; i++) {
        append(first_of(who) + i, version_now());
        usleep(500);
    }
    _exit(0);
}

static int count_lost(void)
{
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    int lost = 0;
    for (int who = 0; who < PROCESSES; who++)
        for (int i = 0; i < ROWS; i++) {
            char key[64];
            snprintf(key, sizeof key, "fwd-f32-n1-c%d-k16-i4x4-f1x1", first_of(who) + i);
            lost += kiln_rows_find(rows, key, NULL, 0) == NULL;
        }
    kiln_rows_free(rows);
    return lost;
}

START_TEST(no_row_is_lost)
{
    pid_t pid[PROCESSES];
    int pruned = 0;
    for (int i = 0; i < BEFORE; i++)
        append(1 + i, version_now());
    for (int i = 0; i < PROCESSES; i++)
        pid[i] = start(i);
    for (int running = PROCESSES; running > 0;) {
        append(1, version_now() + 1); /* something to drop */
        const int status = prune();
        ck_assert_int_eq(status, KILN_OK);
        pruned++;
        while (running > 0 && waitpid(pid[running - 1], NULL, WNOHANG) > 0)
            running--;
    }
    ck_assert_int_gt(pruned, 1);
    ck_assert_int_eq(count_lost(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("db_prune");
    TCase *tests = tcase_create("db_prune");
    tcase_add_checked_fixture(tests, rows_make_folder, rows_remove_folder);
    tcase_add_test(tests, no_row_is_lost);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
