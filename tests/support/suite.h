/* main()s of test programs: each returns its status. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* For tests that share a device. All tests share this process with its context and
 * programs, because PoCL takes half a second to load its compiler into a process. With CK_FORK=yes
 * each test has a process of its own, which shows the test that crashes. Not for tests that change
 * their process. */
int support_run_suite(Suite *suite);

/* For all others: each test has a process of its own. */
int support_run_apart(Suite *suite);

#endif
