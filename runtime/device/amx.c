/* Asks the CPU and the system for AMX, then builds and runs amx_probe.cl, and compares its result.
 */
#include "amx.h"

#include "runtime/programs/template.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- the CPU and the system ---- */

#if defined __x86_64__ && defined __linux__ && defined __GNUC__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bits of CPUID's leaves 1 and 7, and of the states that the system saves for a thread. */
enum { HAS_XGETBV = 1 << 27, HAS_BF16 = 1 << 22, HAS_TILE = 1 << 24, HAS_INT8 = 1 << 25 };
enum { STATE_SIZES = 17, STATE_TILES = 18 };

/* arch_prctl()'s: Linux from 5.16 on gives large registers only to a process that asks. */
enum { ASK_FOR_STATE = 0x1023 };

static uint64_t saved_states(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool has_cpu(void)
{
    const unsigned units = HAS_BF16 | HAS_TILE | HAS_INT8;
    const uint64_t states = (uint64_t)1 << STATE_SIZES | (uint64_t)1 << STATE_TILES;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HAS_XGETBV))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & units) == units &&
           (saved_states() & states) == states && __builtin_cpu_supports("avx512bw");
}

static bool ask_for_registers(void)
{
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, STATE_TILES) == 0;
}
#else
static bool has_cpu(void)
{
    return false;
}

static bool ask_for_registers(void)
{
    return false;
}
#endif

/* ---- the compiler ---- */

enum { ROWS = 16, TERMS = 32 };

/* As in amx_probe.cl. */
static int left_of(int row, int e)
{
    return (row * 3 + e * 5 + row * e / 7) % 4;
}

static int right_of(int k, int e)
{
    return (k * 7 + e * 3 + k * e / 5) % 4;
}

static bool is_right(const float *sums)
{
    for (int i = 0; i < ROWS * ROWS; i++) {
        int sum = 0;
        for (int e = 0; e < TERMS; e++)
            sum += left_of(i / ROWS, e) * right_of(i % ROWS, e);
        if (sums[i] != (float)sum)
            return false;
    }
    return true;
}

/* Runs the program's kernel. */
static cl_int run(kiln_program *program, cl_context context, cl_device_id device, float *sums)
{
    const size_t one = 1, size = ROWS * ROWS * sizeof *sums;
    cl_int code = CL_SUCCESS;
    cl_mem mem = NULL;
    cl_kernel kernel = clCreateKernel(kiln_program_cl(program), "amx_probe", &code);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    if (code == CL_SUCCESS)
        mem = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 0, sizeof mem, &mem);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, size, sums, 0, NULL, NULL);
    if (mem)
        clReleaseMemObject(mem);
    if (queue)
        clReleaseCommandQueue(queue);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

static bool works(kiln_programs *programs, cl_context context, cl_device_id device)
{
    float sums[ROWS * ROWS] = {0};
    char *source = NULL;
    kiln_program *program = NULL;
    kiln_status status = kiln_template_source(NULL, "amx_probe.cl", &source);
    if (!status)
        status = kiln_program_get(
            programs, source, "-DSRC_TYPE=TYPE_BF16 -DDST_TYPE=TYPE_F32 -cl-std=CL1.2", &program);
    free(source);
    if (status)
        return false;
    const cl_int code = run(program, context, device, sums);
    const bool right = code == CL_SUCCESS && is_right(sums);
    if (right)
        kiln_program_keep(program);
    else if (code != CL_SUCCESS)
        kiln_fail_cl(code, "amx_probe");
    else
        kiln_fail(KILN_WRONG, "a product of the probe is wrong");
    kiln_program_release(program);
    return right;
}

void kiln_amx_probe(kiln_programs *programs, cl_context context, cl_device_id device,
                    const kiln_logger *logger, kiln_device_facts *facts)
{
    if (!kiln_device_is_pocl(facts) || !has_cpu())
        return;
    if (!ask_for_registers()) {
        kiln_log(logger, "AMX is not used: the system does not give its registers to this process");
        return;
    }
    facts->has_amx = works(programs, context, device);
    if (!facts->has_amx)
        kiln_log(logger, "AMX is not used: %s", kiln_last_error());
}
