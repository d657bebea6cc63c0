/* A solver with a config, as one that a problem may get. */
#ifndef KILN_PICK_H
#define KILN_PICK_H

#include "runtime/kiln/kiln_internal.h"

#include "generator/plan/consider.h"

typedef struct kiln_pick {
    const kiln_solver *solver;
    kiln_shape shape; /* as the solver sees it: layouts decided */
    kiln_config config;
    double predicted_ms;
    kiln_origin origin;
    double row_ms;  /* of the row that the config is from; 0: not measured */
    double row_iqr; /* of that row; 0: unknown */
    /* A solver that only a limit on workspaces excluded, and that is predicted to be faster; NULL:
     * none. */
    const kiln_solver *limited;
    double limited_ms;
} kiln_pick;

/* Fills a pick with a config of the solver, whose origin and row the caller knows, or with its
 * guess where `config` is NULL. Makes the plan in `plan`; NULL: in memory of its own, which it
 * frees. Returns false, with the reason, where the solver cannot run it (kiln_solver_consider()).
 */
bool kiln_consider(const kiln *k, const kiln_solver *solver, const kiln_shape *shape,
                   const kiln_config *config, kiln_plan *plan, kiln_pick *pick, kiln_why *why);

/* Returns the predicted time of a solver that `why` refused, without any limit on workspaces. 0: it
 * was refused for another reason. */
double kiln_unlimited_ms(const kiln *k, const kiln_solver *solver, const kiln_shape *shape,
                         const kiln_why *why);

#endif
