/* Repeats an operation and sums up its times. */
#include "measure.h"

#include <stdlib.h>
#include <time.h>

double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarize(timing *t, double *ms, int64_t runs, double wall)
{
    double sum = 0;
    for (int64_t i = 0; i < runs; i++)
        sum += ms[i];
    qsort(ms, (size_t)runs, sizeof *ms, by_value);
    t->runs = runs;
    t->average = sum / (double)runs;
    t->median = (ms[(runs - 1) / 2] + ms[runs / 2]) / 2;
    t->min = ms[0];
    t->p95 = ms[(runs * 95 + 99) / 100 - 1];
    t->wall = wall / (double)runs;
}

kiln_status measure_op(kiln_op *op, const session *s, const kiln_buffers *buffers, const flags *f,
                       timing *t, char *why)
{
    double *ms = malloc((size_t)f->iter * sizeof *ms);
    if (!ms) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for %lld times", (long long)f->iter);
        return KILN_NO_MEMORY;
    }
    int64_t runs = 0;
    double start = now_ms(), wall = 0;
    kiln_status status = KILN_OK;
    while (runs < f->iter && (runs == 0 || f->limit_ms == 0 || wall < (double)f->limit_ms)) {
        status = kiln_op_time(op, s->queue, buffers, &ms[runs], &t->pack);
        wall = now_ms() - start;
        if (status)
            break;
        runs++;
    }
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%s", kiln_last_error());
    else
        summarize(t, ms, runs, wall);
    free(ms);
    return status;
}
