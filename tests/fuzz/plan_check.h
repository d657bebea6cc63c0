/* Devices for the fuzz targets that make plans, and the invariants of every plan. */
#ifndef KILN_PLAN_CHECK_H
#define KILN_PLAN_CHECK_H

#include "generator/plan/solver.h"

#include "fuzz.h"

/* Returns one of some kinds of devices, with limits that are usual or tight. */
kiln_device_facts fuzz_device(int kind, int limits);

/* Ends the program where a plan breaks an invariant. `s` is the shape that the plan is for; NULL:
 * the plan is of a reformat. */
void fuzz_check_plan(const kiln_plan *plan, const kiln_shape *s, const kiln_device_facts *d);

/* Makes the plan of a config as the library does with a row's, and checks that plan. A shape or a
 * config may be refused, with a reason. `guess`: takes the solver's own config instead, which must
 * be legal. */
void fuzz_plan_config(const kiln_solver *solver, const kiln_problem *checked,
                      const kiln_device_facts *d, const kiln_config *config, bool guess);

#endif
