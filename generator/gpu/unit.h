/* What is known of each family of GPUs: one row of numbers a unit, which the formulas of all
 * solvers read, and the capabilities that its vendor gives to some members. The rows are in
 * units.def. A unit is what OpenCL counts as a compute unit. */
#ifndef KILN_GPU_UNIT_H
#define KILN_GPU_UNIT_H

#include "generator/base/refuse.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum kiln_gpu_maker {
    KILN_GPU_UNKNOWN = 0,
    KILN_GPU_NVIDIA,
    KILN_GPU_AMD,
    KILN_GPU_INTEL
} kiln_gpu_maker;

/* A version of an architecture, as the vendor counts: NVIDIA's compute capability, AMD's gfx, the
 * first numbers of Intel's IP version. */
#define KILN_GPU_VERSION(major, minor) ((major)*100 + (minor))
enum { KILN_GPU_NEWEST = 1 << 20 };

/* What a GPU tells of itself by an extension of its vendor's. All 0: nothing. */
typedef struct kiln_gpu_id {
    kiln_gpu_maker maker;
    int version;
} kiln_gpu_id;

/* Versions `first` to `last`; `last` of 0: none. */
typedef struct kiln_gpu_versions {
    int first, last;
} kiln_gpu_versions;

typedef struct kiln_gpu_unit {
    const char *name; /* "nvidia_9_0" */

    /* The GPUs that the row is for. A row without versions takes the GPUs of its maker that no
     * other row names, and that of KILN_GPU_UNKNOWN all others. */
    kiln_gpu_maker maker;
    kiln_gpu_versions versions;

    /* ---- as the vendor publishes ---- */
    int subgroup; /* work-items that go through a program in step; 0: unknown */
    /* Multiply-adds of a type that a unit does in a cycle: by its lanes, or by tensor cores where
     * kernels reach these. */
    int mads_f64, mads_f32, mads_f16, mads_bf16, mads_i8;
    double clock_ghz;    /* where the device tells none */
    int64_t registers;   /* of 32 bits */
    int64_t local_bytes; /* for all groups that the unit runs at a time; 0: unknown */
    int64_t group_local; /* of it, what a group takes beside its own */
    int items, groups;   /* that the unit runs at a time at most */

    /* ---- where it was not measured on the device: runtime/device/measured.h ---- */
    double memory_gbs; /* a unit's share of a copy, bytes read and written, GB/s */
    double enqueue_ms; /* a launch of many in a row, whose pace the host sets */

    /* ---- as the formulas were fitted; costs of launches follow enqueue_ms ---- */
    double launch_ms;       /* one launch, until the host knows that it has ended */
    double moved;           /* share of a copy's bandwidth that kernels reach */
    double next_launch_ms;  /* a launch that waits for the results of the one before */
    double behind_ms;       /* the same behind a launch of tiles, whose formulas count this */
    double rough_launch_ms; /* a launch, for formulas that were not fitted to launches */

    /* ---- gates: versions on which a probe asks for more ---- */
    kiln_gpu_versions mma;         /* tensor cores by mma.sync */
    kiln_gpu_versions large_local; /* more local memory than the device's query tells */
    kiln_gpu_versions wgmma;       /* wgmma and tensor maps */
    const char *wgmma_target;      /* target of compilers that has these; NULL: the usual one */
} kiln_gpu_unit;

/* Returns the row of the GPU. An unknown GPU, and an `id` of NULL, get the row "generic". Never
 * returns NULL. */
const kiln_gpu_unit *kiln_gpu_unit_of(const kiln_gpu_id *id);

/* Returns the row of that name, or NULL. */
const kiln_gpu_unit *kiln_gpu_unit_named(const char *name);

/* Returns the row at that position of units.def, or NULL behind the last one. */
const kiln_gpu_unit *kiln_gpu_unit_at(int index);

/* Returns whether the version is among the versions. */
bool kiln_gpu_version_within(const kiln_gpu_versions *versions, int version);

/* Returns whether the gate is shut for the GPU, so that no probe asks for `what`, and writes the
 * reason. */
bool kiln_gpu_gate_shut(const kiln_gpu_versions *gate, const kiln_gpu_id *id, const char *what,
                        kiln_why *why);

#endif
