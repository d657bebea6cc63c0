/* Collects rows, guesses and grids; nothing is measured here. */
#include "candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_config(const kiln_solver *solver, const kiln_config *a, const kiln_config *b)
{
    return memcmp(a->v, b->v, (size_t)solver->nparams * sizeof *a->v) == 0;
}

/* Only the first few of the list can be there twice: a grid does not repeat itself. */
static bool listed(const kiln_candidates *list, size_t firsts, const kiln_solver *solver,
                   const kiln_config *c)
{
    for (size_t i = 0; i < firsts; i++)
        if (list->at[i].solver == solver && same_config(solver, &list->at[i].config, c))
            return true;
    return false;
}

static bool add(kiln_candidates *list, const kiln_solver *solver, const kiln_config *c,
                kiln_origin origin, double expected)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        kiln_candidate *more = realloc(list->at, room * sizeof *more);
        if (!more)
            return false;
        list->at = more;
        list->room = room;
    }
    list->at[list->count++] =
        (kiln_candidate){.solver = solver, .config = *c, .origin = origin, .expected = expected};
    return true;
}

/* A solver that takes the shape, with what it would run now and with its guess. */
typedef struct taker {
    kiln_pick now, guess;
} taker;

static bool takes(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                  const kiln_solver *solver, taker *t)
{
    kiln_why why;
    if (!kiln_consider(k, solver, shape, NULL, NULL, &t->guess, &why))
        return false;
    if (!kiln_solver_config(k, solver, problem, shape, NULL, &t->now, &why))
        t->now = t->guess;
    return true;
}

bool kiln_solver_is_among(const kiln_solver *solver, const char *names)
{
    char name[64];
    while (*names) {
        const size_t length = strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (kiln_solver_named(name) == solver)
            return true;
        names += length + (names[length] == ',');
    }
    return false;
}

/* Orders them by the predicted times of their guesses. */
static int find_takers(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                       const char *only, taker takers[KILN_MOST_SOLVERS])
{
    int n = 0;
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)) && n < KILN_MOST_SOLVERS; i++) {
        taker t;
        if ((only && !kiln_solver_is_among(solver, only)) || !takes(k, problem, shape, solver, &t))
            continue;
        int at = n++;
        for (; at > 0 && takers[at - 1].guess.predicted_ms > t.guess.predicted_ms; at--)
            takers[at] = takers[at - 1];
        takers[at] = t;
    }
    return n;
}

static bool add_pick(kiln_candidates *list, const kiln_pick *p)
{
    return add(list, p->solver, &p->config, p->origin, p->predicted_ms);
}

static bool add_firsts(kiln_candidates *list, const taker *takers, int n)
{
    for (int i = 0; i < n; i++) {
        const kiln_pick *guess = &takers[i].guess;
        if (!add_pick(list, &takers[i].now) ||
            (!listed(list, list->count, guess->solver, &guess->config) && !add_pick(list, guess)))
            return false;
    }
    list->firsts = list->count;
    for (size_t i = 0; i < list->firsts && n > 0; i++)
        if (list->at[i].solver == takers[0].guess.solver &&
            same_config(list->at[i].solver, &list->at[i].config, &takers[0].guess.config))
            list->guess = i;
    return true;
}

/* splitmix64 (Vigna): enough for an order that has no pattern, and the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Returns a factor between 1/2 and 3/2. */
static double next_luck(uint64_t *state)
{
    return 0.5 + (double)(next_random(state) >> 11) * 0x1p-53;
}

/* `plan` is room for one. */
static bool add_grid(const kiln *k, const kiln_pick *guess, kiln_plan *plan, kiln_candidates *list)
{
    const kiln_solver *solver = guess->solver;
    int64_t position = 0;
    kiln_config c;
    while (kiln_config_next(solver, &guess->shape, &k->facts, &position, &c)) {
        double ms;
        kiln_why why;
        if (listed(list, list->firsts, solver, &c) ||
            !kiln_config_consider(solver, &guess->shape, &k->facts, &c, plan, &ms, &why))
            continue;
        if (!add(list, solver, &c, KILN_ORIGIN_CHOICE, ms))
            return false;
        list->at[list->count - 1].luck = next_luck(&list->luck);
    }
    return true;
}

/* Returns measured over predicted time of the best of the solver's firsts; 0: none was measured. */
static double scale_of(const kiln_candidates *list, const kiln_solver *solver)
{
    double scale = 0;
    for (size_t i = 0; i < list->firsts; i++) {
        const kiln_candidate *c = &list->at[i];
        double own = c->expected > 0 ? c->measured / c->expected : 0;
        if (c->solver == solver && own > 0 && (scale == 0 || own < scale))
            scale = own;
    }
    return scale;
}

static double largest_scale(const kiln_candidates *list)
{
    double largest = 0;
    for (size_t i = 0; i < list->firsts; i++)
        largest = fmax(largest, scale_of(list, list->at[i].solver));
    return largest > 0 ? largest : 1;
}

static int by_turn(const void *a, const void *b)
{
    const kiln_candidate *x = a, *y = b;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

size_t kiln_candidates_untried(const kiln_candidates *list)
{
    return list->firsts + list->known;
}

void kiln_candidates_sort(kiln_candidates *list)
{
    const kiln_solver *solver = NULL;
    double scale = 1, unknown = largest_scale(list);
    const size_t from = kiln_candidates_untried(list);
    for (size_t i = from; i < list->count; i++) {
        kiln_candidate *c = &list->at[i];
        if (c->solver != solver) {
            solver = c->solver;
            scale = scale_of(list, solver);
            scale = scale > 0 ? scale : unknown;
        }
        c->turn = c->expected * c->luck * scale;
    }
    qsort(list->at + from, list->count - from, sizeof *list->at, by_turn);
}

kiln_status kiln_candidates_list(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                 const char *only, kiln_candidates *out)
{
    taker *takers = calloc(KILN_MOST_SOLVERS, sizeof *takers);
    kiln_plan *plan = malloc(sizeof *plan);
    *out = (kiln_candidates){.luck = 1};
    bool ok = takers && plan;
    const int n = ok ? find_takers(k, problem, shape, only, takers) : 0;
    ok = ok && add_firsts(out, takers, n);
    for (int i = 0; i < n && ok; i++)
        ok = add_grid(k, &takers[i].guess, plan, out);
    free(takers);
    free(plan);
    if (ok)
        return KILN_OK;
    kiln_candidates_free(out);
    return kiln_fail(KILN_NO_MEMORY, "out of memory while listing what to measure");
}

void kiln_candidates_free(kiln_candidates *list)
{
    free(list->at);
    *list = (kiln_candidates){0};
}
