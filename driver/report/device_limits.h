/* What a device can do at most, measured: multiply-adds and copies. */
#ifndef KILN_DEVICE_LIMITS_H
#define KILN_DEVICE_LIMITS_H

#include "driver/base/session.h"

#include "limit_rounds.h"

typedef struct device_limits {
    limit_rounds gflops; /* multiply-adds of floats, counted as two operations */
    limit_rounds gbs;    /* of a copy in the device's memory, bytes read and written */
    double seconds;      /* from the first round to the end of the last one */
    machine_share others;
} device_limits;

/* Measures both in rounds with pauses between them, over about four seconds: what disturbs one
 * round does not disturb all. A step that fails leaves no rounds. */
device_limits device_limits_measure(const session *s);

#endif
