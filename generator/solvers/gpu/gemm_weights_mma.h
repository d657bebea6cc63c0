/* The solvers gemm_weights_mma and gemm_weights_wgmma: backward weights as a product of matrices
 * on tensor cores. They differ in the instructions that multiply, and so in the tiles that are
 * legal. templates/gpu/gemm_weights_mma.cl has the picture. */
#ifndef KILN_GEMM_WEIGHTS_MMA_H
#define KILN_GEMM_WEIGHTS_MMA_H

#include "mma_source.h"
#include "mma_tiles.h"

typedef struct kiln_gemm_weights_mma {
    kiln_mma_source x, dy;
    bool pointwise; /* a pixel of dy meets the pixel of x at its own place alone */
    int64_t pixels, taps;
    bool sorts; /* the order of dw is not that of tiles */

    /* ---- from a config ---- */
    int64_t together;                   /* groups of the problem that share a tile */
    int64_t groups, rows, x_c, columns; /* joint groups; channels and columns of one */
    bool parts;                         /* a second kernel adds the parts, or sorts the only one */
    int64_t tiles_m, tiles_n;
    kiln_mma_tiles tiles;
} kiln_gemm_weights_mma;

/* Returns the geometry of a shape and a config of a variant; the layouts of x and y have a
 * pitch. */
kiln_gemm_weights_mma kiln_gemm_weights_mma_of(const kiln_solver *self, const kiln_shape *s,
                                               const kiln_config *c);
/* Returns the floats of one part of a split sum. */
int64_t kiln_gemm_weights_mma_part(const kiln_gemm_weights_mma *g);

/* The functions of kiln_solver, whose `own` is a kiln_mma_variant. */
bool kiln_gemm_weights_mma_reject(const kiln_solver *self, const kiln_shape *s,
                                  const kiln_device_facts *d, kiln_why *why);
bool kiln_gemm_weights_mma_illegal(const kiln_solver *self, const kiln_shape *s,
                                   const kiln_device_facts *d, const kiln_config *c, kiln_why *why);
bool kiln_gemm_weights_mma_skip(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c);
double kiln_gemm_weights_mma_predict(const kiln_solver *self, const kiln_shape *s,
                                     const kiln_device_facts *d, const kiln_config *c);
void kiln_gemm_weights_mma_guess(const kiln_solver *self, const kiln_shape *s,
                                 const kiln_device_facts *d, kiln_config *c);
void kiln_gemm_weights_mma_emit(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan);

#endif
