/* Opening and closing: settings, environment, files. */
#include "runtime/base/environment.h"
#include "runtime/device/device_facts.h"
#include "runtime/pocl/pocl.h"
#include "runtime/programs/cache_dir.h"

#include "call_log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *kiln_version(void)
{
    return KILN_VERSION;
}

/* Writes the setting, else the environment variable, else "". "off" becomes "". */
static void resolve(char *out, size_t size, const char *setting, const char *variable)
{
    const char *value = setting && *setting ? setting : variable ? getenv(variable) : NULL;
    if (!value || strcmp(value, "off") == 0)
        value = "";
    snprintf(out, size, "%s", value);
}

static bool given(const char *setting)
{
    return setting && *setting;
}

/* Finds the rows that were installed with this library or program, wherever that lies now. */
static bool find_shipped_beside(char *dir, size_t size)
{
    static const char here;
    Dl_info info;
    const char *slash = dladdr(&here, &info) ? strrchr(info.dli_fname, '/') : NULL;
    char path[PATH_MAX];
    int length = slash ? snprintf(path, sizeof path, "%.*s/" KILN_SHIPPED_DIR_BESIDE,
                                  (int)(slash - info.dli_fname), info.dli_fname)
                       : PATH_MAX;
    char *real = length < PATH_MAX ? realpath(path, NULL) : NULL;
    const bool found = real && snprintf(dir, size, "%s", real) < (int)size;
    free(real);
    return found;
}

/* Installed rows first, so that an installed library does not depend on its build tree. */
static void find_shipped_dir(char *dir, size_t size)
{
    static const char *const others[] = {KILN_SHIPPED_DIR_INSTALLED, KILN_SHIPPED_DIR_BUILD};
    struct stat st;
    bool found = find_shipped_beside(dir, size);
    for (int i = 0; i < 2 && !found; i++)
        found = stat(others[i], &st) == 0 && snprintf(dir, size, "%s", others[i]) < (int)size;
    if (!found)
        dir[0] = '\0';
}

/* Writes the path of a bundle's part; "" where there is no bundle, or not that part. */
static void bundle_part(const char *bundle, const char *part, char *path, size_t size)
{
    struct stat st;
    const int length = snprintf(path, size, "%s/%s", bundle, part);
    if (!*bundle || length >= (int)size || stat(path, &st) != 0)
        path[0] = '\0';
}

/* A bundle's rows stand in for the rows that would be taken unasked. */
static void set_bundle(kiln *k, const kiln_settings *s)
{
    char bundle[sizeof k->rows_file];
    resolve(bundle, sizeof bundle, s->bundle, "KILN_BUNDLE");
    if (!*bundle)
        return;
    bundle_part(bundle, KILN_BUNDLE_PROGRAMS, k->bundle_programs, sizeof k->bundle_programs);
    if (!given(s->rows_file) && !getenv("KILN_DB"))
        bundle_part(bundle, KILN_BUNDLE_ROWS, k->rows_file, sizeof k->rows_file);
    if (!given(s->shipped_dir) && !getenv("KILN_SHIPPED_DB"))
        bundle_part(bundle, KILN_BUNDLE_SHIPPED, k->shipped_dir, sizeof k->shipped_dir);
}

static void set_places(kiln *k, const kiln_settings *s)
{
    resolve(k->cache_dir, sizeof k->cache_dir, s->cache_dir, NULL);
    if (!given(s->cache_dir))
        kiln_cache_default_dir(k->cache_dir, sizeof k->cache_dir);
    resolve(k->rows_file, sizeof k->rows_file, s->rows_file, NULL);
    if (!given(s->rows_file))
        kiln_rows_default_file(k->facts.name, k->rows_file, sizeof k->rows_file);
    resolve(k->shipped_dir, sizeof k->shipped_dir, s->shipped_dir, "KILN_SHIPPED_DB");
    if (!given(s->shipped_dir) && !getenv("KILN_SHIPPED_DB"))
        find_shipped_dir(k->shipped_dir, sizeof k->shipped_dir);
    resolve(k->template_dir, sizeof k->template_dir, s->template_dir, "KILN_TEMPLATES");
    set_bundle(k, s);
}

/* Returns what named the place: the setting or the variable; NULL where it is the default. */
static const char *namer(const char *value, const char *setting, const char *variable)
{
    const char *set = getenv(variable);
    return given(value) ? setting : given(set) ? variable : NULL;
}

/* A file that somebody named must be of use. A default one that is not must not keep a program that
 * never heard of it from running. */
static kiln_status load(const kiln *k, kiln_rows **rows, const char *file, const char *named_by,
                        const char *variable)
{
    *rows = kiln_rows_load(file, k->facts.core, &k->logger);
    if (!*rows)
        return kiln_fail(KILN_NO_MEMORY, "out of memory while loading tuning rows");
    const char *trouble = kiln_rows_trouble(*rows);
    if (*trouble && named_by)
        return kiln_fail(KILN_FILE, "%s: %s; mend it, or name another or \"off\"", named_by,
                         trouble);
    if (*trouble)
        kiln_warn(&k->logger, "%s; its rows are not used: mend or delete it, or set %s", trouble,
                  variable);
    return KILN_OK;
}

/* Whether the rows were measured on another device. Planning without a device takes any rows. */
static bool is_foreign(const kiln *k, const kiln_rows *rows)
{
    const char *of = kiln_rows_device(rows);
    return k->context && *of && strcmp(of, "any") != 0 && !kiln_rows_name_device(of, k->facts.name);
}

/* A program may run on two devices with one file named: that is no error, but the rows are of one
 * device. */
static kiln_status load_user_rows(kiln *k, const kiln_settings *s)
{
    k->rows_named_by = namer(s->rows_file, "settings.rows_file", "KILN_DB");
    kiln_status status = load(k, &k->user_rows, k->rows_file, k->rows_named_by, "KILN_DB");
    if (status)
        return status;
    if (!is_foreign(k, k->user_rows)) {
        const size_t elsewhere = kiln_rows_elsewhere(k->user_rows);
        if (elsewhere)
            kiln_warn(&k->logger,
                      "%s: %zu of its rows were measured on another CPU of the same name, not on "
                      "this one, \"%s\": they are not used; kiln conv -s 1 makes rows for this one",
                      k->rows_file, elsewhere, k->facts.core);
        return KILN_OK;
    }
    kiln_warn(
        &k->logger,
        "%s holds rows of the device \"%s\", not \"%s\": they are not used; name another file, "
        "or \"off\", in %s",
        k->rows_file, kiln_rows_device(k->user_rows), k->facts.name,
        k->rows_named_by ? k->rows_named_by : "KILN_DB");
    kiln_rows_free(k->user_rows);
    return load(k, &k->user_rows, "", NULL, "KILN_DB");
}

static kiln_status load_rows(kiln *k, const kiln_settings *s)
{
    char slug[128], file[4096 + 160];
    const char *dir = k->shipped_dir;
    const char *ships = namer(s->shipped_dir, "settings.shipped_dir", "KILN_SHIPPED_DB");
    kiln_status status = load_user_rows(k, s);
    if (status)
        return status;
    kiln_device_slug(k->facts.name, slug, sizeof slug);
    snprintf(file, sizeof file, "%s/%s.yaml", dir, slug);
    if ((status = load(k, &k->shipped_rows, *dir ? file : "", ships, "KILN_SHIPPED_DB")))
        return status;
    snprintf(file, sizeof file, "%s/generic.yaml", dir);
    return load(k, &k->generic_rows, *dir ? file : "", ships, "KILN_SHIPPED_DB");
}

void kiln_reload_rows(kiln *k)
{
    kiln_rows *fresh =
        kiln_rows_load(k->rows_file, k->facts.core,
                       NULL); /* no logger: the first load has told of the shipped ones */
    if (!fresh)
        return;
    pthread_mutex_lock(&k->lock);
    kiln_rows *old = k->user_rows;
    k->user_rows = fresh;
    pthread_mutex_unlock(&k->lock);
    kiln_rows_free(old);
}

static kiln_status attach(kiln *k, cl_context context, cl_device_id device, const kiln_settings *s)
{
    kiln_status status = kiln_device_read(device, &k->facts);
    if (status)
        return status;
    set_places(k, s);
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
    if (k->first_use && !(k->tasks = kiln_task_queue_open()))
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
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
    resolve(k->call_log, sizeof k->call_log, s->call_log, "KILN_LOG_CMD");
    if (context) {
        status = attach(k, context, device, s);
    } else {
        k->facts = kiln_device_generic();
        set_places(k, s);
    }
    if (!status)
        status = load_rows(k, s);
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

/* A CPU's peak is that of floats; whether it has faster instructions for shorter types, the facts
 * do not tell. */
double kiln_device_gflops(const kiln *k, kiln_type type)
{
    if (!k) {
        no_kiln("kiln_device_gflops");
        return 0;
    }
    const kiln_gpu_facts *gpu = &k->facts.gpu;
    if (k->facts.kind != KILN_DEVICE_GPU)
        return type == KILN_F32 ? k->facts.peak_gflops : 0;
    switch (type) {
    case KILN_F32:
        return gpu->peak_f32;
    case KILN_F16:
        return gpu->peak_f16;
    case KILN_BF16:
        return gpu->peak_bf16;
    case KILN_I8:
        return gpu->peak_i8;
    default:
        return 0;
    }
}

double kiln_device_gbs(const kiln *k)
{
    if (!k) {
        no_kiln("kiln_device_gbs");
        return 0;
    }
    return k->facts.kind == KILN_DEVICE_GPU ? k->facts.gpu.memory_gbs
                                            : kiln_device_memory_gbs(&k->facts);
}
