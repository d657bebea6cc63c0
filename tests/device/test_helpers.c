/* Processes that compile beside the caller: kiln_prepare_begin() and kiln_prepare_end(). */
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROBLEMS = 3, PATIENCE = 600 }; /* tenths of a second */

static char box[] = "/tmp/kiln-helpers-XXXXXX", command[64], started[64], heard[64], ready[64];

/* Others each time, which no test before has compiled, nor a run before: PoCL's cache is empty. */
static void problems_make(kiln_problem *problem)
{
    static int made;
    for (int i = 0; i < PROBLEMS; i++)
        problem[i] = (kiln_problem){.batch = 1,
                                    .in_channels = 16,
                                    .out_channels = 16 * ++made,
                                    .input = {9, 9},
                                    .filter = {3, 3}};
}

/* A command that writes down what it is to compile, says so, and then hangs or ends. */
static void command_make(const char *then)
{
    FILE *f = fopen(command, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\necho >>%s\ncat >%s.$$\nmv %s.$$ %s\n%s\n", started, heard, heard, ready,
            then);
    fclose(f);
    ck_assert_int_eq(chmod(command, 0700), 0);
    ck_assert_int_eq(setenv("KILN_COMMAND", command, 1), 0);
}

static void wait_for(const char *path)
{
    for (int i = 0; i < PATIENCE && access(path, F_OK) != 0; i++)
        usleep(100000);
    ck_assert_msg(access(path, F_OK) == 0, "there is no %s", path);
}

static void setup(void)
{
    strcpy(box + sizeof box - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(box));
    snprintf(command, sizeof command, "%s/command", box);
    snprintf(started, sizeof started, "%s/started", box);
    snprintf(heard, sizeof heard, "%s/heard", box);
    snprintf(ready, sizeof ready, "%s/ready", box);
}

static void teardown(void)
{
    const char *all[] = {command, started, ready};
    for (int i = 0; i < 3; i++)
        unlink(all[i]);
    rmdir(box);
}

static void create(kiln *k, const kiln_problem *problem)
{
    kiln_op *op;
    ck_assert_int_eq(kiln_conv_create(k, problem, NULL, &op), KILN_OK);
    kiln_op_release(op);
}

/* The last problem comes first. */
START_TEST(backwards)
{
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers;
    char line[KILN_KEY_TEXT + 2], expected[KILN_KEY_TEXT + 2];
    problems_make(problem);
    command_make("exec sleep 1");
    kiln *k = support_open()->kiln;
    ck_assert_int_eq(kiln_prepare_begin(k, problem, PROBLEMS, 1, &helpers), KILN_OK);
    if (!helpers) /* another driver */
        return;
    create(k, &problem[0]);
    wait_for(ready);
    kiln_prepare_end(helpers);
    FILE *f = fopen(ready, "r");
    ck_assert_ptr_nonnull(f);
    for (int i = PROBLEMS - 1; i >= 0; i--) {
        kiln_problem p = problem[i];
        char why[KILN_ERROR_TEXT];
        ck_assert_int_eq(kiln_problem_check(&p, why), KILN_OK);
        kiln_problem_text(&p, expected, KILN_KEY_TEXT);
        strcat(expected, "\n");
        ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
        ck_assert_str_eq(line, expected);
    }
    ck_assert_ptr_null(fgets(line, sizeof line, f));
    fclose(f);
}
END_TEST

/* There are no more processes than problems. */
START_TEST(no_more_than_problems)
{
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers;
    problems_make(problem);
    command_make("exit 0");
    ck_assert_int_eq(kiln_prepare_begin(support_open()->kiln, problem, PROBLEMS, 8, &helpers),
                     KILN_OK);
    if (!helpers) /* another driver */
        return;
    create(support_open()->kiln, &problem[0]);
    kiln_prepare_end(helpers); /* which waits for all of them */
    FILE *f = fopen(started, "r");
    int lines = 0;
    ck_assert_ptr_nonnull(f);
    for (int c; (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    fclose(f);
    ck_assert_int_eq(lines, PROBLEMS);
}
END_TEST

/* Whatever the processes do, the caller's own operations are right. */
START_TEST(beside)
{
    const char *then[] = {"exit 0", "kill -9 $$", "exec sleep 1000"};
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers;
    problems_make(problem);
    command_make(then[_i]);
    ck_assert_int_eq(kiln_prepare_begin(support_open()->kiln, problem, PROBLEMS, 2, &helpers),
                     KILN_OK);
    for (int i = 0; i < PROBLEMS; i++)
        support_check(&problem[i], NULL, NULL, HOST_FILL_INT);
    kiln_prepare_end(helpers);
}
END_TEST

/* What PoCL's cache has, nobody else has to compile. */
START_TEST(not_for_what_is_compiled)
{
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers;
    const support_device *d = support_open();
    kiln *again;
    problems_make(problem);
    command_make("exit 0");
    create(d->kiln, &problem[0]);
    ck_assert_int_eq(kiln_open(&again, d->context, d->device, NULL), KILN_OK);
    ck_assert_int_eq(kiln_prepare_begin(again, problem, PROBLEMS, 1, &helpers), KILN_OK);
    create(again, &problem[0]);
    kiln_prepare_end(helpers);
    ck_assert_int_ne(access(started, F_OK), 0);
    kiln_close(again);
}
END_TEST

/* Two networks at once. */
START_TEST(both_start)
{
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers[2];
    kiln *k = support_open()->kiln;
    problems_make(problem);
    command_make("exit 0");
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(kiln_prepare_begin(k, problem, PROBLEMS, 1, &helpers[i]), KILN_OK);
    create(k, &problem[0]);
    for (int i = 0; i < 2; i++)
        kiln_prepare_end(helpers[i]);
    if (helpers[0]) /* not another driver */
        ck_assert_int_eq(access(started, F_OK), 0);
}
END_TEST

/* Without the command, without problems, and ended at once. */
START_TEST(nothing_to_end)
{
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers = (kiln_helpers *)problem;
    kiln *k = support_open()->kiln;
    problems_make(problem);
    command_make("exit 0");
    ck_assert_int_eq(kiln_prepare_begin(k, problem, 0, 1, &helpers), KILN_OK);
    ck_assert_ptr_null(helpers);
    ck_assert_int_eq(kiln_prepare_begin(k, problem, PROBLEMS, 1, &helpers), KILN_OK);
    kiln_prepare_end(helpers);
    ck_assert_int_eq(setenv("KILN_COMMAND", "/nowhere/kiln", 1), 0);
    ck_assert_int_eq(kiln_prepare_begin(k, problem, PROBLEMS, 1, &helpers), KILN_OK);
    create(k, &problem[0]);
    kiln_prepare_end(helpers);
    helpers = (kiln_helpers *)problem;
    ck_assert_int_eq(kiln_prepare_begin(k, problem, PROBLEMS, -1, &helpers), KILN_INVALID);
    ck_assert_ptr_null(helpers);
}
END_TEST

/* Helpers hold their kiln, as operations do. */
START_TEST(closed_before)
{
    kiln_problem problem[PROBLEMS];
    kiln_helpers *helpers;
    const support_device *d = support_open();
    kiln *k;
    problems_make(problem);
    command_make("exit 0");
    ck_assert_int_eq(kiln_open(&k, d->context, d->device, NULL), KILN_OK);
    ck_assert_int_eq(kiln_prepare_begin(k, problem, PROBLEMS, 1, &helpers), KILN_OK);
    kiln_close(k);
    kiln_prepare_end(helpers);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("helpers");
    TCase *c = tcase_create("helpers");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, backwards);
    tcase_add_test(c, no_more_than_problems);
    tcase_add_loop_test(c, beside, 0, 3);
    tcase_add_test(c, not_for_what_is_compiled);
    tcase_add_test(c, both_start);
    tcase_add_test(c, nothing_to_end);
    tcase_add_test(c, closed_before);
    suite_add_tcase(s, c);
    char cache[] = "/tmp/kiln-helpers-pocl-XXXXXX", words[64];
    if (!mkdtemp(cache) || setenv("POCL_CACHE_DIR", cache, 1) != 0)
        return 1;
    const int failed = support_run_suite(s);
    snprintf(words, sizeof words, "rm -rf %s", cache);
    return system(words) != 0 || failed;
}
