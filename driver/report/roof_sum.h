/* How near the layers of a device are to its roof, and which lie above it. */
#ifndef KILN_ROOF_SUM_H
#define KILN_ROOF_SUM_H

#include "page_part.h"

/* Why a layer can be faster than its roof. */
typedef enum roof_reason { ROOF_WINOGRAD = 0, ROOF_CACHE, ROOF_OTHER, ROOF_REASONS } roof_reason;

typedef struct roof_sum {
    size_t below;               /* layers at or below their roof */
    double mean;                /* of their shares, geometric; 0: none */
    size_t above[ROOF_REASONS]; /* layers above it, which are in no mean */
} roof_sum;

roof_sum roof_sum_of(const page_part *p);

/* Returns whether the slope of memory is the roof of a layer. */
bool roof_is_memory(const page_part *p, const report_layer *l);

/* Says how many layers lie above the roof, and why that can be; nothing where there are none. */
void roof_sum_explain(FILE *to, const roof_sum *s);

#endif
