/* Reformats on a GPU in tiles that pass through local memory: between layouts whose runs lie across
 * each other, or in blocks of different lengths. templates/reformat_turn.cl has the picture. */
#ifndef KILN_REFORMAT_TURN_H
#define KILN_REFORMAT_TURN_H

#include "plan.h"

/* How one side lies in memory, in elements. A run is of elements that follow one another. */
typedef struct kiln_turn_side {
    int64_t outer[2];                       /* from one to the next */
    int64_t rows;                           /* padding included */
    int64_t neighbours, block, row, column; /* rows of a block; from one to the next */
    bool down;                              /* a run lies along rows */
    int64_t vector, run;                    /* elements moved at once; of a tile's run */
} kiln_turn_side;

typedef struct kiln_turn {
    int64_t outer[2], rows, columns;
    kiln_turn_side from, to;
    int64_t tile_rows, tile_columns;
} kiln_turn;

/* Describes the reformat of elements that pass local memory as `size` bytes; where types differ
 * they move one by one. Returns false where the storages are no such pair, or too small for tiles,
 * and on devices that are no GPUs. */
bool kiln_turn_find(const kiln_storage *from, const kiln_storage *to, int64_t size, bool same_type,
                    const kiln_device_facts *d, kiln_turn *turn);

/* Adds the sizes to the last stage, and its grid. */
void kiln_turn_define(const kiln_turn *turn, kiln_plan *plan);

#endif
