/* The host's clock, which no change of the date moves. */
#include "clock.h"

#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t kiln_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double kiln_clock_seconds(void)
{
    return 1e-9 * (double)kiln_clock_ns();
}

double kiln_clock_busy_seconds(void)
{
    return 1e-9 * (double)read_clock(CLOCK_THREAD_CPUTIME_ID);
}
