/* The solvers gemm_mma and gemm_wgmma: a convolution as a product of matrices on tensor cores,
 * forward or backward data. They differ in the instructions that multiply, and so in the tiles
 * that are legal. templates/gpu/gemm_mma.cl has the picture. */
#ifndef KILN_GEMM_MMA_H
#define KILN_GEMM_MMA_H

#include "gemm.h"
#include "mma_source.h"
#include "mma_tiles.h"

typedef struct kiln_gemm_mma {
    /* ---- from the shape ---- */
    kiln_gemm gemm;
    kiln_mma_source src;
    kiln_mma_result dst;
    int64_t type_size, out_size; /* bytes of an element of the source and of the destination */
    int64_t out_unit;            /* D_OUT_UNIT of the template */
    int64_t phases;              /* phases that have groups of their own */

    /* ---- from a config ---- */
    int64_t together;                /* groups of the problem that share a tile */
    int64_t groups, channels, dst_c; /* joint groups; channels of one of them */
    bool taps_inner;
    int64_t columns, row, tiles_m, tiles_n;
    kiln_mma_tiles tiles;
} kiln_gemm_mma;

/* Returns the geometry of a shape and a config of a variant; the layouts of x and y have a
 * pitch. */
kiln_gemm_mma kiln_gemm_mma_of(const kiln_solver *self, const kiln_shape *s, const kiln_config *c);

/* The functions of kiln_solver, whose `own` is a kiln_mma_variant. */
bool kiln_gemm_mma_reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                          kiln_why *why);
bool kiln_gemm_mma_illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                           const kiln_config *c, kiln_why *why);
bool kiln_gemm_mma_skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c);
double kiln_gemm_mma_predict(const kiln_solver *self, const kiln_shape *s,
                             const kiln_device_facts *d, const kiln_config *c);
void kiln_gemm_mma_guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                         kiln_config *c);
void kiln_gemm_mma_emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_config *c, kiln_plan *plan);

#endif
