/* One file of the program cache: its format, reading it, writing it. */
#include "cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

static const char magic[8] = {'k', 'i', 'l', 'n', 'p', 'r', 'o', 'g'};

typedef struct header {
    char magic[8];
    XXH128_canonical_t checksum;
    uint32_t format, key_size;
    uint64_t binary_size;
} header;

enum { CHECKED_FROM = offsetof(header, format), MAX_FILE = 1 << 30 };

_Static_assert(sizeof(header) == 40, "the header is written as it is");

void kiln_cache_hash(const void *data, size_t size, char hash[KILN_CACHE_HASH])
{
    XXH128_hash_t h = XXH3_128bits(data, size);
    snprintf(hash, KILN_CACHE_HASH, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

void kiln_cache_name(const char *key, char name[KILN_CACHE_NAME])
{
    char hash[KILN_CACHE_HASH];
    kiln_cache_hash(key, strlen(key), hash);
    snprintf(name, KILN_CACHE_NAME, "%s.kiln", hash);
}

static XXH128_canonical_t checksum(const unsigned char *data, size_t size)
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(data + CHECKED_FROM, size - CHECKED_FROM));
    return sum;
}

unsigned char *kiln_cache_encode(const kiln_cache_record *record, size_t *size)
{
    size_t key_size = strlen(record->key) + 1;
    if (record->binary_size == 0 || record->binary_size > MAX_FILE || key_size > MAX_FILE / 2 ||
        sizeof(header) + key_size > MAX_FILE - record->binary_size)
        return NULL;
    *size = sizeof(header) + key_size + record->binary_size;
    unsigned char *data = malloc(*size);
    if (!data)
        return NULL;
    header h = {.format = KILN_CACHE_FORMAT,
                .key_size = (uint32_t)key_size,
                .binary_size = record->binary_size};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(data, &h, sizeof h);
    memcpy(data + sizeof h, record->key, key_size);
    memcpy(data + sizeof h + key_size, record->binary, record->binary_size);
    h.checksum = checksum(data, *size);
    memcpy(data, &h, sizeof h);
    return data;
}

/* Reads the header of a file of `size` bytes, of which `got` are there. */
static const char *decode_header(const unsigned char *data, size_t got, size_t size, header *h)
{
    if (got < sizeof *h || size < sizeof *h)
        return "shorter than its header";
    memcpy(h, data, sizeof *h);
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return "not a file of kiln";
    if (h->format != KILN_CACHE_FORMAT)
        return "another format";
    size_t rest = size - sizeof *h;
    if (h->key_size == 0 || h->key_size > rest || h->binary_size == 0 ||
        h->binary_size != rest - h->key_size)
        return "sizes that do not add up";
    return NULL;
}

const char *kiln_cache_decode(const void *bytes, size_t size, kiln_cache_record *record)
{
    const unsigned char *data = bytes;
    header h;
    const char *why = decode_header(data, size, size, &h);
    if (why)
        return why;
    XXH128_canonical_t sum = checksum(data, size);
    if (memcmp(&h.checksum, &sum, sizeof sum) != 0)
        return "wrong checksum";
    const char *key = (const char *)data + sizeof h;
    if (memchr(key, '\0', h.key_size) != key + h.key_size - 1)
        return "a key that is no text";
    *record = (kiln_cache_record){key, data + sizeof h + h.key_size, h.binary_size};
    return NULL;
}

/* Reads `size` bytes of an open file; fewer when the file is cut short meanwhile. */
static size_t read_all(int fd, unsigned char *data, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(fd, data + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    return used;
}

static const char foreign[] = "it belongs to another user";
static const char writable[] = "group or others may write to it";

/* A driver runs what a binary says, so nobody else may have put it there. */
static const char *distrust(const struct stat *st)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return foreign;
    return st->st_mode & (S_IWGRP | S_IWOTH) ? writable : NULL;
}

bool kiln_cache_is_distrust(const char *why)
{
    return why == foreign || why == writable;
}

const char *kiln_cache_distrust_dir(const char *dir)
{
    struct stat st;
    return stat(dir, &st) == 0 ? distrust(&st) : NULL;
}

static const char *read_open(int fd, unsigned char **data, kiln_cache_record *record)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return "not a plain file";
    const char *why = distrust(&st);
    if (why)
        return why;
    if (st.st_size > MAX_FILE)
        return "too large";
    /* What is large and no file of kiln's costs one read. */
    const size_t size = (size_t)st.st_size;
    unsigned char first[sizeof(header)];
    header h;
    const size_t got = read_all(fd, first, sizeof first);
    if ((why = decode_header(first, got, size, &h)))
        return why;
    *data = malloc(size);
    if (!*data)
        return "out of memory";
    memcpy(*data, first, got);
    return kiln_cache_decode(*data, got + read_all(fd, *data + got, size - got), record);
}

const char *kiln_cache_read(int at, const char *name, bool touch, unsigned char **data,
                            kiln_cache_record *record)
{
    *data = NULL;
    /* O_NONBLOCK: a pipe of that name must not hang us. */
    int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? "not there" : "cannot be opened";
    const char *why = read_open(fd, data, record);
    if (!why && touch)
        futimens(fd, NULL); /* in a read-only cache the file keeps its age, which does no harm */
    close(fd);
    return why;
}

const char *kiln_cache_load(const char *dir, const char *key, bool touch, unsigned char **data,
                            kiln_cache_record *record)
{
    *data = NULL;
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return errno == ENOENT ? "not there" : "the directory cannot be opened";
    char name[KILN_CACHE_NAME];
    kiln_cache_name(key, name);
    struct stat st;
    const char *why = fstat(at, &st) == 0 ? distrust(&st) : "the directory cannot be read";
    if (!why)
        why = kiln_cache_read(at, name, touch, data, record);
    close(at);
    if (!why && strcmp(record->key, key) != 0)
        why = "the key of another program";
    return why;
}

/* Opens the directory, making it and its parents first when they are missing. Returns -1 and errno
 * where that fails. */
static int open_dir(const char *dir)
{
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char path[PATH_MAX];
    if (at >= 0 || errno != ENOENT || strlen(dir) >= sizeof path)
        return at;
    strcpy(path, dir);
    int error = 0;
    for (char *p = path + 1; p[-1]; p++) {
        if (*p && *p != '/')
            continue;
        char end = *p;
        *p = '\0';
        /* Another process may be making the same one. */
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            error = errno;
        *p = end;
    }
    at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0 && error)
        errno = error;
    return at;
}

int kiln_cache_make_dir(const char *dir)
{
    const int at = open_dir(dir);
    if (at < 0)
        return errno;
    close(at);
    return 0;
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
    for (size_t used = 0; used < size;) {
        ssize_t put = write(fd, data + used, size - used);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put ? errno : ENOSPC;
        used += (size_t)put;
    }
    return 0;
}

/* Creates a file that nobody else has, on any machine that shares the directory. */
static int create_temporary(int at, const char *name, char *temporary, size_t size)
{
    int fd;
    do {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            random = (uint64_t)now.tv_nsec;
        }
        snprintf(temporary, size, "%s.%ld-%016llx.tmp", name, (long)getpid(),
                 (unsigned long long)random);
        fd = openat(at, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* Returns 0 or an errno. No fsync: a file that a power cut damages is a miss. */
static int write_file(int at, const char *name, const unsigned char *data, size_t size)
{
    char temporary[KILN_CACHE_NAME + 48];
    int fd = create_temporary(at, name, temporary, sizeof temporary);
    if (fd < 0)
        return errno;
    int error = write_all(fd, data, size);
    if (close(fd) != 0 && !error) /* where a quota may speak up */
        error = errno;
    if (!error && renameat(at, temporary, at, name) != 0)
        error = errno;
    if (error)
        unlinkat(at, temporary, 0);
    return error;
}

int kiln_cache_write(const char *dir, const char *name, const kiln_cache_record *record,
                     const kiln_logger *logger)
{
    size_t size = 0;
    unsigned char *data = kiln_cache_encode(record, &size);
    int error = 0, at = -1;
    if (!data)
        error = ENOMEM;
    else if ((at = open_dir(dir)) < 0)
        error = errno;
    else
        error = write_file(at, name, data, size);
    free(data);
    if (at >= 0)
        close(at);
    if (error) {
        char text[128];
        kiln_log(logger, "cache: not stored in %s: %s", dir, strerror_r(error, text, sizeof text));
    } else {
        kiln_log(logger, "cache: stored %s/%s (%zu bytes)", dir, name, size);
    }
    return error;
}
