/* Layouts that a solver does not read or write itself, served through reformat stages. */
#ifndef KILN_STAGING_H
#define KILN_STAGING_H

#include "solver.h"

/* The shape with plain layouts; what the caller's tensors have instead moves to *_outer. */
kiln_shape kiln_staged_shape(const kiln_shape *s);

/* Makes a bias plain that is not, except an argument image where the solver reads those. False,
 * with the reason, where the shape insists on native layouts. */
bool kiln_stage_bias(kiln_shape *s, bool reads_argument_image, kiln_why *why);

/* True where a tensor has an outer layout. */
bool kiln_is_staged(const kiln_shape *s);

/* Fills the plan with the solver's stages and, where the shape is staged, the reformats before and
 * after them. False, with the reason, when the device cannot hold one of the layouts. */
bool kiln_staged_emit(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan, char *why);

/* For emit(): adds the stage that puts the plan's own x or y ('x' or 'y') in another layout;
 * returns the role of the result. A plan without room for it is broken. */
int kiln_stage_source(const kiln_shape *s, const kiln_device_facts *d, char tensor,
                      const char *layout, kiln_plan *plan);

/* Time of those reformats in ms: every byte once in and once out. */
double kiln_staging_ms(const kiln_shape *s, const kiln_device_facts *d);

#endif
