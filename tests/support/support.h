/* The device under test, and checks of one problem from end to end.
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
#include "generator/plan/device.h"
#include "kiln.h"

#include <stdbool.h>

typedef struct support_device {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    size_t align;           /* of a buffer's offset, in bytes */
    kiln *kiln;
} support_device;

/* Returns the device under test, which KILN_DEVICE names ("1:0", "cpu", "gpu" or part of a device's
 * or platform's name); without it the first device. Fails the test where there is none. */
cl_device_id support_find_device(void);

/* Returns that device, opened once per process. */
const support_device *support_open(void);

/* Returns what a probe showed of that device's tensor cores, if it is a GPU. */
const kiln_gpu_facts *support_gpu(void);

/* Makes another queue of the device; out of order on request, if the device has such queues. */
cl_command_queue support_queue(bool out_of_order);

/* Returns whether kiln takes the device for a CPU. For main(): another process looks, because
 * OpenCL does not survive a fork. On other devices, tests of solvers for CPUs print that and end
 * with SUPPORT_SKIPPED. */
bool support_on_cpu(void);

enum { SUPPORT_SKIPPED = 77 }; /* the exit status of a skipped test */

/* A problem and how to run it. */
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

/* Runs a case twice, in the layouts that the problem names or the op chose. The verdict is right
 * when the result is right as verify.h has it, exactly so where the data allow; the padding of its
 * layout is zero; nothing else was written; and the second run gave the same bits where the op
 * promises so. The second run uses buffers with offsets, packed weights where the op has them, and
 * y itself as the residual. For every other verdict `why` receives the reason. */
support_verdict support_run(const support_case *c, char why[SUPPORT_TEXT]);

/* Calls support_run() and fails the test, naming the problem, where the verdict is not right. */
void support_check(const kiln_problem *problem, const char *solver, const char *config,
                   host_fill fill);

/* Like support_check(), but a tile that this CPU has too few registers for may be refused: what
 * fills those of AVX-512 is too large for older CPUs. */
void support_check_tile(const kiln_problem *problem, const char *solver, const char *config,
                        host_fill fill);

/* Like support_check(), but returns false without failing where the library answers
 * KILN_UNSUPPORTED; kiln_last_error() has the reason then. */
bool support_try(const kiln_problem *problem, const char *solver, const char *config,
                 host_fill fill);

#endif
