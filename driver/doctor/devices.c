/* The checks of devices: which there are, their traps, their rows, and what they compute. */
#include "driver/base/number_text.h"
#include "driver/base/session.h"
#include "driver/conv/conv.h"
#include "kiln_tune.h"

#include "finding.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void check_devices(const call *c)
{
    static char spec[DEVICE_MOST][DEVICE_SPEC];
    int count;
    char why[KILN_ERROR_TEXT];
    if (device_find("all", spec, &count, why) || count == 0) {
        tell(c, FOUND_BAD, NULL, "%s", why);
        return;
    }
    for (int i = 0; i < count; i++) {
        const call of = {.check = c->check, .device = spec[i], .to = c->to};
        tell(&of, FOUND_OK, NULL, "found");
    }
}

/* What is known of an implementation, and seen by its platform's name and version
 * (docs/implementations.md). */
static const struct {
    const char *platform, *version, *trap, *remedy;
} traps[] = {
    {"Portable Computing", "PoCL 5.0", "PoCL 5.0 loses values across barriers in loops",
     "kiln avoids these loops; PoCL 6.0 and 3.1 are right"},
    {"Portable Computing", "pocl 1.", "kiln was never tried on this old PoCL",
     "install PoCL 3.1 "
     "or later"},
    {"Portable Computing", "PoCL 2.", "kiln was never tried on this old PoCL",
     "install PoCL 3.1 "
     "or later"},
    {"rusticl", "", "rusticl's clock may stand still, and it compiles for minutes on a CPU",
     "time with --wall 1; on a CPU, take PoCL"},
    {"Oclgrind", "", "Oclgrind is a simulator", "take another device to measure"},
};

static bool open_device(const call *c, session *s)
{
    char why[KILN_ERROR_TEXT];
    session_quiet();
    const kiln_status status = session_open(s, c->device, why);
    if (status == KILN_OK)
        return true;
    tell(c, FOUND_BAD, status == KILN_OPENCL ? NULL : "mend what the sentence names", "%s", why);
    return false;
}

void check_device(const call *c)
{
    session s;
    char platform[200] = "", version[300] = "", driver[128] = "", size[NUMBER_TEXT];
    cl_platform_id id = NULL;
    cl_uint units = 0;
    if (!open_device(c, &s))
        return;
    clGetDeviceInfo(s.device, CL_DEVICE_PLATFORM, sizeof id, &id, NULL);
    clGetDeviceInfo(s.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(s.device, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    clGetPlatformInfo(id, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    clGetPlatformInfo(id, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    tell(c, FOUND_OK, NULL, "%s %s, %u units, %s, driver %s, %s",
         s.gpu   ? "gpu"
         : s.cpu ? "cpu"
                 : "accelerator",
         s.name, units, size_text((int64_t)s.memory, size), driver, version);
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++)
        if (strstr(platform, traps[i].platform) && strstr(version, traps[i].version))
            tell(c, FOUND_WARNING, traps[i].remedy, "%s", traps[i].trap);
}

typedef struct rows_count {
    int rows, bad;
} rows_count;

static void count_piece(void *user, const kiln_rows_piece *p)
{
    rows_count *n = user;
    n->rows += p->kind == KILN_ROWS_ROW;
    n->bad += p->kind == KILN_ROWS_BAD || (p->kind == KILN_ROWS_HEAD && p->why);
}

static void check_own_rows(const call *c, const char *file)
{
    rows_count n = {0};
    if (!*file)
        tell(c, FOUND_OK, NULL, "the user's are off");
    else if (access(file, F_OK) != 0 && errno == ENOENT)
        tell(c, FOUND_OK, NULL, "%s: none yet; kiln conv -s 1 and kiln tune write them", file);
    else if (kiln_rows_read(file, count_piece, &n))
        tell(c, FOUND_WARNING, "make it readable, or set KILN_DB", "%s", kiln_last_error());
    else
        tell(c, n.bad ? FOUND_WARNING : FOUND_OK, NULL, "%s: %d rows, %d of no use", file, n.rows,
             n.bad);
}

static void check_shipped_rows(const call *c, const char *folder)
{
    char pattern[PATH_MAX + 8];
    glob_t files;
    if (!*folder) {
        tell(c, FOUND_OK, NULL, "the shipped ones are off");
        return;
    }
    snprintf(pattern, sizeof pattern, "%s/*.yaml", folder);
    if (glob(pattern, 0, NULL, &files) != 0) {
        tell(c, FOUND_WARNING, "install them again, or set KILN_SHIPPED_DB",
             "%s has no shipped rows: kiln guesses", folder);
        return;
    }
    tell(c, FOUND_OK, NULL, "%s: %zu shipped files", folder, files.gl_pathc);
    globfree(&files);
}

void check_rows(const call *c)
{
    session s;
    if (!open_device(c, &s))
        return;
    check_own_rows(c, kiln_rows_file(s.kiln));
    check_shipped_rows(c, kiln_shipped_dir(s.kiln));
}

/* Returns the first line of a text that is no warning, without "kiln: ", in `line`. */
static const char *first_line(FILE *said, char *line, int size)
{
    rewind(said);
    do
        if (!fgets(line, size, said))
            return "no reason given";
    while (strstr(line, "warning:") || *line == '\n');
    line[strcspn(line, "\n")] = '\0';
    return line + (strncmp(line, "kiln: ", 6) == 0 ? 6 : 0);
}

/* Tells what came of a convolution; the remedy has the command that repeats it. */
static void tell_convolution(const call *c, int status, char **argv, const char *why)
{
    char remedy[300];
    size_t used = (size_t)snprintf(remedy, sizeof remedy, "report what this says: kiln");
    for (; *argv && used < sizeof remedy; argv++)
        used += (size_t)snprintf(remedy + used, sizeof remedy - used, " %s", *argv);
    if (status == 0)
        tell(c, FOUND_OK, NULL, "a 3x3 convolution is right");
    else if (status == 1)
        tell(c, FOUND_BAD, remedy, "a 3x3 convolution is wrong");
    else
        tell(c, status == KILN_UNSUPPORTED ? FOUND_WARNING : FOUND_BAD, remedy, "%s", why);
}

/* Runs a small convolution as `kiln conv` does, verified by the reference. */
void check_convolution(const call *c)
{
    char word[24], device[24], line[600];
    snprintf(word, sizeof word, "%s", c->check->name);
    snprintf(device, sizeof device, "%s", c->device);
    char *argv[] = {word, "-n", "1", "-c", "16", "-H", "8", "-W",       "8",    "-k",
                    "16", "-y", "3", "-x", "3",  "-p", "1", "-q",       "1",    "-F",
                    "1",  "-V", "1", "-t", "0",  "-i", "1", "--device", device, NULL};
    unsetenv("KILN_LOG_CMD"); /* the user does not run this */
    session_quiet();
    FILE *said = tmpfile();
    if (said)
        dup2(fileno(said), STDERR_FILENO);
    const int status = conv_command((int)(sizeof argv / sizeof *argv) - 1, argv);
    fflush(stderr);
    tell_convolution(c, status, argv,
                     said ? first_line(said, line, sizeof line) : "no reason given");
}
