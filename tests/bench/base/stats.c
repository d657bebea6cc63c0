/* Clocks, medians and geometric means. */
#include "stats.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double stats_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double stats_ran(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void stats_sleep(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* The second number in Linux's schedstat is a thread's nanoseconds on a run queue. */
double stats_waited(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    double sum = 0;
    while (tasks && (task = readdir(tasks))) {
        char path[64];
        double ran, waited;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", task->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%lf %lf", &ran, &waited) == 2)
            sum += waited * 1e-9;
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_median(double *values, int n)
{
    if (n == 0)
        return 0;
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void stats_add(stats_mean *mean, double value, const char *name)
{
    if (mean->count == 0 || value < mean->worst) {
        mean->worst = value;
        snprintf(mean->worst_name, sizeof mean->worst_name, "%s", name);
    }
    mean->count++;
    mean->log_sum += log(value);
}

double stats_geomean(const stats_mean *mean)
{
    return mean->count ? exp(mean->log_sum / mean->count) : 0;
}
