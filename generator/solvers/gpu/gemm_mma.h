/* What the solvers gemm_mma and gemm_wgmma share: a convolution as a product of matrices on tensor
 * cores, forward or backward data (templates/gpu/gemm_mma.cl). They differ in the instructions that
 * multiply, and so in the tiles that are legal. */
#ifndef KILN_GEMM_MMA_H
#define KILN_GEMM_MMA_H

#include "gemm.h"
#include "mma_source.h"
#include "mma_tiles.h"

typedef struct kiln_gemm_mma {
    /* Of the shape. */
    kiln_gemm gemm;
    kiln_mma_source src;
    int64_t type_size, out_size; /* bytes of an element of the source and of the destination */
    int64_t out_unit;            /* see the template */
    int64_t phases;              /* that have groups of their own */

    /* Of a config. */
    int64_t together;                /* groups that share a tile, and count as one: */
    int64_t groups, channels, dst_c; /* so many, and theirs of the source and the destination */
    bool taps_inner;
    int64_t columns, row, tiles_m, tiles_n;
    kiln_mma_tiles tiles;
} kiln_gemm_mma;

/* Of the shape and a config; the layouts of x and y have a pitch. */
kiln_gemm_mma kiln_gemm_mma_of(const kiln_shape *s, kiln_mma_kind kind, const kiln_config *c);

/* For reject(): returns true, with the reason, where the device, the types or the layouts do not
 * suit, or the geometry leaves the range of the grid. `smallest` is a config that is legal where
 * any is. */
bool kiln_gemm_mma_rejects(const kiln_shape *s, const kiln_device_facts *d, kiln_mma_kind kind,
                           const kiln_config *smallest, kiln_why *why);
/* For illegal(). */
bool kiln_gemm_mma_exceeds(const kiln_gemm_mma *g, const kiln_device_facts *d, const kiln_config *c,
                           kiln_why *why);
/* For skip(): returns whether tiles are mostly empty, or split although there are enough. */
bool kiln_gemm_mma_skips(const kiln_gemm_mma *g, const kiln_device_facts *d, const kiln_config *c);
/* For predict(). */
double kiln_gemm_mma_ms(const kiln_gemm_mma *g, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c);
/* For guess(). */
void kiln_gemm_mma_guess(const kiln_shape *s, const kiln_device_facts *d, kiln_mma_kind kind,
                         const kiln_param *params, const kiln_config *smallest, kiln_config *c);
/* For emit(). */
void kiln_gemm_mma_emit(const kiln_shape *s, const kiln_device_facts *d, kiln_mma_kind kind,
                        const kiln_config *c, kiln_plan *plan);

#endif
