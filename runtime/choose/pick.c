/* Considers solvers with plans on the heap: a caller's thread may have a small stack. */
#include "pick.h"

#include <stdlib.h>

static void fill(const kiln_solver *solver, const kiln_considered *answer, bool guess,
                 kiln_pick *pick)
{
    pick->solver = solver;
    pick->shape = answer->shape;
    pick->config = answer->config;
    pick->predicted_ms = answer->ms;
    pick->limited = NULL;
    pick->limited_ms = 0;
    if (guess) {
        pick->origin = KILN_ORIGIN_GUESS;
        pick->row_ms = pick->row_iqr = 0;
    }
}

bool kiln_consider(const kiln *k, const kiln_solver *solver, const kiln_shape *shape,
                   const kiln_config *config, kiln_plan *plan, kiln_pick *pick, kiln_why *why)
{
    kiln_considered answer;
    kiln_plan *room = plan ? plan : malloc(sizeof *room);
    if (!room)
        return !kiln_no(why, "there is no memory for a plan");
    const bool able = kiln_solver_consider(solver, shape, &k->facts, config, room, &answer, why);
    if (able)
        fill(solver, &answer, !config, pick);
    if (!plan)
        free(room);
    return able;
}

double kiln_unlimited_ms(const kiln *k, const kiln_solver *solver, const kiln_shape *shape,
                         const kiln_why *why)
{
    kiln_shape wide = *shape;
    kiln_pick pick = {.predicted_ms = 0};
    kiln_why other;
    wide.workspace_limit = INT64_MAX;
    return why->limit && kiln_consider(k, solver, &wide, NULL, NULL, &pick, &other)
               ? pick.predicted_ms
               : 0;
}
