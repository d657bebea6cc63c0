/* What device tests share: the device under test, and one problem checked from end to end.
 *
 *     kiln_problem p = {.batch = 2, .in_channels = 3, .out_channels = 5, .input = {7, 11},
 *                       .filter = {3, 3}};
 *     support_check(&p, "naive", NULL, HOST_FILL_INT);
 *
 * Call these inside Check tests: an OpenCL context does not survive Check's fork.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include "driver/reference/host.h"
#include "kiln.h"

#include <stdbool.h>

typedef struct support_device {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    size_t align;           /* bytes; of a buffer's offset */
    kiln *kiln;
} support_device;

/* The device under test: KILN_DEVICE ("1:0", "cpu", "gpu" or a part of its or its platform's name),
 * else the first there is. Fails the test when there is none. */
cl_device_id support_find_device(void);

/* That device, opened once per process. */
const support_device *support_open(void);

/* Another queue of it, out of order if it has such queues. */
cl_command_queue support_queue(bool out_of_order);

/* Whether kiln takes that for a CPU. For main(): a process of its own looks, since OpenCL does not
 * survive a fork. Tests of solvers for CPUs end with SUPPORT_SKIPPED elsewhere, having said so. */
bool support_on_cpu(void);

enum { SUPPORT_SKIPPED = 77 }; /* what ctest calls a skipped test */

/* One problem, and how to run it. */
typedef struct support_case {
    kiln_problem problem;
    const char *solver, *config; /* NULL: the library's choice */
    host_fill fill;
    uint64_t seed; /* of the data */
} support_case;

typedef enum support_verdict {
    SUPPORT_RIGHT,
    SUPPORT_WRONG,
    SUPPORT_REFUSED /* KILN_UNSUPPORTED, or KILN_INVALID for the config */
} support_verdict;

enum { SUPPORT_TEXT = 512 };

/* Runs it twice, in the layouts that the problem names or the op chose. Right means: the result is
 * what verify.h calls right, exactly so where the data allow; padding of its layout is zero;
 * nothing else was written; and the second run gave the same bits where the op promises so. The
 * second run uses buffers with offsets, packed weights where the op has them, and y itself as the
 * residual. Unless it is right, `why` receives the reason. */
support_verdict support_run(const support_case *c, char why[SUPPORT_TEXT]);

/* As support_run(), and fails the test, naming the problem, if it is not right. */
void support_check(const kiln_problem *problem, const char *solver, const char *config,
                   host_fill fill);

/* As support_check(), but returns false, without failing, where the library answers
 * KILN_UNSUPPORTED; kiln_last_error() then has the reason. */
bool support_try(const kiln_problem *problem, const char *solver, const char *config,
                 host_fill fill);

#endif
