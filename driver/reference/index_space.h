/* A convolution as its sums of products, from the definition in kiln_problem.h.
 *
 * All cases speak of two grids and a filter. One grid is `coarse`: y of a convolution, x of a
 * transposed one, where a filter of w[coarse channel][fine channel / groups][tap] stands on every
 * point. The other one, `fine`, is where its taps fall:
 *
 *     fine position = coarse position * stride + tap * dilation - pad_begin
 *
 * Whichever of the three tensors is written, the other two are multiplied wherever this holds.
 */
#ifndef KILN_SCENE_H
#define KILN_SCENE_H

#include "contraction.h"
#include "reference.h"

typedef struct scene_tensor {
    const void *data;
    kiln_type type;
    int64_t channels, size[3], step[3], plane; /* for the filter: channels of one group, taps */
} scene_tensor;

typedef enum scene_part { SCENE_COARSE, SCENE_FINE, SCENE_FILTER } scene_part;

typedef struct scene {
    scene_tensor coarse, fine, filter;
    scene_part written;
    int64_t batch, groups, stride[3], dilation[3], pad[3];
} scene;

scene scene_of(const kiln_problem *problem, const reference_tensors *t);

/* The contraction that computes the part in its name. */
contraction scene_writes_coarse(const scene *s);
contraction scene_writes_filter(const scene *s);
/* The fine points whose index modulo the stride is `phase` along each axis: they all see the same
 * taps. */
contraction scene_writes_fine(const scene *s, const int64_t phase[3]);

#endif
