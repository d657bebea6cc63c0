/* Undoes what OpenMP did to the thread that started a process. */
#include "cpus.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>

/* Adds a list such as "0-3,8", as Linux writes it. */
static void add_cpus(cpu_set_t *set, const char *list)
{
    while (*list) {
        char *end;
        const long first = strtol(list, &end, 10),
                   last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long i = first; i <= last && i < CPU_SETSIZE; i++)
            CPU_SET((size_t)i, set);
        list = *end ? end + 1 : end;
    }
}

static cpu_set_t all_cpus(void)
{
    cpu_set_t all;
    const char *list = getenv("BENCH_CPUS");
    CPU_ZERO(&all);
    if (list && *list)
        add_cpus(&all, list);
    else
        for (size_t i = 0; i < CPU_SETSIZE; i++)
            CPU_SET(i, &all);
    return all;
}

void cpus_use_all(void)
{
    const cpu_set_t all = all_cpus();
    sched_setaffinity(0, sizeof all, &all);
}

bool cpus_use(int core)
{
    const cpu_set_t all = all_cpus();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)core, &one);
    return CPU_ISSET((size_t)core, &all) && sched_setaffinity(0, sizeof one, &one) == 0;
}

int cpus_count(void)
{
    cpu_set_t own, all;
    if (sched_getaffinity(0, sizeof own, &own))
        return 1;
    cpus_use_all();
    const bool known = sched_getaffinity(0, sizeof all, &all) == 0;
    sched_setaffinity(0, sizeof own, &own);
    return known ? CPU_COUNT(&all) : 1;
}

void cpus_place(bool anywhere)
{
    static cpu_set_t own;
    static int spare = -1; /* cores that OpenMP leaves; -1: not known yet */
    if (spare < 0) {
        spare = sched_getaffinity(0, sizeof own, &own) ? 0 : cpus_count() - omp_get_max_threads();
        spare = spare < 0 ? 0 : spare;
    }
    if (spare == 0)
        return;
    if (anywhere)
        cpus_use_all();
    else
        sched_setaffinity(0, sizeof own, &own);
}
