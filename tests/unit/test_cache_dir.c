/* The directory of the program cache: its place, its list, and the files that are evicted. */
#include "runtime/programs/cache_dir.h"
#include "support/cache_box.h"
#include "support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void count_entry(void *user, const kiln_cache_entry *e)
{
    int *counts = user;
    counts[e->valid ? 0 : 1]++;
}

/* Stores under the key that ends in `letter`, used `age` seconds ago. */
static void store_aged(char letter, int age, int64_t limit)
{
    char own[] = "key ?", name[KILN_CACHE_NAME];
    own[4] = letter;
    kiln_cache_record r = {own, box_record.binary, BOX_BINARY};
    ck_assert(kiln_cache_store(box_dir, limit, &r, &box_silent));
    kiln_cache_name(own, name);
    char file[512];
    snprintf(file, sizeof file, "%s/%s", box_dir, name);
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, file, times, 0), 0);
}

static bool is_there(char letter)
{
    char own[] = "key ?";
    own[4] = letter;
    return box_load(own) == NULL;
}

START_TEST(least_recently_used_goes_first)
{
    const int64_t each = BOX_HEADER + 6 + BOX_BINARY;
    char other[512];
    snprintf(other, sizeof other, "%s/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt", box_dir);
    box_write_file(other, box_record.binary, BOX_BINARY);
    store_aged('a', 400, box_no_limit);
    store_aged('b', 300, box_no_limit);
    store_aged('c', 200, box_no_limit);
    ck_assert(is_there('a')); /* which counts as a use */
    store_aged('d', 100, 3 * each);
    ck_assert(!is_there('b'));
    ck_assert(is_there('a') && is_there('c') && is_there('d'));
    store_aged('e', 0, 1); /* the file that was just stored stays, whatever the limit */
    ck_assert(is_there('e'));
    ck_assert(!is_there('a') && !is_there('c') && !is_there('d'));
    ck_assert_int_eq(access(other, F_OK), 0);
}
END_TEST

START_TEST(leftovers_of_killed_writers)
{
    char old[600], young[600];
    snprintf(old, sizeof old, "%s.1-0000000000000001.tmp", box_path);
    snprintf(young, sizeof young, "%s.2-0000000000000002.tmp", box_path);
    box_write_file(old, "x", 1);
    box_write_file(young, "x", 1);
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, old, times, 0), 0);
    box_store();
    ck_assert_int_ne(access(old, F_OK), 0);
    ck_assert_int_eq(access(young, F_OK), 0);
}
END_TEST

START_TEST(listed_and_cleared)
{
    int counts[2] = {0};
    int64_t removed = -1;
    char other[512];
    store_aged('a', 0, box_no_limit);
    store_aged('b', 0, box_no_limit);
    box_write_file(box_path, "damaged", 7);
    snprintf(other, sizeof other, "%s/letter.txt", box_dir);
    box_write_file(other, "x", 1);
    ck_assert_int_eq(kiln_cache_list(box_dir, count_entry, counts), KILN_OK);
    ck_assert_int_eq(counts[0], 2);
    ck_assert_int_eq(counts[1], 1);
    ck_assert_int_eq(kiln_cache_clear(box_dir, &removed), KILN_OK);
    ck_assert_int_eq(removed, 3);
    ck_assert_int_eq(access(other, F_OK), 0);
    ck_assert_int_eq(kiln_cache_list(box_dir, count_entry, counts), KILN_OK);
    ck_assert_int_eq(counts[0] + counts[1], 3);
}
END_TEST

START_TEST(nothing_to_list)
{
    int counts[2] = {0};
    int64_t removed = -1;
    char missing[512];
    snprintf(missing, sizeof missing, "%s/missing", box_dir);
    ck_assert_int_eq(kiln_cache_list(missing, count_entry, counts), KILN_OK);
    ck_assert_int_eq(kiln_cache_list("", count_entry, counts), KILN_OK);
    ck_assert_int_eq(kiln_cache_clear(missing, &removed), KILN_OK);
    ck_assert_int_eq(removed, 0);
    ck_assert_int_eq(counts[0] + counts[1], 0);
    box_write_file(missing, "x", 1);
    ck_assert_int_eq(kiln_cache_list(missing, count_entry, counts), KILN_FILE);
    ck_assert_ptr_nonnull(strstr(kiln_last_error(), missing));
}
END_TEST

START_TEST(default_directory)
{
    static const struct {
        const char *cache, *own, *xdg, *home, *dir;
    } rows[] = {
        {NULL, "/own", "/xdg", "/home/me", "/own"},
        {NULL, "own", "/xdg", "/home/me", "own"},
        {"off", "/own", "/xdg", "/home/me", ""},
        {NULL, "off", "/xdg", "/home/me", ""},
        {"on", NULL, "/xdg", "/home/me", "/xdg/kiln"},
        {NULL, "", "/xdg", "/home/me", "/xdg/kiln"},
        {NULL, NULL, "xdg", "/home/me", "/home/me/.cache/kiln"},
        {NULL, NULL, "", "/home/me", "/home/me/.cache/kiln"},
        {NULL, NULL, NULL, "", ""},
        {NULL, NULL, NULL, NULL, ""},
        {"0", "/own", "/xdg", "/home/me", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *names[] = {"KILN_CACHE", "KILN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
        const char *values[] = {rows[i].cache, rows[i].own, rows[i].xdg, rows[i].home};
        for (int j = 0; j < 4; j++)
            values[j] ? setenv(names[j], values[j], 1) : unsetenv(names[j]);
        char text[64] = "before";
        kiln_cache_default_dir(text, sizeof text);
        ck_assert_str_eq(text, rows[i].dir);
    }
    char tiny[4] = "xxx";
    setenv("KILN_CACHE_DIR", "/too/long", 1);
    kiln_cache_default_dir(tiny, sizeof tiny);
    ck_assert_str_eq(tiny, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache_dir");
    TCase *tests = tcase_create("cache_dir");
    tcase_add_checked_fixture(tests, box_make, box_remove);
    tcase_add_test(tests, least_recently_used_goes_first);
    tcase_add_test(tests, leftovers_of_killed_writers);
    tcase_add_test(tests, listed_and_cleared);
    tcase_add_test(tests, nothing_to_list);
    tcase_add_test(tests, default_directory);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
