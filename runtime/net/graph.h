/* The graph of a network, and the sizes of its tensors. */
#ifndef KILN_NET_GRAPH_H
#define KILN_NET_GRAPH_H

#include "kiln_net.h"

#include <stdbool.h>

/* What a convolution is given besides tensors, in this order. */
enum { KILN_NODE_CONSTANTS = 6 };

/* Where a constant stands in a kiln_node and in kiln_buffers, its role in a plan, and its name. */
typedef struct kiln_node_constant {
    const char *name;
    int role;
    size_t in_node, in_buffers;
} kiln_node_constant;

extern const kiln_node_constant kiln_node_constants[KILN_NODE_CONSTANTS]; /* the first is w */

static inline kiln_weights *kiln_node_weights(kiln_node *node, int constant)
{
    return (kiln_weights *)((char *)node + kiln_node_constants[constant].in_node);
}

typedef struct kiln_graph_node {
    kiln_node node;                          /* as it was added; the graph owns name and files */
    char *name, *files[KILN_NODE_CONSTANTS]; /* or NULL */
    int sources;                             /* of node.from */
    kiln_problem problem; /* completed with the sizes of the sources, as is the pool; layouts of the
                             convolution that are open are "any" */
    kiln_pool pool;
    kiln_form form; /* what it gives; layout: "any" where it is open */
} kiln_graph_node;

struct kiln_graph {
    kiln_graph_node *node;
    int count, room;
    kiln_status status; /* of the first node that did not fit */
    char error[KILN_ERROR_TEXT];
};

/* Returns a copy, or NULL. */
kiln_graph *kiln_graph_copy(const kiln_graph *g);

/* Derives what node `i` gives from the nodes before it. `strict`: sizes that the node says itself
 * must agree. */
kiln_status kiln_graph_infer(kiln_graph *g, int i, bool strict);

/* Fails with a sentence that names the node. */
kiln_status kiln_graph_fail(const kiln_graph *g, int i, kiln_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the index of the node that node `i` reads as its source `j`. */
static inline int kiln_graph_source(const kiln_graph *g, int i, int j)
{
    return g->node[i].node.from[j] - 1;
}

/* Makes the storage of a form in a layout. */
bool kiln_form_storage(const kiln_form *form, const char *layout, kiln_storage *storage, char *why);
/* Returns the bytes of a form in a layout; 0 where the layout does not fit. */
int64_t kiln_form_bytes(const kiln_form *form, const char *layout);

#endif
