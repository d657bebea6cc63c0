/* Stages that transform tensors before and after the product, for the solvers winograd_gemm and
 * winograd_gemm_weights. */
#ifndef KILN_WINOGRAD_STAGES_H
#define KILN_WINOGRAD_STAGES_H

#include "generator/geometry/blocked.h"

#include "tiles.h"

/* Tiles of a tensor and the patches of another one that they depend on. */
typedef struct kiln_winograd_walk {
    const char *template_file;
    int taps;                    /* taps of the filter along an axis */
    int side, products;          /* elements of a tile and of a patch along an axis */
    int64_t src[2], dst[2];      /* H, W of the tensors of patches and of tiles */
    int64_t lead[2];             /* pixels by which the first patch begins before the source */
    int64_t src_c, dst_c;        /* channels of one group */
    int64_t tiles[2], all, room; /* tiles along H and W; tiles of all images; the same rounded up */
    kiln_pitch src_pitch, dst_pitch;
} kiln_winograd_walk;

/* For reject(): returns true, with the reason, where the filter is no square of 3 or 5 taps, or
 * has a stride or dilation. */
bool kiln_winograd_walk_rejects(const kiln_shape *s, kiln_why *why);
/* Sets the tiles of patches of so many products along an axis: side, tiles, all and room. */
void kiln_winograd_walk_set(kiln_winograd_walk *w, const kiln_shape *s, int products);
/* For emit(): adds a stage over a grid in whole groups, without its arguments. */
void kiln_winograd_walk_emit(const kiln_winograd_walk *w, const kiln_shape *s,
                             const kiln_device_facts *d, const char *kernel, const int64_t grid[3],
                             kiln_plan *plan);

#endif
