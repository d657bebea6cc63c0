/* The host's clock, which no change of the date moves. */
#include "clock.h"

#include <time.h>

int64_t kiln_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double kiln_clock_seconds(void)
{
    return 1e-9 * (double)kiln_clock_ns();
}
