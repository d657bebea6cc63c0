/* Asks a solver everything that a choice depends on, in one order. */
#include "consider.h"

#include <string.h>

bool kiln_config_consider(const kiln_solver *solver, const kiln_shape *decided,
                          const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan,
                          double *ms, kiln_why *why)
{
    if (kiln_config_refused(solver, decided, d, c, false, why) ||
        !kiln_solver_plan(solver, decided, d, c, plan, why))
        return false;
    *ms = kiln_solver_predict(solver, decided, d, c);
    return true;
}

bool kiln_solver_consider(const kiln_solver *solver, const kiln_shape *s,
                          const kiln_device_facts *d, const kiln_config *config, kiln_plan *plan,
                          kiln_considered *answer, kiln_why *why)
{
    if (!kiln_solver_takes(solver, s, d, &answer->shape, why))
        return false;
    memset(&answer->config, 0, sizeof answer->config);
    if (config)
        answer->config = *config;
    else
        solver->guess(solver, &answer->shape, d, &answer->config);
    return kiln_config_consider(solver, &answer->shape, d, &answer->config, plan, &answer->ms, why);
}
