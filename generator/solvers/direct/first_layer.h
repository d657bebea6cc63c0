/* What the files of the solver for first layers share: its parameters and geometry. */
#ifndef KILN_FIRST_LAYER_H
#define KILN_FIRST_LAYER_H

#include "generator/geometry/blocked.h"

#include "direct.h"

/* Positions in the parameter table. */
enum { FIRST_VEC, FIRST_K, FIRST_PIX, FIRST_ROWS, FIRST_STREAM, FIRST_PARAMS };

typedef struct kiln_first_layer {
    /* These follow from the shape. With channels as the vector the walk has no stride except along
     * D. Where channels are last in the source, the columns of the walk are elements. */
    bool plain; /* pixels are the vector; else channels */
    kiln_shape walk;
    kiln_lines lines; /* lines of the walk */
    kiln_pitch dst_pitch;
    int64_t dst[3];
    int64_t planes;           /* source channels with rows of their own */
    int64_t apart_h, apart_w; /* positions of the walk from a destination row, or column, on */
    int64_t k, last; /* destination channels with the layout's padding; elements of a source pixel
                        behind its first */
    bool may_pair;   /* source channels, in vectors of sixteen */

    /* These follow from a config. */
    int64_t rows, cols, pitch; /* rows of a piece, columns of a tile, positions from row to row */
    int64_t tiles_h, tiles_w;
    int64_t piece;    /* elements that an item keeps of a channel and plane of the filter */
    int together;     /* source channels that are multiplied at once: a step */
    int64_t channel;  /* elements from a step to the next */
    int64_t scratch;  /* elements that an item keeps */
    int64_t tile_k;   /* channels of a tile of registers */
    int64_t tile_pix; /* pixels of a tile of registers */
    int64_t blocks;   /* blocks of tile_k channels */
} kiln_first_layer;

kiln_first_layer kiln_first_layer_of(const kiln_shape *s, const kiln_device_facts *d,
                                     const kiln_config *c);
/* Replaces the members that follow from a config, for another config of the same shape. */
void kiln_first_layer_set(kiln_first_layer *g, const kiln_config *c);

/* As predict() of kiln_solver. */
double kiln_first_layer_ms(const kiln_first_layer *g, const kiln_shape *s,
                           const kiln_device_facts *d, const kiln_config *c);

#endif
