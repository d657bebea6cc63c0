/* Repeats an operation and sums up its times. */
#include "measure.h"

#include "driver/base/clock.h"

#include <stdlib.h>

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

/* Packs the weights before the timed runs, as a caller who runs an operation many times does. They
 * lie after the rest of the workspace, where each run would pack them. Packed images belong to the
 * op, which packs them in each run. */
static kiln_status pack_once(kiln_op *op, const session *s, kiln_buffers *b, double *pack_ms)
{
    kiln_op_info info;
    double ms;
    kiln_op_describe(op, &info);
    if (info.packed_size == 0 || info.packed_width > 0)
        return KILN_OK;
    kiln_status status = kiln_op_time(op, s->queue, b, &ms, pack_ms);
    const int64_t rest = info.workspace_size - info.packed_size;
    b->packed = (kiln_buffer){b->workspace.mem, b->workspace.offset + (size_t)rest};
    if (!status)
        status = kiln_op_pack(op, s->queue, b, 0, NULL, NULL);
    return status ? status : kiln_finish(s->kiln, s->queue);
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
    kiln_buffers b = *buffers;
    kiln_status status = pack_once(op, s, &b, &t->pack);
    double start = clock_ms(), wall = 0;
    while (!status && runs < f->iter &&
           (runs == 0 || f->limit_ms == 0 || wall < (double)f->limit_ms)) {
        status = kiln_op_time(op, s->queue, &b, &ms[runs], b.packed.mem ? NULL : &t->pack);
        wall = clock_ms() - start;
        runs += !status;
    }
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%s", kiln_last_error());
    else
        summarize(t, ms, runs, wall);
    free(ms);
    return status;
}
