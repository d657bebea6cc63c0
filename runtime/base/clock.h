/* The host's clock. */
#ifndef KILN_CLOCK_H
#define KILN_CLOCK_H

#include <stdint.h>

/* Returns nanoseconds since some moment that never changes. Any thread may call it. */
int64_t kiln_clock_ns(void);
/* The same in seconds. */
double kiln_clock_seconds(void);
/* Returns for how many seconds this thread has had a CPU. */
double kiln_clock_busy_seconds(void);

#endif
