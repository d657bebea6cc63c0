/* Graphs: nodes are checked when they are added, and the first error stays. */
#include "graph.h"

#include "generator/plan/plan.h"
#include "runtime/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 16 };

#define CONSTANT(name, role)                                                                       \
    {                                                                                              \
#name, role, offsetof(kiln_node, name), offsetof(kiln_buffers, name)                       \
    }
const kiln_node_constant kiln_node_constants[KILN_NODE_CONSTANTS] = {
    CONSTANT(w, KILN_ROLE_W),
    CONSTANT(bias, KILN_ROLE_BIAS),
    CONSTANT(w_scales, KILN_ROLE_W_SCALES),
    CONSTANT(x_zero, KILN_ROLE_X_ZERO),
    CONSTANT(w_zero, KILN_ROLE_W_ZERO),
    CONSTANT(y_zero, KILN_ROLE_Y_ZERO)};

kiln_graph *kiln_graph_new(void)
{
    return calloc(1, sizeof(kiln_graph));
}

static void free_node(kiln_graph_node *n)
{
    free(n->name);
    for (int c = 0; c < KILN_NODE_CONSTANTS; c++)
        free(n->files[c]);
}

void kiln_graph_release(kiln_graph *g)
{
    for (int i = 0; g && i < g->count; i++)
        free_node(&g->node[i]);
    if (g)
        free(g->node);
    free(g);
}

static char *copy_text(const char *text, bool *fine)
{
    char *copy = text ? strdup(text) : NULL;
    *fine = *fine && (copy || !text);
    return copy;
}

/* Copies a node with its texts. */
static bool copy_node(kiln_graph_node *to, const kiln_graph_node *from, const char *name)
{
    bool fine = true;
    *to = *from;
    to->name = copy_text(name, &fine);
    to->node.name = to->name;
    for (int c = 0; c < KILN_NODE_CONSTANTS; c++) {
        kiln_weights *own = kiln_node_weights(&to->node, c);
        to->files[c] = copy_text(own->file, &fine);
        own->file = to->files[c];
    }
    if (!fine)
        free_node(to);
    return fine;
}

kiln_graph *kiln_graph_copy(const kiln_graph *g)
{
    kiln_graph *copy = kiln_graph_new();
    kiln_graph_node *nodes = calloc((size_t)g->count + 1, sizeof *nodes);
    if (!copy || !nodes) {
        free(copy);
        free(nodes);
        return NULL;
    }
    *copy = *g;
    copy->node = nodes;
    copy->room = g->count;
    for (copy->count = 0; copy->count < g->count; copy->count++) {
        const kiln_graph_node *from = &g->node[copy->count];
        if (copy_node(&nodes[copy->count], from, from->name))
            continue;
        kiln_graph_release(copy);
        return NULL;
    }
    return copy;
}

static bool make_room(kiln_graph *g)
{
    if (g->count < g->room)
        return true;
    const int room = g->room ? 2 * g->room : 16;
    kiln_graph_node *more = realloc(g->node, (size_t)room * sizeof *more);
    if (!more)
        return false;
    g->node = more;
    g->room = room;
    return true;
}

/* Keeps the error for kiln_net_create(). */
static int keep_error(kiln_graph *g, kiln_status status)
{
    g->status = status;
    snprintf(g->error, sizeof g->error, "%.*s", (int)sizeof g->error - 1, kiln_last_error());
    return 0;
}

static kiln_status check_sources(kiln_graph *g, int i)
{
    kiln_graph_node *n = &g->node[i];
    while (n->sources < KILN_NODE_SOURCES && n->node.from[n->sources]) {
        const int from = n->node.from[n->sources++];
        if (from < 1 || from > i)
            return kiln_graph_fail(g, i, KILN_INVALID,
                                   "it reads node %d; there are nodes 1 to %d before it", from, i);
    }
    return KILN_OK;
}

int kiln_graph_add(kiln_graph *g, const kiln_node *node)
{
    if (!g || !node) {
        kiln_fail(KILN_INVALID, "kiln_graph_add: graph and node must not be NULL");
        return 0;
    }
    if (g->status) {
        kiln_fail(g->status, "%s", g->error);
        return 0;
    }
    const kiln_graph_node given = {.node = *node};
    if (g->count == MOST_NODES || !make_room(g) ||
        !copy_node(&g->node[g->count], &given, node->name))
        return keep_error(
            g, kiln_fail(KILN_NO_MEMORY, "out of memory for node %d of a graph", g->count + 1));
    const int i = g->count++;
    kiln_status status = check_sources(g, i);
    if (!status)
        status = kiln_graph_infer(g, i, true);
    return status ? keep_error(g, status) : i + 1;
}

kiln_status kiln_graph_form(const kiln_graph *g, int node, kiln_form *form)
{
    if (!g || !form)
        return kiln_fail(KILN_INVALID, "kiln_graph_form: graph and form must not be NULL");
    if (node < 1 || node > g->count)
        return kiln_fail(KILN_INVALID, "the graph has nodes 1 to %d, no number %d", g->count, node);
    *form = g->node[node - 1].form;
    if (strcmp(form->layout, "any") == 0)
        memset(form->layout, 0, sizeof form->layout);
    return KILN_OK;
}
