/* The storage conversions of types.cl, and the epilogue, against the host's. */
#include "runtime/programs/template.h"
#include "support/suite.h"
#include "support/support.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loads become floats (or ints) that the host sees, and values are stored; each also by vectors of
 * 4, 8 and 16, so `n` must be a multiple of 16. Vectors start at element 1: they need no alignment.
 */
static const char kernels[] =
    "kernel void load(global const SRC_T *s, global ACC_T *d, int width)\n"
    "{\n"
    "    int n = get_global_size(0) * 16, i = get_global_id(0) * 16 + 1, end = min(i + 16, n);\n"
    "    if (i == 1) d[0] = SRC_LOAD(s, 0);\n"
    "    if (end - i < 16) width = 1;\n"
    "    if (width == 16) vstore16(SRC_LOADN(16, s, i), 0, d + i);\n"
    "    else if (width == 8)\n"
    "        for (int j = i; j < end; j += 8) vstore8(SRC_LOADN(8, s, j), 0, d + j);\n"
    "    else if (width == 4)\n"
    "        for (int j = i; j < end; j += 4) vstore4(SRC_LOADN(4, s, j), 0, d + j);\n"
    "    else\n"
    "        for (int j = i; j < end; j++) d[j] = SRC_LOAD(s, j);\n"
    "}\n"
    "kernel void store(global const VAL_T *s, global DST_T *d, int width)\n"
    "{\n"
    "    int n = get_global_size(0) * 16, i = get_global_id(0) * 16 + 1, end = min(i + 16, n);\n"
    "    if (i == 1) DST_STORE(d, 0, s[0]);\n"
    "    if (end - i < 16) width = 1;\n"
    "    if (width == 16) DST_STOREN(16, d, i, vload16(0, s + i));\n"
    "    else if (width == 8)\n"
    "        for (int j = i; j < end; j += 8) DST_STOREN(8, d, j, vload8(0, s + j));\n"
    "    else if (width == 4)\n"
    "        for (int j = i; j < end; j += 4) DST_STOREN(4, d, j, vload4(0, s + j));\n"
    "    else\n"
    "        for (int j = i; j < end; j++) DST_STORE(d, j, s[j]);\n"
    "}\n"
    "kernel void finish(global const ACC_T *s, global DST_T *d EPILOGUE_PARAMS)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    DST_STORE(d, i, FINISH(s[i], i % 7, i));\n"
    "}\n";

static cl_program build(const char *options)
{
    const support_device *d = support_open();
    char *shared;
    cl_int code;
    ck_assert_int_eq(kiln_template_source(NULL, "epilogue.cl", &shared), KILN_OK);
    const char *source[] = {shared, kernels};
    cl_program program = clCreateProgramWithSource(d->context, 2, source, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    free(shared);
    code = clBuildProgram(program, 1, &d->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        static char log[4096];
        clGetProgramBuildInfo(program, d->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        ck_abort_msg("%s: %s", options, log);
    }
    return program;
}

/* Runs `kernel` over n elements, from `in` to `out`. Width 0: the kernel takes none. */
static void run(cl_program program, const char *name, int width, const void *in, size_t in_bytes,
                void *out, size_t out_bytes, size_t items)
{
    const support_device *d = support_open();
    cl_int code[8], w = width;
    cl_kernel kernel = clCreateKernel(program, name, &code[0]);
    cl_mem from = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, in_bytes, (void *)in, &code[1]);
    cl_mem to = clCreateBuffer(d->context, CL_MEM_COPY_HOST_PTR, out_bytes, out, &code[2]);
    code[3] = clSetKernelArg(kernel, 0, sizeof from, &from);
    code[4] = clSetKernelArg(kernel, 1, sizeof to, &to);
    code[5] = width ? clSetKernelArg(kernel, 2, sizeof w, &w) : CL_SUCCESS;
    code[6] = clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    code[7] = clEnqueueReadBuffer(d->queue, to, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL);
    for (int i = 0; i < 8; i++)
        ck_assert_msg(code[i] == CL_SUCCESS, "OpenCL call %d of %s: error %d", i, name, code[i]);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
}

static const struct {
    kiln_type type;
    const char *define;
} sources[] = {{KILN_F32, "TYPE_F32"}, {KILN_F16, "TYPE_F16"},       {KILN_BF16, "TYPE_BF16"},
               {KILN_I8, "TYPE_I8"},   {KILN_F8E4M3, "TYPE_F8E4M3"}, {KILN_F8E5M2, "TYPE_F8E5M2"},
               {KILN_I32, "TYPE_I32"}};

static const int widths[] = {1, 4, 8, 16};

enum { ALL = 1 << 16 };

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void options_of(char text[64], int source, int destination)
{
    snprintf(text, 64, "-DSRC_TYPE=%s -DDST_TYPE=%s", sources[source].define,
             sources[destination].define);
}

/* Every pattern of 16 bits, as an f16, a bf16, an f32's upper half, or two of a byte. */
START_TEST(every_value_loads)
{
    static unsigned char in[ALL * 4];
    static uint32_t out[ALL];
    const kiln_type type = sources[_i].type;
    const size_t size = kiln_type_size(type);
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t bits = type == KILN_F32 ? i << 16 | (i & 0xfff) : i;
        memcpy(in + i * size, &bits, size);
    }
    char options[64];
    options_of(options, _i, 0);
    cl_program program = build(options);
    for (int w = 0; w < 4; w++) {
        run(program, "load", widths[w], in, ALL * size, out, sizeof out, ALL / 16);
        for (int i = 0; i < ALL; i++) {
            double want = host_get(type, in, i);
            double got = host_get(type == KILN_I8 ? KILN_I32 : KILN_F32, out, i);
            if (!same(got, want))
                ck_abort_msg("%s %#x by %d: %g is loaded as %g", sources[_i].define, i, widths[w],
                             want, got);
        }
    }
    clReleaseProgram(program);
}
END_TEST

/* Floats that rounding may get wrong: each pattern of upper bits with what lies on, just below and
 * just above the ties of f16, bf16 and the 8-bit floats, with infinities and NaNs; for i8, also
 * around its ends. */
static void hard_floats(float *to, int part)
{
    static const uint32_t low[] = {0x0000, 0x8000, 0x7fff, 0x8001, 0xffff, 0x1000,
                                   0x0fff, 0x1001, 0x3000, 0x2fff, 0x3001, 0xf000};
    for (uint32_t i = 0; i < ALL; i++) {
        uint32_t bits = i << 16 | low[part];
        memcpy(&to[i], &bits, sizeof bits);
    }
    if (part == 0)
        for (int i = 0; i < 2400; i++)
            to[i] = (float)(i - 1200) / 8;
}

enum { PARTS = 12 };

START_TEST(floats_are_stored_to_nearest_even)
{
    static float in[ALL];
    static unsigned char out[ALL * 4];
    const kiln_type type = sources[_i].type;
    char options[64];
    options_of(options, 0, _i);
    cl_program program = build(options);
    for (int part = 0; part < PARTS; part++)
        for (int w = 0; w < 4; w++) {
            hard_floats(in, part);
            host_poison(type, out, ALL);
            run(program, "store", widths[w], in, sizeof in, out, ALL * kiln_type_size(type),
                ALL / 16);
            for (int i = 0; i < ALL; i++) {
                double want = host_round(type, in[i]), got = host_get(type, out, i);
                if (!same(got, want))
                    ck_abort_msg("%a by %d is stored as %s %g instead of %g", in[i], widths[w],
                                 sources[_i].define, got, want);
            }
        }
    clReleaseProgram(program);
}
END_TEST

START_TEST(integers_are_stored_as_they_are)
{
    static int32_t in[ALL], out[ALL];
    for (int i = 0; i < ALL; i++)
        in[i] = (int32_t)((uint32_t)i * 0x10001u);
    cl_program program = build("-DSRC_TYPE=TYPE_I8 -DDST_TYPE=TYPE_I32");
    for (int w = 0; w < 4; w++) {
        memset(out, 0x55, sizeof out);
        run(program, "store", widths[w], in, sizeof in, out, sizeof out, ALL / 16);
        ck_assert_mem_eq(in, out, sizeof in);
    }
    memset(out, 0x55, sizeof out);
    run(program, "finish", 0, in, sizeof in, out, sizeof out, ALL);
    ck_assert_mem_eq(in, out, sizeof in);
    clReleaseProgram(program);
}
END_TEST

/* Activations over a range where each has bends, slopes and flat ends, with parameters 0.5 and 2.
 */
static double activated(int which, double v)
{
    const double a = 0.5, b = 2;
    switch (which) {
    case KILN_RELU:
        return fmax(v, 0);
    case KILN_CLIPPED_RELU:
        return fmin(fmax(v, 0), a);
    case KILN_LEAKY_RELU:
        return v >= 0 ? v : a * v;
    case KILN_ELU:
        return v >= 0 ? v : a * expm1(v);
    case KILN_TANH:
        return b * tanh(a * v);
    case KILN_SIGMOID:
        return 1 / (1 + exp(-v));
    case KILN_SILU:
        return v / (1 + exp(-v));
    case KILN_GELU:
        return v * erfc(-v / sqrt(2)) / 2;
    case KILN_HARD_SIGMOID:
        return fmin(fmax(a * v + b, 0), 1);
    case KILN_HARD_SWISH:
        return v * fmin(fmax(a * v + b, 0), 1);
    case KILN_HARD_TANH:
        return fmin(fmax(v, a), b);
    case KILN_MISH:
        return v * tanh(log1p(exp(v)));
    case KILN_EXP:
        return exp(v);
    case KILN_ABS:
        return fabs(v);
    case KILN_SQUARE:
        return v * v;
    case KILN_SOFTPLUS:
        return a * v > 40 ? v : log1p(exp(a * v)) / a;
    default:
        return v;
    }
}

/* Fills `in` with steps over the range, and with values whose exponential overflows. */
static void fill_arguments(float *in, int n)
{
    static const float large[] = {89, 100, 750, 1e4f, 1e30f, FLT_MAX};
    for (int i = 0; i < n; i++)
        in[i] = (float)(i - n / 2) / 32;
    for (int i = 0; i < 12; i++)
        in[i] = i % 2 ? -large[i / 2] : large[i / 2];
}

START_TEST(activations_are_accurate)
{
    enum { N = 4096 };
    static float in[N], out[N];
    fill_arguments(in, N);
    char options[192];
    snprintf(options, sizeof options,
             "-DSRC_TYPE=TYPE_F32 -DDST_TYPE=TYPE_F32 -DP_ACTIVATION=%d "
             "-DP_ACTIVATION_A=as_float(0x3f000000u) -DP_ACTIVATION_B=as_float(0x40000000u)",
             _i);
    cl_program program = build(options);
    run(program, "finish", 0, in, sizeof in, out, sizeof out, N);
    for (int i = 0; i < N; i++) {
        double want = activated(_i, in[i]);
        /* In the tail of gelu, a rounding of its argument counts as many times as v squared. */
        double ulps = _i == KILN_GELU ? 16 + (double)in[i] * in[i] : 16;
        if ((double)out[i] == (double)(float)want)
            continue;
        if (!(fabs(out[i] - want) <= ulps * 0x1p-23 * fabs(want) + 1e-30))
            ck_abort_msg("%s(%g) is %.9g instead of %.9g", kiln_activation_name(_i), in[i], out[i],
                         want);
    }
    clReleaseProgram(program);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("types");
    TCase *c = tcase_create("types");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, every_value_loads, 0, 6);
    tcase_add_loop_test(c, floats_are_stored_to_nearest_even, 0, 6);
    tcase_add_test(c, integers_are_stored_as_they_are);
    tcase_add_loop_test(c, activations_are_accurate, 0, KILN_ACTIVATIONS);
    suite_add_tcase(s, c);
    return support_run_suite(s);
}
