/* Which OpenCL device to use, and a kiln opened on it. */
#ifndef KILN_SESSION_H
#define KILN_SESSION_H

#include "kiln.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct session {
    kiln *kiln;
    cl_context context; /* all three NULL in a dry session */
    cl_device_id device;
    cl_command_queue queue; /* in order, with profiling */
    bool cpu;               /* shares its memory with the host */
    char name[200];         /* "0:0 NVIDIA H100 80GB HBM3 (NVIDIA CUDA)" */
    uint64_t memory;        /* bytes */
} session;

/* Opens the device that `wanted` names: "P:D", an index, "cpu", "gpu" or part of a name; if it is
 * empty KILN_DEVICE says, else it is the largest GPU, else the largest device. KILN_INVALID: no
 * device is called that. KILN_OPENCL: there is none at all. */
kiln_status session_open(session *s, const char *wanted, char *why);

/* Opens kiln without a device: it plans and explains, but does not run. Needs no OpenCL platform.
 */
kiln_status session_open_dry(session *s, char *why);

void session_close(session *s);

/* One line a device, each beginning with what --device takes. */
kiln_status device_list(FILE *to, char *why);

#endif
