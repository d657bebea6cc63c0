/* Files of tuning rows that people, kills and other versions left: damage costs only the damaged
 * row. */
#include "support/rows_box.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MARK "\xef\xbb\xbf" /* byte order, in UTF-8 */

START_TEST(cut_short_at_every_byte)
{
    static const char text[] = ROWS_HEAD ROWS_ROW("a", "1") ROWS_ROW("b", "2") ROWS_ROW("c", "3");
    for (size_t length = 0; length < sizeof text; length++) {
        kiln_rows *rows = rows_load_bytes(text, length);
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
    snprintf(text, sizeof text, "%s%s%s\n%s", ROWS_HEAD, ROWS_ROW("a", "1"), bad_rows[_i].line,
             ROWS_ROW("c", "3"));
    kiln_rows *rows = rows_load_text(text);
    ck_assert_msg(kiln_rows_count(rows) == 2, "%zu rows: %s", kiln_rows_count(rows), text);
    ck_assert_str_eq(kiln_rows_at(rows, 0)->key, "a");
    ck_assert_str_eq(kiln_rows_at(rows, 1)->key, "c");
    ck_assert_msg(strstr(rows_told, "rows.yaml:6: ") && strstr(rows_told, bad_rows[_i].why),
                  "\"%s\" does not say \"%s\"", rows_told, bad_rows[_i].why);
    kiln_rows_free(rows);
}
END_TEST

/* Spellings that people and later versions of kiln may write. */
START_TEST(other_spellings_load)
{
    kiln_rows *rows = rows_load_text(
        "---\nschema: 1\nfuture: {a: [1, 2]}\nrows: # here\n\n"
        "- {key: a, solver: S, version: 1, config: 1, future: {x: [1, {y: 2}]}, iqr: 1e-2}\r\n"
        "# between\n"
        "- key: b\n  solver: S # a remark\n\n  # another\n  version: 2\n  config: '2,3'\n"
        "- {key: c,\n   solver: S, version: 1, config: \"\"}\n");
    ck_assert_str_eq(rows_told, "");
    ck_assert_uint_eq(kiln_rows_count(rows), 3);
    ck_assert_double_eq(kiln_rows_at(rows, 0)->iqr, 0.01);
    ck_assert_str_eq(kiln_rows_at(rows, 1)->config, "2,3");
    ck_assert_int_eq(kiln_rows_at(rows, 1)->version, 2);
    ck_assert_str_eq(kiln_rows_at(rows, 2)->config, "");
    kiln_rows_free(rows);
}
END_TEST

/* A file may have a byte order mark, which stays. */
START_TEST(a_byte_order_mark_is_no_damage)
{
    static const char *const texts[] = {
        MARK ROWS_HEAD ROWS_ROW("a", "1"),
        MARK "schema: 1\r\nrows:\r\n" ROWS_ROW("a", "1"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kiln_rows *rows = rows_load_text(texts[i]);
        ck_assert_str_eq(kiln_rows_trouble(rows), "");
        ck_assert_str_eq(rows_told, "");
        ck_assert_uint_eq(kiln_rows_count(rows), 1);
        kiln_rows_free(rows);
        rows_append("b", "2", 1);
        rows = kiln_rows_load(rows_file, "", &rows_logger);
        ck_assert_str_eq(rows_told, "");
        ck_assert_uint_eq(kiln_rows_count(rows), 2);
        kiln_rows_free(rows);
    }
}
END_TEST

static const struct {
    const char *text, *why;
} bad_heads[] = {
    {"schema: 2\nrows:\n" ROWS_ROW("a", "1"), "schema is not 1"},
    {"device: d\nrows:\n" ROWS_ROW("a", "1"), "no schema"},
    {"schema: 1\n" ROWS_ROW("a", "1"), "no line \"rows:\""},
    {"schema: 1\ndevice: [\nrows:\n" ROWS_ROW("a", "1"), "not a single value"},
    {"no newline", "cut short"},
    {"schema: 1\nrows: [{key: a}]\n", "rows must follow"},
    {"a: &a [x, x]\nb: &b [*a, *a]\nschema: 1\nrows:\n", "anchors"},
    {"root:x:0:0:root:/root:/bin/bash\n", "no line \"rows:\""},
    {MARK "rows:\n", "no schema"},
};

START_TEST(a_bad_head_loads_and_gains_nothing)
{
    kiln_rows *rows = rows_load_text(bad_heads[_i].text);
    ck_assert_uint_eq(kiln_rows_count(rows), 0);
    const char *trouble = kiln_rows_trouble(rows);
    ck_assert_msg(strstr(trouble, bad_heads[_i].why), "\"%s\" does not say \"%s\"", trouble,
                  bad_heads[_i].why);
    ck_assert_ptr_nonnull(strstr(trouble, "rows.yaml:1: "));
    ck_assert_str_eq(rows_told, "");
    kiln_rows_free(rows);
    struct stat before, after;
    stat(rows_file, &before);
    ck_assert_int_eq(kiln_rows_append(rows_file, "d", &rows_sample), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), rows_file));
    stat(rows_file, &after);
    ck_assert_int_eq(before.st_size, after.st_size);
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

/* The pieces of any file, put together, are the file. */
START_TEST(pieces_are_the_whole_file)
{
    static const char text[] =
        MARK ROWS_HEAD "\n\n# x\n" ROWS_ROW("a", "1") "junk\n  - {key:\n" ROWS_ROW("b", "2") "- {";
    const char *const begin = text + (_i ? 0 : sizeof MARK - 1);
    for (size_t length = 0; length <= strlen(begin); length++) {
        pieces all = {.line = 1};
        kiln_rows_pieces(begin, length, collect, &all);
        ck_assert_uint_eq(all.used, length);
        ck_assert_int_eq(memcmp(all.text, begin, length), 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows_damage");
    TCase *tests = tcase_create("rows_damage");
    tcase_add_checked_fixture(tests, rows_make_folder, rows_remove_folder);
    tcase_add_test(tests, cut_short_at_every_byte);
    tcase_add_loop_test(tests, a_bad_row_costs_itself, 0, sizeof bad_rows / sizeof *bad_rows);
    tcase_add_test(tests, other_spellings_load);
    tcase_add_test(tests, a_byte_order_mark_is_no_damage);
    tcase_add_loop_test(tests, a_bad_head_loads_and_gains_nothing, 0,
                        sizeof bad_heads / sizeof *bad_heads);
    tcase_add_loop_test(tests, pieces_are_the_whole_file, 0, 2);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
