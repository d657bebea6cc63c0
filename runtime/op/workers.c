/* Starts processes of the command `kiln` that compile, and hands out problems to them. */

#include "workers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Returns whether `path`, relative to the folder of `file`, is a program. */
static bool find_beside(const char *file, const char *path, char command[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    return slash &&
           snprintf(command, PATH_MAX, "%.*s/%s", (int)(slash - file), file, path) < PATH_MAX &&
           access(command, X_OK) == 0;
}

/* Finds the command: as the environment says, or beside the library or program that this is part
 * of, as built or as installed. */
static bool find_command(char command[PATH_MAX])
{
    static const char here;
    const char *named = getenv("KILN_COMMAND");
    char self[PATH_MAX];
    Dl_info info;
    if (named && *named)
        return snprintf(command, PATH_MAX, "%s", named) < PATH_MAX && access(command, X_OK) == 0;
    if (dladdr(&here, &info) && (find_beside(info.dli_fname, "kiln", command) ||
                                 find_beside(info.dli_fname, KILN_COMMAND_BESIDE, command)))
        return true;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    return find_beside(self, "kiln", command);
}

/* Writes the device's name for --device; false where no platform lists it, as a sub-device. */
static bool device_name(cl_device_id device, char name[32])
{
    enum { MOST = 64 };
    cl_platform_id platforms[MOST];
    cl_uint nplatforms = 0;
    if (clGetPlatformIDs(MOST, platforms, &nplatforms) != CL_SUCCESS)
        return false;
    for (cl_uint p = 0; p < nplatforms && p < MOST; p++) {
        cl_device_id devices[MOST];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < MOST; d++)
            if (devices[d] == device)
                return snprintf(name, 32, "%u:%u", p, d) < 32;
    }
    return false;
}

/* The environment of the process says what this kiln's settings say. */
enum { SETTINGS = 6 };

typedef struct environment {
    char text[SETTINGS][4096 + 32];
    char **all; /* to be freed; NULL: out of memory */
} environment;

static void set(environment *e, int i, const char *name, const char *value)
{
    snprintf(e->text[i], sizeof e->text[i], "%s=%s", name, *value ? value : "off");
}

static bool is_set(const environment *e, const char *entry)
{
    for (int i = 0; i < SETTINGS; i++)
        if (strncmp(entry, e->text[i], strcspn(e->text[i], "=") + 1) == 0)
            return true;
    return false;
}

static void make_environment(environment *e, const kiln *k)
{
    size_t count = 0, used = 0;
    set(e, 0, "KILN_CACHE_DIR", k->cache_dir);
    set(e, 1, "KILN_DB", k->rows_file);
    set(e, 2, "KILN_SHIPPED_DB", k->shipped_dir);
    set(e, 3, "KILN_BUNDLE", "");
    set(e, 4, "KILN_TEMPLATES", k->template_dir);
    set(e, 5, "KILN_CACHE", *k->cache_dir ? "on" : "off");
    while (environ[count])
        count++;
    e->all = calloc(count + SETTINGS + 1, sizeof *e->all);
    for (size_t i = 0; e->all && i < count; i++)
        if (!is_set(e, environ[i]))
            e->all[used++] = environ[i];
    for (int i = 0; e->all && i < SETTINGS; i++)
        e->all[used++] = e->text[i];
}

/* Standard output is a pipe that nobody writes to but the process's last words: when this process
 * has ended, it has no reader any more. */
static pid_t start(const char *command, char *const *words, char *const *variables, int input,
                   int output)
{
    posix_spawn_file_actions_t files;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) != 0 ||
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) != 0 ||
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawn(&child, command, &files, NULL, words, variables) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&files);
    return child;
}

static bool succeeds(pid_t child)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- problems, each a packet with its name as a line ---- */

enum { MOST = 64, READ = 0, WRITE = 1 };

struct kiln_workers {
    const kiln *k;
    const kiln_problem *problem;
    size_t count, sent;
    int end[2]; /* of the socket: to read problems from, and to write them to */
    bool whole; /* every problem was handed out */
    int alive;  /* the end to read from of the pipe that tells the processes of this one's end */
    int processes;
    pid_t process[MOST];
};

/* Writes the name with a line's end. Returns its length; 0: the problem has none. */
static size_t line_of(const kiln_problem *problem, char line[KILN_KEY_TEXT + 1])
{
    kiln_problem p = *problem;
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_check(&p, why) != KILN_OK)
        return 0;
    kiln_problem_text(&p, line, KILN_KEY_TEXT);
    strcat(line, "\n");
    return strlen(line);
}

/* The processes end when they have read everything. */
static void finish_sending(kiln_workers *w)
{
    if (w->end[WRITE] >= 0)
        close(w->end[WRITE]);
    w->end[WRITE] = -1;
}

/* Sends what the socket has room for. Closes the end to write to when all is sent, which ends the
 * processes. */
static void send_some(kiln_workers *w)
{
    char line[KILN_KEY_TEXT + 1];
    while (w->sent < w->count) {
        const size_t length = line_of(&w->problem[w->sent], line);
        if (length > 0 && send(w->end[WRITE], line, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
                return;
            w->whole = false;
        }
        if (length == 0)
            w->whole = false;
        w->sent++;
    }
    finish_sending(w);
}

bool kiln_workers_take(kiln_workers *w, kiln_problem *p)
{
    char line[KILN_KEY_TEXT + 1], why[KILN_ERROR_TEXT];
    ssize_t length;
    do {
        send_some(w);
        length = recv(w->end[READ], line, KILN_KEY_TEXT, MSG_DONTWAIT);
    } while (length < 0 && (errno == EINTR || w->sent < w->count));
    if (length <= 0)
        return false;
    line[length - 1] = '\0';
    const bool read = kiln_problem_parse(p, line, why) == KILN_OK;
    w->whole = w->whole && read;
    return read;
}

static void close_ends(kiln_workers *w)
{
    close(w->end[READ]);
    if (w->end[WRITE] >= 0)
        close(w->end[WRITE]);
}

static void free_workers(kiln_workers *w)
{
    close(w->alive);
    free(w);
}

/* Waits for a process as long as the patience lasts, then kills it. */
static void stop(pid_t child, int *milliseconds)
{
    while (waitpid(child, NULL, WNOHANG) == 0) {
        if ((*milliseconds)-- <= 0) {
            kill(child, SIGKILL);
            succeeds(child);
            return;
        }
        usleep(1000);
    }
}

void kiln_workers_stop(kiln_workers *w)
{
    char line[KILN_KEY_TEXT + 1];
    const bool ours = kiln_is_here(w->k); /* in a child of fork() they are another's */
    int patience = 10000;                 /* a program takes a second at most */
    while (ours && recv(w->end[READ], line, sizeof line, MSG_DONTWAIT) > 0)
        ;
    close_ends(w);
    for (int i = 0; i < w->processes && ours; i++)
        stop(w->process[i], &patience);
    free_workers(w);
}

bool kiln_workers_end(kiln_workers *w)
{
    bool done = w->whole && w->sent == w->count;
    close_ends(w);
    for (int i = 0; i < w->processes; i++) {
        const bool fine = succeeds(w->process[i]);
        kiln_log(&w->k->logger, "prepare: a process has %s", fine ? "done its part" : "failed");
        done = fine && done;
    }
    free_workers(w);
    return done;
}

/* Starts the processes; they read problems as soon as there are any. */
static bool start_all(kiln_workers *w, int processes, int output)
{
    char command[PATH_MAX], device[32];
    environment *e = calloc(1, sizeof *e);
    if (e && find_command(command) && device_name(w->k->device, device)) {
        char *const words[] = {command,    "prepare", "--jobs", "1", "--while-read",
                               "--device", device,    "-",      NULL};
        make_environment(e, w->k);
        for (int i = 0; e->all && i < processes && i < MOST; i++) {
            const pid_t child = start(command, words, e->all, w->end[READ], output);
            if (child > 0)
                w->process[w->processes++] = child;
        }
    }
    free(e ? e->all : NULL);
    free(e);
    return w->processes > 0;
}

kiln_workers *kiln_workers_start(const kiln *k, const kiln_problem *problems, size_t count,
                                 int processes)
{
    kiln_workers *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (kiln_workers){.k = k, .problem = problems, .count = count, .whole = true};
    int lifeline[2];
    if (pipe2(lifeline, O_CLOEXEC) != 0) {
        free(w);
        return NULL;
    }
    w->alive = lifeline[READ];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, w->end) == 0) {
        const bool started = start_all(w, processes, lifeline[WRITE]);
        close(lifeline[WRITE]);
        if (started) {
            send_some(w);
            return w;
        }
        close(w->end[READ]);
        close(w->end[WRITE]);
    } else {
        close(lifeline[WRITE]);
    }
    free_workers(w);
    return NULL;
}

kiln_workers *kiln_workers_start_behind(const kiln *k, const kiln_problem *problems, size_t count,
                                        int processes)
{
    kiln_problem *back = malloc(count * sizeof *back);
    for (size_t i = 0; back && i < count; i++)
        back[i] = problems[count - 1 - i];
    kiln_workers *w = back ? kiln_workers_start(k, back, count, processes) : NULL;
    /* What the socket has no room for are the first problems of hundreds, which the caller has
     * compiled long before. No more is sent, so that the processes end after the last one. */
    if (w)
        finish_sending(w);
    free(back);
    return w;
}
