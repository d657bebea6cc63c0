/* The plan of a network: the layout and the place of every tensor, and what runs before and in each
 * node. */
#ifndef KILN_NET_PLAN_H
#define KILN_NET_PLAN_H

#include "runtime/kiln/kiln_internal.h"

#include "graph.h"

/* How a node comes by a tensor that it reads. */
typedef enum kiln_way {
    KILN_WAY_DIRECT,   /* as it lies; in a concatenation or split: as a range of the same bytes */
    KILN_WAY_REFORMAT, /* a reformat goes before the node */
    KILN_WAY_COPY      /* in a concatenation or split: it is copied */
} kiln_way;

/* Where a tensor lies: in the arena, or in a buffer of the caller's. */
typedef struct kiln_place {
    enum { KILN_IN_ARENA, KILN_IN_INPUT, KILN_IN_OUTPUT } base;
    int index; /* of the input or output */
    int64_t offset;
} kiln_place;

typedef struct kiln_source_plan {
    int node; /* index */
    kiln_way way;
    kiln_reformat reformat;
    int64_t range; /* bytes before it in the concatenation, or before the split in its source, where
                      the way is direct */
    kiln_place place; /* where the node reads it */
} kiln_source_plan;

typedef struct kiln_node_plan {
    kiln_form form; /* what it gives, with its layout */
    kiln_problem problem;
    kiln_pool pool;
    kiln_source_plan *source;
    kiln_place place;
    double predicted_ms; /* with reformats and copies */
} kiln_node_plan;

typedef struct kiln_net_plan {
    int count; /* of nodes */
    kiln_node_plan *node;
    int inputs, outputs, reformats, copies, exact;
    double predicted_ms;
    int64_t arena_size;
} kiln_net_plan;

/* Plans a graph. Returns KILN_UNSUPPORTED where no layouts suit all nodes. */
kiln_status kiln_net_plan_make(kiln *k, const kiln_graph *g, kiln_net_plan *plan);
void kiln_net_plan_free(kiln_net_plan *plan);

/* Sets the places of all tensors. */
kiln_status kiln_net_plan_place(const kiln *k, const kiln_graph *g, kiln_net_plan *plan);

#endif
