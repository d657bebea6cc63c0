/* A seeded sample of a destination's elements, borders first. */
#ifndef KILN_SAMPLE_H
#define KILN_SAMPLE_H

#include "kiln_problem.h"

#include <stdbool.h>

typedef struct sample {
    int64_t *index; /* ascending, each once */
    int64_t count;
} sample;

/* About `size` elements of what the problem writes. Half of them may be borders of the image (of
 * the filter, in backward weights): each position there once, in an image and channel by chance,
 * and the corners in the first and the last. The rest is spread evenly. False without memory. */
bool sample_take(sample *s, const kiln_problem *problem, uint64_t seed, int64_t size);
bool sample_holds(const sample *s, int64_t index);
void sample_free(sample *s);

#endif
