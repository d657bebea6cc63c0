/* What the examples in C share: an OpenCL device, buffers, and a convolution in plain loops to
 * check results with. Errors end the program. */
#ifndef COMMON_H
#define COMMON_H

#include <kiln.h>
#include <kiln_device.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* kiln says what is wrong in a sentence. */
static inline void check(kiln_status status)
{
    if (status != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_last_error());
        exit(1);
    }
}

static inline void check_cl(cl_int code, const char *call)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "%s: OpenCL error %d\n", call, (int)code);
        exit(1);
    }
}

typedef struct opencl {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, without profiling */
} opencl;

/* Opens the device that KILN_DEVICE names, by default the largest GPU, and prints its name. */
static inline opencl open_opencl(void)
{
    opencl cl;
    char name[256] = "";
    cl_int code;
    check(kiln_device_pick(NULL, &cl.device));
    clGetDeviceInfo(cl.device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    printf("on %s\n", name);
    cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &code);
    check_cl(code, "clCreateContext");
    cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &code);
    check_cl(code, "clCreateCommandQueue");
    return cl;
}

static inline void close_opencl(opencl *cl)
{
    clReleaseCommandQueue(cl->queue);
    clReleaseContext(cl->context);
}

/* Makes a buffer, with the contents of `data` if that is not NULL; NULL of 0 bytes. */
static inline cl_mem make_buffer(const opencl *cl, int64_t bytes, const void *data)
{
    cl_int code;
    if (bytes == 0)
        return NULL;
    cl_mem mem = clCreateBuffer(cl->context, CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0),
                                (size_t)bytes, (void *)data, &code);
    check_cl(code, "clCreateBuffer");
    return mem;
}

static inline void release_buffer(cl_mem mem)
{
    if (mem)
        clReleaseMemObject(mem);
}

/* Makes an array of numbers in (-scale, scale), the same ones in every run. */
static inline float *make_data(int64_t count, double scale, unsigned seed)
{
    float *data = (float *)malloc((size_t)count * sizeof *data);
    if (!data)
        exit(1);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)(scale * (seed / 2147483648.0 - 1));
    }
    return data;
}

/* Sums one result's products in double. */
static inline double sum_products(const kiln_problem *p, const float *x, const float *w, int64_t n,
                                  int64_t k, int64_t row, int64_t column)
{
    const int64_t inside = p->in_channels / p->groups;
    const int64_t first = k / (p->out_channels / p->groups) * inside;
    double sum = 0;
    for (int64_t c = 0; c < inside; c++)
        for (int64_t r = 0; r < p->filter[0]; r++)
            for (int64_t s = 0; s < p->filter[1]; s++) {
                const int64_t h = row * p->stride[0] + r - p->pad_begin[0];
                const int64_t v = column * p->stride[1] + s - p->pad_begin[1];
                if (h < 0 || h >= p->input[0] || v < 0 || v >= p->input[1])
                    continue;
                sum +=
                    (double)
                        x[((n * p->in_channels + first + c) * p->input[0] + h) * p->input[1] + v] *
                    w[((k * inside + c) * p->filter[0] + r) * p->filter[1] + s];
            }
    return sum;
}

/* Computes a checked forward problem in NCHW with plain loops: bias, residual, relu and clipped
 * relu included. Returns the result. */
static inline float *reference(const kiln_problem *p, const float *x, const float *w,
                               const float *bias, const float *residual)
{
    const int64_t rows = kiln_problem_output(p, 0), columns = kiln_problem_output(p, 1);
    const kiln_epilogue *e = &p->epilogue;
    float *y = (float *)malloc((size_t)kiln_problem_count(p, 'y') * sizeof *y), *at = y;
    if (!y)
        exit(1);
    for (int64_t n = 0; n < p->batch; n++)
        for (int64_t k = 0; k < p->out_channels; k++)
            for (int64_t h = 0; h < rows; h++)
                for (int64_t v = 0; v < columns; v++, at++) {
                    double sum = sum_products(p, x, w, n, k, h, v);
                    sum += (bias ? bias[k] : 0) + (residual ? e->beta * residual[at - y] : 0);
                    if (e->activation != KILN_IDENTITY)
                        sum = fmax(sum, 0);
                    if (e->activation == KILN_CLIPPED_RELU)
                        sum = fmin(sum, e->param[0]);
                    *at = (float)sum;
                }
    return y;
}

/* Compares an array with the expected one, and ends the program where they differ by more than
 * rounding errors. */
static inline void check_result(const char *what, const float *got, const float *expected,
                                int64_t count)
{
    double worst = 0, largest = 1e-30;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(expected[i]));
        worst = fmax(worst, isnan(got[i]) ? INFINITY : fabs(got[i] - expected[i]));
    }
    printf("%s: largest error %.1e of %.3g\n", what, worst, largest);
    if (worst > 1e-4 * largest)
        exit(1);
}

#endif
