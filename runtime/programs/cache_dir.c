/* The directory of the program cache: where it is, what is in it, what has to go. */
#include "cache_dir.h"

#include "runtime/base/environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HASH_DIGITS = KILN_CACHE_HASH - 1, STALE_SECONDS = 3600 };

void kiln_cache_default_dir(char *dir, size_t size)
{
    const char *state = getenv("KILN_CACHE"), *own = getenv("KILN_CACHE_DIR");
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    if (!kiln_switch_is_on(state, true) || (own && strcmp(own, "off") == 0))
        length = 0;
    else if (own && *own)
        length = snprintf(dir, size, "%s", own);
    else if (xdg && *xdg == '/') /* the XDG specification has relative paths ignored */
        length = snprintf(dir, size, "%s/kiln", xdg);
    else if (home && *home == '/')
        length = snprintf(dir, size, "%s/.cache/kiln", home);
    if (size && (length <= 0 || (size_t)length >= size))
        dir[0] = '\0';
}

typedef struct found {
    char *name;
    int64_t size;
    struct timespec used;
    bool temporary;
} found;

typedef struct listing {
    int at;
    found *files; /* least recently used first */
    size_t count, room;
} listing;

/* Whether a name is one of ours: 32 digits, ".kiln", and ".PID-RANDOM.tmp" while the file is being
 * written. So files that others put into the directory stay. */
static bool own_name(const char *name, bool *temporary)
{
    size_t length = strlen(name);
    if (length < HASH_DIGITS + 5 || strspn(name, "0123456789abcdef") != HASH_DIGITS ||
        strncmp(name + HASH_DIGITS, ".kiln", 5) != 0)
        return false;
    const char *tail = name + HASH_DIGITS + 5;
    *temporary = *tail != '\0';
    return !*temporary || (*tail == '.' && strcmp(name + length - 4, ".tmp") == 0);
}

static void listing_close(listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->files[i].name);
    free(l->files);
    if (l->at >= 0)
        close(l->at);
}

static bool listing_add(listing *l, const char *name)
{
    bool temporary;
    struct stat st;
    if (!own_name(name, &temporary) || fstatat(l->at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (l->count == l->room) {
        size_t room = l->room ? l->room * 2 : 64;
        found *more = realloc(l->files, room * sizeof *more);
        if (!more)
            return false;
        l->files = more;
        l->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return false;
    l->files[l->count++] = (found){copy, st.st_size, st.st_mtim, temporary};
    return true;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec x = ((const found *)a)->used, y = ((const found *)b)->used;
    if (x.tv_sec != y.tv_sec)
        return x.tv_sec < y.tv_sec ? -1 : 1;
    return (x.tv_nsec > y.tv_nsec) - (x.tv_nsec < y.tv_nsec);
}

/* Lists our files of `dir`. Returns 0 or an errno; the listing is to be closed in both cases. */
static int listing_open(listing *l, const char *dir)
{
    *l = (listing){.at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    int copy = l->at < 0 ? -1 : fcntl(l->at, F_DUPFD_CLOEXEC, 0);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        int error = errno;
        if (copy >= 0)
            close(copy);
        return error;
    }
    bool ok = true;
    for (const struct dirent *e; ok && (e = readdir(stream));)
        ok = listing_add(l, e->d_name);
    closedir(stream);
    if (l->count)
        qsort(l->files, l->count, sizeof *l->files, by_use);
    return ok ? 0 : ENOMEM;
}

/* Makes room. `keep` is the name of a file that stays in any case. */
static void trim(const char *dir, int64_t limit, const char *keep, const kiln_logger *logger)
{
    listing l;
    int64_t total = 0;
    if (listing_open(&l, dir) == 0)
        for (size_t i = 0; i < l.count; i++)
            total += l.files[i].size;
    time_t now = time(NULL);
    for (size_t i = 0; i < l.count; i++) {
        const found *f = &l.files[i];
        /* A young temporary file is being written; an old one was left by a killed process. */
        bool go = f->temporary ? f->used.tv_sec < now - STALE_SECONDS : total > limit;
        if (!go || strcmp(f->name, keep) == 0)
            continue;
        if (unlinkat(l.at, f->name, 0) == 0)
            kiln_log(logger, "cache: removed %s/%s (%s)", dir, f->name,
                     f->temporary ? "left behind" : "least recently used");
        else if (errno != ENOENT) /* another process may have been quicker */
            continue;
        total -= f->size;
    }
    listing_close(&l);
}

bool kiln_cache_store(const char *dir, int64_t limit, const kiln_cache_record *record,
                      const kiln_logger *logger)
{
    char name[KILN_CACHE_NAME];
    kiln_cache_name(record->key, name);
    if (kiln_cache_write(dir, name, record, logger))
        return false;
    trim(dir, limit, name, logger);
    return true;
}

/* A missing or switched-off cache is an empty one. */
static kiln_status open_for_user(listing *l, const char **dir, char *standard)
{
    *l = (listing){.at = -1};
    if (!*dir) {
        kiln_status status = kiln_environment_check(&(kiln_settings){0});
        if (status)
            return status;
        kiln_cache_default_dir(standard, PATH_MAX);
        *dir = standard;
    }
    int error = **dir ? listing_open(l, *dir) : 0;
    if (!error || error == ENOENT)
        return KILN_OK;
    char text[128];
    listing_close(l);
    return kiln_fail(
        error == ENOMEM ? KILN_NO_MEMORY : KILN_FILE,
        "cannot read the program cache %s: %s; set KILN_CACHE_DIR to another directory", *dir,
        strerror_r(error, text, sizeof text));
}

kiln_status kiln_cache_list(const char *dir, void (*entry)(void *user, const kiln_cache_entry *e),
                            void *user)
{
    listing l;
    char standard[PATH_MAX];
    if (!entry)
        return kiln_fail(KILN_INVALID, "kiln_cache_list: entry must not be NULL");
    kiln_status status = open_for_user(&l, &dir, standard);
    if (status != KILN_OK)
        return status;
    for (size_t i = l.count; i-- > 0;) {
        const found *f = &l.files[i];
        char path[PATH_MAX + 128];
        if (f->temporary)
            continue;
        unsigned char *data;
        kiln_cache_record record;
        bool valid = !kiln_cache_read(l.at, f->name, false, &data, &record);
        snprintf(path, sizeof path, "%s/%s", dir, f->name);
        entry(user, &(kiln_cache_entry){.key = valid ? record.key : "",
                                        .file = path,
                                        .bytes = f->size,
                                        .used = f->used.tv_sec,
                                        .valid = valid});
        free(data);
    }
    listing_close(&l);
    return KILN_OK;
}

kiln_status kiln_cache_clear(const char *dir, int64_t *removed)
{
    listing l;
    char standard[PATH_MAX], text[128];
    int64_t count = 0;
    if (removed)
        *removed = 0;
    kiln_status status = open_for_user(&l, &dir, standard);
    if (status != KILN_OK)
        return status;
    for (size_t i = 0; i < l.count; i++) {
        if (unlinkat(l.at, l.files[i].name, 0) == 0)
            count++;
        else if (errno != ENOENT)
            status = kiln_fail(KILN_FILE, "cannot remove %s/%s: %s", dir, l.files[i].name,
                               strerror_r(errno, text, sizeof text));
    }
    listing_close(&l);
    if (removed)
        *removed = count;
    return status;
}
