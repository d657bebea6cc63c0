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
    bool cpu;               /* the device shares its memory with the host */
    bool gpu;
    char name[200];  /* "0:0 NVIDIA H100 80GB HBM3 (NVIDIA CUDA)" */
    uint64_t memory; /* bytes */
} session;

/* Opens the device that `wanted` names: "P:D", an index, "cpu", "gpu" or part of a name. Where
 * `wanted` is empty or NULL, KILN_DEVICE decides; without it the largest GPU, else the largest
 * device. Returns KILN_INVALID where no device has the name, KILN_OPENCL where there is no device;
 * `why` says so in a sentence. */
kiln_status session_open(session *s, const char *wanted, char *why);

/* Opens kiln without a device, and without an OpenCL platform: to plan and explain, not to run. */
kiln_status session_open_dry(session *s, char *why);

void session_close(session *s);
/* Closes the kiln alone, in a process that ends now: PoCL takes a tenth of a second to free what
 * its compiler has read. */
void session_end(session *s);

/* Warns of nothing from now on: for a process beside one that opens the same device and warns. */
void session_quiet(void);

/* Finds the devices of a list: "all", or what session_open() takes with commas between; "" is the
 * device that session_open() takes. Writes their names, "P:D", and their number. Returns as
 * session_open(). */
enum { DEVICE_SPEC = 24, DEVICE_MOST = 128 };
kiln_status device_find(const char *list, char spec[DEVICE_MOST][DEVICE_SPEC], int *count,
                        char *why);

/* Prints one line per device, which begins with the device's name for --device. */
kiln_status device_list(FILE *to, char *why);

#endif
