/* The geometry of depthwise_gather: what an item's tile of the destination meets. */
#ifndef KILN_DEPTHWISE_TILE_H
#define KILN_DEPTHWISE_TILE_H

#include "generator/geometry/blocked.h"

/* Positions in the parameter table. */
enum { GATHER_GROUP, GATHER_ROWS, GATHER_COLUMNS, GATHER_VECTOR, GATHER_ROW_WISE, GATHER_PARAMS };

/* What a config makes of a shape. */
typedef struct kiln_depthwise_tile {
    bool backward;
    const int64_t *src, *dst;
    int64_t rows;                      /* of the destination, an item's */
    int64_t first, window;             /* the source rows that the first tile's elements meet */
    int64_t jump, move;                /* of columns, as depthwise_gather.cl has them */
    int64_t across, left, step, steps; /* the same */
    int64_t run, run_at;               /* the same */
    int64_t items;
    int64_t sums, weights; /* that an item holds at a time */
} kiln_depthwise_tile;

kiln_depthwise_tile kiln_depthwise_tile_of(const kiln_shape *s, const kiln_config *c);

/* Returns whether both data tensors have their channels in that order, without padding. */
bool kiln_depthwise_order(const kiln_shape *s, kiln_order order);

#endif
