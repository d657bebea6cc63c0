/* What the files of the direct solver with pixels as the vector share: its parameters and geometry.
 */
#ifndef KILN_DIRECT_PIXELS_H
#define KILN_DIRECT_PIXELS_H

#include "generator/geometry/blocked.h"

#include "direct.h"

/* Positions in the parameter table. */
enum { PIXELS_VEC, PIXELS_K, PIXELS_PIX, PIXELS_TILE, PIXELS_BLOCKS, PIXELS_C, PIXELS_PARAMS };

/* Return the order of x and of y in memory. */
kiln_order kiln_direct_pixels_order_x(const kiln_shape *s);
kiln_order kiln_direct_pixels_order_y(const kiln_shape *s);

typedef struct kiln_direct_pixels {
    /* These follow from the shape. Where a pixel reads one pixel, all pixels of an image are one
     * row. */
    kiln_lines lines;
    int64_t n, groups, dst[3], filter[3];
    int64_t dst_c, src_c; /* of one group */
    int64_t phases;       /* of rows and columns */
    bool src_last, dst_last;
    bool may_pair; /* source channels, in vectors of sixteen */

    /* These follow from a config. */
    int64_t rows, cols, pitch; /* of a tile; positions from row to row */
    int64_t tiles_h, tiles_w;
    int64_t vectors;       /* of a tile, a multiple of T_PIX */
    int64_t piece;         /* elements that an item keeps of a channel and filter plane */
    int64_t blocks, parts; /* blocks of T_K channels of a group, and parts of T_BLOCKS blocks */
    int together;          /* source channels that are multiplied at once */
    int64_t chunk;         /* source channels that an item takes at a time */
    int64_t kept;          /* blocks whose sums wait for the next chunk */
    int64_t scratch;       /* elements that an item keeps */
} kiln_direct_pixels;

kiln_direct_pixels kiln_direct_pixels_of(const kiln_shape *s, const kiln_device_facts *d,
                                         const kiln_config *c);
/* Replaces the members that follow from a config, for another config of the same shape. */
void kiln_direct_pixels_set(kiln_direct_pixels *g, const kiln_config *c);

extern const kiln_fit *const kiln_direct_pixels_fits[1];

/* As predict() of kiln_solver. */
double kiln_direct_pixels_ms(const kiln_solver *self, const kiln_direct_pixels *g,
                             const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c);

#endif
