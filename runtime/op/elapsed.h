/* How long an operation took, from the times that the device's clock tells of its launches. */
#ifndef KILN_ELAPSED_H
#define KILN_ELAPSED_H

#include <stdbool.h>
#include <stdint.h>

/* One launch, in ns by the device's clock. */
typedef struct kiln_span {
    bool pack; /* of a stage that packs weights */
    uint64_t start, end;
} kiln_span;

typedef struct kiln_elapsed {
    double ms;      /* from the first launch that packs nothing to the end of the last such one,
                       pauses included, but not what was packed between them; 0: there is none */
    double pack_ms; /* of the launches that pack, without the pauses between them */
} kiln_elapsed;

/* Adds up `count` launches in any order. Launches that pack must not overlap each other. */
kiln_elapsed kiln_elapsed_of(const kiln_span *spans, int count);

/* Returns whether `ms` is less than any launch takes: the device's clock stands still. Mesa's
 * rusticl has one time for all commands that are submitted at once. */
bool kiln_clock_stands(double ms);

#endif
