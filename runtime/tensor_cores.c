/* Builds and runs mma_probe.cl, and compares its result. */
#include "tensor_cores.h"

#include "runtime/programs/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, ELEMENTS = SIDE * SIDE };

/* The largest local memory that a group may have on any device of compute capability 9.0; compilers
 * for older ones take no more from a declaration than the device says. */
enum { LARGE_LOCAL = 227 << 10, LARGE_LOCAL_FROM = 90 };

typedef struct probe {
    uint16_t left[ELEMENTS], right[ELEMENTS]; /* binary16 */
    float product[ELEMENTS];
} probe;

/* Small integers 0 to 3 in binary16. */
static uint16_t half_of(int i)
{
    static const uint16_t halves[] = {0x0000, 0x3c00, 0x4000, 0x4200};
    return halves[i % 4];
}

static int left_of(int row, int term)
{
    return (row * 3 + term * 5 + row * term) % 4;
}

static int right_of(int column, int term)
{
    return (column * 7 + term * 3 + column / 3) % 4;
}

static void fill(probe *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < ELEMENTS; i++) {
        p->left[i] = half_of(left_of(i / SIDE, i % SIDE));
        p->right[i] = half_of(right_of(i / SIDE, i % SIDE));
    }
}

static bool is_right(const probe *p)
{
    for (int i = 0; i < ELEMENTS; i++) {
        int sum = 0;
        for (int t = 0; t < SIDE; t++)
            sum += left_of(i / SIDE, t) * right_of(i % SIDE, t);
        if (p->product[i] != (float)sum)
            return false;
    }
    return true;
}

static cl_int launch(cl_kernel kernel, cl_command_queue queue, const cl_mem mem[3], probe *p)
{
    const size_t items = 32;
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < 3 && code == CL_SUCCESS; i++)
        code = clSetKernelArg(kernel, i, sizeof mem[i], &mem[i]);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(queue, mem[2], CL_TRUE, 0, sizeof p->product, p->product, 0,
                                   NULL, NULL);
    return code;
}

/* Runs the program's kernel on the data of *p. */
static cl_int run(kiln_program *program, cl_context context, cl_command_queue queue, probe *p)
{
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(kiln_program_cl(program), "mma_probe", &code);
    void *const data[3] = {p->left, p->right, p->product};
    const size_t size[3] = {sizeof p->left, sizeof p->right, sizeof p->product};
    cl_mem mem[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3 && code == CL_SUCCESS; i++)
        mem[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size[i], data[i],
                                &code);
    if (code == CL_SUCCESS)
        code = launch(kernel, queue, mem, p);
    for (int i = 0; i < 3; i++)
        if (mem[i])
            clReleaseMemObject(mem[i]);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

/* Returns whether a kernel that declares `local_bytes` of local memory multiplies as it should. */
static bool works(kiln_programs *programs, cl_context context, cl_command_queue queue,
                  const char *source, int local_bytes)
{
    char options[120];
    kiln_program *program = NULL;
    probe p;
    snprintf(options, sizeof options,
             "-DSRC_TYPE=TYPE_F16 -DDST_TYPE=TYPE_F32 -DD_LOCAL_BYTES=%d -cl-std=CL1.2",
             local_bytes);
    if (kiln_program_get(programs, source, options, &program))
        return false;
    fill(&p);
    const bool right = run(program, context, queue, &p) == CL_SUCCESS && is_right(&p);
    if (right)
        kiln_program_ran(program);
    kiln_program_release(program);
    return right;
}

void kiln_tensor_cores_probe(kiln_programs *programs, cl_context context, cl_device_id device,
                             const kiln_logger *logger, kiln_device_facts *facts)
{
    if (facts->kind != KILN_DEVICE_GPU || facts->cuda_capability < 80)
        return;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    char *source = NULL;
    if (queue && !kiln_template_source(NULL, "mma_probe.cl", &source)) {
        kiln_gpu_facts *g = &facts->gpu;
        if (facts->cuda_capability >= LARGE_LOCAL_FROM &&
            works(programs, context, queue, source, LARGE_LOCAL)) {
            g->has_mma = true;
            g->static_local_memory = LARGE_LOCAL;
        } else {
            g->has_mma = works(programs, context, queue, source, (int)facts->local_memory);
        }
        if (!g->has_mma)
            kiln_log(logger, "tensor cores are not used: %s", kiln_last_error());
    }
    free(source);
    if (queue)
        clReleaseCommandQueue(queue);
}
