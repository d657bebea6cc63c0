/* The log of trials: what was written is read, and damage costs the damaged line only. */
#include "support/suite.h"

#include "kiln_tune.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char file[] = "/tmp/kiln_trials_XXXXXX";
static kiln_trial_line seen[8];
static int count;

static void see(void *user, const kiln_trial_line *line)
{
    (void)user;
    ck_assert_int_lt(count, 8);
    seen[count++] = *line;
}

static int64_t read_all(const char *problem)
{
    int64_t skipped = -1;
    count = 0;
    ck_assert_int_eq(kiln_trials_read(file, problem, see, NULL, &skipped), KILN_OK);
    return skipped;
}

static void write_text(const char *text)
{
    FILE *to = fopen(file, "a");
    ck_assert_ptr_nonnull(to);
    fputs(text, to);
    fclose(to);
}

static kiln_trial_line line_of(const char *problem)
{
    kiln_trial_line line = {.kind = KILN_LINE_TRIAL,
                            .solver = "direct",
                            .version = 3,
                            .config = "8,1",
                            .params = "T_W,T_K",
                            .origin = "grid",
                            .index = 7,
                            .count = 90,
                            .verdict = "wrong",
                            .ms = 1.25,
                            .build_seconds = 0.5,
                            .why = "it said \"no\" \\ twice\nand ended"};
    snprintf(line.problem, sizeof line.problem, "%s", problem);
    snprintf(line.key, sizeof line.key, "%s", problem);
    return line;
}

START_TEST(what_was_written_is_read)
{
    kiln_trial_line line = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1");
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    line.kind = KILN_LINE_SEARCH;
    strcpy(line.verdict, "done");
    strcpy(line.second, "naive");
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    ck_assert_int_eq(read_all(NULL), 0);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(seen[0].kind, KILN_LINE_TRIAL);
    ck_assert_str_eq(seen[0].params, "T_W,T_K");
    ck_assert_str_eq(seen[0].why, "it said \"no\" \\ twice?and ended");
    ck_assert_int_eq(seen[0].index, 7);
    ck_assert_double_eq(seen[0].ms, 1.25);
    ck_assert_double_eq(seen[0].iqr, 0);
    ck_assert_int_eq(seen[1].kind, KILN_LINE_SEARCH);
    ck_assert_str_eq(seen[1].second, "naive");
}
END_TEST

/* A caller may fill a field to its last byte, and what JSON has no number for is left out. */
/* A search of a large grid counts beyond six digits. */
START_TEST(counts_are_written_whole)
{
    kiln_trial_line line = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1");
    line.version = 111111111;
    line.index = 1000000;
    line.count = 2147483647;
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    ck_assert_int_eq(read_all(NULL), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(seen[0].version, 111111111);
    ck_assert_int_eq(seen[0].index, 1000000);
    ck_assert_int_eq(seen[0].count, 2147483647);
}
END_TEST

START_TEST(odd_lines_are_written_so_that_they_can_be_read)
{
    kiln_trial_line line = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1");
    memset(line.config, '1', sizeof line.config);
    memset(line.core, 'c', sizeof line.core);
    line.ms = NAN;
    line.error = INFINITY;
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    ck_assert_int_eq(read_all(NULL), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_uint_eq(strlen(seen[0].config), sizeof line.config - 1);
    ck_assert_uint_eq(strlen(seen[0].core), sizeof line.core - 1);
    ck_assert_double_eq(seen[0].ms, 0);
    ck_assert_double_eq(seen[0].error, 0);
    line.kind = (kiln_line_kind)2;
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_INVALID);
}
END_TEST

START_TEST(a_pipe_is_no_log)
{
    const kiln_trial_line line = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1");
    unlink(file);
    ck_assert_int_eq(mkfifo(file, 0600), 0);
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "it is not a plain file"));
    ck_assert_int_eq(kiln_trials_read(file, NULL, see, NULL, NULL), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "it is not a plain file"));
}
END_TEST

/* A kill leaves half a line, which the next one must not join. */
START_TEST(a_damaged_line_costs_itself)
{
    const kiln_trial_line line = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1");
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    write_text("{\"schema\": 1, \"kind\": \"tri");
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    write_text("{\"schema\": 2, \"kind\": \"trial\", \"problem\": \"p\", \"key\": \"p\", "
               "\"solver\": \"s\", \"version\": 1, \"config\": \"\", \"verdict\": \"ok\"}\n"
               "not JSON: [\n\n"
               "{\"schema\": 1, \"kind\": \"trial\", \"problem\": \"p\", \"key\": \"p\", "
               "\"solver\": \"s\", \"version\": 1, \"config\": \"\", \"verdict\": \"ok\", "
               "\"later\": {\"field\": [1, 2]}}\n"
               "{\"schema\": 1, \"kind\": \"trial\", \"prob");
    ck_assert_int_eq(read_all(NULL), 4);
    ck_assert_int_eq(count, 3);
    ck_assert_str_eq(seen[2].problem, "p");
}
END_TEST

/* In YAML, which JSON is read as, a name without a value has an empty one. */
START_TEST(a_line_without_a_name_is_damaged)
{
    static const char *const lines[] = {
        "\"kind\": \"trial\", \"problem\":, \"key\": \"p\", \"solver\": \"s\", \"verdict\": \"ok\"",
        "\"kind\": \"trial\", \"problem\": \"p\", \"key\", \"solver\": \"s\", \"verdict\": \"ok\"",
        "\"kind\": \"trial\", \"problem\": \"p\", \"key\": \"p\", \"solver\":, \"verdict\": \"ok\"",
        "\"kind\": \"search\", \"problem\": \"p\", \"key\": \"p\", \"solver\": \"\", \"verdict\":",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_text("{\"schema\": 1, \"version\": 1, \"config\": \"\", ");
        write_text(lines[i]);
        write_text("}\n");
    }
    ck_assert_int_eq(read_all(NULL), 4);
    ck_assert_int_eq(count, 0);
    kiln_trial_line line = line_of("p");
    *line.solver = '\0';
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_INVALID);
}
END_TEST

START_TEST(a_search_may_end_without_a_winner)
{
    kiln_trial_line line = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1");
    line.kind = KILN_LINE_SEARCH;
    *line.solver = *line.config = '\0';
    strcpy(line.verdict, "restarted");
    ck_assert_int_eq(kiln_trials_append(file, &line), KILN_OK);
    ck_assert_int_eq(read_all(NULL), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_str_eq(seen[0].solver, "");
}
END_TEST

START_TEST(lines_of_one_problem)
{
    const kiln_trial_line a = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1"),
                          b = line_of("fwd-f32-n1-c2-k3-i4x4-f1x1-relu");
    ck_assert_int_eq(kiln_trials_append(file, &a), KILN_OK);
    ck_assert_int_eq(kiln_trials_append(file, &b), KILN_OK);
    ck_assert_int_eq(read_all(a.problem), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(read_all(b.problem), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_str_eq(seen[0].problem, b.problem);
}
END_TEST

START_TEST(a_missing_file_is_empty_and_a_folder_is_an_error)
{
    unlink(file);
    ck_assert_int_eq(read_all(NULL), 0);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(kiln_trials_read("/tmp", NULL, see, NULL, NULL), KILN_FILE);
    ck_assert_int_eq(kiln_trials_read("/proc/self/mem", NULL, see, NULL, NULL), KILN_FILE);
    const kiln_trial_line line = line_of("p");
    ck_assert_int_eq(kiln_trials_append("/proc/kiln/x", &line), KILN_FILE);
}
END_TEST

START_TEST(the_log_stands_beside_the_rows)
{
    char name[64];
    kiln_trials_file("/a/cpu.yaml", name, sizeof name);
    ck_assert_str_eq(name, "/a/cpu.trials.jsonl");
    kiln_trials_file("/a/rows", name, sizeof name);
    ck_assert_str_eq(name, "/a/rows.trials.jsonl");
    kiln_trials_file("", name, sizeof name);
    ck_assert_str_eq(name, "");
}
END_TEST

static void set_up(void)
{
    strcpy(file + strlen(file) - 6, "XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void tear_down(void)
{
    unlink(file);
}

int main(void)
{
    Suite *suite = suite_create("trial_lines");
    TCase *tests = tcase_create("trial_lines");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_was_written_is_read);
    tcase_add_test(tests, counts_are_written_whole);
    tcase_add_test(tests, odd_lines_are_written_so_that_they_can_be_read);
    tcase_add_test(tests, a_pipe_is_no_log);
    tcase_add_test(tests, a_damaged_line_costs_itself);
    tcase_add_test(tests, a_line_without_a_name_is_damaged);
    tcase_add_test(tests, a_search_may_end_without_a_winner);
    tcase_add_test(tests, lines_of_one_problem);
    tcase_add_test(tests, a_missing_file_is_empty_and_a_folder_is_an_error);
    tcase_add_test(tests, the_log_stands_beside_the_rows);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
