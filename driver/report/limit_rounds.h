/* What several rounds measured of one limit of a device, and whether they can be believed. */
#ifndef KILN_LIMIT_ROUNDS_H
#define KILN_LIMIT_ROUNDS_H

#include "machine_load.h"

#include <stdbool.h>
#include <stddef.h>

enum { LIMIT_ROUNDS = 6 };

typedef struct limit_rounds {
    double value[LIMIT_ROUNDS];
    int count;
} limit_rounds;

void limit_rounds_add(limit_rounds *r, double value);
/* Return the highest and the lowest value; 0: there is none. A limit is what the device reaches
 * when nothing disturbs it, so the highest counts. */
double limit_rounds_best(const limit_rounds *r);
double limit_rounds_least(const limit_rounds *r);

/* Writes a sentence if the machine was busy with other work: rounds lie far below the best one, or
 * others had cores meanwhile. "", and false: it was not. */
bool limit_rounds_doubt(const limit_rounds *gflops, const limit_rounds *gbs,
                        const machine_share *others, char *why, size_t size);

#endif
