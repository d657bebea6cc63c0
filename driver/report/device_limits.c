/* Runs multiply-adds that wait for nothing, and copies large buffers. */
#include "device_limits.h"

#include "driver/base/clock.h"

/* Independent sums hide how long one multiply-add takes. */
static const char source[] =
    "#ifdef WIDE\n" /* of vectors wider than the CPU's; a program is for one CPU */
    "#pragma clang diagnostic ignored \"-Wpsabi\"\n"
    "#endif\n"
    "kernel void multiply(global FLOATS *out, const float a, const float b)\n"
    "{\n"
    "    FLOATS sum[SUMS];\n"
    "    const FLOATS factor = a, term = b;\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < SUMS; i++)\n"
    "        sum[i] = (float)(get_global_id(0) + i);\n"
    "    for (int round = 0; round < ROUNDS; round++)\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < 16; j++)\n"
    "#pragma unroll\n"
    "            for (int i = 0; i < SUMS; i++)\n"
    "                sum[i] = fma(sum[i], factor, term);\n"
    "    FLOATS all = 0;\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < SUMS; i++)\n"
    "        all += sum[i];\n"
    "    out[get_global_id(0)] = all;\n"
    "}\n"
    "kernel void copy(global const FLOATS *from, global FLOATS *to)\n"
    "{\n"
    "    to[get_global_id(0)] = from[get_global_id(0)];\n"
    "}\n";

enum { STEPS = 16 }; /* of a round */

/* How the two are measured: on a CPU an item is a thread's work, on a GPU a lane's. */
typedef struct recipe {
    const char *options;
    int lanes, sums, rounds; /* as the options say */
    int items, group;        /* of multiply-adds, for each unit of the device; of a group */
    int tries, copies;       /* copies of a try */
    size_t bytes;            /* of a copy */
    bool copies_by_kernel;   /* PoCL's own copies are one thread's */
} recipe;

static const recipe cpu = {"-DWIDE -DFLOATS=float16 -DSUMS=12 -DROUNDS=2048",
                           16,
                           12,
                           2048,
                           4,
                           1,
                           30,
                           1,
                           (size_t)40 << 20,
                           true},
                    gpu = {"-DFLOATS=float -DSUMS=8 -DROUNDS=256",
                           1,
                           8,
                           256,
                           2048 * 4,
                           256,
                           5,
                           10,
                           (size_t)1 << 28,
                           false};

static double multiply_gflops(const session *s, const recipe *r, cl_kernel kernel, size_t items)
{
    const size_t local = (size_t)r->group;
    const double flops = 2.0 * STEPS * r->lanes * r->sums * r->rounds * (double)items;
    double best = 0;
    for (int i = 0; i <= r->tries; i++) {
        const double begin = clock_seconds();
        if (clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &items, &local, 0, NULL, NULL) ||
            clFinish(s->queue))
            return 0;
        const double gflops = 1e-9 * flops / (clock_seconds() - begin);
        best = i && gflops > best ? gflops : best; /* the first run compiles or loads */
    }
    return best;
}

static double measure_multiply(const session *s, const recipe *r, cl_program program)
{
    const cl_float a = 0.999f, b = 0.001f;
    cl_uint units = 1;
    double gflops = 0;
    clGetDeviceInfo(s->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const size_t items = (size_t)r->items * units;
    cl_mem out = clCreateBuffer(s->context, CL_MEM_WRITE_ONLY,
                                items * (size_t)r->lanes * sizeof(float), NULL, NULL);
    cl_kernel kernel = out ? clCreateKernel(program, "multiply", NULL) : NULL;
    if (kernel && !clSetKernelArg(kernel, 0, sizeof out, &out) &&
        !clSetKernelArg(kernel, 1, sizeof a, &a) && !clSetKernelArg(kernel, 2, sizeof b, &b))
        gflops = multiply_gflops(s, r, kernel, items);
    if (kernel)
        clReleaseKernel(kernel);
    if (out)
        clReleaseMemObject(out);
    return gflops;
}

static cl_int copy_once(const session *s, const recipe *r, cl_kernel kernel, cl_mem from, cl_mem to)
{
    if (!r->copies_by_kernel)
        return clEnqueueCopyBuffer(s->queue, from, to, 0, 0, r->bytes, 0, NULL, NULL);
    const size_t items = r->bytes / sizeof(float) / (size_t)r->lanes;
    return clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
}

static double copy_gbs(const session *s, const recipe *r, cl_kernel kernel, cl_mem from, cl_mem to)
{
    double best = 0;
    for (int i = 0; i <= r->tries; i++) {
        const double begin = clock_seconds();
        cl_int code = CL_SUCCESS;
        for (int j = 0; j < r->copies && code == CL_SUCCESS; j++)
            code = copy_once(s, r, kernel, from, to);
        if (code != CL_SUCCESS || clFinish(s->queue) != CL_SUCCESS)
            return 0;
        const double gbs = 2e-9 * r->copies * (double)r->bytes / (clock_seconds() - begin);
        best = i && gbs > best ? gbs : best;
    }
    return best;
}

static double measure_copy(const session *s, const recipe *r, cl_program program)
{
    double gbs = 0;
    cl_mem from = clCreateBuffer(s->context, CL_MEM_READ_WRITE, r->bytes, NULL, NULL);
    cl_mem to = clCreateBuffer(s->context, CL_MEM_READ_WRITE, r->bytes, NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "copy", NULL);
    if (from && to && kernel && !clSetKernelArg(kernel, 0, sizeof from, &from) &&
        !clSetKernelArg(kernel, 1, sizeof to, &to))
        gbs = copy_gbs(s, r, kernel, from, to);
    if (kernel)
        clReleaseKernel(kernel);
    if (from)
        clReleaseMemObject(from);
    if (to)
        clReleaseMemObject(to);
    return gbs;
}

device_limits device_limits_measure(const session *s)
{
    const char *text = source;
    const recipe *r = s->cpu ? &cpu : &gpu;
    device_limits limits = {0};
    cl_program program = clCreateProgramWithSource(s->context, 1, &text, NULL, NULL);
    if (program && clBuildProgram(program, 0, NULL, r->options, NULL, NULL) == CL_SUCCESS)
        limits = (device_limits){measure_multiply(s, r, program), measure_copy(s, r, program)};
    if (program)
        clReleaseProgram(program);
    return limits;
}
