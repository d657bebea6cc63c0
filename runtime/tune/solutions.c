/* Asks every solver for its config, and ranks the answers by row or prediction. */
#include "solutions.h"

#include "generator/problem/problem_layout.h"
#include "runtime/kiln/probes.h"

#include <stdlib.h>
#include <string.h>

static kiln_accuracy accuracy_of(const kiln_problem *p, const kiln_plan *plan)
{
    if (kiln_type_is_integer(p->x_type) && kiln_type_is_integer(p->w_type) &&
        kiln_type_is_integer(p->y_type))
        return KILN_ACCURACY_EXACT;
    return plan->amplification > 1 ? KILN_ACCURACY_AMPLIFIED : KILN_ACCURACY_SUMS;
}

/* Returns false where the solver does not take the problem. `plan` is room for one. */
static bool make_one(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                     const kiln_solver *solver, kiln_plan *plan, kiln_solution *out)
{
    kiln_pick pick;
    kiln_why why;
    if (!kiln_solver_config(k, solver, problem, shape, plan, &pick, &why))
        return false;
    const bool measured = pick.row_ms > 0;
    *out = (kiln_solution){.problem = *problem,
                           .solver = solver->name,
                           .solver_id = solver->id,
                           .algorithm = solver->algorithm,
                           .solver_version = solver->version,
                           .origin = pick.origin,
                           .measured = measured,
                           .workspace_size = kiln_plan_workspace(plan, false),
                           .packed_size = plan->packed_bytes,
                           .accuracy = accuracy_of(problem, plan),
                           .amplification = plan->amplification,
                           .deterministic = plan->deterministic};
    out->ms = measured ? pick.row_ms : pick.predicted_ms;
    kiln_shape_give_layouts(&pick.shape, &out->problem);
    kiln_config_text(solver, &pick.config, out->config, sizeof out->config);
    return true;
}

static int by_ms(const void *a, const void *b)
{
    const kiln_solution *x = a, *y = b;
    return (x->ms > y->ms) - (x->ms < y->ms);
}

void kiln_solutions_sort(kiln_solutions_list *list, size_t from)
{
    if (from < list->count)
        qsort(list->at + from, list->count - from, sizeof *list->at, by_ms);
}

/* Puts what kiln_conv_create() takes first. */
static void rank(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                 kiln_solutions_list *list)
{
    kiln_pick chosen;
    size_t first = 0;
    if (kiln_choose(k, problem, shape, NULL, &chosen) == KILN_OK)
        while (first < list->count && strcmp(list->at[first].solver, chosen.solver->name) != 0)
            first++;
    const bool found = first < list->count;
    if (found) {
        const kiln_solution swapped = list->at[0];
        list->at[0] = list->at[first];
        list->at[first] = swapped;
    }
    kiln_solutions_sort(list, found ? 1 : 0);
}

kiln_status kiln_solutions_make(kiln *k, const kiln_problem *problem, kiln_solutions_list *out)
{
    const kiln_shape shape = kiln_shape_of(problem);
    const kiln_solver *solver;
    size_t solvers = 0;
    *out = (kiln_solutions_list){0};
    kiln_status status = kiln_sizes_check(k, problem);
    if (status)
        return status;
    while (kiln_solver_at((int)solvers))
        solvers++;
    kiln_probe_for(k, &shape);
    out->at = calloc(solvers, sizeof *out->at);
    kiln_plan *plan = malloc(sizeof *plan);
    for (int i = 0; plan && out->at && (solver = kiln_solver_at(i)); i++)
        out->count += make_one(k, problem, &shape, solver, plan, &out->at[out->count]);
    const bool room = plan && out->at;
    free(plan);
    if (!room) {
        free(out->at);
        out->at = NULL;
        return kiln_fail(KILN_NO_MEMORY, "out of memory for %zu solutions", solvers);
    }
    if (out->count == 0) { /* the choice says why */
        kiln_pick pick;
        free(out->at);
        out->at = NULL;
        return kiln_choose(k, problem, &shape, NULL, &pick) ? KILN_UNSUPPORTED : KILN_OK;
    }
    rank(k, problem, &shape, out);
    return KILN_OK;
}

void kiln_solutions_give(kiln_solutions_list *list, kiln_solution *to, size_t room, size_t *count)
{
    *count = list->count;
    for (size_t i = 0; i < list->count && i < room; i++)
        to[i] = list->at[i];
    free(list->at);
    *list = (kiln_solutions_list){0};
}

kiln_status kiln_solutions(kiln *k, const kiln_problem *problem, kiln_solution *list, size_t room,
                           size_t *count)
{
    char why[KILN_ERROR_TEXT];
    kiln_solutions_list all;
    if (count)
        *count = 0;
    if (!k || !problem || !count || (room > 0 && !list))
        return kiln_fail(KILN_INVALID,
                         "kiln_solutions: k, problem and count must not be NULL, nor list with "
                         "room in it");
    if (kiln_process_check(k))
        return KILN_INVALID;
    kiln_problem p = *problem;
    if (kiln_problem_check(&p, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    kiln_status status = kiln_solutions_make(k, &p, &all);
    if (!status)
        kiln_solutions_give(&all, list, room, count);
    return status;
}

kiln_status kiln_solution_create(kiln *k, const kiln_solution *solution, kiln_op **out)
{
    if (out)
        *out = NULL;
    if (!k || !solution || !out || !solution->solver)
        return kiln_fail(KILN_INVALID,
                         "kiln_solution_create: k, solution, its solver and out must not be NULL");
    const kiln_choice choice = {.solver = solution->solver,
                                .config = *solution->config ? solution->config : NULL,
                                .ignore_rows = 1};
    return kiln_conv_create(k, &solution->problem, &choice, out);
}
