/* Sources and results of products on tensor cores. Kernels copy 8 or 16 bytes of neighbouring
 * channels at a time: all channels of a pixel are neighbours, or blocks of them. A stage turns a
 * tensor that does not lie so. */
#ifndef KILN_MMA_SOURCE_H
#define KILN_MMA_SOURCE_H

#include "generator/geometry/blocked.h"

typedef struct kiln_mma_source {
    bool turned; /* a stage makes the tensor that the kernel reads */
    char tensor; /* 'x' or 'y' */
    kiln_type type;
    int64_t images, groups, size[3], group_channels;
    kiln_pitch given, pitch; /* the tensor's pitch, and the pitch that the kernel reads */
    int64_t channels, unit;  /* channels of a group with padding; bytes of a copy, 8 or 16 */
} kiln_mma_source;

/* How a kernel stores x or y that is a result: as it is to lie, or in NHWC for a stage that turns
 * it. */
typedef struct kiln_mma_result {
    bool staged, short_runs; /* in NHWC; as it is to lie, a few pixels at a time */
    char tensor;             /* 'x' or 'y' */
    kiln_type type;
    int64_t bytes;
    kiln_pitch pitch; /* that the kernel writes */
} kiln_mma_result;

/* Returns the layout of that many axes in which channels of a pixel are neighbours. */
const char *kiln_mma_last_layout(int rank);

/* prefer() of kiln_solver: asks for layouts whose channels are neighbours. */
void kiln_mma_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d);

/* For reject(): returns true, with the reason, where x or y is neither NCHW nor NHWC (or their 1-D
 * and 3-D kin) nor in blocks of neighbouring channels, or has padding, which nobody would write. */
bool kiln_mma_refuses_layouts(const kiln_shape *s, kiln_why *why);

/* The same, and where weights are not of the plain layout. */
bool kiln_mma_refuses_tensors(const kiln_shape *s, kiln_why *why);

/* Returns how x or y ('x', 'y') of the shape is read. Where the kernel reads no `blocks`, a stage
 * joins them. */
kiln_mma_source kiln_mma_source_of(const kiln_shape *s, char tensor, bool blocks);

/* Returns the largest power of two up to 16 that divides the bytes of a group's and of a block's
 * channels, and all distances of the tensor but that from channel to channel. */
int64_t kiln_mma_unit(const kiln_pitch *p, int64_t channels, int64_t type_size);

/* Returns the bytes of results that are written at once, of neighbouring channels, or else of
 * `pixels` neighbouring pixels of a row at most. `size` are the axes as the kernel sees them. */
int64_t kiln_mma_out_unit(const kiln_pitch *p, const int64_t size[3], int64_t channels,
                          int64_t pixels, int64_t type_size);

/* Returns the bytes that the kernel reads, and the time of the stage before it, if there is one. */
int64_t kiln_mma_source_bytes(const kiln_mma_source *m);
double kiln_mma_source_ms(const kiln_mma_source *m, const kiln_device_facts *d);

/* For emit(): adds the stage, if there is one, and returns the role of the tensor that the
 * kernel reads. `role` is the role of the problem's tensor. */
int kiln_mma_source_emit(const kiln_mma_source *m, const kiln_shape *s, const kiln_device_facts *d,
                         int role, kiln_plan *plan);

/* Returns how the shape's result, of that pitch and those axes, is stored by a kernel whose tiles
 * have runs of `run` pixels of a row. Where a residual lies in planes of pixels, no stage turns
 * them. */
kiln_mma_result kiln_mma_result_of(const kiln_shape *s, const kiln_pitch *pitch,
                                   const int64_t size[3], int64_t run);

/* Returns the time of the stage, if there is one, or what short runs cost. */
double kiln_mma_result_ms(const kiln_mma_result *m, const kiln_device_facts *d);

/* For emit(): returns the role of the tensor that the kernel writes; and behind the kernel, adds
 * the stage that turns it, if there is one. */
int kiln_mma_result_role(const kiln_mma_result *m, const kiln_shape *s, kiln_plan *plan);
void kiln_mma_result_emit(const kiln_mma_result *m, const kiln_shape *s, const kiln_device_facts *d,
                          int role, kiln_plan *plan);

#endif
