/* Settings of PoCL's CPU device, which it reads from the environment. */
#include "runtime/base/error.h"

#include "kiln_device.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns whether the process may use every core of the machine. */
static bool has_all_cores(void)
{
    cpu_set_t may;
    return sched_getaffinity(0, sizeof may, &may) != 0 ||
           CPU_COUNT(&may) >= sysconf(_SC_NPROCESSORS_ONLN);
}

kiln_status kiln_threads(int threads, int stay)
{
    char text[16];
    if (threads < 0)
        return kiln_fail(KILN_INVALID,
                         "kiln_threads: %d threads; give a number, or 0 for one per core", threads);
    snprintf(text, sizeof text, "%d", threads);
    if (threads > 0)
        setenv("POCL_MAX_PTHREAD_COUNT", text, 0);
    if (stay && has_all_cores())
        setenv("POCL_AFFINITY", "1", 0);
    return KILN_OK;
}
