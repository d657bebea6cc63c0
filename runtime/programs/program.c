/* Programs in memory, shared by key; a new one comes from disk, else from the compiler. */
#include "program.h"

#include "runtime/base/clock.h"

#include "cache_dir.h"
#include "program_build.h"
#include "template.h"

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
    cl_int code; /* the same as OpenCL's */
    int users;
    enum { BUILDING, READY, FAILED } state;
    bool stored; /* it is on disk, or storing it was tried */
};

struct kiln_programs {
    char *dir;          /* NULL: memory only */
    char *bundle;       /* read before all others; NULL: none */
    char *head;         /* of every key */
    char *declarations; /* of the functions that templates call; NULL: the compiler has its own */
    int64_t limit;
    const kiln_logger *logger;
    cl_context context;
    cl_device_id device;
    pthread_mutex_t lock; /* guards everything below, and what changes in programs */
    pthread_cond_t built;
    bool unwritable; /* a store failed: do not fetch binaries in vain */
    kiln_program *bucket[BUCKETS];
    pthread_mutex_t awaited_lock; /* guards what follows, and is held while it runs */
    void (*awaited)(void *user);
    void *awaited_user;
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

static cl_program load(const kiln_programs *cache, const char *dir, const char *key,
                       const char *options)
{
    unsigned char *data;
    kiln_cache_record record;
    char name[KILN_CACHE_NAME];
    cl_program program = NULL;
    if (!dir)
        return NULL;
    const char *why = kiln_cache_load(dir, key, dir == cache->dir, &data, &record);
    if (!why && !(program = kiln_build_binary(cache->context, cache->device, record.binary,
                                              record.binary_size, options)))
        why = "the driver refused the binary";
    free(data);
    kiln_cache_name(key, name);
    if (why && kiln_cache_is_distrust(why))
        kiln_warn(cache->logger,
                  "the compiled program %s/%s is not used: %s; kiln compiles it again", dir, name,
                  why);
    else if (why)
        kiln_log(cache->logger, "cache: miss (%s)", why);
    else
        kiln_log(cache->logger, "cache: hit %s/%s", dir, name);
    return program;
}

/* Takes the program's binary. Returns false: there is none. */
static bool take(const kiln_program *p, kiln_cache_record *record)
{
    *record = (kiln_cache_record){.key = p->key};
    record->binary = kiln_build_get_binary(p->cl, p->cache->device, &record->binary_size);
    if (!record->binary)
        kiln_log(p->cache->logger, "cache: the driver gave no binary");
    return record->binary != NULL;
}

void kiln_program_keep(kiln_program *p)
{
    kiln_programs *cache = p->cache;
    kiln_cache_record record;
    pthread_mutex_lock(&cache->lock);
    const bool store = cache->dir && !p->stored && !cache->unwritable;
    p->stored = true;
    pthread_mutex_unlock(&cache->lock);
    if (!store || !take(p, &record))
        return;
    if (!kiln_cache_store(cache->dir, cache->limit, &record, cache->logger)) {
        pthread_mutex_lock(&cache->lock);
        cache->unwritable = true;
        pthread_mutex_unlock(&cache->lock);
    }
    free((void *)record.binary);
}

/* Lists the programs that are ready; they live as long as the cache. Returns NULL: out of
 * memory. */
static kiln_program **list_ready(kiln_programs *cache, size_t *count)
{
    size_t room = 1;
    *count = 0;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (const kiln_program *p = cache->bucket[i]; p; p = p->next)
            room++;
    kiln_program **list = malloc(room * sizeof(kiln_program *));
    for (size_t i = 0; list && i < BUCKETS; i++)
        for (kiln_program *p = cache->bucket[i]; p; p = p->next)
            if (p->state == READY)
                list[(*count)++] = p;
    pthread_mutex_unlock(&cache->lock);
    return list;
}

static kiln_status not_written(const char *dir, int error)
{
    char text[128];
    return kiln_fail(KILN_FILE,
                     "a program cannot be written to %s: %s; name a folder with room that you may "
                     "write to",
                     dir, strerror_r(error, text, sizeof text));
}

static kiln_status store_in(kiln_programs *cache, kiln_program *program, const char *dir)
{
    char name[KILN_CACHE_NAME];
    kiln_cache_record record;
    if (!take(program, &record))
        return kiln_fail(KILN_OPENCL,
                         "the OpenCL implementation gives no binary of a program, so that it "
                         "cannot be stored in %s",
                         dir);
    kiln_cache_name(record.key, name);
    const int error = kiln_cache_write(dir, name, &record, cache->logger);
    free((void *)record.binary);
    return error ? not_written(dir, error) : KILN_OK;
}

/* Makes the directory where there is no program, too: it is what tells a bundle. */
kiln_status kiln_programs_store(kiln_programs *cache, const char *dir)
{
    size_t count;
    kiln_program **list = list_ready(cache, &count);
    if (!list)
        return kiln_fail(KILN_NO_MEMORY, "out of memory while storing programs");
    const int error = kiln_cache_make_dir(dir);
    kiln_status status = error ? not_written(dir, error) : KILN_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = store_in(cache, list[i], dir);
    free(list);
    return status;
}

/* ---- the programs in memory ---- */

/* Returns a copy of a directory's name; NULL where there is none, or where it is not to be
 * trusted. */
static char *trusted(const char *dir, const char *variable, const kiln_logger *logger)
{
    const char *why = dir && *dir ? kiln_cache_distrust_dir(dir) : NULL;
    if (why)
        kiln_warn(logger,
                  "the program cache %s is not used: %s; take write permission away (chmod go-w), "
                  "or set %s to a directory of your own",
                  dir, why, variable);
    return dir && *dir && !why ? strdup(dir) : NULL;
}

kiln_programs *kiln_programs_open(const kiln_program_places *places, const kiln_logger *logger,
                                  cl_context context, cl_device_id device,
                                  const kiln_device_facts *facts)
{
    kiln_programs *cache = calloc(1, sizeof *cache);
    char *head = make_head(device, facts), *declarations = NULL;
    if (!cache || !head ||
        (kiln_device_is_pocl(facts) &&
         kiln_template_source(NULL, "declarations.cl", &declarations))) {
        free(cache);
        free(head);
        return NULL;
    }
    if (!places->kept)
        cache->dir = trusted(places->dir, "KILN_CACHE_DIR", logger);
    cache->bundle = trusted(places->bundle, "KILN_BUNDLE", logger);
    cache->head = head;
    cache->declarations = declarations;
    cache->limit = places->limit > 0 ? places->limit : default_limit;
    cache->logger = logger;
    cache->context = context;
    cache->device = device;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->built, NULL);
    pthread_mutex_init(&cache->awaited_lock, NULL);
    return cache;
}

static void destroy(kiln_program *p)
{
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
            destroy(p);
        }
    pthread_mutex_destroy(&cache->awaited_lock);
    pthread_cond_destroy(&cache->built);
    pthread_mutex_destroy(&cache->lock);
    free(cache->dir);
    free(cache->bundle);
    free(cache->head);
    free(cache->declarations);
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

/* Builds the program with the declarations of the functions that kiln's templates call; one that
 * calls others with all that the compiler has. */
static cl_program build(const kiln_programs *cache, const char *source, const char *options,
                        kiln_program *p)
{
    if (cache->declarations) {
        cl_program program =
            kiln_build_brief(cache->context, cache->device, cache->declarations, source, options);
        if (program)
            return program;
        kiln_log(cache->logger, "a program needs more than declarations.cl declares, or has a "
                                "fault: it is compiled with all of OpenCL C's declarations");
    }
    return kiln_build_source(cache->context, cache->device, source, options, &p->error, &p->code);
}

bool kiln_programs_await(kiln_programs *cache, void (*begin)(void *user), void *user)
{
    pthread_mutex_lock(&cache->awaited_lock);
    const bool first = !cache->awaited;
    if (first) {
        cache->awaited = begin;
        cache->awaited_user = user;
    }
    pthread_mutex_unlock(&cache->awaited_lock);
    return first;
}

void kiln_programs_forget(kiln_programs *cache, const void *user)
{
    pthread_mutex_lock(&cache->awaited_lock);
    if (cache->awaited_user == user)
        cache->awaited = NULL;
    pthread_mutex_unlock(&cache->awaited_lock);
}

static void begin_awaited(kiln_programs *cache)
{
    pthread_mutex_lock(&cache->awaited_lock);
    void (*begin)(void *) = cache->awaited;
    cache->awaited = NULL;
    if (begin)
        begin(cache->awaited_user);
    pthread_mutex_unlock(&cache->awaited_lock);
}

/* Builds the program, and begins what awaits that one has to be compiled. */
static cl_program compile(kiln_programs *cache, const char *source, const char *options,
                          kiln_program *p)
{
    const double least_seconds = 0.06; /* PoCL's cache takes 0.03 at most */
    const double began = kiln_clock_busy_seconds();
    cl_program program = build(cache, source, options, p);
    if (kiln_clock_busy_seconds() - began >= least_seconds)
        begin_awaited(cache);
    return program;
}

/* Makes the program that this thread has put into the table; other threads may be waiting for
 * it. */
static void make(kiln_program *p, const char *source, const char *options)
{
    kiln_programs *cache = p->cache;
    cl_program program = load(cache, cache->bundle, p->key, options);
    if (!program)
        program = load(cache, cache->dir, p->key, options);
    const bool loaded = program != NULL;
    if (!program)
        program = compile(cache, source, options, p);
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
    const bool no_memory = p->code == CL_OUT_OF_HOST_MEMORY || p->code == CL_OUT_OF_RESOURCES;
    const kiln_status status =
        kiln_fail(no_memory || !p->error ? KILN_NO_MEMORY : KILN_OPENCL, "%s",
                  p->error ? p->error : "out of memory for a build log");
    kiln_program_release(p);
    return status;
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
