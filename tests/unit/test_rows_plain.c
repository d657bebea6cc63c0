/* The quick reader of rows accepts only what the YAML parser reads in the same way. */
#include "runtime/rows/rows_plain.h"
#include "runtime/rows/rows_yaml.h"

#include "support/suite.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

typedef struct sample {
    char key[24], config[8];
    int version;
    double ms;
} sample;

#define FIELD(kind, name, required)                                                                \
    {                                                                                              \
#name, KILN_FIELD_##kind, required, offsetof(sample, name), sizeof(((sample *)0)->name)    \
    }

static const kiln_field fields[] = {FIELD(TEXT, key, true), FIELD(TEXT, config, true),
                                    FIELD(COUNT, version, true), FIELD(NUMBER, ms, false)};
enum { FIELDS = sizeof fields / sizeof *fields };

static const char row[] =
    "- {key: \"fwd-f32 #1: {a}, b\", version: 12, config: \"1,2\", ms: 1.25e-3, later: \"x y\"}\n";

static bool plain(const char *text, sample *out)
{
    memset(out, 0, sizeof *out);
    return kiln_plain_read(text, strlen(text), fields, FIELDS, out);
}

static bool yaml(const char *text, sample *out)
{
    char why[KILN_FIELD_WHY];
    memset(out, 0, sizeof *out);
    return kiln_yaml_read(text, strlen(text), true, fields, FIELDS, out, why);
}

START_TEST(a_row_as_kiln_writes_it_is_read)
{
    sample s;
    ck_assert(plain(row, &s));
    ck_assert_str_eq(s.key, "fwd-f32 #1: {a}, b");
    ck_assert_str_eq(s.config, "1,2");
    ck_assert_int_eq(s.version, 12);
    ck_assert_double_eq(s.ms, 1.25e-3);
}
END_TEST

static const char *const others[] = {
    "- {key: \"a\", version: 1}\n",                               /* a field is missing */
    "- {key: \"a\", version: 1, config: \"1\", key: \"b\"}\n",    /* a field twice */
    "- {key: \"a\", version: -1, config: \"1\"}\n",               /* not a count */
    "- {key: \"a\", version: 1, config: \"1\"}",                  /* no newline */
    "- {key: \"a\", version: 1, config: \"1\"} # remark\n",       /* more behind it */
    "- {key: \"a\", version: 1, config: \"123456789\"}\n",        /* too long */
    "- {key: \"a\\n\", version: 1, config: \"1\"}\n",             /* an escape */
    "- {key: \"a\", version: 1, config: \"1\",\n  ms: 1}\n",      /* two lines */
    "- {key: &a b, version: 1, config: \"1\"}\n",                 /* an anchor */
    "- {key: \"a\", version: 1, config: \"1\", x: [\"1\", 2]}\n", /* a list */
};

START_TEST(the_rest_is_left_to_the_parser)
{
    sample s;
    ck_assert_msg(!plain(others[_i], &s), "%s", others[_i]);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Changes, inserts or removes up to three characters. */
static void damage(char *text, uint32_t *state)
{
    static const char pieces[] = "\"\\'{}[]:,#&*!|>%@`-?. \t\r\n~0aZ+_\x01\x7f\xc2\x9b";
    for (uint32_t n = 1 + next_random(state) % 3; n > 0; n--) {
        const size_t length = strlen(text), at = next_random(state) % length;
        const char c = pieces[next_random(state) % (sizeof pieces - 1)];
        switch (next_random(state) % 3) {
        case 0:
            text[at] = c;
            break;
        case 1:
            memmove(text + at + 1, text + at, length - at + 1);
            text[at] = c;
            break;
        default:
            memmove(text + at, text + at + 1, length - at);
        }
    }
}

START_TEST(damaged_rows_are_read_alike)
{
    enum { TRIES = 50000 };
    uint32_t state = 1;
    int accepted = 0;
    for (int i = 0; i < TRIES; i++) {
        char text[sizeof row + 8];
        sample a, b;
        strcpy(text, row);
        damage(text, &state);
        if (!plain(text, &a))
            continue;
        accepted++;
        ck_assert_msg(yaml(text, &b), "the parser refuses %s", text);
        ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "the parser reads another row in %s", text);
    }
    ck_assert_int_gt(accepted, TRIES / 100); /* else nothing was compared */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows_plain");
    TCase *tests = tcase_create("rows_plain");
    tcase_add_test(tests, a_row_as_kiln_writes_it_is_read);
    tcase_add_loop_test(tests, the_rest_is_left_to_the_parser, 0, sizeof others / sizeof *others);
    tcase_add_test(tests, damaged_rows_are_read_alike);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
