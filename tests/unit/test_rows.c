/* Tuning rows: what is written is read back, and damage costs no more than the damaged row. */
#include "rows.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD "# a comment\nschema: 1\ndevice: \"d\"\nrows:\n"
#define ROW(key, config)                                                                           \
    "- {key: \"" key "\", solver: S, version: 1, config: \"" config "\", ms: 1.5}\n"

static char folder[64], file[128], logged[4096];

static void remember(void *user, const char *line)
{
    (void)user;
    strncat(logged, line, sizeof logged - strlen(logged) - 1);
    strncat(logged, "\n", sizeof logged - strlen(logged) - 1);
}

static const kiln_logger logger = {.log = remember};

static void make_folder(void)
{
    strcpy(folder, "/tmp/kiln_rows_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/rows.yaml", folder);
    logged[0] = '\0';
}

static void remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s && rm -r %s", folder, folder);
    ck_assert_int_eq(system(command), 0);
}

static kiln_rows *load(const char *text, size_t length)
{
    FILE *f = fopen(file, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, length, f), length);
    fclose(f);
    logged[0] = '\0';
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_ptr_nonnull(rows);
    return rows;
}

static kiln_rows *load_text(const char *text)
{
    return load(text, strlen(text));
}

static const kiln_row sample = {
    .key = "fwd-f32-n16-c192-k64-i28x28-f1x1-lNH|CW|4c.OIHW.NCHW",
    .solver = "ConvOclDirectFwd1x1",
    .version = 3,
    .config = "1,64,1,1,1,1,16,2048,0",
    .ms = 1.2345,
    .spread = 0.0213,
    .runs = 5,
    .error = 0.11,
    .hash = "0123456789abcdef",
    .driver = "PoCL 3.1 \"quoted\" back\\slash #no: comment, {}",
    .date = "2026-01-31",
};

static void append(const char *key, const char *config, double ms)
{
    kiln_row row = sample;
    strcpy(row.key, key);
    strcpy(row.config, config);
    row.ms = ms;
    ck_assert_int_eq(kiln_rows_append(file, "d", &row), KILN_OK);
}

static void check_same(const kiln_row *a, const kiln_row *b)
{
    ck_assert_str_eq(a->key, b->key);
    ck_assert_str_eq(a->solver, b->solver);
    ck_assert_int_eq(a->version, b->version);
    ck_assert_str_eq(a->config, b->config);
    ck_assert_double_eq(a->ms, b->ms);
    ck_assert_double_eq(a->spread, b->spread);
    ck_assert_int_eq(a->runs, b->runs);
    ck_assert_double_eq(a->error, b->error);
    ck_assert_str_eq(a->hash, b->hash);
    ck_assert_str_eq(a->driver, b->driver);
    ck_assert_str_eq(a->date, b->date);
}

START_TEST(round_trip_makes_folders)
{
    snprintf(file, sizeof file, "%s/a/b/rows.yaml", folder);
    ck_assert_int_eq(kiln_rows_append(file, "a \"device\"\n\xff", &sample), KILN_OK);
    ck_assert_int_eq(kiln_rows_append(file, "a \"device\"\n\xff", &sample), KILN_OK);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_str_eq(logged, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 2);
    check_same(kiln_rows_at(rows, 0), &sample);
    check_same(kiln_rows_at(rows, 1), &sample);
    ck_assert_ptr_null(kiln_rows_at(rows, 2));
    kiln_rows_free(rows);
}
END_TEST

/* Of the longest strings that a row can hold, each of characters that double when quoted. */
START_TEST(the_longest_row_fits)
{
    kiln_row row = sample;
    memset(row.key, '"', sizeof row.key - 1);
    memset(row.solver, '\\', sizeof row.solver - 1);
    memset(row.config, '"', sizeof row.config - 1);
    memset(row.hash, '"', sizeof row.hash - 1);
    memset(row.driver, '"', sizeof row.driver - 1);
    memset(row.date, '"', sizeof row.date - 1);
    ck_assert_int_eq(kiln_rows_append(file, "d", &row), KILN_OK);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_str_eq(logged, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    check_same(kiln_rows_at(rows, 0), &row);
    kiln_rows_free(rows);
}
END_TEST

START_TEST(newest_first)
{
    append("a", "1", 3);
    append("b", "2", 1);
    append("a", "3", 2);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_str_eq(kiln_rows_find(rows, "a", NULL, 0)->config, "3");
    ck_assert_str_eq(kiln_rows_find(rows, "a", sample.solver, 1)->config, "1");
    ck_assert_ptr_null(kiln_rows_find(rows, "a", NULL, 2));
    ck_assert_str_eq(kiln_rows_find(rows, "b", NULL, 0)->config, "2");
    ck_assert_ptr_null(kiln_rows_find(rows, "b", "other", 0));
    ck_assert_ptr_null(kiln_rows_find(rows, "c", NULL, 0));
    kiln_rows_free(rows);
}
END_TEST

START_TEST(missing_file_is_empty)
{
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    ck_assert_ptr_null(kiln_rows_find(rows, "a", NULL, 0));
    ck_assert(kiln_rows_missing(rows));
    ck_assert_str_eq(kiln_rows_trouble(rows), "");
    ck_assert_str_eq(logged, "");
    kiln_rows_free(rows);
    rows = kiln_rows_load("", &logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    ck_assert(!kiln_rows_missing(rows));
    kiln_rows_free(rows);
    rows = kiln_rows_load(folder, &logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    ck_assert(!kiln_rows_missing(rows));
    ck_assert_ptr_nonnull(strstr(kiln_rows_trouble(rows), folder));
    ck_assert_str_eq(logged, "");
    kiln_rows_free(rows);
}
END_TEST

START_TEST(cut_short_at_every_byte)
{
    static const char text[] = HEAD ROW("a", "1") ROW("b", "2") ROW("c", "3");
    for (size_t length = 0; length < sizeof text; length++) {
        kiln_rows *rows = load(text, length);
        size_t whole = 0;
        for (size_t i = 0; i < length; i++)
            whole += text[i] == '\n';
        ck_assert_uint_eq(kiln_rows_count(rows), whole > 4 ? whole - 4 : 0);
        for (size_t i = 0; i + 4 < whole; i++)
            ck_assert_int_eq(kiln_rows_at(rows, i)->key[0], "abc"[i]);
        kiln_rows_free(rows);
    }
}
END_TEST

/* A row that a kill cut short does not swallow the next one that is appended. */
START_TEST(append_after_a_cut)
{
    kiln_rows_free(load_text(HEAD ROW("a", "1") "- {key: \"b\", sol"));
    ck_assert_ptr_nonnull(strstr(logged, "rows.yaml:6: "));
    append("c", "3", 1);
    kiln_rows *rows = kiln_rows_load(file, NULL);
    ck_assert_uint_eq(kiln_rows_count(rows), 2);
    ck_assert_str_eq(kiln_rows_at(rows, 1)->key, "c");
    kiln_rows_free(rows);
}
END_TEST

static const struct {
    const char *line, *why;
} bad_rows[] = {
    {"- {key: \"b\", solver: S, version: 1, config: \"2\"", "expected"},
    {"- {key: [b], solver: S, version: 1, config: \"2\"}", "key is not a single value"},
    {"- {key: b, solver: {a: b}, version: 1, config: \"2\"}", "solver is not a single value"},
    {"- {key: b, solver: S, version: one, config: \"2\"}", "version is \"one\""},
    {"- {key: b, solver: S, version: -1, config: \"2\"}", "version is \"-1\""},
    {"- {key: b, solver: S, version: 99999999999, config: \"2\"}", "version is"},
    {"- {key: b, solver: S, version: 1, config: \"2\", ms: nan}", "ms is \"nan\""},
    {"- {key: b, solver: S, version: 1, config: \"2\", ms: 1e999}", "ms is"},
    {"- {key: b, solver: S, version: 1, config: \"2\", ms: \"1,5\"}", "ms is \"1,5\""},
    {"- {key: b, solver: S, version: 1}", "no config"},
    {"- {key: \"\", solver: S, version: 1, config: \"2\"}", "empty"},
    {"- {key: b, key: b, solver: S, version: 1, config: \"2\"}", "key is given twice"},
    {"- {key: \"b\\nb\", solver: S, version: 1, config: \"2\"}", "control character"},
    {"- {key: \"b\\x9bb\", solver: S, version: 1, config: \"2\"}", "control character"},
    {"- {key: \"b\\0b\", solver: S, version: 1, config: \"2\"}", "control character"},
    {"- {key: b, solver: "
     "ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss, version: 1, "
     "config: \"2\"}",
     "solver is longer than 47 bytes"},
    {"- {key: &a b, solver: S, version: 1, config: \"2\"}", "anchors"},
    {"- {key: b, solver: S, version: 1, config: \"2\", x: *a}", "aliases"},
    {"- {key: b, solver: S, version: 1, config: \"2\", x: "
     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
     "deep"},
    {"- [key, b]", "mapping"},
    {"- b", "mapping"},
    {"key: b", "begins with"},
    {"---", "begins with"},
    {"...", "begins with"},
    {"- {key: b, solver: S, version: 1, config: \"2\"} x", "expected"},
    {"- {key: \"b\xff\", solver: S, version: 1, config: \"2\"}", "UTF-8"},
    {"\t- {key: b, solver: S, version: 1, config: \"2\"}", "begins with"},
};

START_TEST(a_bad_row_costs_itself)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s\n%s", HEAD, ROW("a", "1"), bad_rows[_i].line,
             ROW("c", "3"));
    kiln_rows *rows = load_text(text);
    ck_assert_msg(kiln_rows_count(rows) == 2, "%zu rows: %s", kiln_rows_count(rows), text);
    ck_assert_str_eq(kiln_rows_at(rows, 0)->key, "a");
    ck_assert_str_eq(kiln_rows_at(rows, 1)->key, "c");
    ck_assert_msg(strstr(logged, "rows.yaml:6: ") && strstr(logged, bad_rows[_i].why),
                  "\"%s\" does not say \"%s\"", logged, bad_rows[_i].why);
    kiln_rows_free(rows);
}
END_TEST

/* What people and later versions of kiln may write. */
START_TEST(other_spellings_load)
{
    kiln_rows *rows = load_text(
        "---\nschema: 1\nfuture: {a: [1, 2]}\nrows: # here\n\n"
        "- {key: a, solver: S, version: 1, config: 1, future: {x: [1, {y: 2}]}, spread: 1e-2}\r\n"
        "# between\n"
        "- key: b\n  solver: S # a remark\n\n  # another\n  version: 2\n  config: '2,3'\n"
        "- {key: c,\n   solver: S, version: 1, config: \"\"}\n");
    ck_assert_str_eq(logged, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 3);
    ck_assert_double_eq(kiln_rows_at(rows, 0)->spread, 0.01);
    ck_assert_str_eq(kiln_rows_at(rows, 1)->config, "2,3");
    ck_assert_int_eq(kiln_rows_at(rows, 1)->version, 2);
    ck_assert_str_eq(kiln_rows_at(rows, 2)->config, "");
    kiln_rows_free(rows);
}
END_TEST

static const struct {
    const char *text, *why;
} bad_heads[] = {
    {"schema: 2\nrows:\n" ROW("a", "1"), "schema is not 1"},
    {"device: d\nrows:\n" ROW("a", "1"), "no schema"},
    {"schema: 1\n" ROW("a", "1"), "no line \"rows:\""},
    {"schema: 1\ndevice: [\nrows:\n" ROW("a", "1"), "not a single value"},
    {"no newline", "cut short"},
    {"schema: 1\nrows: [{key: a}]\n", "rows must follow"},
    {"a: &a [x, x]\nb: &b [*a, *a]\nschema: 1\nrows:\n", "anchors"},
    {"root:x:0:0:root:/root:/bin/bash\n", "no line \"rows:\""},
};

START_TEST(a_bad_head_loads_and_gains_nothing)
{
    kiln_rows *rows = load_text(bad_heads[_i].text);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    const char *trouble = kiln_rows_trouble(rows);
    ck_assert_msg(strstr(trouble, bad_heads[_i].why), "\"%s\" does not say \"%s\"", trouble,
                  bad_heads[_i].why);
    ck_assert_ptr_nonnull(strstr(trouble, "rows.yaml:1: "));
    ck_assert_str_eq(logged, "");
    kiln_rows_free(rows);
    struct stat before, after;
    stat(file, &before);
    ck_assert_int_eq(kiln_rows_append(file, "d", &sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), file));
    stat(file, &after);
    ck_assert_int_eq(before.st_size, after.st_size);
}
END_TEST

/* As long as a head may be, and longer by a byte. */
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
        kiln_rows_free(load(text, notes + HEAD_SIZE));
        ck_assert_int_eq(kiln_rows_append(file, "e", &sample), KILN_FILE);
        ck_assert_int_eq(kiln_rows_append(file, "d", &sample), extra ? KILN_FILE : KILN_OK);
    }
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "first 64 KiB"));
}
END_TEST

START_TEST(rows_of_two_devices_do_not_mix)
{
    append("a", "1", 1);
    ck_assert_int_eq(kiln_rows_append(file, "e", &sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "KILN_DB"));
    ck_assert_int_eq(kiln_rows_append(file, "dd", NULL), KILN_FILE);
    ck_assert_int_eq(kiln_rows_append(file, "d", NULL), KILN_OK);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    kiln_rows_free(rows);
}
END_TEST

START_TEST(an_empty_file_gets_its_head)
{
    kiln_rows_free(load_text(""));
    append("a", "1", 1);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_str_eq(logged, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 1);
    kiln_rows_free(rows);
}
END_TEST

START_TEST(unwritable_places_are_named)
{
    char path[256];
    snprintf(path, sizeof path, "%s/file/rows.yaml", folder);
    snprintf(file, sizeof file, "%s/file", folder);
    kiln_rows_free(load_text("x\n"));
    ck_assert_int_eq(kiln_rows_append(path, "d", &sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), path));
    ck_assert_int_eq(kiln_rows_append("/proc/nowhere/rows.yaml", "d", &sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), "/proc/nowhere/rows.yaml"));
    ck_assert_int_eq(kiln_rows_append("/dev/null", "d", &sample), KILN_FILE);
    if (geteuid() != 0) {
        ck_assert_int_eq(chmod(folder, 0500), 0);
        snprintf(path, sizeof path, "%s/new.yaml", folder);
        ck_assert_int_eq(kiln_rows_append(path, "d", &sample), KILN_FILE);
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
            kiln_row row = sample;
            for (int i = 0; i < EACH; i++) {
                snprintf(row.key, sizeof row.key, "p%d-%d", p, i);
                row.runs = p;
                if (kiln_rows_append(file, "d", &row) != KILN_OK)
                    _exit(1);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        wait(&status);
        ck_assert_int_eq(status, 0);
    }
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_str_eq(logged, "");
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

START_TEST(the_locale_changes_nothing)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
        if (setlocale(LC_ALL, commas[i]))
            break;
    append("a", "1", 1.5);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    setlocale(LC_ALL, "C");
    ck_assert_str_eq(logged, "");
    ck_assert_double_eq(kiln_rows_at(rows, 0)->ms, 1.5);
    kiln_rows_free(rows);
    FILE *f = fopen(file, "r");
    char line[4096], *found = NULL;
    while (!found && fgets(line, sizeof line, f))
        found = strstr(line, "ms: 1.5,");
    fclose(f);
    ck_assert_ptr_nonnull(found);
}
END_TEST

START_TEST(many_rows_are_found)
{
    enum { ROWS = 10000 };
    FILE *f = fopen(file, "w");
    fputs(HEAD, f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "- {key: \"k%d\", solver: \"S\", version: 1, config: \"%d\"}\n", i, i);
    fclose(f);
    kiln_rows *rows = kiln_rows_load(file, &logger);
    ck_assert_uint_eq(kiln_rows_count(rows), ROWS);
    for (int i = 0; i < ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        const kiln_row *row = kiln_rows_find(rows, key, NULL, 0);
        ck_assert_ptr_nonnull(row);
        ck_assert_int_eq(atoi(row->config), i);
        ck_assert_ptr_null(kiln_rows_find(rows, key, NULL, 1));
    }
    kiln_rows_free(rows);
}
END_TEST

typedef struct pieces {
    char text[4096];
    size_t used;
    int64_t line;
} pieces;

static void collect(void *user, const kiln_rows_piece *p)
{
    pieces *all = user;
    ck_assert_int_eq(p->line, all->line);
    memcpy(all->text + all->used, p->text, p->length);
    all->used += p->length;
    for (size_t i = 0; i < p->length; i++)
        all->line += p->text[i] == '\n';
}

/* Whatever the file, its pieces put together are the file. */
START_TEST(pieces_are_the_whole_file)
{
    static const char text[] =
        HEAD "\n\n# x\n" ROW("a", "1") "junk\n  - {key:\n" ROW("b", "2") "- {";
    for (size_t length = 0; length < sizeof text; length++) {
        pieces all = {.line = 1};
        kiln_rows_pieces(text, length, collect, &all);
        ck_assert_uint_eq(all.used, length);
        ck_assert_int_eq(memcmp(all.text, text, length), 0);
    }
}
END_TEST

START_TEST(device_files)
{
    char slug[128], path[256];
    kiln_device_slug("NVIDIA H100 80GB HBM3", slug, sizeof slug);
    ck_assert_str_eq(slug, "nvidia-h100-80gb-hbm3");
    kiln_device_slug("  Intel(R) \xc3\xa9 UHD/../620  ", slug, sizeof slug);
    ck_assert_str_eq(slug, "intel-r-uhd-620");
    kiln_device_slug("", slug, sizeof slug);
    ck_assert_str_eq(slug, "device");
    kiln_device_slug("abc-def", slug, 5);
    ck_assert_str_eq(slug, "abc");
    unsetenv("KILN_DB");
    setenv("XDG_DATA_HOME", "/data", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "/data/kiln/a-b.yaml");
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", "/home/u", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "/home/u/.local/share/kiln/a-b.yaml");
    setenv("KILN_DB", "/x.yaml", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "/x.yaml");
    setenv("KILN_DB", "off", 1);
    kiln_rows_default_file("A b", path, sizeof path);
    ck_assert_str_eq(path, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tests = tcase_create("rows");
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, round_trip_makes_folders);
    tcase_add_test(tests, the_longest_row_fits);
    tcase_add_test(tests, newest_first);
    tcase_add_test(tests, missing_file_is_empty);
    tcase_add_test(tests, cut_short_at_every_byte);
    tcase_add_test(tests, append_after_a_cut);
    tcase_add_loop_test(tests, a_bad_row_costs_itself, 0, sizeof bad_rows / sizeof *bad_rows);
    tcase_add_test(tests, other_spellings_load);
    tcase_add_loop_test(tests, a_bad_head_loads_and_gains_nothing, 0,
                        sizeof bad_heads / sizeof *bad_heads);
    tcase_add_test(tests, a_long_head_gains_rows);
    tcase_add_test(tests, rows_of_two_devices_do_not_mix);
    tcase_add_test(tests, an_empty_file_gets_its_head);
    tcase_add_test(tests, unwritable_places_are_named);
    tcase_add_test(tests, processes_append_together);
    tcase_add_test(tests, the_locale_changes_nothing);
    tcase_add_test(tests, many_rows_are_found);
    tcase_add_test(tests, pieces_are_the_whole_file);
    tcase_add_test(tests, device_files);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
