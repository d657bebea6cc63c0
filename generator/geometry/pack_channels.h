/* The stage that packs weights for vectors of destination channels (templates/pack_channels.cl). */
#ifndef KILN_PACK_CHANNELS_H
#define KILN_PACK_CHANNELS_H

#include "generator/plan/plan.h"

typedef struct kiln_packing {
    int64_t lanes;    /* destination channels of a tile */
    int64_t spans;    /* of channels: groups, or one of them all where a tile has several groups */
    int64_t tiles;    /* of a span */
    int64_t channels; /* of a span */
    int64_t latest;   /* channel of the span at which a tile may start */
    int64_t step;     /* source channels that lie together */
    int together;     /* source channels of an element: 1, 2 or 4 */
    bool rotated;     /* the filter is rotated by 180 degrees */
    bool corrected;   /* sums are corrected for an offset of the source */
    bool floats;      /* bytes become floats */
} kiln_packing;

/* Adds the stage, and says how many bytes it writes. */
void kiln_pack_channels_emit(const kiln_shape *s, const kiln_packing *p, kiln_plan *plan);

#endif
