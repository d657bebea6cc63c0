/* Starts a process of the command `kiln` that compiles. */
#include "workers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Writes the problems' names into a file without a name, one a line. Returns -1 on failure. */
static int list_problems(const kiln_problem *problems, size_t count, size_t first, size_t step)
{
    const int fd = memfd_create("kiln-problems", MFD_CLOEXEC);
    FILE *to = fd < 0 ? NULL : fdopen(dup(fd), "w");
    for (size_t i = first; to && i < count; i += step) {
        char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
        kiln_problem p = problems[i];
        if (kiln_problem_check(&p, why) == KILN_OK) { /* the caller tells of the others */
            kiln_problem_text(&p, text, sizeof text);
            fprintf(to, "%s\n", text);
        }
    }
    const bool written = to && fclose(to) == 0;
    if (!written && fd >= 0)
        close(fd);
    return written && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
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

static pid_t start(const char *command, char *const *words, char *const *variables, int list)
{
    posix_spawn_file_actions_t files;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawn_file_actions_adddup2(&files, list, STDIN_FILENO) != 0 ||
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
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

bool kiln_worker_prepare(const kiln *k, const kiln_problem *problems, size_t count, size_t first,
                         size_t step)
{
    char command[PATH_MAX], device[32];
    environment *e = calloc(1, sizeof *e);
    if (!e || !find_command(command) || !device_name(k->device, device)) {
        free(e);
        return false;
    }
    char *const words[] = {command, "prepare", "--jobs", "1", "--device", device, "-", NULL};
    const int list = list_problems(problems, count, first, step);
    make_environment(e, k);
    const pid_t child = list >= 0 && e->all ? start(command, words, e->all, list) : -1;
    if (list >= 0)
        close(list);
    const bool done = child > 0 && succeeds(child);
    if (child > 0)
        kiln_log(&k->logger, "prepare: a process of %s has %s", command,
                 done ? "done its part" : "failed");
    free(e->all);
    free(e);
    return done;
}
