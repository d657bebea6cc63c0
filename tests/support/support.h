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

#include "host.h"
#include "kiln.h"

#include <stdbool.h>

typedef struct support_device {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    size_t align;           /* bytes; of a buffer's offset */
    kiln *kiln;
} support_device;

/* The device under test, opened once per process: KILN_DEVICE ("1:0", "cpu", "gpu" or a part of its
 * name), else the first there is. Fails the test when there is none. */
const support_device *support_open(void);

/* Runs `problem` with `solver` and `config` (NULL: the library's choice) on sources filled by
 * `fill` and fails the test, naming the problem, unless the result is right, nothing else was
 * written, and a second run gives the same bits where the op promises so. Right is equal, with
 * HOST_FILL_INT and with i8 sources, unless the activation is a curve or the algorithm amplifies
 * rounding errors; otherwise it is within the a-priori bound of the rounding. The second run uses
 * buffers with offsets, packed weights where the op has them, and y itself as the residual. */
void support_check(const kiln_problem *problem, const char *solver, const char *config,
                   host_fill fill);

/* As support_check(), but returns false, without failing, where the library answers
 * KILN_UNSUPPORTED; kiln_last_error() then has the reason. */
bool support_try(const kiln_problem *problem, const char *solver, const char *config,
                 host_fill fill);

#endif
