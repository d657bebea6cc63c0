/* Collects rows, guesses and grids; nothing is measured here. */
#include "candidates.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SOLVERS = 64 };

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
                kiln_origin origin)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        kiln_candidate *more = realloc(list->at, room * sizeof *more);
        if (!more)
            return false;
        list->at = more;
        list->room = room;
    }
    list->at[list->count++] = (kiln_candidate){solver, *c, origin};
    return true;
}

/* A solver that takes the shape, by its predicted time. */
typedef struct taker {
    const kiln_solver *solver;
    kiln_pick now, guess;
    double ms;
} taker;

static bool takes(kiln *k, const char *key, const kiln_shape *shape, const kiln_solver *solver,
                  taker *t)
{
    kiln_plan plan;
    kiln_why why;
    t->solver = solver;
    if (!kiln_solver_config(k, solver, key, shape, true, &t->guess, &plan, &why))
        return false;
    if (!kiln_solver_config(k, solver, key, shape, false, &t->now, &plan, &why))
        t->now = t->guess;
    t->ms = kiln_solver_predict(solver, &t->guess.shape, &k->facts, &t->guess.config);
    return true;
}

static int find_takers(kiln *k, const char *key, const kiln_shape *shape, const kiln_solver *only,
                       taker takers[MAX_SOLVERS])
{
    int n = 0;
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)) && n < MAX_SOLVERS; i++) {
        taker t;
        if ((only && solver != only) || !takes(k, key, shape, solver, &t))
            continue;
        int at = n++;
        for (; at > 0 && takers[at - 1].ms > t.ms; at--)
            takers[at] = takers[at - 1];
        takers[at] = t;
    }
    return n;
}

static bool add_firsts(kiln_candidates *list, const taker *takers, int n)
{
    for (int i = 0; i < n; i++) {
        const taker *t = &takers[i];
        if (!add(list, t->solver, &t->now.config, t->now.origin) ||
            (!listed(list, list->count, t->solver, &t->guess.config) &&
             !add(list, t->solver, &t->guess.config, KILN_ORIGIN_GUESS)))
            return false;
    }
    return true;
}

static bool add_grid(const kiln *k, const kiln_shape *shape, const kiln_solver *solver,
                     size_t firsts, kiln_candidates *list)
{
    int64_t position = 0;
    kiln_config c;
    while (kiln_config_next(solver, shape, &k->facts, &position, &c)) {
        kiln_plan plan;
        kiln_why why;
        if (!listed(list, firsts, solver, &c) &&
            kiln_solver_plan(solver, shape, &k->facts, &c, &plan, &why) &&
            !add(list, solver, &c, KILN_ORIGIN_CHOICE))
            return false;
    }
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

static void shuffle(kiln_candidate *at, size_t count)
{
    uint64_t state = 1;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)(next_random(&state) % i);
        kiln_candidate swap = at[j];
        at[j] = at[i - 1];
        at[i - 1] = swap;
    }
}

kiln_status kiln_candidates_list(kiln *k, const char *key, const kiln_shape *shape,
                                 const kiln_solver *only, bool sample, kiln_candidates *out)
{
    taker takers[MAX_SOLVERS];
    int n = find_takers(k, key, shape, only, takers);
    *out = (kiln_candidates){0};
    bool ok = add_firsts(out, takers, n);
    size_t firsts = out->count;
    for (int i = 0; i < n && ok; i++)
        ok = add_grid(k, &takers[i].guess.shape, takers[i].solver, firsts, out);
    if (!ok) {
        kiln_candidates_free(out);
        return kiln_fail(KILN_NO_MEMORY, "out of memory while listing what to measure");
    }
    if (sample && out->count > firsts)
        shuffle(out->at + firsts, out->count - firsts);
    return KILN_OK;
}

void kiln_candidates_free(kiln_candidates *list)
{
    free(list->at);
    *list = (kiln_candidates){0};
}
