/* Starts and ends child processes. */
#include "tune_child.h"

#include "crash_trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_limit(int what, rlim_t value)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)what, &limit) != 0)
        return;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value)
        value = limit.rlim_max;
    limit.rlim_cur = value;
    setrlimit((__rlimit_resource_t)what, &limit);
}

/* RLIMIT_DATA counts memory that is private and can be written. RLIMIT_AS would count the addresses
 * that a GPU's driver reserves, which are more than any machine has. */
static void enter(pid_t parent, int64_t memory)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    set_limit(RLIMIT_CORE, 0);
    if (memory > 0)
        set_limit(RLIMIT_DATA, (rlim_t)memory);
}

bool tune_child_start(tune_child *c, int (*run)(int fd, void *user), void *user, int64_t memory)
{
    int ends[2];
    const pid_t parent = getpid();
    *c = (tune_child){.fd = -1, .trace = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    const int trace = memfd_create("crash", MFD_CLOEXEC);
    fflush(NULL); /* what is in a buffer now must be written once */
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        enter(parent, memory);
        crash_trace_to(trace);
        _exit(run(ends[1], user));
    }
    const int code = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        close(trace);
        errno = code;
        return false;
    }
    *c = (tune_child){pid, ends[0], trace};
    return true;
}

static void tell_signal(const tune_child *c, int number, char *how, unsigned size)
{
    char stack[1024];
    crash_trace_read(c->trace, stack, sizeof stack);
    snprintf(how, size, "signal %d (%s)%s%s", number, strsignal(number), *stack ? " in " : "",
             stack);
}

void tune_child_kill(const tune_child *c)
{
    if (c->pid > 0)
        kill(c->pid, SIGKILL);
}

void tune_child_end(tune_child *c, char *how, unsigned size)
{
    int status = 0;
    pid_t ended = 0;
    if (size)
        how[0] = '\0';
    if (c->pid <= 0)
        return;
    /* Its socket is closed a moment before it has ended. */
    for (int i = 0; i < 50 && (ended = waitpid(c->pid, &status, WNOHANG)) == 0; i++)
        usleep(2000);
    if (ended == 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
            ;
    } else if (ended == c->pid && WIFSIGNALED(status) && size) {
        tell_signal(c, WTERMSIG(status), how, size);
    } else if (ended == c->pid && size) {
        snprintf(how, size, "exit status %d", WEXITSTATUS(status));
    }
    close(c->fd);
    close(c->trace);
    *c = (tune_child){.fd = -1, .trace = -1};
}
