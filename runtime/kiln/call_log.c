/* Counts runs for each file and convolution of the process, and adds them to the file. */
#include "call_log.h"

#include "runtime/base/plain_file.h"
#include "runtime/rows/append_line.h"

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
    long long written, taken; /* runs that are in the file; in the file that is being written */
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

/* Several processes may have the same name for their file: "%p" in it is the process. */
static void name_file(const char *file, char path[PATH_TEXT])
{
    const char *mark = strstr(file, "%p");
    if (mark)
        snprintf(path, PATH_TEXT, "%.*s%ld%s", (int)(mark - file), file, (long)getpid(), mark + 2);
    else
        snprintf(path, PATH_TEXT, "%s", file);
}

enum { LINE_TEXT = KILN_KEY_TEXT + 64 };

static int call_line(char line[LINE_TEXT], const char *key, long long runs)
{
    return snprintf(line, LINE_TEXT, "kiln conv --problem %s  # %lld run%s\n", key, runs,
                    runs == 1 ? "" : "s");
}

/* Reads a line of `length` bytes that call_line() wrote. Returns false for any other one, which a
 * person may have written: it stays as it is. */
static bool read_call(const char *line, size_t length, char key[KILN_KEY_TEXT], long long *runs)
{
    static const char begin[] = "kiln conv --problem ";
    char again[LINE_TEXT];
    if (strncmp(line, begin, sizeof begin - 1) != 0)
        return false;
    const char *at = line + sizeof begin - 1;
    const size_t named = strcspn(at, " \n");
    if (named >= KILN_KEY_TEXT || sscanf(at + named, "  # %18lld run", runs) != 1 || *runs < 1)
        return false;
    memcpy(key, at, named);
    key[named] = '\0';
    const size_t written = (size_t)call_line(again, key, *runs);
    return length + (line[length - 1] != '\n') == written && memcmp(line, again, length) == 0;
}

static void write_call(FILE *to, const char *key, long long runs)
{
    char line[LINE_TEXT];
    call_line(line, key, runs);
    fputs(line, to);
}

/* Returns the runs of a call that the file does not have yet, and takes them for written. */
static long long take_runs(kiln_call *c)
{
    const long long runs = atomic_load_explicit(&c->runs, memory_order_relaxed);
    const long long more = runs - c->written;
    c->taken = runs;
    return more;
}

static kiln_call *find_call(const char *file, const char *key)
{
    kiln_call *c = calls;
    while (c && (strcmp(c->key, key) != 0 || strcmp(c->file, file) != 0))
        c = c->next;
    return c;
}

/* Copies the lines that are there, with the runs of this process added. */
static void copy_lines(FILE *from, FILE *to, const char *file)
{
    char *line = NULL, key[KILN_KEY_TEXT];
    size_t room = 0;
    ssize_t length;
    long long runs;
    bool any = false;
    while ((length = getline(&line, &room, from)) > 0) {
        kiln_call *c = NULL;
        any = true;
        if (read_call(line, (size_t)length, key, &runs))
            c = find_call(file, key);
        if (c && c->taken == c->written) {
            write_call(to, key, runs + take_runs(c));
            continue;
        }
        fwrite(line, 1, (size_t)length, to);
        if (line[length - 1] != '\n')
            fputc('\n', to);
    }
    free(line);
    if (!any)
        fputs("# convolutions that programs ran; kiln tune FILE --profile tunes them\n", to);
}

/* Writes the calls that the file does not have, the first convolution first. */
static void write_others(FILE *to, const char *file)
{
    const kiln_call *end = NULL;
    while (end != calls) {
        kiln_call *last = calls;
        while (last->next != end)
            last = last->next;
        if (strcmp(last->file, file) == 0 && last->taken == last->written) {
            const long long runs = take_runs(last);
            if (runs > 0)
                write_call(to, last->key, runs);
        }
        end = last;
    }
}

/* Ends what take_runs() began. */
static void settle_runs(const char *file, bool written)
{
    for (kiln_call *c = calls; c; c = c->next)
        if (strcmp(c->file, file) == 0) {
            if (written)
                c->written = c->taken;
            c->taken = c->written;
        }
}

/* Replaces the file, which is open and locked, or the one that a symbolic link points to. */
static bool merge_into(int fd, const char *path, const char *file)
{
    char temporary[PATH_TEXT + 32], target[PATH_TEXT];
    struct stat st;
    if (!realpath(path, target) || fstat(fd, &st) != 0)
        return false;
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", target, (long)getpid());
    const int copy = dup(fd);
    FILE *from = copy < 0 ? NULL : fdopen(copy, "re"), *to = from ? fopen(temporary, "we") : NULL;
    bool ok = to != NULL;
    if (ok) {
        fchmod(fileno(to), st.st_mode & 07777);
        copy_lines(from, to, file);
        write_others(to, file);
        ok = !ferror(from) && !ferror(to);
        ok = fclose(to) == 0 && ok;
        ok = ok && rename(temporary, target) == 0;
    }
    const int code = errno;
    if (to && !ok)
        unlink(temporary);
    if (from)
        fclose(from);
    else if (copy >= 0)
        close(copy);
    settle_runs(file, ok);
    errno = code;
    return ok;
}

/* Whether there is a run that the file does not have. */
static bool has_more(const char *file)
{
    for (const kiln_call *c = calls; c; c = c->next)
        if (strcmp(c->file, file) == 0 &&
            atomic_load_explicit(&c->runs, memory_order_relaxed) > c->written)
            return true;
    return false;
}

/* Adds to the file. Processes that share one take turns; `patient` waits for them up to a second.
 */
static bool write_file(const char *file, const char *path, bool patient)
{
    const int fd = has_more(file) ? kiln_append_open_locked(path, patient ? 1000 : 0) : -1;
    if (fd < 0)
        return !has_more(file) || (!patient && errno == EWOULDBLOCK);
    const bool ok = merge_into(fd, path, file);
    const int code = errno;
    close(fd);
    errno = code;
    return ok;
}

static void write_and_tell(const char *file, const kiln_logger *logger, bool patient)
{
    char path[PATH_TEXT], reason[128];
    name_file(file, path);
    pthread_mutex_lock(&lock);
    const bool ok = write_file(file, path, patient);
    const int code = errno;
    pthread_mutex_unlock(&lock);
    if (!ok)
        kiln_warn(logger, "KILN_LOG_CMD: cannot write %s: %s", path,
                  kiln_plain_file_reason(code, reason));
}

void kiln_call_log_write(const char *file, const kiln_logger *logger)
{
    write_and_tell(file, logger, true);
}

void kiln_call_count(kiln_call *c)
{
    if (!c)
        return;
    const long long runs = atomic_fetch_add_explicit(&c->runs, 1, memory_order_relaxed) + 1;
    if ((runs & (runs - 1)) == 0)
        write_and_tell(c->file, NULL, false);
}
