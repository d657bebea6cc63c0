/* Finds OpenCL devices by index, kind or name. */
#include "runtime/base/error.h"

#include "kiln_device.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_PLATFORMS = 32, MOST_DEVICES = 128 };

typedef struct census {
    int count;
    kiln_device_entry device[MOST_DEVICES];
    uint64_t weight[MOST_DEVICES]; /* a larger one is likely faster */
} census;

static uint64_t number_of(cl_device_id device, cl_device_info what)
{
    /* OpenCL writes 4 or 8 bytes; this takes either, on a little-endian host. */
    uint64_t value = 0;
    clGetDeviceInfo(device, what, sizeof value, &value, NULL);
    return value;
}

static void text_of(cl_device_id device, cl_device_info what, char *text, size_t size)
{
    char long_text[1024] = "";
    clGetDeviceInfo(device, what, sizeof long_text - 1, long_text, NULL);
    snprintf(text, size, "%s", long_text + strspn(long_text, " "));
}

static void add_platform(census *all, int platform, cl_platform_id id)
{
    cl_device_id devices[MOST_DEVICES];
    cl_uint count = 0;
    char name[1024] = "";
    if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) != CL_SUCCESS)
        return;
    clGetPlatformInfo(id, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    for (cl_uint i = 0; i < count && i < MOST_DEVICES && all->count < MOST_DEVICES; i++) {
        const cl_device_type type = number_of(devices[i], CL_DEVICE_TYPE);
        if (!type) /* a device that answers nothing */
            continue;
        kiln_device_entry *d = &all->device[all->count];
        *d = (kiln_device_entry){
            .id = devices[i], .platform = platform, .index = (int)i, .type = type};
        snprintf(d->platform_name, sizeof d->platform_name, "%.127s", name);
        text_of(devices[i], CL_DEVICE_NAME, d->name, sizeof d->name);
        text_of(devices[i], CL_DRIVER_VERSION, d->driver, sizeof d->driver);
        all->weight[all->count++] = number_of(devices[i], CL_DEVICE_MAX_COMPUTE_UNITS) *
                                    (number_of(devices[i], CL_DEVICE_MAX_CLOCK_FREQUENCY) + 1);
    }
}

static kiln_status take_census(census *all)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    all->count = 0;
    cl_int code = clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count && i < MOST_PLATFORMS; i++)
        add_platform(all, (int)i, platforms[i]);
    return all->count ? KILN_OK
                      : kiln_fail(KILN_OPENCL,
                                  "no OpenCL %s found; to compute on the CPU: "
                                  "apt install pocl-opencl-icd",
                                  count ? "device" : "platform");
}

static const kiln_device_entry *heaviest(const census *all, cl_device_type type)
{
    int best = -1;
    for (int i = 0; i < all->count; i++)
        if ((all->device[i].type & type) && (best < 0 || all->weight[i] > all->weight[best]))
            best = i;
    return best < 0 ? NULL : &all->device[best];
}

static const kiln_device_entry *at_index(const census *all, const char *wanted)
{
    int platform, index, end = 0;
    if (sscanf(wanted, "%9d:%9d%n", &platform, &index, &end) == 2 && !wanted[end]) {
        for (int i = 0; i < all->count; i++)
            if (all->device[i].platform == platform && all->device[i].index == index)
                return &all->device[i];
        return NULL;
    }
    return sscanf(wanted, "%9d%n", &index, &end) == 1 && !wanted[end] && index >= 0 &&
                   index < all->count
               ? &all->device[index]
               : NULL;
}

static const kiln_device_entry *called(const census *all, const char *wanted)
{
    if (strcasecmp(wanted, "gpu") == 0)
        return heaviest(all, CL_DEVICE_TYPE_GPU);
    if (strcasecmp(wanted, "cpu") == 0)
        return heaviest(all, CL_DEVICE_TYPE_CPU);
    if (wanted[strspn(wanted, "0123456789:")] == '\0')
        return at_index(all, wanted);
    for (int i = 0; i < all->count; i++)
        if (strcasestr(all->device[i].name, wanted))
            return &all->device[i];
    for (int i = 0; i < all->count; i++)
        if (strcasestr(all->device[i].platform_name, wanted))
            return &all->device[i];
    return NULL;
}

static kiln_status pick(const census *all, const char *wanted, const kiln_device_entry **device)
{
    const bool given = wanted && *wanted;
    if (!given)
        wanted = getenv("KILN_DEVICE");
    if (wanted && *wanted) {
        *device = called(all, wanted);
        return *device ? KILN_OK
                       : kiln_fail(KILN_INVALID,
                                   "%s is '%.60s', but no device is called so; kiln "
                                   "--list-devices lists them",
                                   given ? "the device" : "KILN_DEVICE", wanted);
    }
    *device = heaviest(all, CL_DEVICE_TYPE_GPU);
    if (!*device)
        *device = heaviest(all, CL_DEVICE_TYPE_ALL);
    return KILN_OK;
}

kiln_status kiln_device_pick(const char *wanted, cl_device_id *device)
{
    const kiln_device_entry *found;
    if (!device)
        return kiln_fail(KILN_INVALID, "kiln_device_pick: device must not be NULL");
    *device = NULL;
    census *all = malloc(sizeof *all);
    if (!all)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a list of devices");
    kiln_status status = take_census(all);
    if (!status)
        status = pick(all, wanted, &found);
    if (!status)
        *device = found->id;
    free(all);
    return status;
}

kiln_status kiln_device_list(kiln_device_entry *entry, size_t room, size_t *count)
{
    if (!count || (room > 0 && !entry))
        return kiln_fail(KILN_INVALID, "kiln_device_list: entry and count must not be NULL");
    *count = 0;
    census *all = malloc(sizeof *all);
    if (!all)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a list of devices");
    const kiln_status status = take_census(all);
    *count = (size_t)all->count;
    for (size_t i = 0; i < room && i < *count; i++)
        entry[i] = all->device[i];
    free(all);
    return status;
}
