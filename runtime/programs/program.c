/* Programs in memory, shared by key; a new one comes from disk, else from the compiler. */
#include "program.h"

#include "cache_dir.h"
#include "cache_lock.h"
#include "program_build.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BUCKETS = 1024 };

static const int64_t default_limit = (int64_t)256 << 20;

struct kiln_program {
    kiln_programs *cache;
    kiln_program *next; /* in its bucket */
    char *key;
    cl_program cl;
    char *error; /* why it did not build; NULL: out of memory */
    int users;
    enum { BUILDING, READY, FAILED } state;
    bool stored;     /* it is on disk, or storing it was tried */
    bool locked;     /* against processes that would take its binary */
    cl_event launch; /* had not completed when its op was released; or NULL */
};

struct kiln_programs {
    char *dir;  /* NULL: memory only */
    char *head; /* of every key */
    int64_t limit;
    const kiln_logger *logger;
    cl_context context;
    cl_device_id device;
    pthread_mutex_t lock; /* guards everything below, and what changes in programs */
    pthread_cond_t built;
    bool unwritable; /* a store failed: do not fetch binaries in vain */
    bool needs_locks;
    int locks; /* between processes; -1: none, or not opened yet */
    kiln_program *bucket[BUCKETS];
};

/* ---- keys ---- */

/* OpenCL's texts, made fit to be one line of a key. */
static void one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = ' ';
}

static char *make_head(cl_device_id device, const kiln_device_facts *facts)
{
    cl_platform_id platform = NULL;
    char platform_version[512] = "", device_version[512] = "";
    clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof platform_version, platform_version,
                      NULL);
    clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof device_version, device_version, NULL);
    char *text[] = {strdup(facts->platform), platform_version, strdup(facts->name), device_version,
                    strdup(facts->driver)};
    char *head = NULL;
    if (text[0] && text[2] && text[4]) {
        for (size_t i = 0; i < sizeof text / sizeof *text; i++)
            one_line(text[i]);
        if (asprintf(&head,
                     "kiln program %d\nplatform %s\nplatform-version %s\ndevice %s\n"
                     "device-version %s\ndriver %s\n",
                     KILN_CACHE_FORMAT, text[0], text[1], text[2], text[3], text[4]) < 0)
            head = NULL;
    }
    free(text[0]);
    free(text[2]);
    free(text[4]);
    return head;
}

/* Writes the file that the source's first "#line 1" names: it tells a reader of the cache what the
 * program is. */
static void template_name(const char *source, char *name, size_t size)
{
    static const char mark[] = "#line 1 \"";
    const char *first = strstr(source, mark);
    first = first ? first + sizeof mark - 1 : "-";
    snprintf(name, size, "%.*s", (int)strcspn(first, "\"\n"), first);
}

static char *make_key(const kiln_programs *cache, const char *source, const char *options)
{
    char hash[KILN_CACHE_HASH], template[128], *key = NULL;
    kiln_cache_hash(source, strlen(source), hash);
    template_name(source, template, sizeof template);
    int length = asprintf(&key, "%stemplate %s\nsource %s\noptions %s", cache->head, template, hash,
                          options);
    return length < 0 ? NULL : key;
}

/* ---- the disk ---- */

static cl_program load(const kiln_programs *cache, const char *key, const char *options)
{
    unsigned char *data;
    kiln_cache_record record;
    char name[KILN_CACHE_NAME];
    cl_program program = NULL;
    const char *why = kiln_cache_load(cache->dir, key, &data, &record);
    if (!why && !(program = kiln_build_binary(cache->context, cache->device, record.binary,
                                              record.binary_size, options)))
        why = "the driver refused the binary";
    free(data);
    kiln_cache_name(key, name);
    if (why && kiln_cache_is_distrust(why))
        kiln_warn(cache->logger,
                  "the compiled program %s/%s is not used: %s; kiln compiles it again", cache->dir,
                  name, why);
    else if (why)
        kiln_log(cache->logger, "cache: miss (%s)", why);
    else
        kiln_log(cache->logger, "cache: hit %s/%s", cache->dir, name);
    return program;
}

/* Before the program is looked for on disk. */
static void lock_compiling(kiln_program *p)
{
    kiln_programs *cache = p->cache;
    pthread_mutex_lock(&cache->lock);
    const bool opens = cache->needs_locks && cache->locks < 0;
    cache->needs_locks = cache->needs_locks && !opens;
    if (opens)
        cache->locks = kiln_cache_locks_open(cache->dir);
    const int locks = cache->locks;
    pthread_mutex_unlock(&cache->lock);
    kiln_cache_lock_compiling(locks, p->key);
    p->locked = locks >= 0;
}

static void unlock(kiln_program *p)
{
    if (p->locked)
        kiln_cache_unlock(p->cache->locks, p->key);
    p->locked = false;
}

static void store_binary(kiln_program *p)
{
    kiln_programs *cache = p->cache;
    kiln_cache_record record = {.key = p->key};
    unsigned char *binary = kiln_build_get_binary(p->cl, cache->device, &record.binary_size);
    record.binary = binary;
    if (!binary) {
        kiln_log(cache->logger, "cache: the driver gave no binary");
    } else if (!kiln_cache_store(cache->dir, cache->limit, &record, cache->logger)) {
        pthread_mutex_lock(&cache->lock);
        cache->unwritable = true;
        pthread_mutex_unlock(&cache->lock);
    }
    free(binary);
}

void kiln_program_ran(kiln_program *p)
{
    kiln_programs *cache = p->cache;
    if (!cache->dir)
        return;
    pthread_mutex_lock(&cache->lock);
    const bool first = !p->stored;
    const bool store = first && !cache->unwritable;
    p->stored = true;
    pthread_mutex_unlock(&cache->lock);
    if (store && kiln_cache_lock_taking(p->locked ? cache->locks : -1, p->key))
        store_binary(p);
    else if (store)
        kiln_log(cache->logger, "cache: another process compiles the program and will store it");
    if (first)
        unlock(p);
}

static bool has_completed(cl_event launch)
{
    cl_int state = CL_QUEUED;
    return clGetEventInfo(launch, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) ==
               CL_SUCCESS &&
           state == CL_COMPLETE;
}

void kiln_program_runs(kiln_program *p, cl_event launch)
{
    if (has_completed(launch)) {
        kiln_program_ran(p);
        return;
    }
    clRetainEvent(launch);
    pthread_mutex_lock(&p->cache->lock);
    cl_event unused = p->stored ? launch : p->launch;
    p->launch = p->stored ? p->launch : launch;
    pthread_mutex_unlock(&p->cache->lock);
    if (unused)
        clReleaseEvent(unused);
}

/* ---- the programs in memory ---- */

kiln_programs *kiln_programs_open(const char *dir, int64_t limit, const kiln_logger *logger,
                                  cl_context context, cl_device_id device,
                                  const kiln_device_facts *facts)
{
    kiln_programs *cache = calloc(1, sizeof *cache);
    const char *why = dir && *dir ? kiln_cache_distrust_dir(dir) : NULL;
    if (why) {
        kiln_warn(
            logger,
            "the program cache %s is not used: %s; take write permission away (chmod go-w), or "
            "set KILN_CACHE_DIR to a directory of your own",
            dir, why);
        dir = NULL;
    }
    char *head = make_head(device, facts), *copy = dir && *dir ? strdup(dir) : NULL;
    if (!cache || !head || (dir && *dir && !copy)) {
        free(cache);
        free(head);
        free(copy);
        return NULL;
    }
    cache->dir = copy;
    cache->head = head;
    cache->limit = limit > 0 ? limit : default_limit;
    cache->logger = logger;
    cache->locks = -1;
    cache->needs_locks = copy && kiln_device_is_pocl(facts);
    cache->context = context;
    cache->device = device;
    clRetainContext(context);
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->built, NULL);
    return cache;
}

static void destroy(kiln_program *p)
{
    unlock(p);
    if (p->launch)
        clReleaseEvent(p->launch);
    if (p->cl)
        clReleaseProgram(p->cl);
    free(p->error);
    free(p->key);
    free(p);
}

void kiln_programs_close(kiln_programs *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (kiln_program *p = cache->bucket[i], *next; p; p = next) {
            next = p->next;
            if (p->launch && has_completed(p->launch))
                kiln_program_ran(p);
            destroy(p);
        }
    kiln_cache_locks_close(cache->locks);
    clReleaseContext(cache->context);
    pthread_cond_destroy(&cache->built);
    pthread_mutex_destroy(&cache->lock);
    free(cache->dir);
    free(cache->head);
    free(cache);
}

/* Returns the place of the pointer to the program of `key`, or the place where it would go. */
static kiln_program **slot(kiln_programs *cache, const char *key)
{
    kiln_program **p = &cache->bucket[XXH3_64bits(key, strlen(key)) % BUCKETS];
    while (*p && strcmp((*p)->key, key) != 0)
        p = &(*p)->next;
    return p;
}

/* Makes the program that this thread has put into the table; other threads may be waiting for
 * it. */
static void make(kiln_program *p, const char *source, const char *options)
{
    kiln_programs *cache = p->cache;
    if (cache->dir)
        lock_compiling(p);
    cl_program program = cache->dir ? load(cache, p->key, options) : NULL;
    bool loaded = program != NULL;
    if (!program)
        program = kiln_build_source(cache->context, cache->device, source, options, &p->error);
    if (loaded || !program)
        unlock(p);
    pthread_mutex_lock(&cache->lock);
    p->cl = program;
    p->stored = loaded;
    p->state = program ? READY : FAILED;
    if (!program) /* waiting threads still hold it; a later call tries again */
        *slot(cache, p->key) = p->next;
    pthread_cond_broadcast(&cache->built);
    pthread_mutex_unlock(&cache->lock);
}

kiln_status kiln_program_get(kiln_programs *cache, const char *source, const char *options,
                             kiln_program **out)
{
    *out = NULL;
    char *key = make_key(cache, source, options);
    kiln_program *fresh = calloc(1, sizeof *fresh);
    if (!key || !fresh) {
        free(key);
        free(fresh);
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a program");
    }
    *fresh = (kiln_program){.cache = cache, .key = key};
    pthread_mutex_lock(&cache->lock);
    kiln_program **place = slot(cache, key), *p = *place;
    bool mine = !p;
    if (mine)
        *place = p = fresh;
    p->users++;
    while (!mine && p->state == BUILDING)
        pthread_cond_wait(&cache->built, &cache->lock);
    pthread_mutex_unlock(&cache->lock);
    if (mine)
        make(p, source, options);
    else
        destroy(fresh);
    if (p->state == READY) {
        *out = p;
        return KILN_OK;
    }
    kiln_fail(KILN_OPENCL, "%s", p->error ? p->error : "out of memory for a build log");
    kiln_program_release(p);
    return KILN_OPENCL;
}

cl_program kiln_program_cl(const kiln_program *program)
{
    return program->cl;
}

void kiln_program_release(kiln_program *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->cache->lock);
    bool last = --p->users == 0 && p->state == FAILED;
    pthread_mutex_unlock(&p->cache->lock);
    if (last)
        destroy(p);
}
