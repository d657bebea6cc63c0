/* Reads what Linux counts. */
#include "machine_load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool machine_load_read(const char *line, double ticks_per_second, machine_load *load)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };
    double t[TIMES];
    double all = 0;
    *load = (machine_load){.known = false};
    if (sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[USER], &t[NICE], &t[SYSTEM],
               &t[IDLE], &t[IOWAIT], &t[IRQ], &t[SOFTIRQ], &t[STEAL]) != TIMES)
        return false;
    for (int i = 0; i < TIMES; i++)
        all += t[i] / ticks_per_second;
    load->all = all;
    load->stolen = t[STEAL] / ticks_per_second;
    load->used = all - (t[IDLE] + t[IOWAIT] + t[STEAL]) / ticks_per_second;
    load->known = true;
    return true;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

machine_load machine_load_now(void)
{
    char line[512] = "";
    machine_load load;
    struct rusage own;
    FILE *from = fopen("/proc/stat", "re");
    if (from && !fgets(line, sizeof line, from))
        *line = '\0';
    if (from)
        fclose(from);
    if (machine_load_read(line, (double)sysconf(_SC_CLK_TCK), &load) &&
        getrusage(RUSAGE_SELF, &own) == 0)
        load.own = seconds_of(own.ru_utime) + seconds_of(own.ru_stime);
    else
        load.known = false;
    return load;
}

machine_share machine_load_between(const machine_load *from, const machine_load *to)
{
    const double all = to->all - from->all;
    machine_share share = {0};
    if (!from->known || !to->known || !(all > 0))
        return share;
    share.used = fmin(fmax((to->used - from->used - (to->own - from->own)) / all, 0), 1);
    share.stolen = fmin(fmax((to->stolen - from->stolen) / all, 0), 1);
    return share;
}
