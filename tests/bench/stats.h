/* Clocks, medians and geometric means. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

double stats_now(void); /* seconds */
void stats_sleep(double seconds);
/* Seconds that this process's threads have run, all together. */
double stats_ran(void);
/* Seconds for which they were ready but had no CPU: what other processes took from them. 0 where
 * the system does not tell. */
double stats_waited(void);

/* Sorts the values. 0 of none. */
double stats_median(double *values, int n);

/* A geometric mean in the making, and the smallest value with its name. Starts all zero. */
typedef struct stats_mean {
    int count;
    double log_sum, worst;
    char worst_name[96];
} stats_mean;

void stats_add(stats_mean *mean, double value, const char *name);
double stats_geomean(const stats_mean *mean); /* 0 of none */

#endif
