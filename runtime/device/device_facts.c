/* Asks an OpenCL device for the facts the generator plans with. */
#include "device_facts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#endif

/* Extensions of vendors, whose headers are not everywhere. */
enum {
    NV_COMPUTE_CAPABILITY_MAJOR = 0x4000,
    NV_COMPUTE_CAPABILITY_MINOR = 0x4001,
    NV_REGISTERS_PER_BLOCK = 0x4002,
    NV_WARP_SIZE = 0x4003,
    AMD_SIMD_PER_COMPUTE_UNIT = 0x4040,
    AMD_SIMD_WIDTH = 0x4041,
    AMD_SIMD_INSTRUCTION_WIDTH = 0x4042,
    AMD_WAVEFRONT_WIDTH = 0x4043,
    AMD_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT = 0x4047,
    AMD_GFXIP_MAJOR = 0x404A,
    AMD_GFXIP_MINOR = 0x404B,
    INTEL_IP_VERSION = 0x4250
};

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

/* PoCL's CPU device is the CPU that this code runs on. A pair replaces two multiply-adds. */
static void read_units(kiln_device_facts *f)
{
#if defined __x86_64__ && defined __GNUC__
    const bool pocl = kiln_device_is_pocl(f), pays = f->cpu->pairs > 0 && f->cpu->pairs < 2;
    f->has_vnni = pocl && __builtin_cpu_supports("avx512vnni");
    f->has_bf16 = pocl && pays && __builtin_cpu_supports("avx512bf16");
#else
    (void)f;
#endif
}

/* Reads what the CPU that this code runs on tells of itself. The family is 0 if it tells nothing.
 */
static kiln_core_id read_id(char vendor[13])
{
    kiln_core_id id = {.vendor = vendor};
    vendor[0] = '\0';
#if defined __x86_64__ && defined __GNUC__
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        const unsigned letters[] = {b, d, c};
        memcpy(vendor, letters, sizeof letters);
        vendor[sizeof letters] = '\0';
    }
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        id.family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
        id.model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    }
#endif
    return id;
}

/* A CPU device is the CPU that this code runs on. PoCL's name for it says little of the core:
 * virtual machines of AMD's fourth and fifth generation of servers have the same name. AMD has a
 * family for each generation or two, Intel a model. */
static void read_core(kiln_device_facts *f)
{
    char vendor[13];
    kiln_core_id id = read_id(vendor);
    id.vector_floats = f->simd_floats;
    f->cpu = kiln_core_of(f->kind == KILN_DEVICE_CPU ? &id : NULL);
    if (!kiln_device_is_pocl(f) || id.family == 0)
        return;
    if (strcmp(vendor, "AuthenticAMD") == 0)
        snprintf(f->core, sizeof f->core, "AMD %Xh", id.family);
    else
        snprintf(f->core, sizeof f->core, "x86 %u-%u", id.family, id.model);
}

/* The C library may know a cache that a virtual machine hides from the OpenCL implementation.
 * Either may tell the cache of a whole package, of which other machines have their share: two cores
 * of a package whose cache is 260 MB read 64 MB at two thirds of the cache's speed. */
static int64_t read_cache(cl_device_id device, const kiln_device_facts *f)
{
    const int64_t share = f->cpu->last_bytes * f->compute_units;
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
    if (told > 0)
        return told;
#endif
    return f->cpu->l2_bytes;
}

static int version_of(int64_t major, int64_t minor)
{
    return KILN_GPU_VERSION((int)major, (int)minor);
}

static void read_nvidia(cl_device_id device, kiln_device_facts *f)
{
    const int64_t major = ask_uint(device, NV_COMPUTE_CAPABILITY_MAJOR),
                  minor = ask_uint(device, NV_COMPUTE_CAPABILITY_MINOR);
    f->gpu.id = (kiln_gpu_id){KILN_GPU_NVIDIA, version_of(major, minor)};
    f->gpu.subgroup = (int)ask_uint(device, NV_WARP_SIZE);
    f->gpu.group_registers = ask_uint(device, NV_REGISTERS_PER_BLOCK);
    snprintf(f->core, sizeof f->core, "NVIDIA %d.%d", (int)major, (int)minor);
}

static void read_amd(cl_device_id device, kiln_device_facts *f)
{
    f->gpu.id = (kiln_gpu_id){KILN_GPU_AMD, version_of(ask_uint(device, AMD_GFXIP_MAJOR),
                                                       ask_uint(device, AMD_GFXIP_MINOR))};
    f->gpu.subgroup = (int)ask_uint(device, AMD_WAVEFRONT_WIDTH);
    f->gpu.unit_local_memory = ask_uint(device, AMD_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT);
    f->gpu.unit_lanes =
        (int)(ask_uint(device, AMD_SIMD_PER_COMPUTE_UNIT) * ask_uint(device, AMD_SIMD_WIDTH) *
              ask_uint(device, AMD_SIMD_INSTRUCTION_WIDTH));
}

static void read_intel(cl_device_id device, kiln_device_facts *f)
{
    const int64_t version = ask_uint(device, INTEL_IP_VERSION); /* 10 bits, 8 bits, revision */
    f->gpu.id = (kiln_gpu_id){KILN_GPU_INTEL, version_of(version >> 22, version >> 14 & 0xff)};
}

static void read_gpu(cl_device_id device, const char *extensions, kiln_device_facts *f)
{
    static const struct {
        const char *extension;
        void (*read)(cl_device_id device, kiln_device_facts *f);
    } makers[] = {
        {"cl_nv_device_attribute_query", read_nvidia},
        {"cl_amd_device_attribute_query", read_amd},
        {"cl_intel_device_attribute_query", read_intel},
    };
    for (size_t i = 0; i < sizeof makers / sizeof *makers && f->kind == KILN_DEVICE_GPU; i++)
        if (strstr(extensions, makers[i].extension))
            makers[i].read(device, f);
}

static void read_limits(cl_device_id device, kiln_device_facts *f)
{
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
    f->base_align = ask_uint(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    if (f->base_align < 1)
        f->base_align = 1;
    cl_bool images = CL_FALSE;
    clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    if (images) {
        f->image_width = ask_size(device, CL_DEVICE_IMAGE2D_MAX_WIDTH);
        f->image_height = ask_size(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    }
}

static int at_least_one(int64_t n)
{
    return n < 1 ? 1 : (int)n;
}

kiln_status kiln_device_read(cl_device_id device, kiln_device_facts *f)
{
    *f = (kiln_device_facts){.cpu = kiln_core_of(NULL), .unit = kiln_gpu_unit_of(NULL)};
    cl_platform_id platform;
    cl_int code = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetDeviceInfo");
    ask_text(device, CL_DEVICE_NAME, f->name, sizeof f->name);
    ask_text(device, CL_DEVICE_VENDOR, f->vendor, sizeof f->vendor);
    ask_text(device, CL_DRIVER_VERSION, f->driver, sizeof f->driver);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof f->platform - 1, f->platform, NULL);
    read_kind(device, f);
    f->compute_units = at_least_one(ask_uint(device, CL_DEVICE_MAX_COMPUTE_UNITS));
    f->simd_floats = at_least_one(ask_uint(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
    read_core(f);
    read_limits(device, f);
    f->cache = read_cache(device, f);
    f->core_cache = read_core_cache(f);
    read_units(f);
    char extensions[8192] = "";
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    f->has_fp16 = strstr(extensions, "cl_khr_fp16") != NULL;
    f->has_fp64 = strstr(extensions, "cl_khr_fp64") != NULL;
    read_gpu(device, extensions, f);
    kiln_device_set_roofline(f, (double)ask_uint(device, CL_DEVICE_MAX_CLOCK_FREQUENCY) / 1000);
    return KILN_OK;
}
