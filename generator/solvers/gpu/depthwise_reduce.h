/* The solver depthwise_reduce: its parameters, and the geometry that a config makes of a shape.
 * templates/gpu/depthwise_reduce.cl has the picture. */
#ifndef KILN_DEPTHWISE_REDUCE_H
#define KILN_DEPTHWISE_REDUCE_H

#include "generator/geometry/blocked.h"
#include "generator/plan/solver.h"

/* Positions in the parameter table. */
enum {
    REDUCE_GROUP,
    REDUCE_CHANNELS,
    REDUCE_ROWS,
    REDUCE_PARTS,
    REDUCE_VECTOR,
    REDUCE_COLS,
    REDUCE_PARAMS
};

enum { REDUCE_WORD_BYTES = 4 }; /* bytes that an item reads at once */

typedef struct kiln_depthwise_reduce {
    int64_t taps;
    int64_t pairs;       /* pairs of a channel of dy and one of x, with a filter's gradients each */
    int64_t pieces;      /* pieces of strips of a pair, in all images */
    int64_t window;      /* rows of x that a strip meets */
    int64_t columns;     /* of x that a piece reads */
    int64_t sharers;     /* items that share a pair */
    int64_t local_bytes; /* bytes of a group's sums */
} kiln_depthwise_reduce;

/* Returns the geometry of a config whose vectors divide its channels. */
kiln_depthwise_reduce kiln_depthwise_reduce_of(const kiln_shape *s, const kiln_config *c);

/* The fits: one for configs without vectors, one for vectors. */
enum { REDUCE_FIT_PLAIN, REDUCE_FIT_VECTORS, REDUCE_FITS };

extern const kiln_fit *const kiln_depthwise_reduce_fits[REDUCE_FITS];

/* predict() of kiln_solver. */
double kiln_depthwise_reduce_ms(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c);

#endif
