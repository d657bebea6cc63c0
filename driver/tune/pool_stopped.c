/* Whether one of a run's processes is stopped. A trial that is too long is never tried again, so a
 * pause must not look like one: SIGSTOP, `scontrol suspend`, a closed lid.
 */
#include "tune_pool.h"

#include <stdio.h>
#include <string.h>

bool pool_is_stopped(const tune_child *c)
{
    char name[64], text[512] = "";
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)c->pid);
    FILE *file = c->pid > 0 ? fopen(name, "re") : NULL;
    if (!file)
        return false;
    const char *behind = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    fclose(file);
    return behind && behind[1] == ' ' && strchr("Tt", behind[2]) && behind[2];
}
