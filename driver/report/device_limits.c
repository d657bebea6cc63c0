/* Runs multiply-adds that wait for nothing, and copies large buffers. */
#include "device_limits.h"

#include "driver/base/clock.h"

#include <stdbool.h>
#include <time.h>

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
    int tries, copies;       /* of a round; copies of a try */
    size_t bytes;            /* of a copy, at least */
    bool copies_by_kernel;   /* PoCL's own copies are one thread's */
} recipe;

static const recipe cpu = {"-DWIDE -DFLOATS=float16 -DSUMS=12 -DROUNDS=2048",
                           16,
                           12,
                           2048,
                           4,
                           1,
                           5,
                           1,
                           (size_t)256 << 20,
                           true},
                    gpu = {"-DFLOATS=float -DSUMS=8 -DROUNDS=256",
                           1,
                           8,
                           256,
                           2048 * 4,
                           256,
                           3,
                           10,
                           (size_t)1 << 28,
                           false};

/* What the rounds use. */
typedef struct bench {
    const session *session;
    const recipe *recipe;
    cl_program program;
    cl_kernel multiply, copy;
    cl_mem out, from, to;
    size_t items; /* of multiply-adds */
    size_t bytes; /* of a copy */
} bench;

static cl_int multiply_once(const bench *b)
{
    const size_t local = (size_t)b->recipe->group;
    return clEnqueueNDRangeKernel(b->session->queue, b->multiply, 1, NULL, &b->items, &local, 0,
                                  NULL, NULL);
}

static cl_int copy_once(const bench *b)
{
    if (!b->recipe->copies_by_kernel)
        return clEnqueueCopyBuffer(b->session->queue, b->from, b->to, 0, 0, b->bytes, 0, NULL,
                                   NULL);
    const size_t items = b->bytes / sizeof(float) / (size_t)b->recipe->lanes;
    return clEnqueueNDRangeKernel(b->session->queue, b->copy, 1, NULL, &items, NULL, 0, NULL, NULL);
}

/* Returns how many of `each` a second the best try reached; 0: one failed. */
static double best_rate(const bench *b, cl_int (*once)(const bench *b), int times, double each)
{
    double best = 0;
    for (int i = 0; i <= b->recipe->tries; i++) {
        const double begin = clock_seconds();
        cl_int code = CL_SUCCESS;
        for (int j = 0; j < times && code == CL_SUCCESS; j++)
            code = once(b);
        if (code != CL_SUCCESS || clFinish(b->session->queue) != CL_SUCCESS)
            return 0;
        const double rate = times * each / (clock_seconds() - begin);
        best = i && rate > best ? rate : best; /* the first try compiles, loads or wakes */
    }
    return best;
}

/* A copy is larger than what caches hold, as far as they tell. */
static size_t bytes_of_copy(const bench *b)
{
    enum { TIMES = 4, SHARE = 8 };
    cl_ulong cache = 0;
    uint64_t bytes = b->recipe->bytes;
    clGetDeviceInfo(b->session->device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache,
                    NULL);
    bytes = bytes > TIMES * cache ? bytes : TIMES * cache;
    bytes = bytes < b->session->memory / SHARE ? bytes : b->session->memory / SHARE;
    return (size_t)bytes / 4096 * 4096;
}

static bool open_bench(bench *b, const session *s)
{
    const char *text = source;
    const cl_float factor = 0.999f, term = 0.001f;
    cl_uint units = 1;
    *b = (bench){.session = s, .recipe = s->cpu ? &cpu : &gpu};
    b->program = clCreateProgramWithSource(s->context, 1, &text, NULL, NULL);
    if (!b->program || clBuildProgram(b->program, 0, NULL, b->recipe->options, NULL, NULL))
        return false;
    clGetDeviceInfo(s->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    b->items = (size_t)b->recipe->items * units;
    b->bytes = bytes_of_copy(b);
    b->out = clCreateBuffer(s->context, CL_MEM_WRITE_ONLY,
                            b->items * (size_t)b->recipe->lanes * sizeof(float), NULL, NULL);
    b->from = clCreateBuffer(s->context, CL_MEM_READ_WRITE, b->bytes, NULL, NULL);
    b->to = clCreateBuffer(s->context, CL_MEM_READ_WRITE, b->bytes, NULL, NULL);
    b->multiply = clCreateKernel(b->program, "multiply", NULL);
    b->copy = clCreateKernel(b->program, "copy", NULL);
    return b->out && b->from && b->to && b->multiply && b->copy &&
           !clSetKernelArg(b->multiply, 0, sizeof b->out, &b->out) &&
           !clSetKernelArg(b->multiply, 1, sizeof factor, &factor) &&
           !clSetKernelArg(b->multiply, 2, sizeof term, &term) &&
           !clSetKernelArg(b->copy, 0, sizeof b->from, &b->from) &&
           !clSetKernelArg(b->copy, 1, sizeof b->to, &b->to);
}

static void close_bench(const bench *b)
{
    const cl_mem buffers[] = {b->out, b->from, b->to};
    const cl_kernel kernels[] = {b->multiply, b->copy};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i])
            clReleaseMemObject(buffers[i]);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    if (b->program)
        clReleaseProgram(b->program);
}

static void add_round(const bench *b, device_limits *limits)
{
    const recipe *r = b->recipe;
    const double flops = 2.0 * STEPS * r->lanes * r->sums * r->rounds * (double)b->items;
    limit_rounds_add(&limits->gflops, best_rate(b, multiply_once, 1, 1e-9 * flops));
    limit_rounds_add(&limits->gbs, best_rate(b, copy_once, r->copies, 2e-9 * (double)b->bytes));
}

device_limits device_limits_measure(const session *s)
{
    static const struct timespec pause = {.tv_nsec = 500000000};
    device_limits limits = {.seconds = 0};
    bench b;
    if (open_bench(&b, s)) {
        best_rate(&b, copy_once, 1, 1); /* the first touch of the buffers' pages */
        const double begin = clock_seconds();
        const machine_load before = machine_load_now();
        for (int i = 0; i < LIMIT_ROUNDS; i++) {
            if (i > 0)
                nanosleep(&pause, NULL);
            add_round(&b, &limits);
        }
        const machine_load after = machine_load_now();
        if (s->cpu) /* what others do on the host slows no GPU */
            limits.others = machine_load_between(&before, &after);
        limits.seconds = clock_seconds() - begin;
    }
    close_bench(&b);
    return limits;
}
