/* The record of a part: what is written is read, the last record counts, and no damage hurts. */
#include "driver/base/rows_part.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[] = "/tmp/kiln_part_XXXXXX";

static rows_part part_of(long long index, char **names, long long own)
{
    return (rows_part){.index = index,
                       .count = 8,
                       .own = own,
                       .all = 16,
                       .by = "cost",
                       .list = "00ff00ff00ff00ff",
                       .problem = names};
}

typedef struct seen {
    rows_part part;
    int notes, bad;
} seen;

static void take(void *user, const kiln_rows_piece *piece)
{
    seen *s = user;
    s->notes += piece->kind == KILN_ROWS_NOTE;
    s->bad += piece->kind == KILN_ROWS_BAD;
    ck_assert(rows_part_take(&s->part, piece));
}

static seen read_file(void)
{
    seen s = {.notes = 0};
    ck_assert_int_eq(kiln_rows_read(file, take, &s), KILN_OK);
    return s;
}

static void write_file(const char *text)
{
    FILE *to = fopen(file, "w");
    fputs(text, to);
    fclose(to);
}

START_TEST(what_is_written_is_read)
{
    char *names[] = {"fwd-f32-a", "fwd-f32-b"}, why[KILN_ERROR_TEXT];
    const rows_part three = part_of(3, names, 2), none = part_of(4, names, 0);
    ck_assert_int_eq(rows_part_append(file, &three, why), KILN_OK);
    ck_assert_int_eq(rows_part_append(file, &three, why), KILN_OK); /* once is enough */
    seen s = read_file();
    ck_assert_int_eq(s.notes, 1);
    ck_assert_int_eq(s.bad, 0);
    ck_assert(rows_part_same_division(&s.part, &three));
    ck_assert_int_eq(s.part.index, 3);
    ck_assert_int_eq(s.part.own, 2);
    ck_assert_str_eq(s.part.problem[1], "fwd-f32-b");
    rows_part_free(&s.part);
    ck_assert_int_eq(rows_part_append(file, &none, why), KILN_OK);
    s = read_file();
    ck_assert_int_eq(s.part.index, 4);
    ck_assert_int_eq(s.part.own, 0);
    rows_part_free(&s.part);
}
END_TEST

START_TEST(a_line_that_was_cut_short_swallows_no_record)
{
    char *names[] = {"fwd-f32-a"}, why[KILN_ERROR_TEXT];
    const rows_part part = part_of(1, names, 1);
    write_file("schema: 1\ndevice: \"d\"\nrows:\n- {key: \"k\", sol");
    ck_assert_int_eq(rows_part_append(file, &part, why), KILN_OK);
    seen s = read_file();
    ck_assert_int_eq(s.part.count, 8);
    rows_part_free(&s.part);
}
END_TEST

START_TEST(what_is_no_record)
{
    static const char *const texts[] = {
        "# part of the model\n",
        "# part 0 of 8: 0 of 16 problems, dealt by cost, list 00ff\n",
        "# part 9 of 8: 0 of 16 problems, dealt by cost, list 00ff\n",
        "# part 1 of 8: 99999999 of 999999999 problems, dealt by cost, list 00ff\n# - a\n",
        "# part 1 of 8: 2 of 16 problems, dealt by cost, list 00ff\n# - a\n",
        "# part 1 of 8: 2 of 16 problems, dealt by cost, list 00ff\n# - a\n- {\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const kiln_rows_piece piece = {
            .kind = KILN_ROWS_NOTE, .text = texts[i], .length = strlen(texts[i])};
        rows_part part = {.count = 0};
        ck_assert(rows_part_take(&part, &piece));
        ck_assert_msg(part.count == 0, "%s", texts[i]);
    }
}
END_TEST

START_TEST(other_comments_stay)
{
    const char text[] = "# mine\n# part 1 of 8: 1 of 16 problems, dealt by cost, list 00ff\n"
                        "# - a\n# yours\n";
    ck_assert_str_eq(rows_part_behind(text), "# yours\n");
    ck_assert_str_eq(rows_part_behind("# - mine\n"), "# - mine\n");
    ck_assert_str_eq(rows_part_behind(""), "");
}
END_TEST

static void set_up(void)
{
    strcpy(file + strlen(file) - 6, "XXXXXX");
    const int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
    write_file("schema: 1\ndevice: \"d\"\nrows:\n");
}

static void tear_down(void)
{
    unlink(file);
}

int main(void)
{
    Suite *suite = suite_create("rows_part");
    TCase *tests = tcase_create("rows_part");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_is_written_is_read);
    tcase_add_test(tests, a_line_that_was_cut_short_swallows_no_record);
    tcase_add_test(tests, what_is_no_record);
    tcase_add_test(tests, other_comments_stay);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
