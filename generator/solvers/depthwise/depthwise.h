/* What the depthwise solvers share whose vectors are neighbouring channels: each channel stays in
 * its lane from the source to the destination. */
#ifndef KILN_DEPTHWISE_H
#define KILN_DEPTHWISE_H

#include "generator/geometry/blocked.h"

/* Returns the geometry, whose `block` is the channels of a vector. In backward weights the
 * destination is dy. */
kiln_blocked kiln_depthwise_of(const kiln_shape *s, const kiln_device_facts *d);
int64_t kiln_depthwise_vectors(const kiln_blocked *b);

/* For prefer(): layouts that the caller named decide for the others. */
void kiln_depthwise_prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d);
/* For reject(): returns true, with the reason, where x and y do not keep vectors of channels
 * together. */
bool kiln_depthwise_layouts(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why);

/* Adds the defines of kiln_blocked_define(), D_VECTORS, D_SRC_VECTOR, D_DST_VECTOR and D_EARLIER.
 */
void kiln_depthwise_define(const kiln_blocked *b, kiln_plan *plan);

#endif
