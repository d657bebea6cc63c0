/* The geometry of depthwise_gather: the part of the source that an item's tile of the
 * destination meets. templates/gpu/depthwise_gather.cl has the picture. */
#ifndef KILN_DEPTHWISE_TILE_H
#define KILN_DEPTHWISE_TILE_H

#include "generator/geometry/blocked.h"

/* Positions in the parameter table. */
enum { GATHER_GROUP, GATHER_ROWS, GATHER_COLUMNS, GATHER_VECTOR, GATHER_ROW_WISE, GATHER_PARAMS };

/* The geometry that a config makes of a shape. */
typedef struct kiln_depthwise_tile {
    bool backward;
    const int64_t *src, *dst;
    int64_t rows;                      /* rows of the destination that an item has */
    int64_t first, window;             /* the source rows that the first tile's elements meet */
    int64_t jump, move;                /* D_JUMP and D_MOVE of depthwise_gather.cl, for columns */
    int64_t across, left, step, steps; /* as the defines of these names in depthwise_gather.cl */
    int64_t run, run_at;               /* as the defines of these names in depthwise_gather.cl */
    int64_t items;
    int64_t sums, weights; /* sums and weights that an item holds at a time */
} kiln_depthwise_tile;

kiln_depthwise_tile kiln_depthwise_tile_of(const kiln_shape *s, const kiln_config *c);

/* Returns whether both data tensors have their channels in that order, without padding. */
bool kiln_depthwise_order(const kiln_shape *s, kiln_order order);

#endif
