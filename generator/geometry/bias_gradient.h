/* The stage for the gradient of the bias, which is the same for all solvers of backward weights. */
#ifndef KILN_BIAS_GRADIENT_H
#define KILN_BIAS_GRADIENT_H

#include "generator/plan/solver.h"

/* For emit(): adds the stage that writes the bias gradient, from dy in any layout that has a
 * kiln_pitch. */
void kiln_bias_gradient_emit(const kiln_shape *s, const kiln_device_facts *d, kiln_plan *plan);

#endif
