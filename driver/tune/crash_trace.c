/* Writes the stack of a process that crashes, and makes a line of it.
 *
 * The handler has a stack of its own, for the other one may be full. The C library's backtrace()
 * and backtrace_symbols_fd() take no memory once the unwinder is loaded. */
#include "crash_trace.h"

#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The handler and what called it are the innermost frames. */
enum { OWN_FRAMES = 2, MOST_FRAMES = 32 };

static int trace_fd = -1;

/* Threads that crash together, as one kernel's do, wait for the first one to end the process. The
 * signal comes back when the handler has returned. */
static void on_crash(int number)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    void *frame[MOST_FRAMES];
    while (atomic_flag_test_and_set(&taken))
        pause();
    const int n = backtrace(frame, MOST_FRAMES);
    if (n > OWN_FRAMES)
        backtrace_symbols_fd(frame + OWN_FRAMES, n - OWN_FRAMES, trace_fd);
    signal(number, SIG_DFL);
    raise(number);
}

void crash_trace_to(int fd)
{
    /* Linux refuses AMX to a process with a stack for signals on which its registers have no room.
     */
    static char room[64 << 10];
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    const struct sigaction ours = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    void *frame;
    trace_fd = fd;
    backtrace(&frame, 1); /* loads the unwinder */
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
    }
}

/* Makes "/usr/lib/libc.so.6(abort+0xd3)[0x7f...]" shorter: "libc.so.6(abort+0xd3)". */
static const char *shorten(char *line)
{
    char *address = strchr(line, '[');
    if (address > line)
        *address = '\0';
    const char *slash = strrchr(line, '/');
    return slash ? slash + 1 : line;
}

void crash_trace_read(int fd, char *text, unsigned size)
{
    char lines[8192], *next;
    const ssize_t got = pread(fd, lines, sizeof lines - 1, 0);
    size_t used = 0;
    text[0] = '\0';
    lines[got > 0 ? got : 0] = '\0';
    for (char *line = strtok_r(lines, "\n", &next); line && used < size;
         line = strtok_r(NULL, "\n", &next))
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", used ? " < " : "", shorten(line));
}
