/* The configs that a search tries, in its order. */
#ifndef KILN_CANDIDATES_H
#define KILN_CANDIDATES_H

#include "runtime/choose/choose.h"
#include "runtime/programs/template.h"

enum { KILN_MOST_SOLVERS = 64, KILN_MOST_FIRSTS = 2 * KILN_MOST_SOLVERS };

typedef struct kiln_candidate {
    const kiln_solver *solver;
    kiln_config config;
    kiln_origin origin;      /* a row's, a guess, or (ORIGIN_CHOICE) the grid's */
    double expected;         /* ms, by the solver's own prediction */
    double luck;             /* of the grid's: what the order multiplies the prediction by */
    double turn;             /* of the grid's: the order */
    double measured;         /* ms; 0: it was not, or failed */
    const kiln_trial *known; /* an earlier search tried it, or NULL */
} kiln_candidate;

typedef struct kiln_candidates {
    kiln_candidate *at;
    size_t count, room;
    size_t firsts; /* what every search tries, of each solver one or two; the grids follow */
    size_t known;  /* of the grids: what earlier searches tried, which stands first there */
    size_t guess;  /* which of the firsts would run without rows */
    uint64_t luck; /* the state of the grid's */
} kiln_candidates;

/* Lists candidates of every solver that takes the shape and is in `only`, names or ids with commas
 * between them (NULL: all). First, in the order
 * of predicted times, comes what each solver would run with now (its row, then its guess), then the
 * grids. Every candidate can be planned; none is there twice. Free with kiln_candidates_free(). */
kiln_status kiln_candidates_list(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                 const char *only, kiln_candidates *out);
/* Returns whether a list of names or ids, with commas between them, has the solver. */
bool kiln_solver_is_among(const kiln_solver *solver, const char *names);
/* Returns where those of the grids begin that no search has tried. */
size_t kiln_candidates_untried(const kiln_candidates *list);
/* Marks the candidates that earlier trials tell about. Returns KILN_NO_MEMORY where that is so. */
kiln_status kiln_candidates_know(kiln *k, const kiln_shape *shape, const kiln_trial *known,
                                 size_t nknown, kiln_candidates *list);
/* Moves the neighbours of the candidate `of`, with one parameter a step up or down, to the places
 * from `to` on. Candidates before `to` stay where they are. */
void kiln_candidates_promote(kiln_candidates *list, size_t of, size_t to);
/* Moves a candidate to an earlier place; those from there on move up. Both are firsts, or neither.
 */
void kiln_candidates_advance(kiln_candidates *list, size_t from, size_t to);
/* Moves the configs of rows for other batches to the begin of the grids. */
void kiln_candidates_seed(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                          kiln_candidates *list);
/* Writes the hash of the templates that the candidate's plan uses; "" where it has no plan. */
void kiln_candidate_hash(const kiln *k, const kiln_shape *shape, const kiln_candidate *c,
                         char hash[KILN_TEMPLATE_HASH]);
/* Orders the grids for a search that may not try all, by expected time. A solver's predictions are
 * scaled by the measured times of its firsts, as they are known now; where none ran, by the largest
 * scale of the other solvers. A factor between 1/2 and 3/2, random but always the same, gives
 * candidates a turn that predictions miss by little. */
void kiln_candidates_sort(kiln_candidates *list);
void kiln_candidates_free(kiln_candidates *list);

#endif
