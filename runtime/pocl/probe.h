/* The kernel that tells what PoCL's CPU device can do (templates/pocl/probe.cl). */
#ifndef KILN_POCL_PROBE_H
#define KILN_POCL_PROBE_H

#include "runtime/programs/program.h"

typedef struct kiln_probe {
    kiln_program *program;
    cl_kernel kernel;
} kiln_probe;

/* Builds the kernel. Returns false where that fails. kiln_probe_close() in both cases. */
bool kiln_probe_open(kiln_probe *probe, kiln_programs *programs);
void kiln_probe_close(kiln_probe *probe);
/* Sets the second argument, and enqueues the kernel. The first one is the caller's to set, or is
 * NULL. */
cl_int kiln_probe_enqueue(const kiln_probe *probe, cl_command_queue queue, cl_ulong answer);

#endif
