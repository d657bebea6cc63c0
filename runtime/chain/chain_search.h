/* The layouts of a chain's tensors with the lowest time of the whole: dynamic programming over the
 * layouts of the tensors that later steps still read. Pure: times in, layouts out. */
#ifndef KILN_CHAIN_SEARCH_H
#define KILN_CHAIN_SEARCH_H

#include <stdbool.h>

enum { KILN_CHAIN_LAYOUTS = 6, KILN_CHAIN_LIVE = 16 };

/* Step i writes tensor i, in one of a few layouts. */
typedef struct kiln_chain_step {
    int x, residual; /* numbers of tensors of earlier steps; -1: none */
    int layouts;     /* of its own tensor, at least 1 */
    /* ms[a][b]: of the step that reads x from its layout a (0 where x is -1) and writes its tensor
     * in layout b; residual_ms[a][b]: of making the residual's layout a into b. INFINITY: cannot
     * be. */
    double ms[KILN_CHAIN_LAYOUTS][KILN_CHAIN_LAYOUTS];
    double residual_ms[KILN_CHAIN_LAYOUTS][KILN_CHAIN_LAYOUTS];
} kiln_chain_step;

typedef enum kiln_chain_found {
    KILN_CHAIN_EXACT,    /* no other layouts take less time */
    KILN_CHAIN_GOOD,     /* the best assignment that was kept; there were too many to keep all */
    KILN_CHAIN_NONE,     /* every assignment has a step that cannot be */
    KILN_CHAIN_TOO_MANY, /* more than KILN_CHAIN_LIVE tensors are in use at once */
    KILN_CHAIN_NO_MEMORY
} kiln_chain_found;

/* Sets layout[i] for each step, and *ms to the time of the whole. */
kiln_chain_found kiln_chain_search(const kiln_chain_step *steps, int count, int *layout,
                                   double *ms);

#endif
