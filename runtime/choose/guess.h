/* The config that a solver guesses, without rows. */
#ifndef KILN_GUESS_H
#define KILN_GUESS_H

#include "runtime/kiln/kiln_internal.h"

/* A solver with a legal config, and the origin of that config. */
typedef struct kiln_pick {
    const kiln_solver *solver;
    kiln_shape shape; /* as the solver sees it: layouts decided */
    kiln_config config;
    kiln_origin origin;
    double row_ms;     /* of the row that the config is from; 0: not measured */
    double row_spread; /* (90th - 10th percentile) / median of that row */
} kiln_pick;

/* Fills `pick` with the solver's guess and `plan` with the plan of that guess. Returns false, with
 * the reason in `why`, when the solver rejects the shape or cannot plan its guess. */
bool kiln_guess(const kiln *k, const kiln_solver *solver, const kiln_shape *shape, kiln_pick *pick,
                kiln_plan *plan, kiln_why *why);

/* The same for a pick whose `shape` is already what kiln_solver_takes() made of the caller's; it
 * makes no plan. */
bool kiln_guess_config(const kiln *k, const kiln_solver *solver, kiln_pick *pick, kiln_why *why);

#endif
