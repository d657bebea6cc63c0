/* Which layouts the tensors of a chain may have, and what each link costs in them. */
#ifndef KILN_CHAIN_LAYOUTS_H
#define KILN_CHAIN_LAYOUTS_H

#include "runtime/kiln/kiln_internal.h"

#include "chain_search.h"
#include "kiln_chain.h"

typedef struct kiln_layout_set {
    int count;
    char name[KILN_CHAIN_LAYOUTS][KILN_LAYOUT_TEXT];
} kiln_layout_set;

/* What the search needs of a link. */
typedef struct kiln_link_costs {
    kiln_layout_set x, y;                               /* candidates */
    double ms[KILN_CHAIN_LAYOUTS][KILN_CHAIN_LAYOUTS];  /* of x, y; INFINITY: no solver */
    int best_x[KILN_CHAIN_LAYOUTS][KILN_CHAIN_LAYOUTS]; /* for the layout of the link that wrote x,
                                                           and y: the layout to read x in */
} kiln_link_costs;

/* Sets the candidates of all links: what their solvers prefer, and what their neighbours have. */
void kiln_chain_candidates(const kiln *k, const kiln_link *links, int count,
                           kiln_link_costs *costs);

/* Sets the times of link `i`; equal links before it lend theirs. Returns the status of a choice
 * where no pair of layouts has a solver. */
kiln_status kiln_chain_costs(kiln *k, const kiln_link *links, int i, kiln_link_costs *costs);

/* Returns the time to make one layout of a link's y into another, 0 where they are equal. */
double kiln_chain_reformat_ms(const kiln *k, const kiln_problem *p, const char *from,
                              const char *to);

#endif
