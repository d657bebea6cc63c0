/* Fuzzes logs of trials: texts end within their fields, and a line that was read can be written so
 * that it reads the same. */
#include "kiln_tune.h"

#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

/* A log in memory, which has a name all the same. */
typedef struct log_file {
    int fd;
    char name[64];
} log_file;

static void open_log(log_file *l)
{
    l->fd = memfd_create("trials", MFD_CLOEXEC);
    require(l->fd >= 0);
    snprintf(l->name, sizeof l->name, "/proc/self/fd/%d", l->fd);
}

typedef struct lines {
    kiln_trial_line first;
    int count;
} lines;

static void check_line(void *user, const kiln_trial_line *line)
{
    lines *l = user;
    require(memchr(line->time, 0, sizeof line->time));
    require(*line->problem && memchr(line->problem, 0, sizeof line->problem));
    require(*line->key && memchr(line->key, 0, sizeof line->key));
    require(*line->verdict && memchr(line->verdict, 0, sizeof line->verdict));
    require(*line->solver || line->kind == KILN_LINE_SEARCH);
    require(memchr(line->solver, 0, sizeof line->solver));
    require(memchr(line->config, 0, sizeof line->config));
    require(memchr(line->hash, 0, sizeof line->hash) && memchr(line->why, 0, sizeof line->why));
    require(line->kind == KILN_LINE_TRIAL || line->kind == KILN_LINE_SEARCH);
    if (l->count++ == 0)
        l->first = *line;
}

/* Returns the only line of a log that has `line` alone. */
static bool written_and_read(const log_file *log, const kiln_trial_line *line, kiln_trial_line *to)
{
    lines all = {.count = 0};
    int64_t skipped = -1;
    require(ftruncate(log->fd, 0) == 0);
    if (kiln_trials_append(log->name, line) != KILN_OK)
        return false; /* too long */
    require(kiln_trials_read(log->name, NULL, check_line, &all, &skipped) == KILN_OK);
    require(all.count == 1 && skipped == 0);
    *to = all.first;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static log_file given, own;
    kiln_trial_line once, twice;
    lines all = {.count = 0};
    int64_t skipped = -1, ends = 0;
    if (!given.fd) {
        open_log(&given);
        open_log(&own);
    }
    require(ftruncate(given.fd, 0) == 0 && pwrite(given.fd, data, size, 0) == (ssize_t)size);
    require(kiln_trials_read(given.name, NULL, check_line, &all, &skipped) == KILN_OK);
    for (size_t i = 0; i < size; i++)
        ends += data[i] == '\n';
    require(skipped >= 0 && all.count + skipped <= ends + 1);
    if (all.count == 0 || !written_and_read(&own, &all.first, &once) ||
        !written_and_read(&own, &once, &twice))
        return 0;
    /* The first time, characters that are not plain are exchanged, and digits are dropped. */
    require(once.kind == twice.kind && once.ms == twice.ms && once.runs == twice.runs);
    require(strcmp(once.problem, twice.problem) == 0 && strcmp(once.config, twice.config) == 0);
    require(strcmp(once.solver, twice.solver) == 0 && strcmp(once.why, twice.why) == 0);
    return 0;
}
