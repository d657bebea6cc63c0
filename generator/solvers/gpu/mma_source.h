/* Sources of products on tensor cores: kernels copy 8 or 16 bytes of neighbouring channels at a
 * time, of all channels or of blocks of them; a stage makes a tensor so that is not. */
#ifndef KILN_MMA_SOURCE_H
#define KILN_MMA_SOURCE_H

#include "generator/geometry/blocked.h"

typedef struct kiln_mma_source {
    bool turned; /* a stage makes the tensor that the kernel reads */
    kiln_type type;
    int64_t images, groups, size[3], group_channels;
    kiln_pitch given, pitch; /* of the tensor, and as the kernel reads it */
    int64_t channels, unit;  /* of a group, with padding; bytes of a copy, 8 or 16 */
} kiln_mma_source;

/* For prefer(): neighbouring channels. */
void kiln_mma_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d);

/* For reject(): returns true, with the reason, where x or y is neither NCHW nor NHWC (or their 1-D
 * and 3-D kin) nor in blocks of neighbouring channels, or has padding, which nobody would write. */
bool kiln_mma_refuses_layouts(const kiln_shape *s, kiln_why *why);

/* The same for kernels that write neighbouring channels of all pixels alone, and pack the weights
 * of the plain layout. */
bool kiln_mma_refuses_but_last(const kiln_shape *s, kiln_why *why);

/* Returns how x or y ('x', 'y') of the shape is read. Where the kernel reads no `blocks`, a stage
 * joins them. */
kiln_mma_source kiln_mma_source_of(const kiln_shape *s, char tensor, bool blocks);

/* Returns the largest power of two up to 16 that divides the bytes of a group's and of a block's
 * channels, and all distances of the tensor but that from channel to channel. */
int64_t kiln_mma_unit(const kiln_pitch *p, int64_t channels, int64_t type_size);

/* Returns the bytes that the kernel reads, and the time of the stage before it, if there is one. */
int64_t kiln_mma_source_bytes(const kiln_mma_source *m);
double kiln_mma_source_ms(const kiln_mma_source *m, const kiln_device_facts *d);

/* For emit(): adds that stage, and returns the role of what the kernel reads; `role` is that of the
 * tensor. */
int kiln_mma_source_emit(const kiln_mma_source *m, const kiln_shape *s, int role, kiln_plan *plan);

#endif
