/* Where the elements of a filter lie, for kernels that write one in any order of its axes. */
#ifndef KILN_FILTER_PLACES_H
#define KILN_FILTER_PLACES_H

#include "generator/base/refuse.h"
#include "generator/plan/plan.h"

/* Elements from one output channel, input channel of a group, and tap to the next. */
typedef struct kiln_filter_places {
    int64_t k, c, tap;
} kiln_filter_places;

/* Finds the places of a filter in a layout of the axes O, I and the spatial ones, these in a row:
 * OIHW, OHWI, HWIO and their kin. Returns false where the layout has blocks, padding or groups. */
bool kiln_filter_places_of(const kiln_shape *s, kiln_filter_places *places);

/* For reject(): returns true, with the reason, where the shape's filter has no such places. */
bool kiln_filter_places_refused(const kiln_shape *s, kiln_why *why);

/* Adds -DD_W_K=9 -DD_W_C=1 -DD_W_TAP=3 to the last stage. */
void kiln_filter_places_define(const kiln_shape *s, kiln_plan *plan);

#endif
