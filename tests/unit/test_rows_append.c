/* Appending tuning rows: they are read back whole, also where several processes write. */
#include "runtime/rows/append_line.h"

#include "support/comma.h"
#include "support/rows_box.h"
#include "support/suite.h"

#include <check.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void check_same(const kiln_row *a, const kiln_row *b)
{
    ck_assert_str_eq(a->key, b->key);
    ck_assert_str_eq(a->solver, b->solver);
    ck_assert_int_eq(a->version, b->version);
    ck_assert_str_eq(a->config, b->config);
    ck_assert_double_eq(a->ms, b->ms);
    ck_assert_double_eq(a->iqr, b->iqr);
    ck_assert_int_eq(a->runs, b->runs);
    ck_assert_double_eq(a->error, b->error);
    ck_assert_str_eq(a->guess, b->guess);
    ck_assert_double_eq(a->guess_ms, b->guess_ms);
    ck_assert_int_eq(a->turns, b->turns);
    ck_assert_int_eq(a->turns_won, b->turns_won);
    ck_assert_double_eq(a->win_iqr, b->win_iqr);
    ck_assert_str_eq(a->hash, b->hash);
    ck_assert_str_eq(a->driver, b->driver);
    ck_assert_str_eq(a->date, b->date);
    ck_assert_str_eq(a->without, b->without);
    ck_assert_str_eq(a->core, b->core);
}

START_TEST(round_trip_makes_folders)
{
    snprintf(rows_file, sizeof rows_file, "%s/a/b/rows.yaml", rows_folder);
    ck_assert_int_eq(kiln_rows_append(rows_file, "a \"device\"\n\xff", &rows_sample), KILN_OK);
    ck_assert_int_eq(kiln_rows_append(rows_file, "a \"device\"\n\xff", &rows_sample), KILN_OK);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_str_eq(rows_told, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 2);
    check_same(kiln_rows_at(rows, 0), &rows_sample);
    check_same(kiln_rows_at(rows, 1), &rows_sample);
    ck_assert_ptr_null(kiln_rows_at(rows, 2));
    kiln_rows_free(rows);
}
END_TEST

START_TEST(a_row_has_one_text)
{
    char text[8192], small[16];
    const size_t length = kiln_row_text(&rows_sample, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_int_eq(text[length - 1], '\n');
    ck_assert_uint_eq(kiln_row_text(&rows_sample, small, sizeof small), 0);
    ck_assert_str_eq(small, "");
    char whole[sizeof text + 64];
    snprintf(whole, sizeof whole, "%s%s", ROWS_HEAD, text);
    kiln_rows *rows = rows_load_text(whole);
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    check_same(kiln_rows_at(rows, 0), &rows_sample);
    kiln_rows_free(rows);
}
END_TEST

/* A row of the longest strings that it can hold, with characters that double when quoted. */
START_TEST(the_longest_row_fits)
{
    kiln_row row = rows_sample;
    memset(row.key, '"', sizeof row.key - 1);
    memset(row.solver, '\\', sizeof row.solver - 1);
    memset(row.config, '"', sizeof row.config - 1);
    memset(row.guess, '"', sizeof row.guess - 1);
    memset(row.hash, '"', sizeof row.hash - 1);
    memset(row.driver, '"', sizeof row.driver - 1);
    memset(row.date, '"', sizeof row.date - 1);
    memset(row.without, '"', sizeof row.without - 1);
    ck_assert_int_eq(kiln_rows_append(rows_file, "d", &row), KILN_OK);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_str_eq(rows_told, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    check_same(kiln_rows_at(rows, 0), &row);
    kiln_rows_free(rows);
}
END_TEST

/* A row that a kill cut short does not swallow the next one that is appended. */
START_TEST(append_after_a_cut)
{
    kiln_rows_free(rows_load_text(ROWS_HEAD ROWS_ROW("a", "1") "- {key: \"b\", sol"));
    ck_assert_ptr_nonnull(strstr(rows_told, "rows.yaml:6: "));
    rows_append("c", "3", 1);
    kiln_rows *rows = kiln_rows_load(rows_file, "", NULL);
    ck_assert_uint_eq(kiln_rows_count(rows), 2);
    ck_assert_str_eq(kiln_rows_at(rows, 1)->key, "c");
    kiln_rows_free(rows);
}
END_TEST

/* Another process's line may be cut short between the look for that and the write. */
START_TEST(what_lands_behind_a_stump_is_written_again)
{
    kiln_line l = {.used = 0};
    kiln_rows_free(rows_load_text(ROWS_HEAD ROWS_ROW("a", "1")));
    const int fd = kiln_append_open(rows_file);
    ck_assert(!kiln_append_cut_short(fd));
    ck_assert_int_eq(write(fd, "- {key: \"b\"", 11), 11);
    kiln_line_put(&l, ROWS_ROW("c", "3"));
    ck_assert(kiln_append_write(fd, &l));
    close(fd);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 2);
    ck_assert_str_eq(kiln_rows_at(rows, 1)->key, "c");
    ck_assert_ptr_nonnull(strstr(rows_told, "rows.yaml:6: "));
    ck_assert_ptr_null(strstr(rows_told, "rows.yaml:7: "));
    kiln_rows_free(rows);
}
END_TEST

/* The longest head that is allowed, and one that is a byte longer. */
START_TEST(a_long_head_gains_rows)
{
    static const char head[] = "schema: 1\ndevice: \"d\"\nrows:\n";
    enum { HEAD_SIZE = sizeof head - 1 };
    static char text[KILN_ROWS_MAX_HEAD + 2];
    for (int extra = 0; extra < 2; extra++) {
        size_t notes = KILN_ROWS_MAX_HEAD + (size_t)extra - HEAD_SIZE;
        memset(text, '#', notes);
        for (size_t i = 79; i + 1 < notes; i += 80)
            text[i] = '\n';
        text[notes - 1] = '\n';
        memcpy(text + notes, head, HEAD_SIZE);
        kiln_rows_free(rows_load_bytes(text, notes + HEAD_SIZE));
        ck_assert_int_eq(kiln_rows_append(rows_file, "e", &rows_sample), KILN_FILE);
        ck_assert_int_eq(kiln_rows_append(rows_file, "d", &rows_sample),
                         extra ? KILN_FILE : KILN_OK);
    }
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "first 64 KiB"));
}
END_TEST

START_TEST(rows_of_two_devices_do_not_mix)
{
    rows_append("a", "1", 1);
    ck_assert_int_eq(kiln_rows_append(rows_file, "e", &rows_sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "KILN_DB"));
    ck_assert_int_eq(kiln_rows_make(rows_file, "dd"), KILN_FILE);
    ck_assert_int_eq(kiln_rows_make(rows_file, "d"), KILN_OK);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    kiln_rows_free(rows);
}
END_TEST

START_TEST(an_empty_file_gets_its_head)
{
    kiln_rows_free(rows_load_text(""));
    rows_append("a", "1", 1);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_str_eq(rows_told, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    kiln_rows_free(rows);
}
END_TEST

START_TEST(unwritable_places_are_named)
{
    char path[256];
    snprintf(path, sizeof path, "%s/file/rows.yaml", rows_folder);
    snprintf(rows_file, sizeof rows_file, "%s/file", rows_folder);
    kiln_rows_free(rows_load_text("x\n"));
    ck_assert_int_eq(kiln_rows_append(path, "d", &rows_sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), path));
    ck_assert_int_eq(kiln_rows_append("/proc/nowhere/rows.yaml", "d", &rows_sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "/proc/nowhere/rows.yaml"));
    ck_assert_int_eq(kiln_rows_append("/dev/null", "d", &rows_sample), KILN_FILE);
    if (geteuid() != 0) {
        ck_assert_int_eq(chmod(rows_folder, 0500), 0);
        snprintf(path, sizeof path, "%s/new.yaml", rows_folder);
        ck_assert_int_eq(kiln_rows_append(path, "d", &rows_sample), KILN_FILE);
        ck_assert_ptr_nonnull(strstr(kiln_last_error(), path));
    }
}
END_TEST

/* Several processes create the file and append to it at once: every line arrives, whole. */
START_TEST(processes_append_together)
{
    enum { PROCESSES = 4, EACH = 200 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            kiln_row row = rows_sample;
            for (int i = 0; i < EACH; i++) {
                snprintf(row.key, sizeof row.key, "p%d-%d", p, i);
                row.runs = p;
                if (kiln_rows_append(rows_file, "d", &row) != KILN_OK)
                    _exit(1);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        wait(&status);
        ck_assert_int_eq(status, 0);
    }
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_str_eq(rows_told, "");
    ck_assert_uint_eq(kiln_rows_count(rows), PROCESSES * EACH);
    int next[PROCESSES] = {0};
    for (size_t i = 0; i < kiln_rows_count(rows); i++) {
        const kiln_row *row = kiln_rows_at(rows, i);
        char key[32];
        snprintf(key, sizeof key, "p%d-%d", row->runs, next[row->runs]++);
        ck_assert_str_eq(row->key, key);
    }
    kiln_rows_free(rows);
}
END_TEST

/* A disk without room: here files may have no byte. No empty file is left, and later appends work.
 */
START_TEST(a_full_disk_leaves_nothing)
{
    struct rlimit before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    kiln_status status = kiln_rows_append(rows_file, "d", &rows_sample);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(status, KILN_FILE);
    ck_assert_int_ne(access(rows_file, F_OK), 0);
    rows_append("a", "1", 1.5);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    kiln_rows_free(rows);
}
END_TEST

/* Whatever the umask, nobody else may write to the file or its folders. */
START_TEST(no_umask)
{
    struct stat st;
    mode_t before = umask(0);
    rows_append("a", "1", 1.5);
    umask(before);
    ck_assert_int_eq(stat(rows_file, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0644);
}
END_TEST

/* A relative HOME or XDG_DATA_HOME names no folder. */
START_TEST(relative_homes)
{
    char file[256];
    unsetenv("KILN_DB");
    setenv("XDG_DATA_HOME", "data", 1);
    setenv("HOME", "home", 1);
    kiln_rows_default_file("d", file, sizeof file);
    ck_assert_str_eq(file, "");
    setenv("HOME", "/home", 1);
    kiln_rows_default_file("d", file, sizeof file);
    ck_assert_str_eq(file, "/home/.local/share/kiln/d.yaml");
}
END_TEST

START_TEST(the_locale_changes_nothing)
{
    if (!comma_locale())
        return;
    rows_append("a", "1", 1.5);
    kiln_rows *rows = kiln_rows_load(rows_file, "", &rows_logger);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(rows_told, "");
    ck_assert_double_eq(kiln_rows_at(rows, 0)->ms, 1.5);
    kiln_rows_free(rows);
    FILE *f = fopen(rows_file, "r");
    char line[4096], *found = NULL;
    while (!found && fgets(line, sizeof line, f))
        found = strstr(line, "ms: 1.5,");
    fclose(f);
    ck_assert_ptr_nonnull(found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows_append");
    TCase *tests = tcase_create("rows_append");
    tcase_add_checked_fixture(tests, rows_make_folder, rows_remove_folder);
    tcase_add_test(tests, round_trip_makes_folders);
    tcase_add_test(tests, a_row_has_one_text);
    tcase_add_test(tests, the_longest_row_fits);
    tcase_add_test(tests, append_after_a_cut);
    tcase_add_test(tests, what_lands_behind_a_stump_is_written_again);
    tcase_add_test(tests, a_long_head_gains_rows);
    tcase_add_test(tests, rows_of_two_devices_do_not_mix);
    tcase_add_test(tests, an_empty_file_gets_its_head);
    tcase_add_test(tests, unwritable_places_are_named);
    tcase_add_test(tests, processes_append_together);
    tcase_add_test(tests, a_full_disk_leaves_nothing);
    tcase_add_test(tests, no_umask);
    tcase_add_test(tests, relative_homes);
    tcase_add_test(tests, the_locale_changes_nothing);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
