/* What a GPU can do at most, measured: multiply-adds and copies. */
#ifndef BENCH_GPU_LIMITS_H
#define BENCH_GPU_LIMITS_H

#include "driver/session.h"

typedef struct gpu_limits {
    double gflops; /* multiply-adds of floats, counted as two operations */
    double gbs;    /* of a copy in the device's memory, bytes read and written */
} gpu_limits;

/* Measures both; 0 where a step fails. */
gpu_limits gpu_limits_measure(const session *s);

#endif
