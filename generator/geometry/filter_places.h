/* Where the elements of a filter lie, for kernels that write one in any order of its axes. */
#ifndef KILN_FILTER_PLACES_H
#define KILN_FILTER_PLACES_H

#include "generator/base/refuse.h"
#include "generator/plan/plan.h"

/* Elements from one group, output channel of a group, input channel of a group, and tap to the
 * next. */
typedef struct kiln_filter_places {
    int64_t group, k, c, tap;
} kiln_filter_places;

/* Finds the places of a filter in a layout of the axes O or M, I and the spatial ones, these in a
 * row: OIHW, OHWI, HWIO, HWIM and their kin. Returns false where the layout has blocks or padding.
 */
bool kiln_filter_places_of(const kiln_shape *s, kiln_filter_places *places);

/* For reject(): returns true, with the reason, where the shape's filter has no such places, or
 * where the output channels of all groups do not follow each other at one distance. */
bool kiln_filter_places_refused(const kiln_shape *s, kiln_why *why);

/* The same of a solver that works on plain tensors and tells groups from their channels: x and y
 * must be plain, and the filter too unless it is a gradient with places. */
bool kiln_reject_but_plain(const kiln_shape *s, kiln_why *why);

/* Adds -DD_W_K=9 -DD_W_C=1 -DD_W_TAP=3 to the last stage. */
void kiln_filter_places_define(const kiln_shape *s, kiln_plan *plan);
/* The same and -DD_W_GROUP=36; D_W_K is of channels of one group then. */
void kiln_filter_places_define_grouped(const kiln_shape *s, kiln_plan *plan);

#endif
