/* How much memory a process of a run may take: a job of a batch system, or a container, has less
 * than the machine.
 */
#include "tune_pool.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the number in a file; 0: there is none, as where the file says "max". */
static int64_t read_number(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int64_t number = 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return 0;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%" SCNd64, &number) != 1)
        number = 0;
    if (file)
        fclose(file);
    return number > 0 ? number : 0;
}

/* Returns the least of the limits of a control group and of those above it. */
static int64_t least_above(const char *root, const char *group, const char *name, int64_t least)
{
    char folder[PATH_MAX];
    const size_t from = strlen(root);
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder)
        return least;
    for (;;) {
        const int64_t limit = read_number(folder, name);
        least = limit > 0 && limit < least ? limit : least;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= from || !slash || (size_t)(slash - folder) < from)
            return least;
        *slash = '\0';
    }
}

int64_t pool_memory_of_machine(void)
{
    int64_t least = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    char line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (!second)
            continue;
        *second = '\0';
        if (!first[1])
            least = least_above("/sys/fs/cgroup", second + 1, "memory.max", least);
        else if (strcmp(first + 1, "memory") == 0)
            least =
                least_above("/sys/fs/cgroup/memory", second + 1, "memory.limit_in_bytes", least);
    }
    if (file)
        fclose(file);
    return least;
}
