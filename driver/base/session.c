/* Opens kiln on the device that a flag or KILN_DEVICE names. */
#include "session.h"

#include "kiln_device.h"

#include "pocl_cache.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_DEVICES = 128 };

typedef struct census {
    size_t count;
    kiln_device_entry device[MAX_DEVICES];
} census;

static bool has_pocl(const census *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->device[i].platform_name, "Portable Computing Language") == 0)
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

/* Settings of PoCL that must stand before the first call of OpenCL. Threads stay on their cores, so
 * that times repeat. */
static void prepare_pocl(void)
{
    kiln_threads(0, 1);
    pocl_cache_prepare();
}

static kiln_status take_census(census *all, char *why)
{
    prepare_pocl();
    kiln_status status = kiln_device_list(all->device, MAX_DEVICES, &all->count);
    if (all->count > MAX_DEVICES)
        all->count = MAX_DEVICES;
    const char *trouble = pocl_cache_trouble();
    if (status == KILN_OK && trouble && has_pocl(all))
        warn_once(trouble);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%s", kiln_last_error());
    if (status && trouble && strncmp(why, "no OpenCL device", 16) == 0)
        snprintf(why, KILN_ERROR_TEXT, "no OpenCL device found: %.*s", KILN_ERROR_TEXT - 32,
                 trouble);
    return status;
}

static const char *kind_of(const kiln_device_entry *d)
{
    return d->type & CL_DEVICE_TYPE_GPU   ? "gpu"
           : d->type & CL_DEVICE_TYPE_CPU ? "cpu"
                                          : "accelerator";
}

static const kiln_device_entry *choose(const census *all, const char *wanted, kiln_status *status,
                                       char *why)
{
    cl_device_id id;
    *status = kiln_device_pick(wanted, &id);
    if (*status)
        snprintf(why, KILN_ERROR_TEXT, "%s", kiln_last_error());
    for (size_t i = 0; i < all->count && !*status; i++)
        if (all->device[i].id == id)
            return &all->device[i];
    return NULL;
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

static kiln_status open_on(session *s, const kiln_device_entry *d, char *why)
{
    cl_int code;
    s->device = d->id;
    s->cpu = d->type & CL_DEVICE_TYPE_CPU;
    s->gpu = !s->cpu && d->type & CL_DEVICE_TYPE_GPU;
    cl_ulong memory = 0;
    clGetDeviceInfo(d->id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    s->memory = memory;
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
    const kiln_device_entry *device = NULL;
    *s = (session){0};
    kiln_status status = take_census(&all, why);
    if (!status)
        device = choose(&all, wanted, &status, why);
    if (device)
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

static void add_spec(const kiln_device_entry *d, char spec[DEVICE_MOST][DEVICE_SPEC], int *count)
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
    const kiln_device_entry *device;
    char name[128];
    *count = 0;
    kiln_status status = take_census(&all, why);
    if (!status && strcasecmp(list, "all") == 0) {
        for (size_t i = 0; i < all.count; i++)
            add_spec(&all.device[i], spec, count);
        return KILN_OK;
    }
    do {
        const size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        if (!status && (device = choose(&all, name, &status, why)))
            add_spec(device, spec, count);
        list += length + (list[length] == ',');
    } while (!status && *list);
    return status;
}

kiln_status device_list(FILE *to, char *why)
{
    census all;
    kiln_status status = take_census(&all, why);
    for (size_t i = 0; !status && i < all.count; i++) {
        const kiln_device_entry *d = &all.device[i];
        fprintf(to, "%d:%d  %s  \"%s\"  platform \"%s\", driver %s\n", d->platform, d->index,
                kind_of(d), d->name, d->platform_name, d->driver);
    }
    return status;
}
