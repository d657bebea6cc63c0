/* CUDA's driver, found at run time: nothing of CUDA is needed to build this. */
#include "cuda_twin.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* As cuda.h declares them (CUDA driver API): a result is 0 where all is well, an address in device
 * memory has 64 bits. */
static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*current)(void *);
    int (*load)(void **, const void *);
    int (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*alloc)(uint64_t *, size_t);
    int (*release)(uint64_t);
    int (*to_device)(uint64_t, const void *, size_t);
    int (*from_device)(void *, uint64_t, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*finish)(void);
} cu;

static const struct {
    void *to;
    const char *name;
} functions[] = {
    {&cu.init, "cuInit"},
    {&cu.device, "cuDeviceGet"},
    {&cu.retain, "cuDevicePrimaryCtxRetain"},
    {&cu.current, "cuCtxSetCurrent"},
    {&cu.load, "cuModuleLoadData"},
    {&cu.unload, "cuModuleUnload"},
    {&cu.function, "cuModuleGetFunction"},
    {&cu.alloc, "cuMemAlloc_v2"},
    {&cu.release, "cuMemFree_v2"},
    {&cu.to_device, "cuMemcpyHtoD_v2"},
    {&cu.from_device, "cuMemcpyDtoH_v2"},
    {&cu.launch, "cuLaunchKernel"},
    {&cu.finish, "cuCtxSynchronize"},
};

static bool open_cuda(char why[256])
{
    static void *context;
    if (context)
        return cu.current(context) == 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        snprintf(why, 256, "there is no libcuda.so.1");
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!(*(void **)functions[i].to = dlsym(library, functions[i].name))) {
            snprintf(why, 256, "libcuda.so.1 lacks %s", functions[i].name);
            return false;
        }
    int device;
    const int code =
        cu.init(0) || cu.device(&device, 0) || cu.retain(&context, device) || cu.current(context);
    if (code)
        snprintf(why, 256, "CUDA can't be opened");
    return !code;
}

/* PTX of OpenCL differs from CUDA's in how textures are named, which kernels without textures may
 * say or not, and in registers that hold the launch's offset, which is 0 here. */
static void make_cuda(char *ptx)
{
    char *mode = strstr(ptx, ", texmode_independent");
    if (mode)
        memset(mode, ' ', strlen(", texmode_independent"));
    for (char *at = ptx; (at = strstr(at, "%envreg"));)
        if (at[7] >= '0' && at[7] <= '5' && (at[8] < '0' || at[8] > '9'))
            memcpy(at, "0       ", 8);
        else
            at += 7;
}

static bool run(void *function, const size_t groups[3], const size_t items[3], twin_arg *args,
                unsigned count, char why[256])
{
    void *values[MOST];
    int code = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned own = (unsigned)args[i].copy_of;
        values[i] = args[i].bytes ? (void *)&args[own].address : (void *)(uintptr_t)args[i].value;
        if (!code && args[i].bytes && own == i)
            code = cu.alloc(&args[i].address, args[i].bytes) ||
                   cu.to_device(args[i].address, args[i].contents, args[i].bytes);
    }
    if (code)
        snprintf(why, 256, "no memory for its buffers");
    if (!code && (code = cu.launch(function, (unsigned)groups[0], (unsigned)groups[1],
                                   (unsigned)groups[2], (unsigned)items[0], (unsigned)items[1],
                                   (unsigned)items[2], 0, NULL, values, NULL)))
        snprintf(why, 256, "CUDA's launch ends with code %d", code);
    if (!code && (code = cu.finish()))
        snprintf(why, 256, "CUDA's kernel ends with code %d", code);
    for (unsigned i = 0; i < count; i++)
        if (args[i].address) {
            if (!code)
                code = cu.from_device(args[i].contents, args[i].address, args[i].bytes);
            cu.release(args[i].address);
        }
    return !code;
}

bool twin_launch(const char *ptx, const char *name, const size_t groups[3], const size_t items[3],
                 twin_arg *args, unsigned count, char why[256])
{
    void *module = NULL, *function = NULL;
    if (count > MOST || !open_cuda(why))
        return false;
    char *text = strdup(ptx);
    if (!text)
        return false;
    make_cuda(text);
    int code = cu.load(&module, text);
    free(text);
    if (code) {
        snprintf(why, 256, "CUDA refuses its PTX with code %d", code);
        return false;
    }
    code = cu.function(&function, module, name);
    if (code)
        snprintf(why, 256, "CUDA finds no such kernel, code %d", code);
    const bool done = !code && run(function, groups, items, args, count, why);
    cu.unload(module);
    return done;
}
