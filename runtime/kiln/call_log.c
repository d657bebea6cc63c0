/* Counts runs for each file and convolution of the process, and writes them down. */
#include "call_log.h"

#include "runtime/base/plain_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 4096 };

struct kiln_call {
    kiln_call *next; /* newest first */
    char *file;
    char key[KILN_KEY_TEXT];
    atomic_llong runs;
};

/* Kilns come and go, and the file has the runs of all: nothing is ever removed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kiln_call *calls;

kiln_call *kiln_call_of(const char *file, const kiln_problem *problem)
{
    char key[KILN_KEY_TEXT];
    kiln_problem_text(problem, key, sizeof key);
    pthread_mutex_lock(&lock);
    kiln_call *c = calls;
    while (c && (strcmp(c->key, key) != 0 || strcmp(c->file, file) != 0))
        c = c->next;
    if (!c && (c = calloc(1, sizeof *c))) {
        c->file = strdup(file);
        memcpy(c->key, key, sizeof key);
        c->next = calls;
        if (c->file) {
            calls = c;
        } else {
            free(c);
            c = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return c;
}

void kiln_call_count(kiln_call *c)
{
    if (!c)
        return;
    const long long runs = atomic_fetch_add_explicit(&c->runs, 1, memory_order_relaxed) + 1;
    if ((runs & (runs - 1)) == 0)
        kiln_call_log_write(c->file, NULL);
}

/* Several processes may have the same name for their file: "%p" in it is the process. */
static void name_file(const char *file, char path[PATH_TEXT])
{
    const char *mark = strstr(file, "%p");
    if (mark)
        snprintf(path, PATH_TEXT, "%.*s%ld%s", (int)(mark - file), file, (long)getpid(), mark + 2);
    else
        snprintf(path, PATH_TEXT, "%s", file);
}

/* Writes the lines of a file, the first convolution first. */
static void write_lines(FILE *to, const kiln_call *c, const char *file)
{
    const kiln_call *end = NULL;
    while (end != c) {
        const kiln_call *last = c;
        while (last->next != end)
            last = last->next;
        const long long runs = atomic_load_explicit(&last->runs, memory_order_relaxed);
        if (runs > 0 && strcmp(last->file, file) == 0)
            fprintf(to, "kiln conv --problem %s  # %lld run%s\n", last->key, runs,
                    runs == 1 ? "" : "s");
        end = last;
    }
}

/* Replaces the file, or the one that a symbolic link points to: a device or a pipe must stay. */
static bool write_file(const char *path, const char *file)
{
    char temporary[PATH_TEXT + 32], target[PATH_TEXT];
    struct stat st;
    if (stat(path, &st) == 0) {
        if (!S_ISREG(st.st_mode)) {
            errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
            return false;
        }
        if (!realpath(path, target))
            return false;
        path = target;
    }
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    FILE *to = fopen(temporary, "we");
    if (!to)
        return false;
    fprintf(to, "# convolutions that a program ran; kiln tune FILE --profile tunes them\n");
    write_lines(to, calls, file);
    bool ok = !ferror(to);
    ok = fclose(to) == 0 && ok;
    ok = ok && rename(temporary, path) == 0;
    const int code = errno;
    if (!ok)
        unlink(temporary);
    errno = code;
    return ok;
}

/* A process that runs nothing must not replace what another one has left. */
static bool has_runs(const char *file)
{
    for (const kiln_call *c = calls; c; c = c->next)
        if (strcmp(c->file, file) == 0 && atomic_load_explicit(&c->runs, memory_order_relaxed) > 0)
            return true;
    return false;
}

void kiln_call_log_write(const char *file, const kiln_logger *logger)
{
    char path[PATH_TEXT], reason[128];
    name_file(file, path);
    pthread_mutex_lock(&lock);
    const bool ok = !has_runs(file) || write_file(path, file);
    const int code = errno;
    pthread_mutex_unlock(&lock);
    if (!ok)
        kiln_warn(logger, "KILN_LOG_CMD: cannot write %s: %s", path,
                  kiln_plain_file_reason(code, reason));
}
