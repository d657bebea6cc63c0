/* Rows of the same problem with another batch: what was fastest there is worth an early trial. */
#ifndef KILN_NEAR_ROW_H
#define KILN_NEAR_ROW_H

#include "guess.h"

/* Fills `picks` with the configs of rows for other batches that are legal for the problem, the
 * nearest batch first; looks for batches that are powers of two and at most 16 times as large or
 * small. No layout of the problem is "any". Returns their number. */
int kiln_near_rows(kiln *k, const kiln_problem *problem, const kiln_shape *shape, kiln_pick *picks,
                   int room);

#endif
