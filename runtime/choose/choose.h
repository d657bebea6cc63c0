/* Which solver and config a problem gets. */
#ifndef KILN_CHOOSE_H
#define KILN_CHOOSE_H

#include "pick.h"

/* Picks for a shape in the order of kiln_choice's comment; `choice` may be NULL. */
kiln_status kiln_choose(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                        const kiln_choice *choice, kiln_pick *pick);

/* Warns where the user's rows might have been expected to decide that pick. */
void kiln_warn_of_choice(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                         const kiln_pick *pick);

/* Returns KILN_UNSUPPORTED when a tensor is larger than the device's largest buffer or image. */
kiln_status kiln_sizes_check(const kiln *k, const kiln_problem *problem);

/* The config that a solver would run with: from rows, else its guess. Rows are kept by decided
 * layouts: where the problem says "any", the rows of those layouts count that the solver makes of
 * it. Fills `pick`, and `plan` unless it is NULL. Returns false, with the reason in `why`, when the
 * solver cannot run the shape. */
bool kiln_solver_config(kiln *k, const kiln_solver *solver, const kiln_problem *problem,
                        const kiln_shape *shape, kiln_plan *plan, kiln_pick *pick, kiln_why *why);

#endif
