/* The host's clock, which no change of the date moves. */
#ifndef KILN_DRIVER_CLOCK_H
#define KILN_DRIVER_CLOCK_H

#include <stdint.h>

/* Return the time since some moment that never changes. */
int64_t clock_ns(void);
double clock_ms(void);
double clock_seconds(void);

#endif
