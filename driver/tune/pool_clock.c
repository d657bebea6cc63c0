/* The time in which the processes of a run do run. A trial that is too long is never tried again,
 * so a pause must not look like one: SIGSTOP, `scontrol suspend`, a closed lid.
 */
#include "driver/base/clock.h"

#include "tune_pool.h"

#include <stdio.h>
#include <string.h>

/* The loop ticks each second or sooner, however busy the machine is. */
static const double longest_tick = 3;

void pool_tick(pool *p)
{
    const double now = clock_seconds(), passed = now - p->ticked;
    p->now += passed < longest_tick ? passed : longest_tick;
    p->ticked = now;
}

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
