/* What solvers share whose products are those of backward weights (templates/gpu/gemm_weights.cl).
 */
#ifndef KILN_GEMM_WEIGHTS_H
#define KILN_GEMM_WEIGHTS_H

#include "tiles.h"

/* How x and dy are read, as in templates/gpu/gemm_weights.cl. */
typedef enum kiln_gemm_weights_load {
    GEMM_WEIGHTS_PIXELS,   /* one by one */
    GEMM_WEIGHTS_CHANNELS, /* four neighbouring ones at a time */
    GEMM_WEIGHTS_QUADS     /* of pixels */
} kiln_gemm_weights_load;

/* The product of matrices that backward weights is: channels of dy, by columns, summed over
 * pixels. */
typedef struct kiln_gemm_weights {
    int64_t columns, pixels; /* source channels and taps of a group; pixels of dy in all images */
    kiln_pitch x_pitch, dy_pitch;
    kiln_gemm_weights_load x_load, dy_load;
    int64_t tiles_m, tiles_n;
    kiln_tiles tiles;
} kiln_gemm_weights;

/* Of the shape; the layouts of x and y have a pitch. */
kiln_gemm_weights kiln_gemm_weights_of(const kiln_shape *s);
/* Adds what a config makes of it. */
void kiln_gemm_weights_set(kiln_gemm_weights *g, const kiln_shape *s, const kiln_config *c);
/* True, with the reason, where the config's tiles do not suit the geometry or the device. */
bool kiln_gemm_weights_exceeds(const kiln_gemm_weights *g, const kiln_device_facts *d,
                               const kiln_config *c, kiln_why *why);
/* For emit(): adds the stages that sum the products of the buffers `x` and `dy` into `dst`. */
void kiln_gemm_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                            int x, int dy, int dst, kiln_plan *plan);

#endif
