/* Reads the system's tables under /proc. */
#include "system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool system_entry(const char *file, const char *key, char *text, size_t size)
{
    char line[512];
    bool found = false;
    FILE *f = fopen(file, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        found = value && strncmp(line, key, strlen(key)) == 0;
        if (!found)
            continue;
        value += 1 + strspn(value + 1, " ");
        value[strcspn(value, "\n")] = '\0';
        snprintf(text, size, "%.*s", (int)size - 1, value);
    }
    if (f)
        fclose(f);
    return found;
}

double system_free_memory(void)
{
    char kib[64];
    return system_entry("/proc/meminfo", "MemAvailable", kib, sizeof kib) ? 1024 * atof(kib)
                                                                          : HUGE_VAL;
}
