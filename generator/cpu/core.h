/* What is known of each CPU: one row of numbers a core, which the formulas of all solvers read. The
 * rows are in cores.def; docs/adding-a-device.md tells how each number is measured. */
#ifndef KILN_CORE_H
#define KILN_CORE_H

#include <stdbool.h>
#include <stdint.h>

/* What a CPU tells of itself. */
typedef struct kiln_core_id {
    const char *vendor; /* x86: the twelve letters of the CPUID instruction */
    unsigned family, model;
    int vector_floats; /* of the widest vectors that kernels are compiled with */
} kiln_core_id;

/* Models `first` to `last` of a family. */
typedef struct kiln_core_models {
    unsigned first, last;
} kiln_core_models;

/* Cycles in which a tile of `direct_blocked` waits for the next channel of a plain tensor. If a
 * channel's plane is the share S of a page, and the tile has N pixels less than 14, the tile waits
 * begin + slope S + square S^2 + narrow N, and from a whole page on far + far_narrow N. */
typedef struct kiln_core_pages {
    double begin, slope, square, narrow;
    double far, far_narrow;
} kiln_core_pages;

enum { KILN_CORE_RANGES = 4 };

/* Numbers that were fitted so that predictions meet measured times. */
typedef struct kiln_core_fit {
    double reached;        /* share of the peak which tiles of sums in registers reach */
    double reached_direct; /* the same of the solver `direct`, whose formula counts loads itself */

    /* ---- loads, in time of a multiply-add of a whole vector ---- */
    bool load_bound;         /* a core starts so few instructions a cycle that loads take time of
                                their own beside multiply-adds */
    double sum_beside_loads; /* a multiply-add of a tile; 1 where loads take no time beside it */
    double load_beside_sums; /* a load of that tile; 0 likewise */
    double load;             /* a load in a tile that has more loads than sums */
    double load_of_bank; /* a load of a pixel that shares a bank of the first cache with others */
    double moves;        /* an instruction of a transform: a shuffle, a store, an addition */

    /* ---- caches that formulas count on, which may be smaller than the CPU's ---- */
    int64_t l1_counted, l2_counted;
    int l1_ways_counted;
    double held;      /* share of the last cache that stays from one run to the next */
    double own_share; /* time to move what the same core wrote last, in that of other tensors */
    kiln_core_pages page;
} kiln_core_fit;

/* What is published of a CPU, or measured by programs that know nothing of solvers; and the fit. */
typedef struct kiln_core {
    const char *name; /* "zen4" */

    /* The CPUs that the row is for: of the vendor and family, with vectors of so many floats, and
     * of the models in the ranges. A row without ranges (last of the first range is 0) takes the
     * models of its family that no other row names. */
    const char *vendor; /* NULL: the row is for CPUs that no other row takes */
    unsigned family;
    kiln_core_models models[KILN_CORE_RANGES];
    int vector_floats;

    /* ---- units ---- */
    int unit_floats;    /* what a unit takes at once; fewer than a vector has: a vector goes
                           through in parts, one after the other; 0: a whole vector */
    double sums;        /* multiply-adds of a unit's width that begin in a cycle */
    double sum_latency; /* cycles from a multiply-add to the next one that needs its result */
    double clock;       /* clock that the peak is counted with, in multiples of the told clock */
    double pairs;       /* multiply-adds that take as long as one that adds the products of pairs
                           of bf16, and is worth two; 0: there is none, or it was not measured */

    /* ---- caches and memory ---- */
    int64_t l2_bytes; /* a core's second cache, where the system does not tell its size */
    int64_t line_bytes, page_bytes;
    int64_t last_bytes; /* a core's share of a last cache that other machines use too */
    double cache_gbs;   /* bytes a core reads and writes in the last cache, GB/s */
    double memory_gbs;  /* the same in memory */

    kiln_core_fit fit;
} kiln_core;

/* Returns the row of the CPU. An unknown CPU, and an `id` of NULL, get the row "generic". Never
 * returns NULL. */
const kiln_core *kiln_core_of(const kiln_core_id *id);

/* Returns the row of that name, or NULL. */
const kiln_core *kiln_core_named(const char *name);

/* Returns the row at that position of cores.def, or NULL behind the last one. */
const kiln_core *kiln_core_at(int index);

/* Returns whether the row names the CPU: by a range of models if `ranged`, else by its whole
 * family. For kiln_core_of() and for tests. */
bool kiln_core_is(const kiln_core *core, const kiln_core_id *id, bool ranged);

#endif
