/* Finds OpenCL devices by index, kind or name. */
#include "session.h"

#include "pocl_cache.h"
#include "trace.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_PLATFORMS = 32, MAX_DEVICES = 128 };

typedef struct found {
    cl_device_id id;
    int platform, index; /* of the device within its platform */
    cl_device_type type;
    char name[128], platform_name[128], driver[128];
    uint64_t weight; /* a larger one is likely faster */
} found;

typedef struct census {
    int count;
    found device[MAX_DEVICES];
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
    cl_device_id devices[MAX_DEVICES];
    cl_uint count = 0;
    char name[1024] = "";
    if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &count) != CL_SUCCESS)
        return;
    clGetPlatformInfo(id, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    for (cl_uint i = 0; i < count && i < MAX_DEVICES && all->count < MAX_DEVICES; i++) {
        const cl_device_type type = number_of(devices[i], CL_DEVICE_TYPE);
        if (!type) /* a device that answers nothing */
            continue;
        found *d = &all->device[all->count++];
        *d = (found){.id = devices[i], .platform = platform, .index = (int)i, .type = type};
        snprintf(d->platform_name, sizeof d->platform_name, "%.127s", name);
        text_of(devices[i], CL_DEVICE_NAME, d->name, sizeof d->name);
        text_of(devices[i], CL_DRIVER_VERSION, d->driver, sizeof d->driver);
        d->weight = number_of(devices[i], CL_DEVICE_MAX_COMPUTE_UNITS) *
                    (number_of(devices[i], CL_DEVICE_MAX_CLOCK_FREQUENCY) + 1);
    }
}

static bool has_pocl(const cl_platform_id *platforms, cl_uint count)
{
    char name[1024];
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++)
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL) ==
                CL_SUCCESS &&
            strcmp(name, "Portable Computing Language") == 0)
            return true;
    return false;
}

static bool quiet;

void session_quiet(void)
{
    quiet = true;
}

static void warn_once(const char *line)
{
    static bool warned;
    if (!warned && !quiet)
        fprintf(stderr, "kiln: warning: %s\n", line);
    warned = true;
}

/* Returns whether the process may use every core of the machine. */
static bool has_all_cores(void)
{
    cpu_set_t may;
    return sched_getaffinity(0, sizeof may, &may) != 0 ||
           CPU_COUNT(&may) >= sysconf(_SC_NPROCESSORS_ONLN);
}

static kiln_status take_census(census *all, char *why)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    all->count = 0;
    /* PoCL keeps each thread on one core with this, so that times repeat. It reads the variable at
     * the first call of OpenCL. It counts the machine's cores from 0, whichever the process has. */
    if (has_all_cores())
        setenv("POCL_AFFINITY", "1", 0);
    pocl_cache_prepare();
    cl_int code = clGetPlatformIDs(MAX_PLATFORMS, platforms, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count && i < MAX_PLATFORMS; i++)
        add_platform(all, (int)i, platforms[i]);
    if (has_pocl(platforms, code == CL_SUCCESS ? count : 0) && pocl_cache_trouble()) {
        if (all->count == 0) {
            snprintf(why, KILN_ERROR_TEXT, "no OpenCL device found: %.*s", KILN_ERROR_TEXT - 32,
                     pocl_cache_trouble());
            return KILN_OPENCL;
        }
        warn_once(pocl_cache_trouble());
    }
    if (all->count)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT,
             "no OpenCL %s found; to compute on the CPU: "
             "apt install pocl-opencl-icd",
             count ? "device" : "platform");
    return KILN_OPENCL;
}

static const char *kind_of(const found *d)
{
    return d->type & CL_DEVICE_TYPE_GPU   ? "gpu"
           : d->type & CL_DEVICE_TYPE_CPU ? "cpu"
                                          : "accelerator";
}

static const found *heaviest(const census *all, cl_device_type type)
{
    const found *best = NULL;
    for (int i = 0; i < all->count; i++) {
        const found *d = &all->device[i];
        if ((d->type & type) && (!best || d->weight > best->weight))
            best = d;
    }
    return best;
}

static const found *at_index(const census *all, const char *wanted)
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

static const found *called(const census *all, const char *wanted)
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

static kiln_status choose(const census *all, const char *wanted, const found **device, char *why)
{
    const char *source = "--device";
    if (!wanted || !*wanted) {
        wanted = getenv("KILN_DEVICE");
        source = "KILN_DEVICE";
    }
    if (wanted && *wanted) {
        *device = called(all, wanted);
        if (*device)
            return KILN_OK;
        snprintf(why, KILN_ERROR_TEXT,
                 "%s is '%.60s', but no device is called so; "
                 "kiln --list-devices lists them",
                 source, wanted);
        return KILN_INVALID;
    }
    *device = heaviest(all, CL_DEVICE_TYPE_GPU);
    if (!*device)
        *device = heaviest(all, CL_DEVICE_TYPE_ALL);
    return KILN_OK;
}

/* Prints a warning; a repetition of the last one is dropped, as several choices of a solver for one
 * problem give the same. */
static void warn(void *user, const char *line)
{
    static char last[512];
    (void)user;
    if (quiet || strncmp(line, last, sizeof last - 1) == 0)
        return;
    snprintf(last, sizeof last, "%s", line);
    fflush(stdout);
    fprintf(stderr, "kiln: warning: %s\n", line);
}

static const kiln_settings settings = {
    .warn = warn, .buffers_stay = 1, .queues_flushed = 1, .place_threads = 1};

static kiln_status open_on(session *s, const found *d, char *why)
{
    cl_int code;
    s->device = d->id;
    s->cpu = d->type & CL_DEVICE_TYPE_CPU;
    s->gpu = !s->cpu && d->type & CL_DEVICE_TYPE_GPU;
    s->memory = number_of(d->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    snprintf(s->name, sizeof s->name, "%d:%d %.80s (%.80s)", d->platform, d->index, d->name,
             d->platform_name);
    s->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &code);
    if (s->context)
        s->queue = clCreateCommandQueue(s->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (!s->queue) {
        snprintf(why, KILN_ERROR_TEXT, "device %s does not open: OpenCL error %d", s->name, code);
        return KILN_OPENCL;
    }
    kiln_settings own = settings;
    own.span = trace_of_library();
    kiln_status status = kiln_open(&s->kiln, s->context, s->device, &own);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%s", kiln_last_error());
    return status;
}

kiln_status session_open(session *s, const char *wanted, char *why)
{
    census all;
    const found *device;
    *s = (session){0};
    kiln_status status = take_census(&all, why);
    if (!status)
        status = choose(&all, wanted, &device, why);
    if (!status)
        status = open_on(s, device, why);
    if (status)
        session_close(s);
    return status;
}

kiln_status session_open_dry(session *s, char *why)
{
    *s = (session){.name = "none"};
    kiln_status status = kiln_open(&s->kiln, NULL, NULL, &settings);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%s", kiln_last_error());
    return status;
}

void session_end(session *s)
{
    kiln_close(s->kiln);
    s->kiln = NULL;
}

void session_close(session *s)
{
    kiln_close(s->kiln);
    if (s->queue)
        clReleaseCommandQueue(s->queue);
    if (s->context)
        clReleaseContext(s->context);
    *s = (session){0};
}

static void add_spec(const found *d, char spec[DEVICE_MOST][DEVICE_SPEC], int *count)
{
    char text[DEVICE_SPEC];
    snprintf(text, sizeof text, "%d:%d", d->platform, d->index);
    for (int i = 0; i < *count; i++)
        if (strcmp(spec[i], text) == 0)
            return;
    if (*count < DEVICE_MOST)
        memcpy(spec[(*count)++], text, sizeof text);
}

kiln_status device_find(const char *list, char spec[DEVICE_MOST][DEVICE_SPEC], int *count,
                        char *why)
{
    census all;
    const found *device;
    char name[128];
    *count = 0;
    kiln_status status = take_census(&all, why);
    if (!status && strcasecmp(list, "all") == 0) {
        for (int i = 0; i < all.count; i++)
            add_spec(&all.device[i], spec, count);
        return KILN_OK;
    }
    do {
        const size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        if (!status && !(status = choose(&all, name, &device, why)))
            add_spec(device, spec, count);
        list += length + (list[length] == ',');
    } while (!status && *list);
    return status;
}

kiln_status device_list(FILE *to, char *why)
{
    census all;
    kiln_status status = take_census(&all, why);
    for (int i = 0; !status && i < all.count; i++) {
        const found *d = &all.device[i];
        fprintf(to, "%d:%d  %s  \"%s\"  platform \"%s\", driver %s\n", d->platform, d->index,
                kind_of(d), d->name, d->platform_name, d->driver);
    }
    return status;
}
