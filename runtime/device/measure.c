/* Measures how fast a GPU copies and how fast the host enqueues launches. The best of several rows
 * counts: others' work on the device and on the host only adds. */
#include "measured.h"

#include "runtime/base/clock.h"

#include <stdio.h>
#include <time.h>

enum { TRIES = 6, COPIES = 4, LAUNCHES = 200, ARGUMENTS = 4, ITEMS = 64 };

static const size_t most_bytes = (size_t)256 << 20; /* larger than all caches of devices */

static const char source[] =
    "kernel void nothing(global int *a, global int *b, global int *c, global int *d) {}\n";

typedef struct bed {
    cl_command_queue queue;
    cl_mem from, to;
    size_t bytes;
    cl_program program;
    cl_kernel kernel;
    size_t items; /* of a launch */
} bed;

static bool copies(const bed *b)
{
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < COPIES && code == CL_SUCCESS; i++)
        code = clEnqueueCopyBuffer(b->queue, b->from, b->to, 0, 0, b->bytes, 0, NULL, NULL);
    return code == CL_SUCCESS;
}

static bool launches(const bed *b)
{
    const size_t local = ITEMS;
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < LAUNCHES && code == CL_SUCCESS; i++)
        code =
            clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &b->items, &local, 0, NULL, NULL);
    return code == CL_SUCCESS;
}

/* Returns the seconds of the fastest row; 0: one failed. The first row loads what the others have.
 */
static double fastest(const bed *b, bool (*row)(const bed *b))
{
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        const double begin = kiln_clock_seconds();
        if (!row(b) || clFinish(b->queue) != CL_SUCCESS)
            return 0;
        const double seconds = kiln_clock_seconds() - begin;
        best = i == 1 || seconds < best ? seconds : best;
    }
    return best;
}

static bool make(bed *b, cl_context context, cl_device_id device, const kiln_device_facts *facts)
{
    const char *text = source;
    const size_t share = (size_t)(facts->max_alloc / 8);
    *b = (bed){.bytes = share < most_bytes ? share : most_bytes,
               .items = ITEMS * (size_t)facts->compute_units};
    b->queue = clCreateCommandQueue(context, device, 0, NULL);
    b->from = clCreateBuffer(context, CL_MEM_READ_WRITE, b->bytes, NULL, NULL);
    b->to = clCreateBuffer(context, CL_MEM_READ_WRITE, b->bytes, NULL, NULL);
    b->program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    if (!b->queue || !b->from || !b->to || !b->program ||
        clBuildProgram(b->program, 1, &device, "-cl-std=CL1.2", NULL, NULL) != CL_SUCCESS)
        return false;
    b->kernel = clCreateKernel(b->program, "nothing", NULL);
    cl_int code = b->kernel ? CL_SUCCESS : CL_INVALID_KERNEL;
    for (cl_uint i = 0; i < ARGUMENTS && code == CL_SUCCESS; i++)
        code = clSetKernelArg(b->kernel, i, sizeof(cl_mem), i % 2 ? &b->from : &b->to);
    return code == CL_SUCCESS;
}

static void give_back(bed *b)
{
    if (b->kernel)
        clReleaseKernel(b->kernel);
    if (b->program)
        clReleaseProgram(b->program);
    if (b->from)
        clReleaseMemObject(b->from);
    if (b->to)
        clReleaseMemObject(b->to);
    if (b->queue)
        clReleaseCommandQueue(b->queue);
}

bool kiln_measured_take(cl_context context, cl_device_id device, const kiln_device_facts *facts,
                        kiln_measured *m)
{
    bed b;
    const time_t now = time(NULL);
    struct tm utc;
    double copy = 0, launch = 0;
    if (make(&b, context, device, facts)) {
        copy = fastest(&b, copies);
        launch = copy > 0 ? fastest(&b, launches) : 0;
    }
    give_back(&b);
    if (copy <= 0 || launch <= 0 || !gmtime_r(&now, &utc))
        return false;
    *m = (kiln_measured){.copy_gbs = 2e-9 * COPIES * (double)b.bytes / copy,
                         .enqueue_ms = 1e3 * launch / LAUNCHES};
    strftime(m->date, sizeof m->date, "%Y-%m-%d", &utc);
    return true;
}
