/* The parts that winograd_int8 cuts a convolution into: tiles, items, and their memory. */
#ifndef KILN_WINOGRAD_INT8_H
#define KILN_WINOGRAD_INT8_H

#include "generator/geometry/blocked.h"

#include "winograd.h"

/* Positions of the parameters that are not winograd.h's. */
enum { INT8_SIDE = WINOGRAD_T, INT8_SPLIT = WINOGRAD_SHARED, INT8_PARAMS };

typedef struct kiln_winograd_int8 {
    kiln_blocked b;                 /* with blocks of as many channels as a vector has lanes */
    int64_t src_blocks, dst_blocks; /* of channels */
    int64_t pairs;                  /* of source channels */
    int64_t elements;               /* of a tile's patch: its products */
    int64_t tiles_h, tiles_w;       /* of a column, a row of one image */
    int64_t tiles, items;           /* of all images */
    int64_t run;                    /* most tiles of a run */
    int64_t dst_tiles;              /* of T_KV blocks of destination channels */
    int64_t filter_bytes;           /* of the transformed filters */
    int64_t local_bytes;            /* of the kernel's three arrays in local memory */
} kiln_winograd_int8;

/* Returns the blocks alone, for layouts that the solver may not work on. */
kiln_blocked kiln_winograd_int8_blocked(const kiln_shape *s, const kiln_device_facts *d);
kiln_winograd_int8 kiln_winograd_int8_of(const kiln_shape *s, const kiln_device_facts *d,
                                         const kiln_config *c);

#endif
