/* Runs checks in processes of their own. */
#include "guard.h"

#include "driver/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(finding *f, const call *c, verdict v, const char *remedy)
{
    *f = (finding){.verdict = v};
    snprintf(f->check, sizeof f->check, "%s", c->check->name);
    snprintf(f->device, sizeof f->device, "%s", c->device);
    if (!remedy)
        remedy = c->check->remedy;
    if (v != FOUND_OK && remedy)
        snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
}

void tell(const call *c, verdict v, const char *remedy, const char *format, ...)
{
    finding f;
    fill(&f, c, v, remedy);
    va_list list;
    va_start(list, format);
    vsnprintf(f.value, sizeof f.value, format, list);
    va_end(list);
    if (write(c->to, &f, sizeof f) != (ssize_t)sizeof f)
        _exit(1);
}

/* What drivers print is nobody's answer. */
static void run_child(const call *c)
{
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    c->check->run(c);
    _exit(0);
}

/* Reads findings until the child ends; returns false where it has not at the deadline. */
static bool hear(int from, double deadline, void (*found)(void *user, const finding *f), void *user)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    for (;;) {
        const double left = deadline - clock_ms();
        const int ready = left > 0 ? poll(&wait, 1, (int)left + 1) : 0;
        if (ready == 0)
            return false;
        finding f;
        if (ready > 0) {
            const ssize_t got = read(from, &f, sizeof f);
            if (got == (ssize_t)sizeof f)
                found(user, &f);
            else if (got >= 0 || errno != EINTR)
                return true;
        }
    }
}

/* Ends a child that is late. It is not waited for: a driver may sit in the kernel. */
static void end_late(const call *c, pid_t child, int seconds,
                     void (*found)(void *user, const finding *f), void *user)
{
    finding f;
    fill(&f, c, FOUND_BAD, "the driver hangs or is very slow: --limit gives it longer");
    snprintf(f.value, sizeof f.value, "no answer within %d s", seconds);
    kill(child, SIGKILL);
    found(user, &f);
}

static void wait_for(const call *c, pid_t child, void (*found)(void *user, const finding *f),
                     void *user)
{
    int status;
    finding f;
    if (waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return;
    fill(&f, c, FOUND_BAD, "the driver ended the process: install another version of it");
    if (WIFSIGNALED(status))
        snprintf(f.value, sizeof f.value, "died of signal %d, %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(f.value, sizeof f.value, "ended with %d", WEXITSTATUS(status));
    found(user, &f);
}

void guard_run(const check *check, const char *device, int seconds,
               void (*found)(void *user, const finding *f), void *user)
{
    int ends[2] = {-1, -1};
    call c = {.check = check, .device = device};
    const pid_t child = pipe2(ends, O_CLOEXEC) == 0 ? (fflush(NULL), fork()) : -1;
    if (child == 0) {
        close(ends[0]);
        c.to = ends[1];
        run_child(&c);
    }
    if (child < 0) {
        finding f;
        fill(&f, &c, FOUND_BAD, "let this user start processes");
        snprintf(f.value, sizeof f.value, "no process for the check: %s", strerror(errno));
        found(user, &f);
    }
    close(ends[1]);
    if (child > 0) {
        if (hear(ends[0], clock_ms() + 1000.0 * seconds, found, user))
            wait_for(&c, child, found, user);
        else
            end_late(&c, child, seconds, found, user);
    }
    close(ends[0]);
}
