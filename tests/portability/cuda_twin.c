/* A library to preload: each launch of an OpenCL kernel on an NVIDIA GPU is made by CUDA first, on
 * copies of its buffers, so that compute-sanitizer, which sees CUDA alone, watches it.
 *
 *     LD_PRELOAD=build/release/tests/libcuda_twin.so compute-sanitizer build/release/kiln conv ...
 *
 * NVIDIA's OpenCL tells a program's binary as PTX, which CUDA's driver takes. A copy has its
 * buffer's size to the byte. Afterwards OpenCL makes the launch, too, and what both wrote must be
 * equal, but for addresses of the copies. At the end one line on standard error counts launches;
 * exit status 90 where one of them differed or could not be made. sanitize.sh runs this over a
 * list.
 */
#include "cuda_twin.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARGS = 32, MOST_KERNELS = 1024, MOST_BUFFERS = 1 << 16, STATUS = 90 };

/* ---- what OpenCL is told ---- */

typedef struct arg {
    size_t size;
    unsigned char value[16];
    cl_mem mem; /* NULL: a plain value */
} arg;

static struct known_kernel {
    cl_kernel kernel;
    arg args[MOST_ARGS];
    unsigned count;
} kernels[MOST_KERNELS];

static cl_mem buffers[MOST_BUFFERS];
static unsigned buffer_count, launches, failures;

/* The function of that name in the library that would be called without this one. */
static void *next(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f) {
        fprintf(stderr, "cuda_twin: no %s to call\n", name);
        _exit(STATUS);
    }
    return f;
}

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "cuda_twin: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    failures++;
}

static cl_mem remember(cl_mem mem)
{
    if (mem && buffer_count < MOST_BUFFERS)
        buffers[buffer_count++] = mem;
    return mem;
}

static bool is_buffer(cl_mem mem)
{
    for (unsigned i = buffer_count; i-- > 0;)
        if (buffers[i] == mem)
            return true;
    return false;
}

static struct known_kernel *known(cl_kernel kernel)
{
    for (int i = 0; i < MOST_KERNELS; i++) {
        if (!kernels[i].kernel)
            kernels[i].kernel = kernel;
        if (kernels[i].kernel == kernel)
            return &kernels[i];
    }
    fail("more than %d kernels", MOST_KERNELS);
    _exit(STATUS);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    static cl_mem (*real)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    if (!real)
        *(void **)&real = next("clCreateBuffer");
    return remember(real(context, flags, size, host, code));
}

cl_mem clCreateSubBuffer(cl_mem mem, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *info, cl_int *code)
{
    static cl_mem (*real)(cl_mem, cl_mem_flags, cl_buffer_create_type, const void *, cl_int *);
    if (!real)
        *(void **)&real = next("clCreateSubBuffer");
    return remember(real(mem, flags, type, info, code));
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    static cl_int (*real)(cl_kernel, cl_uint, size_t, const void *);
    if (!real)
        *(void **)&real = next("clSetKernelArg");
    struct known_kernel *k = known(kernel);
    if (index < MOST_ARGS && value && size <= sizeof k->args->value) {
        arg *a = &k->args[index];
        a->size = size;
        memcpy(a->value, value, size);
        cl_mem mem = NULL;
        if (size == sizeof mem)
            memcpy(&mem, value, sizeof mem);
        a->mem = is_buffer(mem) ? mem : NULL;
        k->count = index + 1 > k->count ? index + 1 : k->count;
    } else {
        fail("argument %u of %zu bytes", index, size);
    }
    return real(kernel, index, size, value);
}

/* A kernel's handle may come again for another kernel. */
cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    static cl_kernel (*real)(cl_program, const char *, cl_int *);
    if (!real)
        *(void **)&real = next("clCreateKernel");
    cl_kernel kernel = real(program, name, code);
    if (kernel)
        known(kernel)->count = 0;
    return kernel;
}

/* ---- the launch ---- */

/* Names the PTX of the kernel's program; NULL where there is none. The caller frees it. */
static char *ptx_of(cl_kernel kernel)
{
    cl_program program;
    size_t size = 0;
    if (clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) || size == 0)
        return NULL;
    char *text = calloc(1, size + 1);
    if (text && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof text, &text, NULL)) {
        free(text);
        return NULL;
    }
    return text;
}

static bool copy_from(cl_command_queue queue, const arg *a, void *to, size_t size)
{
    return clEnqueueReadBuffer(queue, a->mem, CL_TRUE, 0, size, to, 0, NULL, NULL) == CL_SUCCESS;
}

static size_t size_of(const arg *a)
{
    size_t size = 0;
    clGetMemObjectInfo(a->mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    return size;
}

/* The same buffer twice is one copy. */
static unsigned first_of(const struct known_kernel *k, unsigned i)
{
    unsigned j = 0;
    while (k->args[j].mem != k->args[i].mem)
        j++;
    return j;
}

/* Makes the launch by CUDA, which leaves its results in the contents of `args`. */
static bool launch_twin(const struct known_kernel *k, cl_command_queue queue, const char *name,
                        const size_t groups[3], const size_t items[3], twin_arg args[MOST_ARGS])
{
    for (unsigned i = 0; i < k->count; i++) {
        const arg *a = &k->args[i];
        args[i] = (twin_arg){.value = a->value, .copy_of = (int)i};
        if (!a->mem)
            continue;
        args[i].copy_of = (int)first_of(k, i);
        args[i].bytes = size_of(a);
        args[i].contents = malloc(args[i].bytes);
        if (!args[i].contents || !copy_from(queue, a, args[i].contents, args[i].bytes))
            return false;
    }
    char *ptx = ptx_of(k->kernel), why[256] = "its program tells no PTX";
    const bool done = ptx && twin_launch(ptx, name, groups, items, args, k->count, why);
    free(ptx);
    if (!done)
        fail("%s: %s", name, why);
    return done;
}

/* Where a buffer lies: part of another one, mostly. */
typedef struct region {
    cl_mem root;
    size_t from, size;
} region;

static region region_of(const arg *a)
{
    region r = {.root = NULL, .size = size_of(a)};
    clGetMemObjectInfo(a->mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof r.root, &r.root, NULL);
    clGetMemObjectInfo(a->mem, CL_MEM_OFFSET, sizeof r.from, &r.from, NULL);
    if (!r.root)
        r.root = a->mem;
    return r;
}

/* A stage's source may reach as far as the parts of the workspace behind it; there the other
 * argument is compared. Takes what both have. */
static void take_over(char *real, const char *twin, region own, region other)
{
    if (own.root != other.root || other.from < own.from ||
        (other.from == own.from && other.size >= own.size) || other.from >= own.from + own.size)
        return;
    const size_t at = other.from - own.from, rest = own.size - at;
    memcpy(real + at, twin + at, other.size < rest ? other.size : rest);
}

/* The twin's copies lie elsewhere, which a tensor map that a kernel makes tells. */
static bool is_address(const twin_arg *args, unsigned count, uint64_t word)
{
    for (unsigned i = 0; i < count; i++)
        if (args[i].address && word - args[i].address < args[i].bytes)
            return true;
    return false;
}

/* The word of 8 bytes, or of what is left of a buffer. */
static uint64_t word_at(const char *contents, size_t at, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, contents + at, size - at < sizeof word ? size - at : sizeof word);
    return word;
}

/* Fails at the first word that differs and is no address. */
static void compare_words(const char *name, unsigned i, const twin_arg *args, unsigned count,
                          const char *real)
{
    for (size_t at = 0; at < args[i].bytes; at += sizeof(uint64_t)) {
        const uint64_t ours = word_at(args[i].contents, at, args[i].bytes),
                       other = word_at(real, at, args[i].bytes);
        if (ours != other && !is_address(args, count, ours)) {
            fail("%s: argument %u differs from OpenCL's: %#llx instead of %#llx at byte %zu of %zu",
                 name, i, (unsigned long long)ours, (unsigned long long)other, at, args[i].bytes);
            return;
        }
    }
}

static void compare(const struct known_kernel *k, cl_command_queue queue, const char *name,
                    const twin_arg args[MOST_ARGS])
{
    for (unsigned i = 0; i < k->count; i++) {
        if (!k->args[i].mem || first_of(k, i) != i)
            continue;
        const region own = region_of(&k->args[i]);
        char *real = malloc(own.size);
        if (!real || !copy_from(queue, &k->args[i], real, own.size)) {
            fail("%s: argument %u can't be read", name, i);
            free(real);
            continue;
        }
        for (unsigned j = 0; j < k->count; j++)
            if (k->args[j].mem && first_of(k, j) == j && j != i)
                take_over(real, args[i].contents, own, region_of(&k->args[j]));
        compare_words(name, i, args, k->count, real);
        free(real);
    }
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *wait, cl_event *event)
{
    static cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                          const size_t *, cl_uint, const cl_event *, cl_event *);
    if (!real)
        *(void **)&real = next("clEnqueueNDRangeKernel");
    const struct known_kernel *k = known(kernel);
    char name[128] = "";
    size_t groups[3] = {1, 1, 1}, items[3] = {1, 1, 1};
    twin_arg args[MOST_ARGS] = {{.value = NULL}};
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    for (cl_uint i = 0; i < rank && i < 3; i++) {
        items[i] = local ? local[i] : 1;
        groups[i] = global[i] / items[i];
    }
    if (waits)
        clWaitForEvents(waits, wait);
    clFinish(queue);
    launches++;
    const bool twin = launch_twin(k, queue, name, groups, items, args);
    const cl_int code = real(queue, kernel, rank, offset, global, local, waits, wait, event);
    clFinish(queue);
    if (twin && code == CL_SUCCESS)
        compare(k, queue, name, args);
    for (unsigned i = 0; i < k->count; i++)
        free(args[i].contents);
    return code;
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "cuda_twin: %u launches, %u failures\n", launches, failures);
    fflush(NULL);
    if (failures)
        _exit(STATUS);
}
