/* Opening and closing a kiln. */
#include "runtime/base/environment.h"
#include "runtime/device/device_facts.h"
#include "runtime/device/measured.h"
#include "runtime/pocl/pocl.h"

#include "call_log.h"
#include "load_rows.h"
#include "places.h"

#include <stdio.h>
#include <stdlib.h>

const char *kiln_version(void)
{
    return KILN_VERSION;
}

static void use_measured(kiln *k)
{
    kiln_measured m;
    if (k->facts.kind != KILN_DEVICE_GPU ||
        !kiln_measured_load(k->cache_dir, &k->facts, &m, &k->logger))
        return;
    kiln_measured_use(&m, &k->facts);
    snprintf(k->measured, sizeof k->measured, "copies %.0f GB/s, a launch each %.1f us (%s)",
             m.copy_gbs, 1e3 * m.enqueue_ms, m.date);
}

static kiln_status attach(kiln *k, cl_context context, cl_device_id device, const kiln_settings *s)
{
    kiln_status status = kiln_device_read(device, &k->facts);
    if (status)
        return status;
    kiln_places_set(k, s);
    use_measured(k);
    cl_int code = clRetainContext(context);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clRetainContext");
    k->context = context;
    k->device = device;
    const kiln_program_places places = {.dir = k->cache_dir,
                                        .bundle = k->bundle_programs,
                                        .limit = kiln_environment_cache_limit(s),
                                        .kept = kiln_device_is_pocl(&k->facts)};
    k->programs = kiln_programs_open(&places, &k->logger, context, device, &k->facts);
    if (!k->programs)
        return kiln_fail(KILN_NO_MEMORY, "out of memory while opening the program cache");
    k->lifetime = kiln_mem_lifetime_open(context);
    if (!k->lifetime)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    k->first_use = s->first_use == KILN_FIRST_QUICK;
    k->keepalive_us = kiln_environment_keepalive_us(s);
    k->place_threads = s->place_threads != 0;
    k->buffers_stay = s->buffers_stay != 0;
    k->queues_flushed = s->queues_flushed != 0;
    return KILN_OK;
}

static kiln_status check_device(cl_context context, cl_device_id device)
{
    size_t size = 0;
    cl_int code = clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size);
    cl_device_id *devices = code == CL_SUCCESS ? malloc(size) : NULL;
    if (devices)
        code = clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices, NULL);
    else if (code == CL_SUCCESS)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    bool found = false;
    for (size_t i = 0; code == CL_SUCCESS && i < size / sizeof *devices; i++)
        found = found || devices[i] == device;
    free(devices);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetContextInfo");
    return found ? KILN_OK
                 : kiln_fail(KILN_INVALID, "kiln_open: device is not one of the context's devices");
}

kiln_status kiln_open(kiln **out, cl_context context, cl_device_id device,
                      const kiln_settings *settings)
{
    if (!out)
        return kiln_fail(KILN_INVALID, "kiln_open: out must not be NULL");
    *out = NULL;
    if (!context != !device)
        return kiln_fail(KILN_INVALID, "kiln_open: give both a context and a device, or neither");
    static const kiln_settings none;
    const kiln_settings *s = settings ? settings : &none;
    kiln_status status = kiln_environment_check(s);
    if (status || (status = kiln_process_open(context != NULL)) ||
        (context && (status = check_device(context, device))))
        return status;
    kiln *k = calloc(1, sizeof *k);
    if (!k)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    pthread_mutex_init(&k->lock, NULL);
    pthread_mutex_init(&k->probing, NULL);
    atomic_init(&k->holders, 1);
    k->forks = atomic_load(&kiln_process_forks);
    k->logger = (kiln_logger){s->log, s->log_user, s->warn, s->span};
    k->check_padding = s->check_padding || kiln_switch_is_on(getenv("KILN_CHECK_PADDING"), false);
    k->check_packed = s->check_packed || kiln_switch_is_on(getenv("KILN_CHECK_PACKED"), false);
    k->check_flushed = s->check_flushed || kiln_switch_is_on(getenv("KILN_CHECK_FLUSHED"), false);
    kiln_place_resolve(k->call_log, sizeof k->call_log, s->call_log, "KILN_LOG_CMD");
    if (context) {
        status = attach(k, context, device, s);
    } else {
        k->facts = kiln_device_generic();
        kiln_places_set(k, s);
    }
    if (!status)
        status = kiln_load_rows(k, s);
    if (status) {
        kiln_unhold(k);
        return status;
    }
    *out = k;
    return KILN_OK;
}

void kiln_hold(kiln *k)
{
    atomic_fetch_add(&k->holders, 1);
}

void kiln_unhold(kiln *k)
{
    if (atomic_fetch_sub(&k->holders, 1) > 1)
        return;
    if (*k->call_log)
        kiln_call_log_write(k->call_log, &k->logger);
    kiln_task_queue_close(k->tasks);
    kiln_pocl_close(k->pocl);
    kiln_mem_lifetime_close(k->lifetime);
    kiln_programs_close(k->programs);
    kiln_rows_free(k->user_rows);
    kiln_rows_free(k->shipped_rows);
    kiln_rows_free(k->generic_rows);
    for (int i = 0; i < k->nkindred; i++)
        kiln_rows_free(k->kindred[i]);
    if (k->context)
        clReleaseContext(k->context);
    free(k->packed.at);
    pthread_mutex_destroy(&k->lock);
    pthread_mutex_destroy(&k->probing);
    free(k);
}

bool kiln_tasks_open(kiln *k)
{
    pthread_mutex_lock(&k->lock);
    if (!k->tasks)
        k->tasks = kiln_task_queue_open();
    const bool open = k->tasks != NULL;
    pthread_mutex_unlock(&k->lock);
    return open;
}

kiln_status kiln_process_check(const kiln *k)
{
    return kiln_is_here(k) ? KILN_OK
                           : kiln_fail(KILN_INVALID, "the kiln was opened in the parent process; "
                                                     "open kiln again after fork()");
}

/* In a child of fork() the memory is left alone: OpenCL would wait for threads that are not there.
 */
void kiln_close(kiln *k)
{
    if (k && kiln_is_here(k))
        kiln_unhold(k);
}

static const char *no_kiln(const char *function)
{
    kiln_fail(KILN_INVALID, "%s: k must not be NULL", function);
    return "";
}

const char *kiln_cache_dir(const kiln *k)
{
    return k ? k->cache_dir : no_kiln("kiln_cache_dir");
}

const char *kiln_rows_file(const kiln *k)
{
    return k ? k->rows_file : no_kiln("kiln_rows_file");
}

const char *kiln_shipped_dir(const kiln *k)
{
    return k ? k->shipped_dir : no_kiln("kiln_shipped_dir");
}

const char *kiln_device_measured(const kiln *k)
{
    return k ? k->measured : no_kiln("kiln_device_measured");
}

double kiln_device_gflops(const kiln *k, kiln_type type)
{
    if (k)
        return kiln_device_peak(&k->facts, type);
    no_kiln("kiln_device_gflops");
    return 0;
}

double kiln_device_gbs(const kiln *k)
{
    if (k)
        return kiln_device_copy_gbs(&k->facts);
    no_kiln("kiln_device_gbs");
    return 0;
}
