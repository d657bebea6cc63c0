/* What each solver says of a problem. */
#include "choose.h"

#include "runtime/kiln/probes.h"

#include <stdio.h>
#include <stdlib.h>

/* Packing weights is no part of a run. */
static void tell_moves(const kiln_plan *plan, kiln_verdict *verdict)
{
    static const char *const tensor[] = {[KILN_ROLE_X] = "x",
                                         [KILN_ROLE_W] = "w",
                                         [KILN_ROLE_Y] = "y",
                                         [KILN_ROLE_BIAS] = "bias",
                                         [KILN_ROLE_RESIDUAL] = "residual"};
    for (int i = 0; i < plan->nmoved && verdict->nrestaged < KILN_MAX_RESTAGED; i++) {
        const kiln_moved *m = &plan->moved[i];
        if (plan->stage[m->stage].pack)
            continue;
        kiln_restaged *r = &verdict->restaged[verdict->nrestaged++];
        r->tensor = tensor[m->role];
        snprintf(r->from, sizeof r->from, "%.31s", m->from);
        snprintf(r->to, sizeof r->to, "%.31s", m->to);
        r->predicted_ms = m->predicted_ms;
    }
}

static void judge(kiln *k, const kiln_solver *solver, const kiln_problem *problem,
                  const kiln_shape *shape, kiln_plan *plan, kiln_verdict *verdict)
{
    kiln_pick pick;
    kiln_why why = {.text = ""};
    verdict->accepted = kiln_solver_config(k, solver, problem, shape, plan, &pick, &why);
    if (!verdict->accepted) {
        snprintf(verdict->reason, sizeof verdict->reason, "%s", why.text);
        verdict->unlimited_ms = kiln_unlimited_ms(k, solver, shape, &why);
        return;
    }
    kiln_config_text(solver, &pick.config, verdict->config, sizeof verdict->config);
    verdict->origin = pick.origin;
    verdict->predicted_ms = pick.predicted_ms;
    verdict->workspace_size = kiln_plan_workspace(plan, false);
    tell_moves(plan, verdict);
}

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
    kiln_pick chosen;
    if (kiln_sizes_check(k, &p)) {
        snprintf(verdict->reason, sizeof verdict->reason, "%.*s", KILN_ERROR_TEXT - 1,
                 kiln_last_error());
        return KILN_OK;
    }
    kiln_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a plan");
    judge(k, solver, &p, &shape, plan, verdict);
    free(plan);
    verdict->chosen = verdict->accepted && kiln_choose(k, &p, &shape, NULL, &chosen) == KILN_OK &&
                      chosen.solver == solver;
    return KILN_OK;
}
