/* Runs tests that share a device. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* Does main()'s work and returns its status. All tests share this process with its context and
 * programs, because PoCL takes half a second to load its compiler into a process. With CK_FORK=yes
 * each test has a process of its own, which shows the test that crashes. Not for tests that change
 * their process. */
int support_run_suite(Suite *suite);

#endif
