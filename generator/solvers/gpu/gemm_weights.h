/* Backward weights as a product of matrices: the geometry that gemm_weights and
 * winograd_gemm_weights share. templates/gpu/gemm_weights.cl has the picture. */
#ifndef KILN_GEMM_WEIGHTS_H
#define KILN_GEMM_WEIGHTS_H

#include "tiles.h"

/* How an item reads x or dy, as in templates/gpu/gemm_weights.cl. */
typedef enum kiln_gemm_weights_load {
    GEMM_WEIGHTS_PIXELS,   /* one pixel after the other */
    GEMM_WEIGHTS_CHANNELS, /* four neighbouring channels at a time */
    GEMM_WEIGHTS_QUADS     /* four neighbouring pixels at a time */
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

/* Returns the geometry of a shape whose layouts of x and y have a pitch. */
kiln_gemm_weights kiln_gemm_weights_of(const kiln_shape *s);
/* Sets the members that follow from a config. */
void kiln_gemm_weights_set(kiln_gemm_weights *g, const kiln_shape *s, const kiln_config *c);
/* For illegal(): returns true, with the reason, where the config's tiles do not suit the
 * geometry or the device. */
bool kiln_gemm_weights_exceeds(const kiln_gemm_weights *g, const kiln_device_facts *d,
                               const kiln_config *c, kiln_why *why);
/* For emit(): adds the stages that sum the products of the buffers `x` and `dy` into `dst`. */
void kiln_gemm_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                            int x, int dy, int dst, kiln_plan *plan);

#endif
