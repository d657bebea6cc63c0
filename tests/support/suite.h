/* How tests run that share a device. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* main()'s work and status. All tests share this process, its context and its programs: PoCL takes
 * half a second to load its compiler into each. With CK_FORK=yes each test has a process of its
 * own, to see which one crashes. Not for tests that change their process. */
int support_run_suite(Suite *suite);

#endif
