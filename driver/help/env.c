/* The environment variables that kiln reads, in one table. */
#include "driver/base/session.h"

#include "help.h"

#include <stdlib.h>
#include <string.h>

typedef struct variable {
    const char *name, *help;
    const char *(*value)(const kiln *k); /* what the library makes of it; NULL: as it is set */
    const char *standard;
} variable;

static const variable table[] = {
    {"KILN_DEVICE", "device to use, written as for --device", NULL,
     "the largest GPU, else the largest device"},
    {"KILN_CACHE", "off: keep compiled programs in memory only", NULL, "on"},
    {"KILN_CACHE_DIR", "directory of compiled programs", kiln_cache_dir, NULL},
    {"KILN_CACHE_LIMIT", "largest size of that directory in bytes", NULL, "268435456"},
    {"KILN_BUNDLE", "directory that kiln prepare -o made: programs and rows; off: none", NULL,
     "none"},
    {"KILN_COMMAND", "command that compiles in other processes for kiln prepare and libkiln", NULL,
     "kiln beside the library"},
    {"KILN_DB", "file of the user's tuning rows; off: none", kiln_rows_file, NULL},
    {"KILN_SHIPPED_DB", "directory of shipped tuning rows; off: none", kiln_shipped_dir, NULL},
    {"KILN_KEEPALIVE_US", "PoCL's CPU: microseconds that threads stay awake after an operation",
     NULL, "200"},
    {"KILN_CHECK_PADDING", "1: fail where the padding of a stage's tensor is not zero", NULL, "0"},
    {"KILN_LOG_CMD", "file that receives each convolution a program runs, and how often", NULL,
     "off"},
    {"KILN_CHECK_PACKED", "1: fail where packed weights are not what was packed", NULL, "0"},
    {"KILN_CHECK_FLUSHED", "1: fail where a program breaks its promise to flush queues", NULL, "0"},
    {"KILN_TEMPLATES", "directory of kernel templates that replace the built-in ones", NULL,
     "none"},
};

enum { ROWS = sizeof table / sizeof *table };

void env_help(FILE *to)
{
    fprintf(to, "\nEnvironment:\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(to, "  %-18s  %s\n", table[i].name, table[i].help);
}

int env_command(int argc, char **argv)
{
    session s;
    char why[KILN_ERROR_TEXT];
    (void)argc;
    (void)argv;
    /* The file of tuning rows depends on the device; the other places can be shown without one. */
    kiln_status status = session_open(&s, NULL, why);
    if (status) {
        fprintf(stderr, "kiln: %s\n", why);
        if (session_open_dry(&s, why))
            return (int)status;
    }
    printf("device %s\n", s.name);
    if (s.gpu)
        printf("measured %s\n", *kiln_device_measured(s.kiln)
                                    ? kiln_device_measured(s.kiln)
                                    : "nothing yet; the first search (kiln conv -s 1, kiln tune) "
                                      "measures the device's memory and launches");
    for (int i = 0; i < ROWS; i++) {
        const char *set = getenv(table[i].name);
        const char *value = table[i].value ? table[i].value(s.kiln)
                            : set && *set  ? set
                                           : table[i].standard;
        printf("%s=%s  (%s)\n", table[i].name, *value ? value : "off",
               set && *set ? "environment" : "default");
    }
    session_close(&s);
    return 0;
}
