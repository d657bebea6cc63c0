/* Writes spans as lines of JSON, each in a single write(). */
#include "trace.h"

#include "clock.h"
#include "json_csv.h"
#include "replaced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    replaced_file file;
    int fd; /* -1: there is no trace */
    int64_t began;
    int error; /* an errno: something was not written */
    pid_t opener;
} trace = {.fd = -1};

/* Appends a text; processes that append at once do not mix theirs. */
static void append(const char *text, size_t length)
{
    const ssize_t written = write(trace.fd, text, length);
    if (written != (ssize_t)length)
        trace.error = written < 0 ? errno : ENOSPC;
}

/* Keeps standard output for the trace: what else is printed goes to standard error. */
static int claim_standard_output(void)
{
    fflush(stdout);
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return fd;
}

/* A signal ends the process: what is written so far has no end, and goes. */
static void discard_at_end(int number)
{
    if (getpid() == trace.opener && *trace.file.temporary)
        unlink(trace.file.temporary);
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_ends(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    trace.opener = getpid();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            signal(numbers[i], discard_at_end);
    }
}

kiln_status trace_open(const char *name, char *why)
{
    static const char head[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    if (!*name)
        return KILN_OK;
    kiln_status status = replaced_file_open(&trace.file, name, why);
    if (status)
        return status;
    trace.fd = trace.file.to == stdout ? claim_standard_output() : fileno(trace.file.to);
    if (trace.fd < 0) {
        snprintf(why, KILN_ERROR_TEXT, "cannot write standard output: %s", strerror(errno));
        return KILN_FILE;
    }
    const int flags = fcntl(trace.fd, F_GETFL);
    fcntl(trace.fd, F_SETFL, flags | O_APPEND);
    trace.began = clock_ns();
    watch_ends();
    append(head, sizeof head - 1);
    trace_name_process("kiln");
    return KILN_OK;
}

kiln_status trace_close(char *why)
{
    static const char tail[] = "\n]}\n";
    if (trace.fd < 0)
        return KILN_OK;
    append(tail, sizeof tail - 1);
    trace.fd = -1;
    if (!trace.error)
        return replaced_file_close(&trace.file, why);
    snprintf(why, KILN_ERROR_TEXT, "cannot write %.150s: %s", trace.file.name,
             strerror(trace.error));
    replaced_file_discard(&trace.file);
    return KILN_FILE;
}

/* Makes and appends a line; `put` writes what is special about it. */
static void add(const char *phase, const char *name, int64_t begin, int64_t end, const char *key,
                const char *value)
{
    char *line = NULL;
    size_t length = 0;
    /* The process that opened the trace comes here first, while it has one thread and no child. */
    static bool first = true;
    FILE *to = open_memstream(&line, &length);
    if (!to)
        return;
    fprintf(to, "%s{\"ph\":\"%s\",\"pid\":%ld,\"tid\":%ld,\"name\":", first ? "" : ",\n", phase,
            (long)getpid(), (long)syscall(SYS_gettid));
    json_string(to, name);
    if (end)
        fprintf(to, ",\"cat\":\"kiln\",\"ts\":%.3f,\"dur\":%.3f",
                (double)(begin - trace.began) * 1e-3, (double)(end - begin) * 1e-3);
    fprintf(to, ",\"args\":{\"%s\":", key);
    json_string(to, value);
    fputs("}}", to);
    if (fclose(to) == 0 && line)
        append(line, length);
    if (first)
        first = false;
    free(line);
}

void trace_name_process(const char *name)
{
    if (trace.fd >= 0)
        add("M", "process_name", 0, 0, "name", name);
}

int64_t trace_begin(void)
{
    return trace.fd < 0 ? 0 : clock_ns();
}

void trace_end(int64_t begin, const char *what, const char *detail)
{
    if (trace.fd >= 0 && begin)
        add("X", what, begin, clock_ns(), "detail", detail);
}

static void hear(void *user, const char *what, const char *detail, int64_t begin, int64_t end)
{
    (void)user;
    if (trace.fd >= 0)
        add("X", what, begin, end, "detail", detail);
}

trace_listener *trace_of_library(void)
{
    return trace.fd < 0 ? NULL : hear;
}
