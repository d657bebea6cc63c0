/* Asks an OpenCL device for the facts the generator plans with. */
#include "kiln_internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#endif

#ifndef CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
#define CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV 0x4001
#endif

static void ask_text(cl_device_id device, cl_device_info what, char *text, size_t size)
{
    char full[1024] = "";
    if (clGetDeviceInfo(device, what, sizeof full, full, NULL) != CL_SUCCESS)
        full[0] = '\0';
    full[sizeof full - 1] = '\0';
    size_t length = strlen(full);
    if (length >= size)
        length = size - 1;
    memcpy(text, full, length);
    text[length] = '\0';
}

static int64_t ask_uint(cl_device_id device, cl_device_info what)
{
    cl_uint v = 0;
    return clGetDeviceInfo(device, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : 0;
}

static int64_t ask_size(cl_device_id device, cl_device_info what)
{
    size_t v = 0;
    return clGetDeviceInfo(device, what, sizeof v, &v, NULL) == CL_SUCCESS ? (int64_t)v : 0;
}

static int64_t ask_ulong(cl_device_id device, cl_device_info what)
{
    cl_ulong v = 0;
    if (clGetDeviceInfo(device, what, sizeof v, &v, NULL) != CL_SUCCESS)
        return 0;
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* Mesa's llvmpipe fills the vectors of a CPU with work-items, as a GPU does: kernels whose items
 * hold vectors of their own have eight times the code there, and take minutes to compile. */
static void read_kind(cl_device_id device, kiln_device_facts *f)
{
    cl_device_type type = 0;
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    bool cpu = type & CL_DEVICE_TYPE_CPU; /* Oclgrind is everything at once */
    f->kind = cpu && strcmp(f->platform, "rusticl") != 0 ? KILN_DEVICE_CPU
              : !cpu && type & CL_DEVICE_TYPE_GPU        ? KILN_DEVICE_GPU
                                                         : KILN_DEVICE_OTHER;
}

/* PoCL's CPU is the one that this runs on. */
static bool read_vnni(const kiln_device_facts *f)
{
#if defined __x86_64__ && defined __GNUC__
    return f->kind == KILN_DEVICE_CPU && strcmp(f->platform, "Portable Computing Language") == 0 &&
           __builtin_cpu_supports("avx512vnni");
#else
    (void)f;
    return false;
#endif
}

/* Family and model of an x86 CPU; 0 where it is none. */
typedef struct x86_core {
    bool amd;
    unsigned family, model;
} x86_core;

static x86_core read_x86(void)
{
    x86_core c = {0};
#if defined __x86_64__ && defined __GNUC__
    unsigned a = 0, b = 0, cx = 0, d = 0;
    c.amd = __get_cpuid(0, &a, &b, &cx, &d) && b == signature_AMD_ebx;
    if (__get_cpuid(1, &a, &b, &cx, &d)) {
        c.family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
        c.model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    }
#endif
    return c;
}

/* PoCL's CPU is the one that this runs on. Its name says little of the core: virtual machines of
 * AMD's fourth and fifth generation of servers have the same. AMD has a family for each generation
 * or two, Intel a model. */
static void read_core(kiln_device_facts *f)
{
    if (f->kind != KILN_DEVICE_CPU || strcmp(f->platform, "Portable Computing Language") != 0)
        return;
    const x86_core c = read_x86();
    if (c.amd)
        snprintf(f->core, sizeof f->core, "AMD %Xh", c.family);
    else if (c.family)
        snprintf(f->core, sizeof f->core, "x86 %u-%u", c.family, c.model);
}

/* Zen 4 (family 19h with AVX-512) and the Zen 5 of notebooks (models of 1Ah) send the halves of a
 * wide vector through units of eight floats. */
static int read_unit(const kiln_device_facts *f)
{
    const x86_core c = read_x86();
    const bool notebook =
        (c.model >= 0x20 && c.model < 0x40) || (c.model >= 0x60 && c.model < 0x80);
    const bool halves = c.amd && (c.family == 0x19 || (c.family == 0x1a && notebook));
    return f->kind == KILN_DEVICE_CPU && f->simd_floats == 16 && halves ? 8 : f->simd_floats;
}

/* What a virtual machine hides from the implementation, the C library may still know. Of what
 * either tells of a whole package, other machines on it have their share: of 260 MB on a Xeon of
 * many cores two read 64 MB at two thirds of the cache's speed. */
static int64_t read_cache(cl_device_id device, const kiln_device_facts *f)
{
    const int64_t share = ((int64_t)16 << 20) * f->compute_units;
    int64_t told = ask_ulong(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (told <= 0 && *f->core)
        told = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return told < 0 ? 0 : *f->core && told > share ? share : told;
}

static int64_t read_core_cache(const kiln_device_facts *f)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long told = *f->core ? sysconf(_SC_LEVEL2_CACHE_SIZE) : 0;
    return told < 0 ? 0 : told;
#else
    (void)f;
    return 0;
#endif
}

/* Xeons; a Zen 5 does more at once, and the loads of a Zen 4 hide behind its halves. */
static bool read_counts_loads(const kiln_device_facts *f)
{
    const x86_core c = read_x86();
    return *f->core && c.family && !c.amd && f->simd_floats == 16;
}

/* Peak and bandwidth from the counts: a CPU core does two multiply-adds of a unit's width a cycle,
 * counted at twice the clock that is told, a base clock (Zen 4 and 5 ran at 1.7 times theirs, a
 * Xeon at 1.15 times); a GPU unit has 128 lanes; memory is 10 GB/s a core (a Xeon's 6.7) or, on a
 * GPU, 20 GB/s a unit. Only ratios matter to predict(). */
static void guess_roofline(cl_device_id device, kiln_device_facts *f)
{
    double ghz = (double)ask_uint(device, CL_DEVICE_MAX_CLOCK_FREQUENCY) / 1000;
    if (ghz < 0.1)
        ghz = f->kind == KILN_DEVICE_GPU ? 1.5 : 3;
    bool gpu = f->kind == KILN_DEVICE_GPU;
    const bool xeon = f->counts_loads;
    double lanes = gpu ? 128 : (xeon ? 2.3 : 4.0) * f->unit_floats;
    f->peak_gflops = 2 * lanes * ghz * f->compute_units;
    f->bandwidth_gbs = (gpu ? 20.0 : xeon ? 6.7 : 10.0) * f->compute_units;
}

kiln_status kiln_device_read(cl_device_id device, kiln_device_facts *f)
{
    memset(f, 0, sizeof *f);
    cl_platform_id platform;
    cl_int code = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetDeviceInfo");
    ask_text(device, CL_DEVICE_NAME, f->name, sizeof f->name);
    ask_text(device, CL_DEVICE_VENDOR, f->vendor, sizeof f->vendor);
    ask_text(device, CL_DRIVER_VERSION, f->driver, sizeof f->driver);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof f->platform - 1, f->platform, NULL);
    read_kind(device, f);
    read_core(f);

    f->compute_units = (int)ask_uint(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    if (f->compute_units < 1)
        f->compute_units = 1;
    f->max_group = ask_size(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    size_t local[16] = {0};
    if (clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof local, local, NULL) ==
        CL_SUCCESS)
        for (int i = 0; i < 3; i++)
            f->max_local[i] = (int64_t)local[i];
    f->local_memory = ask_ulong(device, CL_DEVICE_LOCAL_MEM_SIZE);
    f->max_constant = ask_ulong(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    f->global_memory = ask_ulong(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    f->max_alloc = ask_ulong(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    f->cache = read_cache(device, f);
    f->base_align = ask_uint(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    if (f->base_align < 1)
        f->base_align = 1;
    cl_bool images = CL_FALSE;
    clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    if (images) {
        f->image_width = ask_size(device, CL_DEVICE_IMAGE2D_MAX_WIDTH);
        f->image_height = ask_size(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    }
    f->simd_floats = (int)ask_uint(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    if (f->simd_floats < 1)
        f->simd_floats = 1;
    char extensions[8192] = "";
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    f->has_fp16 = strstr(extensions, "cl_khr_fp16") != NULL;
    f->has_fp64 = strstr(extensions, "cl_khr_fp64") != NULL;
    if (strstr(extensions, "cl_nv_device_attribute_query"))
        f->cuda_capability = (int)(ask_uint(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) * 10 +
                                   ask_uint(device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
    f->has_vnni = read_vnni(f);
    f->unit_floats = read_unit(f);
    f->counts_loads = read_counts_loads(f);
    f->core_cache = read_core_cache(f);
    guess_roofline(device, f);
    return KILN_OK;
}
