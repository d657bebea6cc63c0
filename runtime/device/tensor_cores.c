/* Builds and runs mma_probe.cl, and compares its result. */
#include "tensor_cores.h"

#include "runtime/programs/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, COLUMNS = 32, TERMS = 64, ITEMS = 128 };

/* More than the device's query tells, which is the limit of an argument. */
enum { LARGE_LOCAL = 200 << 10 };

/* The size of a tensor map. */
enum { MAP_BYTES = 128 };

typedef struct probe {
    uint16_t left[ROWS * TERMS], right[COLUMNS * TERMS]; /* binary16 */
    float product[ROWS * COLUMNS];
    char map[MAP_BYTES];
} probe;

/* Small integers 0 to 3 in binary16. */
static uint16_t half_of(int i)
{
    static const uint16_t halves[] = {0x0000, 0x3c00, 0x4000, 0x4200};
    return halves[i];
}

static int left_of(int row, int term)
{
    return (row * 3 + term * 5 + row * term / 7) % 4;
}

static int right_of(int column, int term)
{
    return (column * 7 + term * 3 + column * term / 5) % 4;
}

static void fill(probe *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < ROWS * TERMS; i++)
        p->left[i] = half_of(left_of(i / TERMS, i % TERMS));
    for (int i = 0; i < COLUMNS * TERMS; i++)
        p->right[i] = half_of(right_of(i / TERMS, i % TERMS));
}

static bool is_right(const probe *p)
{
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int sum = 0;
        for (int t = 0; t < TERMS; t++)
            sum += left_of(i / COLUMNS, t) * right_of(i % COLUMNS, t);
        if (p->product[i] != (float)sum)
            return false;
    }
    return true;
}

enum { ARGUMENTS = 4 };

static cl_int launch(cl_kernel kernel, cl_command_queue queue, const cl_mem mem[ARGUMENTS],
                     probe *p)
{
    const size_t items = ITEMS;
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < ARGUMENTS && code == CL_SUCCESS; i++)
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
    void *const data[ARGUMENTS] = {p->left, p->right, p->product, p->map};
    const size_t size[ARGUMENTS] = {sizeof p->left, sizeof p->right, sizeof p->product,
                                    sizeof p->map};
    cl_mem mem[ARGUMENTS] = {NULL};
    for (int i = 0; i < ARGUMENTS && code == CL_SUCCESS; i++)
        mem[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size[i], data[i],
                                &code);
    if (code == CL_SUCCESS)
        code = launch(kernel, queue, mem, p);
    for (int i = 0; i < ARGUMENTS; i++)
        if (mem[i])
            clReleaseMemObject(mem[i]);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

typedef struct place {
    kiln_programs *programs;
    cl_context context;
    cl_command_queue queue;
    const char *source;
} place;

/* Returns whether a kernel that declares `local_bytes` of local memory multiplies as it should;
 * `more` are options. */
static bool works(const place *at, int local_bytes, const char *more)
{
    char options[240];
    kiln_program *program = NULL;
    probe p;
    snprintf(options, sizeof options,
             "-DSRC_TYPE=TYPE_F16 -DDST_TYPE=TYPE_F32 -DT_ROWS=%d -DT_COLUMNS=%d -DT_WARPS_R=4 "
             "-DT_WARPS_C=1 -DD_LOCAL_BYTES=%d %s -cl-std=CL1.2",
             ROWS, COLUMNS, local_bytes, more);
    if (kiln_program_get(at->programs, at->source, options, &program))
        return false;
    fill(&p);
    const cl_int code = run(program, at->context, at->queue, &p);
    const bool right = code == CL_SUCCESS && is_right(&p);
    if (right)
        kiln_program_keep(program);
    else if (code != CL_SUCCESS)
        kiln_fail_cl(code, "mma_probe");
    else
        kiln_fail(KILN_WRONG, "a product of the probe is wrong");
    kiln_program_release(program);
    return right;
}

static bool allows(const kiln_device_facts *facts, const kiln_gpu_versions *gate)
{
    return facts->kind == KILN_DEVICE_GPU && kiln_gpu_version_within(gate, facts->gpu.id.version);
}

static void probe_all(const place *at, const kiln_logger *logger, kiln_device_facts *facts)
{
    kiln_gpu_facts *g = &facts->gpu;
    const bool large = allows(facts, &facts->unit->large_local);
    if (large && works(at, LARGE_LOCAL, "-DT_WGMMA=0")) {
        g->has_mma = true;
        g->static_local_memory = LARGE_LOCAL;
    } else {
        if (large)
            kiln_log(logger, "kernels declare no %d bytes of local memory: %s", LARGE_LOCAL,
                     kiln_last_error());
        g->has_mma = works(at, (int)facts->local_memory, "-DT_WGMMA=0");
    }
    if (!g->has_mma)
        kiln_log(logger, "tensor cores are not used: %s", kiln_last_error());
    if (!g->has_mma || !allows(facts, &facts->unit->wgmma))
        return;
    g->has_tma = works(at, (int)facts->local_memory, "-DT_WGMMA=1 -DT_TMA=1 -DD_PTX_TARGET=sm_90a");
    if (!g->has_tma)
        kiln_log(logger, "copies that follow tensor maps are not used: %s", kiln_last_error());
    g->has_wgmma =
        g->has_tma || works(at, (int)facts->local_memory, "-DT_WGMMA=1 -DD_PTX_TARGET=sm_90a");
    if (!g->has_wgmma)
        kiln_log(logger, "the instruction wgmma is not used: %s", kiln_last_error());
}

void kiln_tensor_cores_probe(kiln_programs *programs, cl_context context, cl_device_id device,
                             const kiln_logger *logger, kiln_device_facts *facts)
{
    place at = {.programs = programs, .context = context};
    char *source = NULL;
    if (!allows(facts, &facts->unit->mma))
        return;
    at.queue = clCreateCommandQueue(context, device, 0, NULL);
    if (at.queue && !kiln_template_source(NULL, "mma_probe.cl", &source)) {
        at.source = source;
        probe_all(&at, logger, facts);
    }
    free(source);
    if (at.queue)
        clReleaseCommandQueue(at.queue);
}
