/* Times an operation as a program runs it that runs it often: weights packed before, launches in a
 * row. */
#include "runtime/base/span.h"
#include "runtime/op/elapsed.h"
#include "runtime/op/images.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>

/* How long a row of launches lasts, and how many launches it has at most. The first launches wait
 * for threads to wake; between two launches the device takes time to start one, which a single
 * launch hides. */
static const double row_ms = 0.5;
enum { MOST_LAUNCHES = 64 };

/* One slow launch may be the machine's fault; three, or one that takes many times as long, are the
 * operation's. */
enum { TRIES = 3 };
static const double hopeless = 4;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the sample below which the share lies, of sorted ones; between two it is interpolated. */
static double quantile(const double *sorted, int n, double share)
{
    const double place = share * (n - 1);
    const int below = (int)place;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

/* Quartiles stand still where one sample in ten met another process; deciles tell of that alone. */
kiln_times kiln_times_of(double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof *samples, by_value);
    kiln_times r = {.ms = quantile(samples, n, 0.5), .runs = n};
    r.iqr = r.ms > 0 ? (quantile(samples, n, 0.75) - quantile(samples, n, 0.25)) / r.ms : 0;
    return r;
}

/* Packs weights into `with`, if the operation packs any. */
static kiln_status pack(kiln_bench *b, kiln_op *op, kiln_buffers *with)
{
    const kiln_image image = kiln_plan_image(kiln_op_plan(op), KILN_ROLE_PACKED);
    cl_int code = CL_SUCCESS;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    if (info.packed_size == 0)
        return KILN_OK;
    with->packed.mem = image.width ? kiln_image_create(b->k->context, &image, &code)
                                   : clCreateBuffer(b->k->context, CL_MEM_READ_WRITE,
                                                    (size_t)info.packed_size, NULL, &code);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "making memory for packed weights");
    return kiln_op_pack(op, b->queue, with, 0, NULL, NULL);
}

static cl_int end_of(cl_event event, cl_ulong *ns)
{
    return clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *ns, ns, NULL);
}

/* Returns the time from the end of the first launch to the end of the last. */
static kiln_status time_row(kiln_bench *b, kiln_op *op, const kiln_buffers *with, int launches,
                            double *ms)
{
    const double ms_per_ns = 1e-6;
    cl_event first = NULL, last = NULL;
    cl_ulong from = 0, to = 0;
    kiln_status status = kiln_op_enqueue(op, b->queue, with, 0, NULL, &first);
    for (int i = 1; i < launches && !status; i++)
        status = kiln_op_enqueue(op, b->queue, with, 0, NULL, NULL);
    if (!status)
        status = kiln_op_enqueue(op, b->queue, with, 0, NULL, &last);
    cl_int code = last ? clWaitForEvents(1, &last) : clFinish(b->queue);
    if (!status && code == CL_SUCCESS)
        code = end_of(first, &from);
    if (!status && code == CL_SUCCESS)
        code = end_of(last, &to);
    if (!status && code != CL_SUCCESS)
        status = kiln_fail_cl(code, "timing launches");
    *ms = to > from ? (double)(to - from) * ms_per_ns / launches : 0;
    if (first)
        clReleaseEvent(first);
    if (last)
        clReleaseEvent(last);
    return status;
}

static int within(double wished, int least, int most)
{
    return wished >= most ? most : wished <= least ? least : (int)wished;
}

static kiln_status take(kiln_bench *b, kiln_op *op, const kiln_buffers *with,
                        const kiln_effort *effort, double *samples, int *n)
{
    double single;
    kiln_status status = kiln_op_time(op, b->queue, with, &single, NULL);
    if (status)
        return status;
    int launches = within(single > 0 ? row_ms / single : MOST_LAUNCHES, 1, MOST_LAUNCHES);
    const double limit = effort->limit > 0 ? effort->limit : HUGE_VAL;
    const bool lost = single > hopeless * limit;
    const double wished = effort->ms / (single * launches);
    const int rounds = lost ? 1 : within(wished, effort->least, effort->most);
    double least = HUGE_VAL;
    if (lost || launches == 1)
        least = samples[(*n)++] = single;
    while (*n < rounds && !(*n == TRIES && least > limit)) {
        status = launches > 1 ? time_row(b, op, with, launches, &samples[*n])
                              : kiln_op_time(op, b->queue, with, &samples[*n], NULL);
        if (status)
            return status;
        if (launches > 1 && kiln_clock_stands(samples[*n]))
            launches = 1;
        else
            least = fmin(least, samples[(*n)++]);
    }
    return KILN_OK;
}

kiln_status kiln_bench_time(kiln_bench *b, kiln_op *op, const kiln_effort *effort, double *samples,
                            int *n)
{
    kiln_buffers with = b->buffers;
    *n = 0;
    const int64_t began = kiln_span_begin(&b->k->logger);
    kiln_status status = pack(b, op, &with);
    if (!status)
        status = take(b, op, &with, effort, samples, n);
    kiln_span_end(&b->k->logger, began, "launch", "timed runs");
    if (with.packed.mem)
        clReleaseMemObject(with.packed.mem);
    return status;
}
