/* Layouts that a solver does not read or write itself, served through reformat stages. */
#ifndef KILN_STAGING_H
#define KILN_STAGING_H

#include "reformat.h"
#include "solver.h"

/* Returns the shape with plain layouts for the tensors of `roles`, a set of bits 1 << KILN_ROLE_X,
 * _W and _Y. The layouts of the caller's tensors move to *_outer. */
kiln_shape kiln_staged_shape(const kiln_shape *s, int roles);

/* Makes a bias that is not plain so, except an argument image where the solver reads those. Returns
 * false, with the reason, where the shape insists on native layouts. */
bool kiln_stage_bias(kiln_shape *s, bool reads_argument_image, kiln_why *why);

/* Returns the tensors that have an outer layout, as such a set. */
int kiln_staged_roles(const kiln_shape *s);

/* Fills the plan with the stages of the solver and, where the shape is staged, the reformats before
 * and after them. Returns false, with the reason, when the device cannot hold one of the layouts.
 */
bool kiln_staged_emit(const kiln_solver *solver, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c, kiln_plan *plan, char *why);

/* For emit(): adds the stage that puts the plan's own x or y ('x' or 'y') in another layout, and
 * returns the role of the result. Refuses the plan where the device cannot hold the tensor. */
int kiln_stage_source(const kiln_shape *s, const kiln_device_facts *d, char tensor,
                      const char *layout, kiln_plan *plan);
/* For emit(): adds a reformat. Refuses the plan, and returns false, where the device cannot hold a
 * tensor of it. */
bool kiln_stage_reformat(const kiln_device_facts *d, const kiln_operand *from,
                         const kiln_operand *to, kiln_plan *plan);

/* Returns the time of the reformats of a run in ms: every byte is read once and written once.
 * Weights that are read are reformatted where they are packed, outside of it. */
double kiln_staging_ms(const kiln_shape *s, const kiln_device_facts *d);

#endif
