/* The configs a search will try, in the order it will try them. */
#ifndef KILN_CANDIDATES_H
#define KILN_CANDIDATES_H

#include "kiln_internal.h"

typedef struct kiln_candidate {
    const kiln_solver *solver;
    kiln_config config;
    kiln_origin origin; /* a row's, a guess, or (ORIGIN_CHOICE) the grid's */
} kiln_candidate;

typedef struct kiln_candidates {
    kiln_candidate *at;
    size_t count, room;
} kiln_candidates;

/* For `only`, or for every solver that takes the shape: first, fastest prediction first, what each
 * would run with now (its row, then its guess), then the grids. With `sample` the grids are mixed
 * in an order that is random but always the same, so that any beginning of the list is a fair
 * sample. Every candidate can be planned; none is there twice. Free with kiln_candidates_free(). */
kiln_status kiln_candidates_list(kiln *k, const char *key, const kiln_shape *shape,
                                 const kiln_solver *only, bool sample, kiln_candidates *out);
void kiln_candidates_free(kiln_candidates *list);

#endif
