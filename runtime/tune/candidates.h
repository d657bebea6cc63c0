/* The configs that a search tries, in its order. */
#ifndef KILN_CANDIDATES_H
#define KILN_CANDIDATES_H

#include "runtime/choose/choose.h"

enum { KILN_MOST_SOLVERS = 64, KILN_MOST_FIRSTS = 2 * KILN_MOST_SOLVERS };

typedef struct kiln_candidate {
    const kiln_solver *solver;
    kiln_config config;
    kiln_origin origin; /* a row's, a guess, or (ORIGIN_CHOICE) the grid's */
    double expected;    /* ms, by the solver's own prediction */
    double measured;    /* ms; 0: it was not, or failed */
} kiln_candidate;

typedef struct kiln_candidates {
    kiln_candidate *at;
    size_t count, room;
    size_t firsts; /* what every search tries, of each solver one or two; the grids follow */
} kiln_candidates;

/* Lists candidates of solver `only`, or of every solver that takes the shape. First, in the order
 * of predicted times, comes what each solver would run with now (its row, then its guess), then the
 * grids. Every candidate can be planned; none is there twice. Free with kiln_candidates_free(). */
kiln_status kiln_candidates_list(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                 const kiln_solver *only, kiln_candidates *out);
/* Orders the grids for a search that may not try all, by expected time. A solver's predictions are
 * scaled by the measured times of its firsts; where none ran, by the largest scale of the other
 * solvers. A factor between 1/2 and 3/2, random but always the same, gives candidates a turn that
 * predictions miss by little. */
void kiln_candidates_sort(kiln_candidates *list);
void kiln_candidates_free(kiln_candidates *list);

#endif
