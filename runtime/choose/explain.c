/* What each solver says of a problem. */
#include "choose.h"

#include "runtime/kiln/probes.h"

#include <stdio.h>

kiln_status kiln_explain(kiln *k, const kiln_problem *problem, int index, kiln_verdict *verdict)
{
    if (!k || !problem || !verdict)
        return kiln_fail(KILN_INVALID, "kiln_explain: k, problem and verdict must not be NULL");
    if (kiln_process_check(k))
        return KILN_INVALID;
    const kiln_solver *solver = kiln_solver_at(index);
    if (!solver)
        return kiln_fail(KILN_INVALID, "there is no solver number %d", index);
    kiln_problem p = *problem;
    char text[KILN_ERROR_TEXT];
    if (kiln_problem_check(&p, text))
        return kiln_fail(KILN_INVALID, "%s", text);
    kiln_shape shape = kiln_shape_of(&p);
    kiln_probe_for(k, &shape);
    *verdict = (kiln_verdict){.solver = solver->name,
                              .solver_id = solver->id,
                              .algorithm = solver->algorithm,
                              .solver_version = solver->version};
    kiln_pick pick, chosen;
    kiln_plan plan;
    kiln_why why = {""};
    if (kiln_sizes_check(k, &p)) {
        snprintf(verdict->reason, sizeof verdict->reason, "%.*s", KILN_ERROR_TEXT - 1,
                 kiln_last_error());
        return KILN_OK;
    }
    if (!kiln_solver_config(k, solver, &p, &shape, &pick, &plan, &why)) {
        snprintf(verdict->reason, sizeof verdict->reason, "%s", why.text);
        return KILN_OK;
    }
    verdict->accepted = 1;
    kiln_config_text(solver, &pick.config, verdict->config, sizeof verdict->config);
    verdict->origin = pick.origin;
    verdict->predicted_ms = kiln_solver_predict(solver, &pick.shape, &k->facts, &pick.config);
    verdict->workspace_size = kiln_plan_workspace(&plan, false);
    verdict->chosen =
        kiln_choose(k, &p, &shape, NULL, &chosen) == KILN_OK && chosen.solver == solver;
    return KILN_OK;
}
