/* Runs a suite of tests. */
#include "suite.h"

#include <stdlib.h>

static int run(Suite *suite, enum fork_status fork)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, fork);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int support_run_suite(Suite *suite)
{
    return run(suite, getenv("CK_FORK") ? CK_FORK_GETENV : CK_NOFORK);
}

int support_run_apart(Suite *suite)
{
    return run(suite, CK_FORK_GETENV);
}
