/* What the Winograd solvers share: which convolutions there are tiles for, and how they err. */
#ifndef KILN_WINOGRAD_H
#define KILN_WINOGRAD_H

#include "solver.h"

/* The convolution that the tiles are computed for: backward data is a forward pass over dy with the
 * filter turned round and what remains of the padding. */
typedef struct kiln_winograd {
    bool backward;
    int block;                     /* channels that lie together: lanes of a vector */
    bool src_blocked, dst_blocked; /* in memory too; else plain */
    int64_t src[2], dst[2];        /* H, W */
    int64_t src_c, dst_c;          /* channels of one group */
    int64_t src_blocks, dst_blocks;
    int64_t lead[2]; /* destination 0 starts its patch at source -lead */
} kiln_winograd;

/* Blocks of channels wherever they are filled. */
void kiln_winograd_prefer(kiln_shape *s, const kiln_device_facts *d);
/* True, with the reason, where there are no tiles for the convolution. */
bool kiln_winograd_reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why);
/* `s` passed that check. */
kiln_winograd kiln_winograd_of(const kiln_shape *s, const kiln_device_facts *d);

/* Tiles of m x m elements along axis 0 or 1 (H, W). */
int64_t kiln_winograd_tiles(const kiln_winograd *w, int axis, int m);

/* The factor for bound_error(), at m = 2 or 4 and `channels` source channels of a group. */
double kiln_winograd_amplification(int m, int64_t channels);

#endif
