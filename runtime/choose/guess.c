/* Asks a solver for a config, and refuses an illegal one. */
#include "guess.h"

#include <string.h>

bool kiln_guess_config(const kiln *k, const kiln_solver *solver, kiln_pick *pick, kiln_why *why)
{
    pick->solver = solver;
    pick->origin = KILN_ORIGIN_GUESS;
    pick->row_ms = 0;
    memset(&pick->config, 0, sizeof pick->config);
    solver->guess(solver, &pick->shape, &k->facts, &pick->config);
    return !kiln_config_refused(solver, &pick->shape, &k->facts, &pick->config, false, why);
}

bool kiln_guess(const kiln *k, const kiln_solver *solver, const kiln_shape *shape, kiln_pick *pick,
                kiln_plan *plan, kiln_why *why)
{
    return kiln_solver_takes(solver, shape, &k->facts, &pick->shape, why) &&
           kiln_guess_config(k, solver, pick, why) &&
           kiln_solver_plan(solver, &pick->shape, &k->facts, &pick->config, plan, why);
}
