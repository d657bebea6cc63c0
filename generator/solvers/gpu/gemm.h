/* The geometry of the solver gemm, which the solvers for tensor cores and for phases share.
 * templates/gpu/gemm.cl has the picture. */
#ifndef KILN_GEMM_H
#define KILN_GEMM_H

#include "generator/geometry/blocked.h"

#include "tiles.h"

/* How the kernel reads the source and writes the destination: one element, four neighbouring pixels
 * or four neighbouring channels at a time; or it writes pixels side by side, through local memory.
 * The numbers are those of templates/gpu/gemm_pieces.cl and gemm_results.cl. */
typedef enum gemm_access { GEMM_ONE, GEMM_PIXELS, GEMM_CHANNELS, GEMM_ROWS } gemm_access;

/* The product of matrices that a convolution is: channels of the destination, by pixels of one
 * phase, summed over terms (source channel and tap). */
typedef struct kiln_gemm {
    /* ---- from the shape ---- */
    bool backward;        /* backward data: each phase has taps of its own */
    kiln_tiles_walk walk; /* its dst_c are the rows of a group's tiles */
    int64_t groups, images, taps;
    int64_t step[3], move[3], jump[3], phases[3], grid[3];
    int64_t all_phases, pixels; /* phases; pixels of one phase in all images */
    bool skips_taps; /* a pixel meets the taps of its phase alone, be there one phase or several */
    bool spread;     /* phase 0 alone has taps, and its groups write the other phases, too */
    bool merged;     /* a row is a phase of a channel */
    int64_t group_phases; /* phases that have groups of their own */
    kiln_pitch src_pitch, dst_pitch;
    gemm_access load, store;

    /* ---- from a config ---- */
    bool flat;             /* terms of all taps follow one another without a gap */
    bool table;            /* a table says of each term where its element lies */
    int64_t channels;      /* rows of packed weights that a tap has */
    int64_t rows, columns; /* packed weights of one group */
    int64_t tiles_m, tiles_n;
    kiln_tiles tiles;
} kiln_gemm;

/* Returns the geometry of a shape whose layouts of x and y have a pitch. */
kiln_gemm kiln_gemm_of(const kiln_shape *s);
/* Makes rows of the product of phases, so many neighbouring pixels along each axis. For backward
 * data their number is a multiple of the stride. */
void kiln_gemm_merge(kiln_gemm *g, const kiln_shape *s, const int64_t phases[3]);
/* Sets the members that follow from a config. */
void kiln_gemm_set(kiln_gemm *g, const kiln_config *c);
/* For reject(): returns true, with the reason, where sizes or layouts are not for the kernel. */
bool kiln_gemm_rejects(const kiln_gemm *g, const kiln_shape *s, kiln_why *why);

/* For illegal(): returns true, with the reason, where the config's tiles do not suit the
 * geometry or the device. */
bool kiln_gemm_exceeds(const kiln_gemm *g, const kiln_device_facts *d, const kiln_config *c,
                       kiln_why *why);
/* Returns the expected time in ms, by the first fit of the solver. */
double kiln_gemm_ms(const kiln_solver *self, const kiln_gemm *g, const kiln_shape *s,
                    const kiln_device_facts *d, const kiln_config *c);
/* For emit(): defines D_AT, D_AT_PHASE and D_AT_TAP of templates/gpu/gemm_merged.cl. */
void kiln_gemm_define_merged(const kiln_gemm *g, const kiln_shape *s, kiln_plan *plan);
/* For emit(): adds the stage that packs the weights. */
void kiln_gemm_emit_pack(const kiln_gemm *g, const kiln_shape *s, const kiln_device_facts *d,
                         kiln_plan *plan);
/* For emit(): adds the stages that multiply the source in the buffer `src` by the packed weights
 * into `dst`, with the shape's epilogue. The packed weights are as templates/gpu/gemm_pack.cl
 * writes them. */
void kiln_gemm_emit(const kiln_gemm *g, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, int src, int dst, kiln_plan *plan);

#endif
