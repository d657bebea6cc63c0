/* Facts about a device, as plain numbers, so that the generator runs without one. */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kiln_device_kind {
    KILN_DEVICE_CPU = 0, /* runs one work-item after the other: an item's vectors are the CPU's */
    KILN_DEVICE_GPU,
    KILN_DEVICE_OTHER /* an accelerator, or a CPU that fills its vectors with work-items */
} kiln_device_kind;

typedef struct kiln_device_facts {
    kiln_device_kind kind;
    char name[128], vendor[128], platform[128], driver[128];
    char core[24]; /* "AMD 1Ah": which CPU it is, where the name may not tell; "": unknown */
    int compute_units;
    int64_t max_group; /* work-items of one work-group */
    int64_t max_local[3];
    int64_t local_memory, max_constant; /* bytes */
    int64_t global_memory, max_alloc;   /* bytes */
    int64_t base_align;                 /* bytes; alignment of a sub-buffer's start */
    int64_t image_width, image_height;  /* pixels; 0: no images */
    int64_t cache;                      /* bytes of the last level; 0: unknown or none */
    int64_t core_cache;                 /* bytes of a core's own; 0: unknown */
    int simd_floats;                    /* preferred vector width for float, at least 1 */
    int unit_floats;         /* of those, what a unit of the CPU takes at once: fewer where
                                a wide vector takes two turns, as on Zen 4; 0: all */
    bool counts_loads;       /* a core has so few instructions a cycle that loads take time of
                                their own beside multiply-adds, as Intel's do whose other
                                thread is another machine's */
    bool has_fp16, has_fp64; /* arithmetic, not storage */
    bool shares_work;           /* threads of the runtime help with a launch of one work-group */
    bool has_vnni;           /* x86's AVX512_VNNI, even if kernels' compiler ignores it */
    int cuda_capability;     /* major * 10 + minor on NVIDIA, 0 elsewhere */

    /* Roofline inputs of predict(): guesses from the counts above, not measurements. */
    double peak_gflops, bandwidth_gbs;
} kiln_device_facts;

/* Returns whether this is PoCL's CPU device, the processor that the library itself runs on. Needs
 * `kind` and `platform`. */
bool kiln_device_is_pocl(const kiln_device_facts *d);

/* Whether a wide vector goes through a CPU's units as halves, one after the other. Elsewhere sums
 * take half the cycles, so that loads count. */
bool kiln_device_halves(const kiln_device_facts *d);

/* Whether a CPU's cache holds `bytes` from one run to the next. */
bool kiln_device_holds(const kiln_device_facts *d, double bytes);

/* Whether a core's own cache is large, and the next one slow, as Intel's since 2023: 2 MB at 45
 * bytes a cycle and 27 GB/s a core. */
bool kiln_device_keeps_near(const kiln_device_facts *d);

/* Time to read and write `bytes` of tensors, in ms: what the cache of a CPU holds from one run to
 * the next comes from there. */
double kiln_device_move_ms(const kiln_device_facts *d, double bytes);

/* What a launch takes, in ms, beyond what its kernel does. */
double kiln_device_launch_ms(const kiln_device_facts *d);

/* The facts of no device in particular, for planning on a machine that has none: a CPU of two
 * units with the least work-group and local memory that devices have, and no limit on buffers. */
kiln_device_facts kiln_device_generic(void);

#endif
