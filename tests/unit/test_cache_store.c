/* Writing to the program cache: whole files or none, whatever the disk and other processes do. */
#include "support/cache_box.h"
#include "support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void keep_line(void *user, const char *line)
{
    snprintf(user, 1024, "%s", line);
}

START_TEST(makes_its_directories)
{
    strcat(box_dir, "/a/b//c/");
    char line[1024] = "";
    const kiln_logger logger = {.log = keep_line, .user = line};
    ck_assert(kiln_cache_store(box_dir, box_no_limit, &box_record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "cache: stored "));
    ck_assert_ptr_nonnull(strstr(line, "bytes)"));
    ck_assert_ptr_null(box_load(box_key));
    struct stat st;
    ck_assert_int_eq(stat(box_dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    *strstr(box_dir, "/a/b") = '\0';
}
END_TEST

START_TEST(unwritable_directory)
{
    char line[1024] = "", blocked[512], base[256];
    const kiln_logger logger = {.log = keep_line, .user = line};
    snprintf(blocked, sizeof blocked, "%s/file", box_dir);
    box_write_file(blocked, "x", 1);
    snprintf(base, sizeof base, "%s", box_dir);
    strcat(box_dir, "/file/cache");
    ck_assert(!kiln_cache_store(box_dir, box_no_limit, &box_record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "cache: not stored in "));
    ck_assert_ptr_nonnull(strstr(line, "Not a directory"));
    ck_assert_ptr_nonnull(box_load(box_key));
    snprintf(box_dir, sizeof box_dir, "%s", base);

    ck_assert_int_eq(chmod(box_dir, 0555), 0);
    uid_t user = geteuid();
    if (user == 0) { /* root can write everywhere */
        ck_assert_int_eq(seteuid(65534), 0);
    }
    ck_assert(!kiln_cache_store(box_dir, box_no_limit, &box_record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "Permission denied"));
    ck_assert_int_eq(seteuid(user), 0);
    ck_assert_int_eq(chmod(box_dir, 0700), 0);
    ck_assert_str_eq(box_load(box_key), "not there");
}
END_TEST

START_TEST(full_disk)
{
    char line[1024] = "";
    const kiln_logger logger = {.log = keep_line, .user = line};
    const struct rlimit small = {100, 100};
    box_store();
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    ck_assert(!kiln_cache_store(box_dir, box_no_limit, &box_record, &logger));
    ck_assert_ptr_nonnull(strstr(line, "cache: not stored in "));
    ck_assert_int_eq(box_strangers(), 0);
    ck_assert_ptr_null(box_load(box_key)); /* the earlier good file is still there */
}
END_TEST

/* Each store has another binary, so that a mix of two would show. */
static void store_and_load(int seed)
{
    for (int round = 0; round < 300; round++) {
        unsigned char own[BOX_BINARY], *data;
        memset(own, seed + round % 3, sizeof own);
        kiln_cache_record mine = {box_key, own, sizeof own}, got;
        if (!kiln_cache_store(box_dir, box_no_limit, &mine, &box_silent) ||
            kiln_cache_load(box_dir, box_key, true, &data, &got) != NULL ||
            got.binary_size != sizeof own)
            _exit(1);
        for (size_t i = 1; i < sizeof own; i++)
            if (got.binary[i] != got.binary[0])
                _exit(2);
        free(data);
    }
    _exit(0);
}

START_TEST(two_processes_at_once)
{
    strcat(box_dir, "/new");
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            store_and_load(i * 100);
    for (int i = 0; i < 2; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(box_strangers(), 0);
    *strstr(box_dir, "/new") = '\0';
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cache_store");
    TCase *tests = tcase_create("cache_store");
    tcase_add_checked_fixture(tests, box_make, box_remove);
    tcase_add_test(tests, makes_its_directories);
    tcase_add_test(tests, unwritable_directory);
    tcase_add_test(tests, full_disk);
    tcase_add_test(tests, two_processes_at_once);
    suite_add_tcase(suite, tests);
    return support_run_apart(suite);
}
