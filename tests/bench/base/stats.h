/* Clocks, medians and geometric means. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

/* Returns seconds of a monotonic clock. */
double stats_now(void);
void stats_sleep(double seconds);
/* Returns the seconds that this process's threads have run, all together. */
double stats_ran(void);
/* Returns the seconds for which these threads were ready but had no CPU, because of other
 * processes. 0 where the system does not tell. */
double stats_waited(void);

/* Returns the median, 0 without values. Sorts the values. */
double stats_median(double *values, int n);

/* Collects a geometric mean, and the smallest value with its name. Start with all zero. */
typedef struct stats_mean {
    int count;
    double log_sum, worst;
    char worst_name[96];
} stats_mean;

void stats_add(stats_mean *mean, double value, const char *name);
/* Returns the mean, 0 without values. */
double stats_geomean(const stats_mean *mean);

#endif
