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

/* A solver that takes the shape, by its predicted time. */
typedef struct taker {
    const kiln_solver *solver;
    kiln_pick now, guess;
    double ms;
} taker;

static bool takes(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                  const kiln_solver *solver, taker *t)
{
    kiln_plan plan;
    kiln_why why;
    t->solver = solver;
    if (!kiln_guess(k, solver, shape, &t->guess, &plan, &why))
        return false;
    if (!kiln_solver_config(k, solver, problem, shape, &t->now, &plan, &why))
        t->now = t->guess;
    t->ms = kiln_solver_predict(solver, &t->guess.shape, &k->facts, &t->guess.config);
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
        for (; at > 0 && takers[at - 1].ms > t.ms; at--)
            takers[at] = takers[at - 1];
        takers[at] = t;
    }
    return n;
}

static bool add_firsts(const kiln *k, kiln_candidates *list, const taker *takers, int n)
{
    for (int i = 0; i < n; i++) {
        const taker *t = &takers[i];
        double now = kiln_solver_predict(t->solver, &t->now.shape, &k->facts, &t->now.config);
        if (!add(list, t->solver, &t->now.config, t->now.origin, now) ||
            (!listed(list, list->count, t->solver, &t->guess.config) &&
             !add(list, t->solver, &t->guess.config, KILN_ORIGIN_GUESS, t->ms)))
            return false;
    }
    list->firsts = list->count;
    for (size_t i = 0; i < list->firsts && n > 0; i++)
        if (list->at[i].solver == takers[0].solver &&
            same_config(takers[0].solver, &list->at[i].config, &takers[0].guess.config))
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

static bool add_grid(const kiln *k, const kiln_shape *shape, const kiln_solver *solver,
                     kiln_candidates *list)
{
    int64_t position = 0;
    kiln_config c;
    while (kiln_config_next(solver, shape, &k->facts, &position, &c)) {
        kiln_plan plan;
        kiln_why why;
        if (listed(list, list->firsts, solver, &c) ||
            !kiln_solver_plan(solver, shape, &k->facts, &c, &plan, &why))
            continue;
        if (!add(list, solver, &c, KILN_ORIGIN_CHOICE,
                 kiln_solver_predict(solver, shape, &k->facts, &c)))
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

void kiln_candidates_sort(kiln_candidates *list)
{
    const kiln_solver *solver = NULL;
    double scale = 1, unknown = largest_scale(list);
    for (size_t i = list->firsts; i < list->count; i++) {
        kiln_candidate *c = &list->at[i];
        if (c->solver != solver) {
            solver = c->solver;
            scale = scale_of(list, solver);
            scale = scale > 0 ? scale : unknown;
        }
        c->turn = c->expected * c->luck * scale;
    }
    qsort(list->at + list->firsts, list->count - list->firsts, sizeof *list->at, by_turn);
}

kiln_status kiln_candidates_list(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                 const char *only, kiln_candidates *out)
{
    taker takers[KILN_MOST_SOLVERS];
    int n = find_takers(k, problem, shape, only, takers);
    *out = (kiln_candidates){.luck = 1};
    bool ok = add_firsts(k, out, takers, n);
    for (int i = 0; i < n && ok; i++)
        ok = add_grid(k, &takers[i].guess.shape, takers[i].solver, out);
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
