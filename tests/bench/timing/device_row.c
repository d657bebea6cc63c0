/* Times rows of runs behind a kernel that keeps the device busy until all are enqueued. */
#include "device_row.h"

#include "tests/bench/base/stats.h"

/* One item, whose multiply-adds wait for one another. */
static const char source[] = "kernel void hold(global float *cell, const int rounds)\n"
                             "{\n"
                             "    float sum = *cell;\n"
                             "    for (int i = 0; i < rounds; i++)\n"
                             "        sum = fma(sum, 0.999f, 0.001f);\n"
                             "    *cell = sum;\n"
                             "}\n";

/* The row, how often it is timed, and how long the kernel ahead of it takes: some launches of 10 us
 * a run. Where that kernel takes as much longer by chance as a long row does, the row's time is
 * lost in it. */
enum { RUNS = 200, TIMES = 3, HOLD_MS = 8, FIRST_ROUNDS = 1 << 18 };

static bool hold_device(const device_row *r)
{
    const size_t one = 1;
    return !clEnqueueNDRangeKernel(r->queue, r->kernel, 1, NULL, &one, &one, 0, NULL, NULL) &&
           !clFlush(r->queue);
}

/* Milliseconds from now until the device has done what it was given; negative: it failed. */
static double finish_since(const device_row *r, double begin)
{
    return clFinish(r->queue) ? -1 : 1e3 * (stats_now() - begin);
}

static double hold_ms(const device_row *r)
{
    const double begin = stats_now();
    return hold_device(r) ? finish_since(r, begin) : -1;
}

static bool set_rounds(const device_row *r, int rounds)
{
    return !clSetKernelArg(r->kernel, 1, sizeof rounds, &rounds);
}

/* Has the kernel take HOLD_MS. */
static bool calibrate(const device_row *r)
{
    double ms = -1;
    if (!set_rounds(r, FIRST_ROUNDS))
        return false;
    for (int i = 0; i < TIMES; i++) /* the first one is loaded */
        ms = hold_ms(r);
    return ms > 0 && set_rounds(r, (int)(FIRST_ROUNDS * HOLD_MS / ms));
}

bool device_row_open(device_row *r, const session *s)
{
    const char *text = source;
    const cl_float zero = 0;
    *r = (device_row){.queue = s->queue};
    r->program = clCreateProgramWithSource(s->context, 1, &text, NULL, NULL);
    if (r->program && !clBuildProgram(r->program, 1, &s->device, "", NULL, NULL))
        r->kernel = clCreateKernel(r->program, "hold", NULL);
    r->cell = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero,
                             (void *)&zero, NULL);
    if (r->kernel && r->cell && !clSetKernelArg(r->kernel, 0, sizeof r->cell, &r->cell) &&
        calibrate(r))
        return true;
    device_row_close(r);
    return false;
}

static double row_ms(const device_row *r, contender *c)
{
    const double begin = stats_now();
    if (!hold_device(r))
        return -1;
    for (int i = 0; i < RUNS; i++)
        if (!c->calls->enqueue(c))
            return -1;
    const bool ahead = 1e3 * (stats_now() - begin) < 0.9 * HOLD_MS;
    const double ms = finish_since(r, begin);
    return ahead ? ms : -1;
}

double device_row_ms(const device_row *r, contender *c)
{
    double row[TIMES], held[TIMES];
    for (int i = 0; i < TIMES; i++) {
        held[i] = hold_ms(r);
        row[i] = row_ms(r, c);
        if (held[i] < 0 || row[i] < 0)
            return -1;
    }
    const double ms = (stats_median(row, TIMES) - stats_median(held, TIMES)) / RUNS;
    return ms > 0 ? ms : -1;
}

void device_row_close(device_row *r)
{
    if (r->cell)
        clReleaseMemObject(r->cell);
    if (r->kernel)
        clReleaseKernel(r->kernel);
    if (r->program)
        clReleaseProgram(r->program);
    *r = (device_row){0};
}
