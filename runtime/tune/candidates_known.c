/* What a search need not try, because an earlier one has, and what it tries sooner. */
#include "candidates.h"

#include "runtime/choose/near_row.h"

#include <stdlib.h>
#include <string.h>

void kiln_candidate_hash(const kiln *k, const kiln_shape *shape, const kiln_candidate *c,
                         char hash[KILN_TEMPLATE_HASH])
{
    kiln_plan *plan = malloc(sizeof *plan);
    kiln_why why;
    kiln_shape own;
    hash[0] = '\0';
    if (plan && kiln_solver_takes(c->solver, shape, &k->facts, &own, &why) &&
        kiln_solver_plan(c->solver, &own, &k->facts, &c->config, plan, &why))
        kiln_plan_template_hash(k->template_dir, plan, hash);
    free(plan);
}

/* Orders by solver and config; of equal ones, the later trial of the caller's list goes last. */
static int by_config(const void *a, const void *b)
{
    const kiln_trial *x = *(const kiln_trial *const *)a, *y = *(const kiln_trial *const *)b;
    int order = strcmp(x->solver, y->solver);
    order = order ? order : strcmp(x->config, y->config);
    return order ? order : (x > y) - (x < y);
}

/* Returns the last trial of the config; NULL: there is none. */
static const kiln_trial *find(const kiln_trial *const *sorted, size_t n, const kiln_candidate *c)
{
    char config[KILN_CONFIG_TEXT];
    size_t low = 0, high = n;
    kiln_config_text(c->solver, &c->config, config, sizeof config);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        int order = strcmp(sorted[middle]->solver, c->solver->name);
        order = order ? order : strcmp(sorted[middle]->config, config);
        if (order <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const kiln_trial *t = low > 0 ? sorted[low - 1] : NULL;
    return t && !strcmp(t->solver, c->solver->name) && !strcmp(t->config, config) ? t : NULL;
}

static bool was_measured(const kiln_trial *t)
{
    return (t->verdict == KILN_TRIAL_OK || t->verdict == KILN_TRIAL_SLOW) && t->ms > 0;
}

/* Known configs of the grids stand before the others, which an order is made of. */
static void put_known_first(kiln_candidates *list)
{
    for (size_t i = list->firsts; i < list->count; i++) {
        kiln_candidate *to = &list->at[kiln_candidates_untried(list)];
        const kiln_candidate moved = list->at[i];
        if (!moved.known)
            continue;
        list->at[i] = *to;
        *to = moved;
        list->known++;
    }
}

kiln_status kiln_candidates_know(kiln *k, const kiln_shape *shape, const kiln_trial *known,
                                 size_t nknown, kiln_candidates *list)
{
    if (nknown == 0)
        return KILN_OK;
    const kiln_trial **sorted = malloc(nknown * sizeof *sorted);
    if (!sorted)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < nknown; i++)
        sorted[i] = &known[i];
    qsort(sorted, nknown, sizeof *sorted, by_config);
    for (size_t i = 0; i < list->count; i++) {
        kiln_candidate *c = &list->at[i];
        char hash[KILN_TEMPLATE_HASH];
        const kiln_trial *t = find(sorted, nknown, c);
        if (!t || t->version != c->solver->version)
            continue;
        kiln_candidate_hash(k, shape, c, hash);
        if (strcmp(hash, t->hash) != 0)
            continue;
        c->known = t;
        c->measured = was_measured(t) ? t->ms : 0;
    }
    free(sorted);
    put_known_first(list);
    return KILN_OK;
}

void kiln_candidates_advance(kiln_candidates *list, size_t from, size_t to)
{
    const kiln_candidate moved = list->at[from];
    memmove(&list->at[to + 1], &list->at[to], (from - to) * sizeof *list->at);
    list->at[to] = moved;
    if (list->guess == from)
        list->guess = to;
    else if (list->guess >= to && list->guess < from)
        list->guess++;
}

void kiln_candidates_seed(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                          kiln_candidates *list)
{
    enum { MOST = 8 };
    kiln_near *near =
        malloc(MOST * sizeof *near); /* without memory, the order is that of guesses */
    size_t to = kiln_candidates_untried(list);
    const int n = near ? kiln_near_rows(k, problem, shape, near, MOST) : 0;
    for (int i = 0; i < n; i++)
        for (size_t at = to; at < list->count; at++)
            if (list->at[at].solver == near[i].pick.solver && !list->at[at].known &&
                memcmp(list->at[at].config.v, near[i].pick.config.v,
                       (size_t)near[i].pick.solver->nparams * sizeof near[i].pick.config.v[0]) ==
                    0) {
                kiln_candidates_advance(list, at, to++);
                break;
            }
    free(near);
}

static int place_of(const kiln_param *p, int value)
{
    for (int i = 0; i < p->nvalues; i++)
        if (p->value[i] == value)
            return i;
    return -1;
}

/* Returns whether two configs differ in one parameter, by one step of its values. */
static bool are_neighbours(const kiln_solver *solver, const kiln_config *a, const kiln_config *b)
{
    int steps = 0;
    for (int i = 0; i < solver->nparams && steps <= 1; i++) {
        if (a->v[i] == b->v[i])
            continue;
        const int from = place_of(&solver->params[i], a->v[i]),
                  to = place_of(&solver->params[i], b->v[i]);
        steps += from >= 0 && to >= 0 ? abs(from - to) : 2;
    }
    return steps == 1;
}

void kiln_candidates_promote(kiln_candidates *list, size_t of, size_t to)
{
    const kiln_solver *solver = list->at[of].solver;
    const kiln_config config = list->at[of].config;
    for (size_t i = to; i < list->count; i++) {
        if (list->at[i].solver != solver || list->at[i].known ||
            !are_neighbours(solver, &config, &list->at[i].config))
            continue;
        kiln_candidates_advance(list, i, to++);
    }
}
