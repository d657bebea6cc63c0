/* What a child of `kiln tune` leaves behind when it crashes. */
#include "driver/tune/tune_child.h"
#include "support/suite.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char how[512];

/* Runs a child to its end. */
static void end_of(int (*run)(int fd, void *user))
{
    tune_child c;
    char byte;
    ck_assert(tune_child_start(&c, run, NULL, 0));
    ck_assert_int_eq(read(c.fd, &byte, 1), 0);
    tune_child_end(&c, how, sizeof how);
    ck_assert(c.pid == 0 && c.fd == -1 && c.trace == -1);
}

static int write_to_nothing(int fd, void *user)
{
    (void)fd;
    *(volatile int *)user = 1;
    return 0;
}

START_TEST(a_bad_access_is_where_it_happened)
{
    end_of(write_to_nothing);
    ck_assert_msg(strstr(how, "signal 11 (Segmentation fault) in test_crash_trace(") == how, "%s",
                  how);
}
END_TEST

static void *write_to_nothing_too(void *barrier)
{
    pthread_barrier_wait(barrier);
    *(volatile int *)NULL = 1;
    return NULL;
}

static int crash_together(int fd, void *user)
{
    enum { THREADS = 8 };
    pthread_barrier_t barrier;
    pthread_t thread;
    (void)fd;
    (void)user;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 1; i < THREADS; i++)
        pthread_create(&thread, NULL, write_to_nothing_too, &barrier);
    write_to_nothing_too(&barrier);
    return 0;
}

START_TEST(threads_that_crash_together_have_a_trace)
{
    for (int i = 0; i < 10; i++) {
        end_of(crash_together);
        ck_assert_msg(strstr(how, "signal 11 (Segmentation fault) in test_crash_trace(") == how,
                      "%s", how);
    }
}
END_TEST

static int give_up(int fd, void *user)
{
    (void)fd;
    (void)user;
    abort();
}

START_TEST(a_library_is_named_with_its_function)
{
    end_of(give_up);
    ck_assert_msg(strncmp(how, "signal 6 (Aborted) in libc.so.6(", 32) == 0 &&
                      strstr(how, "libc.so.6(abort+0x") && strstr(how, " < test_crash_trace("),
                  "%s", how);
    ck_assert_msg(!strchr(how, '[') && !strchr(how, '\n') && !strchr(how, '/'), "%s", how);
}
END_TEST

/* Takes a kilobyte a call, more than any stack has. */
static int recur(int calls, const volatile char *before)
{
    volatile char here[1024];
    here[0] = before[0];
    return calls ? recur(calls - 1, here) + here[0] : 0;
}

static int fill_stack(int fd, void *user)
{
    (void)fd;
    (void)user;
    return recur(1 << 24, "");
}

START_TEST(a_full_stack_has_a_trace)
{
    end_of(fill_stack);
    ck_assert_msg(strstr(how, "signal 11 (Segmentation fault) in test_crash_trace(") == how, "%s",
                  how);
}
END_TEST

static int be_killed(int fd, void *user)
{
    (void)fd;
    (void)user;
    raise(SIGKILL);
    return 0;
}

static int end_well(int fd, void *user)
{
    (void)fd;
    (void)user;
    return 3;
}

START_TEST(other_ends_have_no_trace)
{
    end_of(be_killed);
    ck_assert_str_eq(how, "signal 9 (Killed)");
    end_of(end_well);
    ck_assert_str_eq(how, "exit status 3");
}
END_TEST

int main(void)
{
    struct sigaction own;
    if (sigaction(SIGSEGV, NULL, &own) == 0 && own.sa_handler != SIG_DFL)
        return 77; /* a sanitizer has a handler of its own */
    Suite *suite = suite_create("crash_trace");
    TCase *all = tcase_create("crash_trace");
    tcase_add_test(all, a_bad_access_is_where_it_happened);
    tcase_add_test(all, threads_that_crash_together_have_a_trace);
    tcase_add_test(all, a_library_is_named_with_its_function);
    tcase_add_test(all, a_full_stack_has_a_trace);
    tcase_add_test(all, other_ends_have_no_trace);
    suite_add_tcase(suite, all);
    return support_run_apart(suite);
}
