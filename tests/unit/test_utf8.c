/* Texts of any bytes in outputs for programs and pages: valid UTF-8, and nothing hidden. */
#include "driver/base/json_csv.h"
#include "driver/base/utf8.h"
#include "driver/report/html.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void put_csv_of(FILE *to, const char *text)
{
    json_csv j = {.count = 0};
    json_csv_words(&j, "text", true, text);
    FILE *before = stdout;
    stdout = to; /* the printer's only place */
    json_csv_print_csv(&j);
    stdout = before;
}

static void put_json_of(FILE *to, const char *text)
{
    json_csv j = {.count = 0};
    json_csv_words(&j, "text", true, text);
    FILE *before = stdout;
    stdout = to;
    json_csv_print_json(&j);
    stdout = before;
}

static const struct {
    const char *name;
    void (*put)(FILE *to, const char *text);
} outputs[] = {{"a JSON string", json_string},
               {"JSON", put_json_of},
               {"CSV", put_csv_of},
               {"a page", html_text}};

#define BAD "\xef\xbf\xbd"

/* Texts, and what every output has of them. */
static const struct {
    const char *text, *shown;
} texts[] = {
    {"plain", "plain"},
    {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
    {"\xe6\xbc\xa2 \xf0\x9f\x98\x80", "\xe6\xbc\xa2 \xf0\x9f\x98\x80"},
    {"a\xff.txt", "a" BAD ".txt"},
    {"a\xfe\xff", "a" BAD BAD},
    {"\x80 alone", BAD " alone"},
    {"cut \xe6\xbc", "cut " BAD BAD},
    {"cut \xf0\x9f\x98x", "cut " BAD BAD BAD "x"},
    {"over\xc0\xaflong", "over" BAD BAD "long"},
    {"\xe0\x80\xaf", BAD BAD BAD},
    {"half \xed\xa0\x80", "half " BAD BAD BAD},
    {"far \xf4\x90\x80\x80", "far " BAD BAD BAD BAD},
    {"\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD},
    {"a\x1b[31mred", "a\\u001b[31mred"},
    {"a\x7f"
     "b\xc2\x9b"
     "c",
     "a\\u007fb\\u009bc"},
    {"evil\xe2\x80\xaetxt.exe", "evil\\u202etxt.exe"},
    {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad", "\\u202a\\u202b\\u202c\\u202d"},
    {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069"},
    {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
    {"no\xe2\x80\x8bwidth\xef\xbb\xbf", "no\\u200bwidth\\ufeff"},
    {"line\xe2\x80\xa8"
     "end",
     "line\\u2028end"},
};

START_TEST(every_output)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char *got = NULL;
        size_t length = 0;
        FILE *to = open_memstream(&got, &length);
        ck_assert_ptr_nonnull(to);
        outputs[i].put(to, texts[_i].text);
        ck_assert_int_eq(fclose(to), 0);
        ck_assert_msg(strstr(got, texts[_i].shown), "%s: %s, not %s", outputs[i].name, got,
                      texts[_i].shown);
        free(got);
    }
}
END_TEST

/* What the formats themselves escape. */
START_TEST(marks_of_the_formats)
{
    static const char *const shown[] = {"\"a\\\"b\\\\c\\nd\"", "\"a\\\"b\\\\c\\nd\"",
                                        "\"a\"\"b\\c\nd\"", "a&quot;b\\c\\u000ad"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char *got = NULL;
        size_t length = 0;
        FILE *to = open_memstream(&got, &length);
        ck_assert_ptr_nonnull(to);
        outputs[i].put(to, "a\"b\\c\nd");
        ck_assert_int_eq(fclose(to), 0);
        ck_assert_msg(strstr(got, shown[i]), "%s: %s", outputs[i].name, got);
        free(got);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("utf8");
    TCase *c = tcase_create("utf8");
    tcase_add_loop_test(c, every_output, 0, sizeof texts / sizeof *texts);
    tcase_add_test(c, marks_of_the_formats);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
