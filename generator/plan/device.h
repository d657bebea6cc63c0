/* Facts about a device, as plain numbers, so that the generator runs without one. */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#include "generator/cpu/core.h"
#include "generator/gpu/unit.h"
#include "kiln_problem.h"

#include "fit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kiln_device_kind {
    KILN_DEVICE_CPU = 0, /* runs one work-item after the other: an item's vectors are the CPU's */
    KILN_DEVICE_GPU,
    KILN_DEVICE_OTHER /* an accelerator, or a CPU that fills its vectors with work-items */
} kiln_device_kind;

/* What OpenCL or an extension of the vendor's tells of a GPU. What neither tells, and no
 * measurement on the device, kiln_device_set_roofline() takes from the row of its family; 0:
 * unknown, or not filled yet. Nothing is concluded from a GPU's name. */
typedef struct kiln_gpu_facts {
    kiln_gpu_id id;
    int subgroup;              /* work-items that go through a program in step */
    int unit_lanes;            /* multiply-adds of floats that a unit does in a cycle */
    int64_t group_registers;   /* of 32 bits, that the items of one group can have together */
    int64_t unit_local_memory; /* bytes, for all groups that a unit runs at a time, as told */
    double clock_ghz;
    /* Multiply-adds counted as two operations, 1e9 a second. */
    double peak_f64, peak_f32, peak_f16, peak_bf16, peak_i8;
    double memory_gbs; /* of a copy, bytes read and written */
    double enqueue_ms; /* of a launch of many in a row, whose pace the host sets */
    /* What a probe showed (runtime/device/tensor_cores.h). */
    bool has_mma;                /* tensor cores by inline PTX */
    bool has_wgmma;              /* the same by instructions of one capability, re-targeted */
    bool has_tma;                /* copies that follow a tensor map, which a kernel makes */
    int64_t static_local_memory; /* bytes that a kernel may declare; 0: `local_memory` */
} kiln_gpu_facts;

typedef struct kiln_device_facts {
    kiln_device_kind kind;
    char name[128], vendor[128], platform[128], driver[128];
    /* "x86 6-207": which CPU it is, where the name may not tell; "NVIDIA 9.0": a GPU's compute
     * capability; "": unknown. Devices with the same core want much the same configs. */
    char core[24];
    const kiln_core *cpu;      /* never NULL; of what is no CPU the row "generic" */
    const kiln_gpu_unit *unit; /* never NULL; of what is no GPU the row "generic" */
    kiln_gpu_facts gpu;        /* all 0 of what is no GPU */
    int compute_units;
    int64_t max_group; /* work-items of one work-group */
    int64_t max_local[3];
    int64_t local_memory, max_constant; /* bytes */
    int64_t global_memory, max_alloc;   /* bytes */
    int64_t base_align;                 /* bytes; alignment of a sub-buffer's start */
    int64_t image_width, image_height;  /* pixels; 0: no images */
    int64_t cache;                      /* bytes of the last level; 0: unknown or none */
    int64_t core_cache;      /* bytes of a core's second level: as the system tells, or its row */
    int simd_floats;         /* preferred vector width for float, at least 1 */
    bool has_fp16, has_fp64; /* arithmetic, not storage */
    bool shares_work;        /* threads of the runtime help with a launch of one work-group */
    bool has_vnni, has_bf16; /* x86's AVX512_VNNI, and AVX512_BF16 where it is faster than floats,
                                even if kernels' compiler ignores them */
    bool has_amx;            /* tile registers of x86's AMX with bf16 and int8, as a probe showed */

    /* Roofline inputs of predict(), from the counts above and a clock: not measured. */
    double peak_gflops, bandwidth_gbs;
} kiln_device_facts;

/* Returns whether this is PoCL's CPU device, the processor that the library itself runs on. Needs
 * `kind` and `platform`. */
bool kiln_device_is_pocl(const kiln_device_facts *d);

/* Sets peak_gflops and bandwidth_gbs from the other facts and the clock that the device tells, 0 if
 * it tells none. Of a GPU it finds the row by gpu.id, and fills those facts that are still 0. */
void kiln_device_set_roofline(kiln_device_facts *d, double ghz);

/* Returns what the device does with tensors of the type at most, in 1e9 operations a second; a
 * multiply-add is two. 0: unknown. Of a CPU the peak of floats is known: whether it has faster
 * instructions for shorter types, the facts do not tell. */
double kiln_device_peak(const kiln_device_facts *d, kiln_type type);

/* Returns how fast a copy in the device's memory is, bytes read and written, in GB/s. */
double kiln_device_copy_gbs(const kiln_device_facts *d);

/* Return what a unit of the device has for the work-groups that it runs at a time: multiply-adds of
 * floats in a cycle, registers of 32 bits, bytes of local memory. */
double kiln_device_unit_lanes(const kiln_device_facts *d);
int64_t kiln_device_unit_registers(const kiln_device_facts *d);
int64_t kiln_device_unit_local(const kiln_device_facts *d);

/* Returns the clock with which a GPU's cycles become time: the fit's, in proportion to the clocks
 * that the device and the fit's device tell. */
double kiln_device_fit_ghz(const kiln_device_facts *d, const kiln_fit *fit);

/* Returns how many bytes of local memory a kernel may declare. */
int64_t kiln_device_static_local(const kiln_device_facts *d);

/* Returns how many floats a unit of the CPU takes at once. */
int kiln_device_unit_floats(const kiln_device_facts *d);

/* Returns whether a whole vector goes through a CPU's units in parts, one after the other. On other
 * CPUs sums take fewer cycles, so that loads count. */
bool kiln_device_double_pumped(const kiln_device_facts *d);

/* Returns whether a core's second cache has 2 MiB or more. The cache behind such a cache is slow on
 * all CPUs that were measured. */
bool kiln_device_large_l2(const kiln_device_facts *d);

/* Returns whether a CPU's last cache holds `bytes` from one run to the next. */
bool kiln_device_holds(const kiln_device_facts *d, double bytes);

/* Returns how many bytes all units together read and write in memory, GB/s. */
double kiln_device_memory_gbs(const kiln_device_facts *d);

/* Returns the time to read and write `bytes` of tensors, in ms. What the last cache of a CPU holds
 * from one run to the next comes from there. */
double kiln_device_move_ms(const kiln_device_facts *d, double bytes);

/* Returns how many times as long launches take on the device as where the formulas were fitted: the
 * factor of all costs of launches. 1: nothing was measured. */
double kiln_device_pace(const kiln_device_facts *d);

/* Returns the time of a launch in ms, without the time of its kernel. */
double kiln_device_launch_ms(const kiln_device_facts *d);

/* Returns the same for a launch that waits for the results of the one before. */
double kiln_device_next_launch_ms(const kiln_device_facts *d);

/* Returns the time in ms that a launch adds which waits for a launch of tiles: the formulas of
 * solvers/gpu count this. */
double kiln_device_behind_ms(const kiln_device_facts *d);

/* Returns the time in ms that the host takes for a launch, in a row of many. */
double kiln_device_enqueue_ms(const kiln_device_facts *d);

/* Returns the time of a launch for formulas that were not fitted to launches. It is longer than any
 * measured launch, so that a solver whose formula was fitted wins. */
double kiln_device_rough_launch_ms(const kiln_device_facts *d);

/* Returns `wanted` work-items, a power of two, halved until the device takes a work-group of that
 * many along its first axis. */
int64_t kiln_device_group(const kiln_device_facts *d, int64_t wanted);

/* Returns the facts of no device in particular, for planning on a machine that has none: a CPU of
 * two units with the least work-group and local memory that devices have, without limits on
 * buffers. */
kiln_device_facts kiln_device_generic(void);

#endif
