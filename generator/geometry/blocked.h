/* What the solvers over neighbouring channels share: a convolution as a walk over lines of pixels.
 * Neighbouring channels of a pixel are neighbours in memory, all of them or blocks of them. */
#ifndef KILN_BLOCKED_H
#define KILN_BLOCKED_H

#include "generator/plan/solver.h"

/* How a data tensor lies in memory: elements from one to the next, and channels of a block. A plain
 * layout is one block of channels that are not neighbours. */
typedef struct kiln_pitch {
    int64_t image, block, plane, row, pixel, channel;
    int64_t neighbours, blocks; /* blocks 0: the layout is neither plain nor in blocks */
    int64_t cells; /* of the tensor, padding included; images may lie inside of others */
} kiln_pitch;

/* Returns the pitch of x or y ('x', 'y'). */
kiln_pitch kiln_pitch_of(const kiln_shape *s, char tensor);

/* A data tensor without padding, images one after the other. */
typedef enum kiln_order {
    KILN_CHANNELS_FIRST, /* NCHW and kin */
    KILN_CHANNELS_LAST,  /* NHWC and kin; one channel is last */
    KILN_CHANNELS_ELSEWHERE
} kiln_order;

kiln_order kiln_order_of(const kiln_pitch *p, const int64_t size[3], int64_t channels);

/* Defines NAME_IMAGE, _BLOCK, _PLANE, _ROW, _PIXEL, _CHANNEL, _NEIGHBOURS and _BLOCKS. */
void kiln_pitch_define(const kiln_pitch *p, const char *name, kiln_plan *plan);

/* A forward pass, or backward data as a forward pass over dy: with the filter rotated by 180
 * degrees and with `up` - 1 zeros between the elements of dy. Source coordinate times up =
 * destination coordinate * stride + tap * dilation - lead.
 *
 * Where a pixel of the destination reads one pixel of the source, all pixels that follow one
 * another in memory are one row: the pixels of an image, or of the batch. */
typedef struct kiln_blocked {
    int block; /* channels of a block of the destination; 0: a layout that no solver here knows */
    bool wide; /* as in kiln_shape */
    int64_t n, groups;
    int64_t src[3], dst[3], filter[3], stride[3], dilation[3], lead[3], up[3];
    int64_t src_c, dst_c; /* of one group */
    kiln_pitch src_pitch, dst_pitch;
} kiln_blocked;

kiln_blocked kiln_blocked_of(const kiln_shape *s);

/* Returns 1 for the plain layout of the rank, 4, 8 or 16 for NC/4HW4 and so on, else 0. */
int kiln_layout_block(const char *layout, int rank);

/* For prefer(): makes data layouts blocked, as wide as the vectors of the device. An x or dx of few
 * channels may stay plain. */
void kiln_blocked_prefer(kiln_shape *s, const kiln_device_facts *d, bool plain_x);
/* For reject(): returns true, with the reason, where sizes are too large for any solver here. */
bool kiln_blocked_too_large(const kiln_shape *s, kiln_why *why);

/* Return the hardware vectors of one block, and how many vectors a core has registers for. */
int kiln_blocked_vectors(int block, const kiln_device_facts *d);
int kiln_blocked_registers(const kiln_device_facts *d);

/* Returns how many pairs of a destination position and a tap along an axis meet in the source. */
int64_t kiln_blocked_meetings(const kiln_blocked *b, int axis);

/* With more classes of pixels than these, all tiles of a row count as tiles that read past its
 * borders. */
enum { KILN_BLOCKED_PHASES = 4 };

/* A row of the destination in tiles of `width` pixels, the last of which may start earlier: the
 * tiles whose taps read past the borders of the source row. */
typedef struct kiln_blocked_borders {
    int64_t tiles;
    bool first, last; /* the last tile, if there are two or more */
    bool more;        /* some tiles between those two */
} kiln_blocked_borders;

kiln_blocked_borders kiln_blocked_borders_of(const kiln_blocked *b, int width);

/* Defines P_SRC, P_DST, P_FILTER, P_STRIDE, P_DILATION, D_LEAD, D_UP, D_NEXT with their axes, D_B,
 * and the pitches; P_WIDE where padding of the layouts makes indices long. */
void kiln_blocked_define(const kiln_blocked *b, kiln_plan *plan);

#endif
