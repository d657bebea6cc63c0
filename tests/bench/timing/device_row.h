/* The time of an operation by the device alone, as a replayed graph of another library has it. */
#ifndef BENCH_DEVICE_ROW_H
#define BENCH_DEVICE_ROW_H

#include "driver/base/session.h"
#include "tests/bench/peers/contender.h"

/* A kernel that does nothing for so long that the host enqueues a row of runs meanwhile. */
typedef struct device_row {
    cl_command_queue queue; /* the session's */
    cl_program program;
    cl_kernel kernel;
    cl_mem cell;
} device_row;

/* Returns false where the device takes no such kernel. The session outlives the row. */
bool device_row_open(device_row *r, const session *s);
/* Returns the milliseconds of one run in a row of runs whose kernels the device has all got before
 * the first one begins. Negative: a run failed, or the host takes too long to enqueue the row. */
double device_row_ms(const device_row *r, contender *c);
void device_row_close(device_row *r);

#endif
