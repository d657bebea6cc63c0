/* Finds and opens the device under test. */
#include "runtime/device/device_facts.h"
#include "runtime/kiln/kiln_internal.h"
#include "runtime/kiln/probes.h"

#include "support.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_DEVICES = 64 };

typedef struct listed_device {
    cl_device_id id;
    cl_device_type type;
    char index[24], name[256], platform[256];
} listed_device;

static int list_devices(listed_device *list)
{
    cl_platform_id platforms[16];
    cl_uint nplatforms = 0;
    int n = 0;
    if (clGetPlatformIDs(16, platforms, &nplatforms) != CL_SUCCESS)
        return 0;
    for (cl_uint p = 0; p < nplatforms && p < 16; p++) {
        cl_device_id ids[16];
        cl_uint nids = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, ids, &nids) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < nids && i < 16 && n < MAX_DEVICES; i++, n++) {
            list[n].id = ids[i];
            snprintf(list[n].index, sizeof list[n].index, "%u:%u", p, i);
            clGetDeviceInfo(ids[i], CL_DEVICE_TYPE, sizeof list[n].type, &list[n].type, NULL);
            clGetDeviceInfo(ids[i], CL_DEVICE_NAME, sizeof list[n].name - 1, list[n].name, NULL);
            clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof list[n].platform - 1,
                              list[n].platform, NULL);
        }
    }
    return n;
}

static bool matches(const listed_device *d, const char *want)
{
    if (!want || !*want || strcmp(want, d->index) == 0)
        return true;
    if (strcasecmp(want, "cpu") == 0)
        return d->type & CL_DEVICE_TYPE_CPU;
    if (strcasecmp(want, "gpu") == 0)
        return d->type & CL_DEVICE_TYPE_GPU;
    return strcasestr(d->name, want) || strcasestr(d->platform, want);
}

static cl_device_id find(int *devices)
{
    static listed_device list[MAX_DEVICES];
    *devices = list_devices(list);
    for (int i = 0; i < *devices; i++)
        if (matches(&list[i], getenv("KILN_DEVICE")))
            return list[i].id;
    return NULL;
}

cl_device_id support_find_device(void)
{
    int devices;
    cl_device_id found = find(&devices);
    const char *want = getenv("KILN_DEVICE");
    if (!found)
        ck_abort_msg("none of %d OpenCL devices is \"%s\" (KILN_DEVICE)", devices,
                     want ? want : "");
    return found;
}

static support_device opened;

/* A function that declarations.cl lacks costs each program two compilations, and nothing tells. */
static void check_line(void *user, const char *line)
{
    (void)user;
    if (strstr(line, "declarations.cl"))
        ck_abort_msg("%s", line);
}

const support_device *support_open(void)
{
    if (opened.kiln)
        return &opened;
    support_device d = {0};
    cl_int code;
    cl_uint bits = 0;
    d.device = support_find_device();
    d.context = clCreateContext(NULL, 1, &d.device, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    d.queue = clCreateCommandQueue(d.context, d.device, CL_QUEUE_PROFILING_ENABLE, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    clGetDeviceInfo(d.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    d.align = bits >= 8 ? bits / 8 : 128;
    const kiln_settings settings = {.log = check_line};
    if (kiln_open(&d.kiln, d.context, d.device, &settings) != KILN_OK)
        ck_abort_msg("kiln_open: %s", kiln_last_error());
    opened = d;
    return &opened;
}

static bool is_cpu(cl_device_id device)
{
    kiln_device_facts facts = {.kind = KILN_DEVICE_CPU};
    kiln_device_read(device, &facts);
    return facts.kind == KILN_DEVICE_CPU;
}

/* While no device is open, another process looks at it: Check may still fork tests, and OpenCL does
 * not survive a fork everywhere. */
bool support_on_cpu(void)
{
    enum { ANOTHER = 77 };
    bool cpu = true; /* also where there is no device, which the tests report better */
    if (opened.kiln) {
        cpu = is_cpu(opened.device);
    } else {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            int devices;
            cl_device_id found = find(&devices);
            _exit(found && !is_cpu(found) ? ANOTHER : 0);
        }
        int status = 0;
        if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
            cpu = WEXITSTATUS(status) != ANOTHER;
    }
    if (!cpu)
        puts("skipped: what is tested here is for CPUs");
    return cpu;
}

cl_command_queue support_queue(bool out_of_order)
{
    const support_device *d = support_open();
    cl_command_queue_properties has = 0;
    cl_int code;
    clGetDeviceInfo(d->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL);
    has &= out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
    cl_command_queue queue = clCreateCommandQueue(d->context, d->device, has, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return queue;
}

const kiln_gpu_facts *support_gpu(void)
{
    kiln *k = support_open()->kiln;
    kiln_probe_for(k, NULL);
    return &k->facts.gpu;
}
