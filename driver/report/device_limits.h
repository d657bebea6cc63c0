/* What a device can do at most, measured: multiply-adds and copies. */
#ifndef KILN_DEVICE_LIMITS_H
#define KILN_DEVICE_LIMITS_H

#include "driver/base/session.h"

typedef struct device_limits {
    double gflops; /* multiply-adds of floats, counted as two operations */
    double gbs;    /* of a copy in the device's memory, bytes read and written */
} device_limits;

/* Measures both, the best of several rounds, in about a second; 0 where a step fails. */
device_limits device_limits_measure(const session *s);

#endif
