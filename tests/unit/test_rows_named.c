/* Files of rows that cannot be used: an error where the file is named, a warning where it is the
 * default.
 */
#include "runtime/rows/rows.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "schema: 1\ndevice: any\nrows:\n"
#define KEY "fwd-f32-n1-c4-k4-i8x8-f3x3"
#define ROW(version) "- {key: \"" KEY "\", solver: naive, version: " version ", config: \"\"}\n"

enum { PATH_TEXT = 256 };

static char folder[64], warned[4096];
static int warnings;

static void remember(void *user, const char *line)
{
    ck_assert_ptr_eq(user, folder);
    snprintf(warned, sizeof warned, "%s", line);
    warnings++;
}

static const kiln_settings watched = {.warn = remember, .log_user = folder};

static void forget(void)
{
    warned[0] = '\0';
    warnings = 0;
}

/* Nothing is named, and the default file is of this folder. */
static void make_folder(void)
{
    char path[PATH_TEXT];
    strcpy(folder, "/tmp/kiln_named_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kiln", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("KILN_SHIPPED_DB", "off", 1);
    unsetenv("KILN_DB");
    forget();
}

static void remove_folder(void)
{
    char command[PATH_TEXT];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *write_file(char *path, const char *name, const char *text)
{
    snprintf(path, PATH_TEXT, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

/* Opens a kiln to learn the name of its default file. */
static const char *default_file(char *path)
{
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, NULL), KILN_OK);
    snprintf(path, PATH_TEXT, "%s", kiln_rows_file(k));
    kiln_close(k);
    ck_assert_int_eq(strncmp(path, folder, strlen(folder)), 0);
    return path;
}

static kiln_origin choose(kiln *k, const kiln_choice *choice)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    kiln_op *op;
    kiln_op_info info;
    ck_assert_int_eq(kiln_problem_parse(&p, KEY, why), KILN_OK);
    ck_assert_int_eq(kiln_conv_create(k, &p, choice, &op), KILN_OK);
    kiln_op_describe(op, &info);
    kiln_op_release(op);
    return info.origin;
}

static const struct {
    const char *text, *why;
} useless[] = {
    {"nonsense\n", "rows.yaml:1: no line \"rows:\""},
    {"nonsense", "rows.yaml:1: "},
    {"\x7f"
     "ELF\x02\x01\x01",
     "rows.yaml:1: "},
    {"schema: 2\nrows:\n", "rows.yaml:1: its schema is not 1"},
    {"schema: [\nrows:\n", "rows.yaml:1: "},
};

/* Checks that the error tells who named the file, the file, the line and the remedy. */
static void check_refused(const kiln_settings *s, const char *named_by, const char *why)
{
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, s), KILN_FILE);
    ck_assert_ptr_null(k);
    const char *sentence = kiln_last_error();
    ck_assert_msg(strncmp(sentence, named_by, strlen(named_by)) == 0, "%s", sentence);
    ck_assert_msg(strstr(sentence, folder) && strstr(sentence, why), "%s: %s", why, sentence);
    ck_assert_msg(strstr(sentence, "name another or \"off\""), "%s", sentence);
    ck_assert_int_eq(warnings, 0);
}

START_TEST(a_named_file_must_be_of_use)
{
    char path[PATH_TEXT];
    kiln_settings s = watched;
    s.rows_file = write_file(path, "rows.yaml", useless[_i].text);
    check_refused(&s, "settings.rows_file: ", useless[_i].why);
    setenv("KILN_DB", path, 1);
    check_refused(&watched, "KILN_DB: ", useless[_i].why);
    check_refused(NULL, "KILN_DB: ", useless[_i].why);
    s.rows_file = "off"; /* the setting overrides the variable */
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    kiln_close(k);
}
END_TEST

START_TEST(a_named_place_must_be_a_file)
{
    char path[PATH_TEXT];
    kiln_settings s = watched;
    s.rows_file = folder;
    check_refused(&s, "settings.rows_file: ", "not a plain file");
    write_file(path, "file", HEAD);
    strcat(path, "/rows.yaml");
    s.rows_file = path;
    check_refused(&s, "settings.rows_file: ", "cannot read");
    if (geteuid() != 0) {
        s.rows_file = write_file(path, "mine.yaml", HEAD);
        ck_assert_int_eq(chmod(path, 0), 0);
        check_refused(&s, "settings.rows_file: ", "cannot read");
    }
}
END_TEST

START_TEST(a_named_folder_of_shipped_rows_must_be_of_use)
{
    char path[PATH_TEXT];
    kiln_settings s = watched;
    write_file(path, "generic.yaml", "nonsense\n");
    s.shipped_dir = folder;
    check_refused(&s, "settings.shipped_dir: ", "generic.yaml:1: ");
    setenv("KILN_SHIPPED_DB", folder, 1);
    check_refused(&watched, "KILN_SHIPPED_DB: ", "generic.yaml:1: ");
}
END_TEST

/* A program that does not name the file runs, and kiln warns. */
START_TEST(the_default_file_costs_a_warning)
{
    char path[PATH_TEXT];
    kiln *k;
    default_file(path);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("nonsense\n", f);
    fclose(f);
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &watched), KILN_OK);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strncmp(warned, path, strlen(path)) == 0, "%s", warned);
    ck_assert_msg(strstr(warned, ":1: no line \"rows:\""), "%s", warned);
    ck_assert_msg(strstr(warned, "set KILN_DB"), "%s", warned);
    ck_assert_int_ne(choose(k, NULL), KILN_ORIGIN_USER_ROW);
    kiln_close(k);
}
END_TEST

START_TEST(a_default_file_need_not_exist)
{
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &watched), KILN_OK);
    ck_assert_int_eq(choose(k, NULL), KILN_ORIGIN_GUESS);
    ck_assert_int_eq(warnings, 0);
    kiln_close(k);
}
END_TEST

/* kiln may still make the file: only a search for rows warns that it is missing, and once. */
START_TEST(a_named_file_that_is_not_there_is_told_of)
{
    char path[PATH_TEXT];
    kiln_settings s = watched;
    kiln *k;
    snprintf(path, sizeof path, "%s/typing-eror.yaml", folder);
    s.rows_file = path;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    choose(k, &(kiln_choice){.ignore_rows = 1});
    choose(k, &(kiln_choice){.solver = "direct", .config = "T_ORDER=0"});
    ck_assert_int_eq(warnings, 0);
    choose(k, NULL);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strncmp(warned, "settings.rows_file names /tmp/", 30) == 0, "%s", warned);
    ck_assert_msg(strstr(warned, "typing-eror.yaml, which is not there"), "%s", warned);
    choose(k, NULL);
    choose(k, &(kiln_choice){.solver = "naive"});
    ck_assert_int_eq(warnings, 1);
    kiln_close(k);
}
END_TEST

START_TEST(damaged_rows_cost_themselves_and_a_warning)
{
    char path[PATH_TEXT];
    kiln_settings s = watched;
    kiln *k;
    s.rows_file = write_file(path, "rows.yaml", HEAD "junk\n" ROW("1") ROW("x"));
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_int_eq(warnings, 2);
    ck_assert_msg(strstr(warned, "rows.yaml:6: version is \"x\""), "%s", warned);
    ck_assert_msg(strstr(warned, "mend or delete it"), "%s", warned);
    ck_assert_int_eq(choose(k, NULL), KILN_ORIGIN_USER_ROW);
    ck_assert_int_eq(warnings, 2);
    kiln_close(k);
}
END_TEST

static const struct {
    const char *text, *why;
} old_rows[] = {
    {HEAD ROW("77"), "is not used: it is of version 77 of solver naive; "},
    {HEAD "- {key: \"" KEY "\", solver: naive, version: 1, config: \"5\"}\n",
     "is not used: the config \"5\" has more than the 0 values of solver naive; "},
};

/* kiln warns when a guess replaces the user's row of the problem, but not where a later row or the
 * caller decides. */
START_TEST(a_row_that_means_nothing_now_is_told_of)
{
    char path[PATH_TEXT];
    kiln_settings s = watched;
    kiln *k;
    s.rows_file = write_file(path, "rows.yaml", old_rows[_i].text);
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_int_ne(choose(k, NULL), KILN_ORIGIN_USER_ROW);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warned, "rows.yaml:4: the row of " KEY " is not used"), "%s", warned);
    ck_assert_msg(strstr(warned, old_rows[_i].why), "%s", warned);
    choose(k, &(kiln_choice){.solver = "naive"});
    ck_assert_int_eq(warnings, 2);
    choose(k, &(kiln_choice){.solver = "direct"});
    choose(k, &(kiln_choice){.ignore_rows = 1});
    ck_assert_int_eq(warnings, 2);
    kiln_close(k);
    write_file(path, "rows.yaml", HEAD ROW("77") ROW("1"));
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_int_eq(choose(k, NULL), KILN_ORIGIN_USER_ROW);
    ck_assert_int_eq(warnings, 2);
    kiln_close(k);
}
END_TEST

/* Rows have no limits: one whose config needs more workspace than the problem allows does not
 * decide, and the problem is as it would be without it. */
START_TEST(a_row_over_the_workspace_limit_is_passed_over)
{
    char path[PATH_TEXT], text[512], why[KILN_ERROR_TEXT];
    kiln_settings s = {.rows_file = "off"};
    kiln_problem p;
    kiln_op_info info;
    kiln *k;
    ck_assert_int_eq(kiln_problem_parse(&p, KEY, why), KILN_OK);
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_int_eq(kiln_conv_plan(k, &p, &(kiln_choice){.solver = "direct"}, &info), KILN_OK);
    ck_assert_int_gt(info.workspace_size, 1);
    kiln_close(k);
    snprintf(text, sizeof text,
             HEAD "- {key: \"" KEY "\", solver: direct, version: %d, config: \"%s\", ms: 1e-6}\n",
             info.solver_version, info.config);
    s.rows_file = write_file(path, "rows.yaml", text);
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_int_eq(kiln_conv_plan(k, &p, NULL, &info), KILN_OK);
    ck_assert_int_eq(info.origin, KILN_ORIGIN_USER_ROW);
    p.workspace_limit = 1;
    ck_assert_msg(kiln_conv_plan(k, &p, NULL, &info) == KILN_OK, "%s", kiln_last_error());
    ck_assert_int_ne(info.origin, KILN_ORIGIN_USER_ROW);
    ck_assert_int_le(info.workspace_size, 1);
    kiln_close(k);
}
END_TEST

/* Opens a kiln whose row of the problem has the solver and its guess for another one. */
static kiln *open_with_row(const kiln_problem *of, const kiln_problem *from, const char *solver)
{
    char path[PATH_TEXT], text[1024], key[KILN_KEY_TEXT];
    kiln_settings s = {.rows_file = "off"};
    kiln_op_info info;
    kiln *k;
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_msg(!kiln_conv_plan(k, from, &(kiln_choice){.solver = solver}, &info), "%s",
                  kiln_last_error());
    kiln_close(k);
    kiln_problem_row_key(of, key, sizeof key);
    snprintf(text, sizeof text,
             HEAD "\n- {key: \"%s\", solver: %s, version: %d, config: \"%s\", ms: 1e-6}\n", key,
             solver, info.solver_version, info.config);
    s = watched;
    s.rows_file = write_file(path, "rows.yaml", text);
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    return k;
}

/* A row that another problem with the same key, or another device, could use. */
static const struct {
    const char *of, *from, *solver, *asked, *why;
} unfit_rows[] = {
    {KEY, KEY, "winograd_fused", "fwd-f32-n1-c4-k4-i8x8-f3x3-exact", "plain sums"},
    {KEY, KEY, "direct", "fwd-f32-n1-c4-k4-i8x8-f3x3-ws1", "workspace"},
    {"fwd-f32-n1-c4-k4-i8x8-f1x1", KEY, "winograd_fused", "fwd-f32-n1-c4-k4-i8x8-f1x1", ""},
    {"fwd-f32-n1-c4-k4-i4x4-f1x1", "fwd-f32-n16-c256-k256-i28x28-f1x1", "ConvOclDirectFwd1x1",
     "fwd-f32-n1-c4-k4-i4x4-f1x1", ""},
};

START_TEST(a_row_that_does_not_fit_is_told_of)
{
    char why[KILN_ERROR_TEXT];
    kiln_problem of, from, asked;
    kiln_op_info info;
    ck_assert_int_eq(kiln_problem_parse(&of, unfit_rows[_i].of, why), KILN_OK);
    ck_assert_int_eq(kiln_problem_parse(&from, unfit_rows[_i].from, why), KILN_OK);
    ck_assert_int_eq(kiln_problem_parse(&asked, unfit_rows[_i].of, why), KILN_OK);
    if (strstr(unfit_rows[_i].asked, "exact"))
        asked.math = KILN_MATH_EXACT;
    if (strstr(unfit_rows[_i].asked, "ws1"))
        asked.workspace_limit = 1;
    kiln *k = open_with_row(&of, &from, unfit_rows[_i].solver);
    ck_assert_msg(!kiln_conv_plan(k, &asked, NULL, &info), "%s", kiln_last_error());
    ck_assert_int_ne(info.origin, KILN_ORIGIN_USER_ROW);
    ck_assert_int_eq(warnings, 1);
    ck_assert_msg(strstr(warned, "rows.yaml:5: the row of ") && strstr(warned, " is not used: ") &&
                      strstr(warned, unfit_rows[_i].why) &&
                      strstr(warned, "; a search (kiln conv -s 1) with the flags of this problem"),
                  "%s", warned);
    strcpy(asked.x_layout, "any");
    strcpy(asked.y_layout, "any");
    ck_assert_int_eq(kiln_conv_plan(k, &asked, NULL, &info), KILN_OK);
    ck_assert_int_eq(warnings, 2);
    kiln_close(k);
}
END_TEST

/* Without a function for warnings they go to the log. */
START_TEST(warnings_go_to_the_log)
{
    char path[PATH_TEXT];
    kiln_settings s = {.log = remember, .log_user = folder};
    kiln *k;
    s.rows_file = write_file(path, "rows.yaml", HEAD "junk\n");
    ck_assert_int_eq(kiln_open(&k, NULL, NULL, &s), KILN_OK);
    ck_assert_msg(strstr(warned, "rows.yaml:4: "), "%s", warned);
    kiln_close(k);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows_named");
    TCase *tests = tcase_create("rows_named");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_loop_test(tests, a_named_file_must_be_of_use, 0, sizeof useless / sizeof *useless);
    tcase_add_test(tests, a_named_place_must_be_a_file);
    tcase_add_test(tests, a_named_folder_of_shipped_rows_must_be_of_use);
    tcase_add_test(tests, the_default_file_costs_a_warning);
    tcase_add_test(tests, a_default_file_need_not_exist);
    tcase_add_test(tests, a_named_file_that_is_not_there_is_told_of);
    tcase_add_test(tests, damaged_rows_cost_themselves_and_a_warning);
    tcase_add_loop_test(tests, a_row_that_means_nothing_now_is_told_of, 0,
                        sizeof old_rows / sizeof *old_rows);
    tcase_add_test(tests, a_row_over_the_workspace_limit_is_passed_over);
    tcase_add_loop_test(tests, a_row_that_does_not_fit_is_told_of, 0,
                        sizeof unfit_rows / sizeof *unfit_rows);
    tcase_add_test(tests, warnings_go_to_the_log);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
