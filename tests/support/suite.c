/* Runs a suite of device tests. */
#include "suite.h"

#include <stdlib.h>

int support_run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, getenv("CK_FORK") ? CK_FORK_GETENV : CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
