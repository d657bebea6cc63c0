/* A convolution as an index space: two grids and a filter, from the definition in kiln_problem.h.
 *
 * All directions, plain and transposed, use the same three parts. The grid `coarse` is y of a
 * convolution and x of a transposed one; on each of its points stands a filter
 * w[coarse channel][fine channel / groups][tap]. The taps fall on points of the other grid, `fine`:
 *
 *     fine position = coarse position * stride + tap * dilation - pad_begin
 *
 * One of the three tensors is written; the other two are multiplied wherever this equation holds.
 */
#ifndef KILN_INDEX_SPACE_H
#define KILN_INDEX_SPACE_H

#include "contraction.h"
#include "reference.h"

typedef struct index_space_tensor {
    const void *data;
    kiln_type type;
    int64_t channels, size[3], step[3], plane; /* for the filter: channels of one group, taps */
} index_space_tensor;

typedef enum index_space_part {
    INDEX_SPACE_COARSE,
    INDEX_SPACE_FINE,
    INDEX_SPACE_FILTER
} index_space_part;

typedef struct index_space {
    index_space_tensor coarse, fine, filter;
    index_space_part written;
    int64_t batch, groups, stride[3], dilation[3], pad[3];
} index_space;

index_space index_space_of(const kiln_problem *problem, const reference_tensors *t);

/* Return the contraction that computes the part in the name. */
contraction index_space_writes_coarse(const index_space *s);
contraction index_space_writes_filter(const index_space *s);
/* Only the fine points whose index modulo the stride is `phase` along each axis; all of them see
 * the same taps. */
contraction index_space_writes_fine(const index_space *s, const int64_t phase[3]);

#endif
