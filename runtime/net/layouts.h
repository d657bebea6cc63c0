/* Which layouts the tensors of a network may have, and what each node takes in them. */
#ifndef KILN_NET_LAYOUTS_H
#define KILN_NET_LAYOUTS_H

#include "runtime/kiln/kiln_internal.h"

#include "graph.h"
#include "search.h"

typedef struct kiln_layout_set {
    int count;
    char name[KILN_NET_LAYOUTS][KILN_LAYOUT_TEXT];
} kiln_layout_set;

/* What the search needs of a node. */
typedef struct kiln_node_costs {
    kiln_layout_set x, y; /* candidates; x of a convolution only */
    kiln_layout_times ms; /* of a convolution: x, y; INFINITY: no solver */
    int best_x[KILN_NET_LAYOUTS][KILN_NET_LAYOUTS]; /* for the layout in which x was written, and
                                                       y: the layout to read x in */
    double own[KILN_NET_LAYOUTS];                   /* of all other nodes: y */
} kiln_node_costs;

/* Sets the candidates of all nodes: what their solvers prefer, and what their neighbours have. */
void kiln_net_candidates(const kiln *k, const kiln_graph *g, kiln_node_costs *costs);

/* Sets the times of node `i`; equal convolutions before it lend theirs. Returns the status of a
 * choice where no pair of layouts has a solver. */
kiln_status kiln_net_costs(kiln *k, const kiln_graph *g, int i, kiln_node_costs *costs);

/* Returns the time to make one layout of a tensor into another, 0 where they are equal. */
double kiln_net_reformat_ms(const kiln *k, const kiln_form *form, const char *from, const char *to);

/* Returns the time to read a tensor in one layout and write it in the same or another one. */
double kiln_net_copy_ms(const kiln *k, const kiln_form *form, const char *from, const char *to);

#endif
