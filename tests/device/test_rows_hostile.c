/* Damaged files of rows: nothing crashes, and whatever config a damaged row gives, its result is
 * right.
 *
 * KILN_DAMAGED_FILES (30) is the number of files, KILN_DAMAGED_FIRST (0) the first;
 * tests/portability/damage.sh reads 1000 of them.
 */
#include "runtime/kiln/kiln_internal.h"
#include "support/rows_box.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_TRIED = 4096 };

static const kiln_problem problems[] = {
    {.batch = 1, .in_channels = 32, .out_channels = 32, .input = {6, 6}, .filter = {1, 1}},
    {.batch = 2, .in_channels = 16, .out_channels = 24, .input = {7, 5}, .filter = {3, 3}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static uint32_t state;

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* A row of each solver for each problem, in an order and with times that differ from file to file:
 * each has its turn to win. */
static size_t write_rows(char *text, const char *device)
{
    size_t used = (size_t)sprintf(text, "schema: 1\ndevice: \"%s\"\nrows:\n", device);
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_verdict v;
        char key[KILN_KEY_TEXT];
        kiln_problem p = problems[i];
        ck_assert_int_eq(kiln_problem_check(&p, NULL), KILN_OK);
        kiln_problem_row_key(&p, key, sizeof key);
        for (int s = 0; kiln_explain(support_open()->kiln, &p, s, &v) == KILN_OK; s++)
            if (v.accepted)
                used += (size_t)snprintf(
                    text + used, MOST_TEXT - used,
                    "- {key: \"%s\", solver: \"%s\", version: %d, config: \"%s\", ms: %u.5}\n", key,
                    v.solver, kiln_solver_named(v.solver)->version, v.config, draw(1000));
    }
    return used;
}

/* Puts another digit in the place of one, where there is one behind a random place. */
static void change_digit(char *text, size_t length)
{
    for (size_t at = draw((uint32_t)length); at < length; at++)
        if (text[at] >= '0' && text[at] <= '9') {
            text[at] = (char)('0' + draw(10));
            return;
        }
}

/* Moves a stretch of text to another place over what is there. */
static void splice(char *text, size_t length)
{
    const size_t size = 1 + draw(80), from = draw((uint32_t)length), to = draw((uint32_t)length);
    if (from + size < length && to + size < length)
        memmove(text + to, text + from, size);
}

static size_t damage(char *text, size_t length)
{
    for (uint32_t n = 1 + draw(40); n > 0 && length > 1; n--)
        switch (draw(16)) {
        case 0:
            text[draw((uint32_t)length)] ^= (char)(1u << draw(8));
            break;
        case 1:
            splice(text, length);
            break;
        case 2: {
            const size_t at = draw((uint32_t)length);
            memmove(text + at, text + at + 1, --length - at);
            break;
        }
        case 3:
            if (draw(16) == 0)
                length = 1 + draw((uint32_t)length);
            break;
        default:
            change_digit(text, length);
        }
    return length;
}

/* A config that was right once is right, and need not run again. */
static struct {
    char text[KILN_INFO_TEXT + 64];
} tried[MOST_TRIED];
static int ntried;

static bool is_new(const char *text)
{
    for (int i = 0; i < ntried; i++)
        if (strcmp(tried[i].text, text) == 0)
            return false;
    if (ntried < MOST_TRIED)
        snprintf(tried[ntried++].text, sizeof tried[0].text, "%s", text);
    return true;
}

static void check_result(const kiln_op_info *info, int which)
{
    char text[sizeof tried[0].text], why[SUPPORT_TEXT];
    const support_case c = {.problem = problems[which],
                            .solver = info->solver,
                            .config = *info->config ? info->config : NULL,
                            .fill = HOST_FILL_INT};
    snprintf(text, sizeof text, "%d %s %s", which, info->solver, info->config);
    if (is_new(text))
        ck_assert_msg(support_run(&c, why) == SUPPORT_RIGHT, "%s: %s", text, why);
}

/* Returns how many of the problems got a config from the damaged rows. */
static int use_file(int *refused)
{
    const support_device *d = support_open();
    const kiln_settings settings = {
        .rows_file = rows_file, .cache_dir = "off", .shipped_dir = "off"};
    kiln *k;
    int from_rows = 0;
    const kiln_status status = kiln_open(&k, d->context, d->device, &settings);
    ck_assert_msg(status == KILN_OK || status == KILN_FILE, "%s", kiln_last_error());
    if (status) {
        ++*refused;
        return 0;
    }
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_op_info info;
        kiln_verdict v;
        ck_assert_msg(kiln_conv_plan(k, &problems[i], NULL, &info) == KILN_OK, "%s",
                      kiln_last_error());
        for (int s = 0; kiln_explain(k, &problems[i], s, &v) == KILN_OK; s++)
            ck_assert(v.accepted || *v.reason);
        from_rows += info.origin == KILN_ORIGIN_USER_ROW;
        check_result(&info, i);
    }
    kiln_close(k);
    return from_rows;
}

START_TEST(damaged_files_do_no_harm)
{
    static char text[MOST_TEXT];
    const int files = number_of("KILN_DAMAGED_FILES", 30);
    const int before = number_of("KILN_DAMAGED_FIRST", 0);
    int refused = 0, from_rows = 0;
    rows_make_folder();
    for (int i = 0; i < files; i++) {
        state = (uint32_t)(before + i);
        size_t length = write_rows(text, support_open()->kiln->facts.name);
        length = damage(text, length);
        FILE *f = fopen(rows_file, "wb");
        ck_assert(f && fwrite(text, 1, length, f) == length && fclose(f) == 0);
        from_rows += use_file(&refused);
    }
    rows_remove_folder();
    printf("%d damaged files: %d refused as a whole, %d of %d choices from their rows, %d configs, "
           "all right\n",
           files, refused, from_rows, files * PROBLEMS, ntried);
    ck_assert_int_gt(from_rows, files / 4); /* else no row was put to the test */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows_hostile");
    TCase *tests = tcase_create("rows_hostile");
    tcase_set_timeout(tests, 2000);
    tcase_add_test(tests, damaged_files_do_no_harm);
    suite_add_tcase(suite, tests);
    return support_run_suite(suite);
}
