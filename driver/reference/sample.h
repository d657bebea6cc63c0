/* A seeded sample of a destination's elements. */
#ifndef KILN_SAMPLE_H
#define KILN_SAMPLE_H

#include "kiln_problem.h"

#include <stdbool.h>

typedef struct sample {
    int64_t *index; /* ascending, each once */
    int64_t count;
} sample;

/* Takes about `size` elements of the destination, all where it has no more. Up to half of them lie
 * on the border of the image (of the filter, in backward weights): the corners in the first and the
 * last image and channel, and each position of the border in a random one. The others are random.
 * Returns false without memory. */
bool sample_take(sample *s, const kiln_problem *problem, uint64_t seed, int64_t size);
bool sample_holds(const sample *s, int64_t index);
void sample_free(sample *s);

#endif
