/* Devices: which there are, and the one that a user means.
 *
 *     cl_device_id device;
 *     kiln_device_pick(NULL, &device);         // KILN_DEVICE decides, else the largest GPU
 */
#ifndef KILN_PICK_DEVICE_H
#define KILN_PICK_DEVICE_H

#include "kiln.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_device_entry {
    cl_device_id id;
    cl_device_type type;
    int platform, index; /* "P:D" names it; of the device within its platform */
    char name[128], platform_name[128], driver[128];
} kiln_device_entry;

/* Finds the device that `wanted` names: "P:D", a number among all devices, "cpu", "gpu" (the
 * largest one), or part of a device's or platform's name. Where `wanted` is NULL or "", the
 * variable KILN_DEVICE decides; without it the largest GPU, else the largest device. Returns
 * KILN_INVALID where no device is called so, KILN_OPENCL where there is no device at all. */
KILN_API kiln_status kiln_device_pick(const char *wanted, cl_device_id *device);

/* Lists all devices of all platforms: fills the first `room` entries (entry may be NULL with 0) and
 * sets *count to how many there are. Returns as kiln_device_pick(). */
KILN_API kiln_status kiln_device_list(kiln_device_entry *entry, size_t room, size_t *count);

/* Sets how many threads PoCL's CPU device will have (0: one per core), and whether each stays on a
 * core of its own. PoCL reads both from the environment (POCL_MAX_PTHREAD_COUNT, POCL_AFFINITY) at
 * the first call of OpenCL in the process: call this before that, and before other threads start.
 * What the user has set stays. `stay` does nothing in a process that may use some of the machine's
 * cores only, because PoCL counts all of them. Other implementations ignore both. */
KILN_API kiln_status kiln_threads(int threads, int stay);

#ifdef __cplusplus
}
#endif

#endif
