/* Runs multiply-adds that wait for nothing, and copies a large buffer. */
#include "gpu_limits.h"

#include "stats.h"

enum { CHAINS = 8, ROUNDS = 4096, ITEMS = 132 * 2048 * 4, TRIES = 5, COPIES = 10 };

static const size_t copy_bytes = (size_t)1 << 28;

static const char source[] =
    "kernel void multiply(global float *out, const float a, const float b)\n"
    "{\n"
    "    float sum[8];\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 8; i++)\n"
    "        sum[i] = (float)(get_global_id(0) + i);\n"
    "    for (int round = 0; round < 256; round++)\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < 16; j++)\n"
    "#pragma unroll\n"
    "            for (int i = 0; i < 8; i++)\n"
    "                sum[i] = fma(sum[i], a, b);\n"
    "    float all = 0;\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 8; i++)\n"
    "        all += sum[i];\n"
    "    out[get_global_id(0)] = all;\n"
    "}\n";

static double multiply_gflops(const session *s, cl_kernel kernel)
{
    const size_t items = ITEMS, local = 256;
    double best = 0;
    for (int i = 0; i <= TRIES; i++) {
        const double begin = stats_now();
        if (clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &items, &local, 0, NULL, NULL) ||
            clFinish(s->queue))
            return 0;
        const double gflops = 2e-9 * CHAINS * ROUNDS * ITEMS / (stats_now() - begin);
        best = i && gflops > best ? gflops : best; /* the first run compiles or loads */
    }
    return best;
}

static double measure_multiply(const session *s)
{
    const char *text = source;
    const cl_float a = 0.999f, b = 0.001f;
    double gflops = 0;
    cl_program program = clCreateProgramWithSource(s->context, 1, &text, NULL, NULL);
    cl_mem out = clCreateBuffer(s->context, CL_MEM_WRITE_ONLY, ITEMS * sizeof(float), NULL, NULL);
    if (program && out && clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS) {
        cl_kernel kernel = clCreateKernel(program, "multiply", NULL);
        if (kernel && !clSetKernelArg(kernel, 0, sizeof out, &out) &&
            !clSetKernelArg(kernel, 1, sizeof a, &a) && !clSetKernelArg(kernel, 2, sizeof b, &b))
            gflops = multiply_gflops(s, kernel);
        if (kernel)
            clReleaseKernel(kernel);
    }
    if (program)
        clReleaseProgram(program);
    if (out)
        clReleaseMemObject(out);
    return gflops;
}

static double measure_copy(const session *s)
{
    cl_mem from = clCreateBuffer(s->context, CL_MEM_READ_WRITE, copy_bytes, NULL, NULL);
    cl_mem to = clCreateBuffer(s->context, CL_MEM_READ_WRITE, copy_bytes, NULL, NULL);
    double best = 0;
    for (int i = 0; from && to && i <= TRIES; i++) {
        const double begin = stats_now();
        for (int j = 0; j < COPIES; j++)
            clEnqueueCopyBuffer(s->queue, from, to, 0, 0, copy_bytes, 0, NULL, NULL);
        clFinish(s->queue);
        const double gbs = 2e-9 * COPIES * (double)copy_bytes / (stats_now() - begin);
        best = i && gbs > best ? gbs : best;
    }
    if (from)
        clReleaseMemObject(from);
    if (to)
        clReleaseMemObject(to);
    return best;
}

gpu_limits gpu_limits_measure(const session *s)
{
    return (gpu_limits){measure_multiply(s), measure_copy(s)};
}
