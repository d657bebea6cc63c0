/* Rows of nearly the same problem: on another device with the same core, or with another batch.
 * What was fastest there is worth an early trial. */
#ifndef KILN_NEAR_ROW_H
#define KILN_NEAR_ROW_H

#include "pick.h"

typedef struct kiln_near {
    kiln_pick pick;
    kiln_row row;
    char device[128]; /* the other device; "": this one, and another batch */
} kiln_near;

/* Fills `near` with rows whose configs are legal for the problem: first those of other devices,
 * then those of other batches, the nearest batch first. Looks for batches that are powers of two
 * and at most 16 times as large or small. No layout of the problem is "any". Returns their number.
 */
int kiln_near_rows(kiln *k, const kiln_problem *problem, const kiln_shape *shape, kiln_near *near,
                   int room);

#endif
