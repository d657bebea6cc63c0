/* What the files of the direct solver by AMX share: its parameters and geometry. */
#ifndef KILN_DIRECT_AMX_H
#define KILN_DIRECT_AMX_H

#include "generator/geometry/blocked.h"

/* Positions in the parameter table. */
enum { AMX_TILE, AMX_PARTS, AMX_ORDER, AMX_PARAMS };

/* Which an item goes through first: positions of a pair of vectors, or pairs of a position. */
enum { AMX_POSITIONS_FIRST, AMX_PAIRS_FIRST };

/* A tile register: rows, their bytes, and the sums in one. */
enum { AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_CHANNELS = 16 };

typedef struct kiln_direct_amx {
    /* These follow from the shape. */
    kiln_blocked b;
    int64_t size;           /* bytes of a source element */
    bool direct;            /* tiles are read from the source itself: there are no pieces */
    int64_t phases[3];      /* pixels of a piece from one position to the next */
    int64_t fold;           /* rows of the source that are one row of a piece */
    int64_t filter_rows;    /* of a piece that a position reads */
    int64_t pixel;          /* elements of a pixel in a block of a piece */
    int64_t blocks;         /* blocks of source channels */
    int64_t step;           /* elements that a product sums */
    int64_t steps_w;        /* steps of a row of the filter and a block */
    int64_t steps;          /* of all of them */
    int64_t vectors, pairs; /* of 16 destination channels of a group; of two vectors */

    /* These follow from a config. */
    int64_t rows, cols; /* of the tile of an item */
    int64_t tiles_h, tiles_w;
    int64_t position;         /* elements from one position to the next */
    int64_t pitch;            /* pixels of a row of a piece */
    int64_t phase_rows;       /* rows of a piece of each remainder by the stride */
    int64_t plane;            /* pixels of a block of a piece of one filter plane */
    int64_t piece;            /* elements of a piece */
    int64_t positions, tiles; /* of an item, and the tiles for them */
    int64_t tile_rows;        /* of a tile register */
    int64_t parts, part;      /* parts of the pairs, and pairs of one */
} kiln_direct_amx;

kiln_direct_amx kiln_direct_amx_of(const kiln_shape *s, const kiln_config *c);
/* Replaces the members that follow from a config, for another config of the same shape. */
void kiln_direct_amx_set(kiln_direct_amx *g, const kiln_config *c);

/* As predict() of kiln_solver. */
double kiln_direct_amx_ms(const kiln_direct_amx *g, const kiln_shape *s, const kiln_device_facts *d,
                          const kiln_config *c);

#endif
