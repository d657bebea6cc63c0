/* Puts nodes into an order in which each comes behind the nodes that it reads. */
#include "walk.h"

#include <string.h>

/* Nodes are counted from 1 in tables of names, where 0 is no node. */
typedef struct ordering {
    walk *w;
    names makers;          /* of a name: the number of the node that makes it */
    size_t reader;         /* whose names are visited */
    size_t *waits;         /* of a node: the others that must come before */
    size_t *begin, *reads; /* of a maker: its readers, reads[begin[m]] to reads[begin[m + 1] - 1] */
    bool sorted;
    int pass; /* 0: count, 1: keep */
} ordering;

static void visit_body(const Onnx__GraphProto *g, void (*visit)(void *, const char *), void *user)
{
    for (size_t i = 0; i < g->n_node; i++)
        node_reads(g->node[i], visit, user);
    for (size_t i = 0; i < g->n_output; i++)
        visit(user, text_of(g->output[i]->name));
}

void node_reads(const Onnx__NodeProto *node, void (*visit)(void *user, const char *name),
                void *user)
{
    for (size_t i = 0; i < node->n_input; i++)
        visit(user, text_of(node->input[i]));
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *a = node->attribute[i];
        if (a->g)
            visit_body(a->g, visit, user);
        for (size_t j = 0; j < a->n_graphs; j++)
            visit_body(a->graphs[j], visit, user);
    }
}

static void take_name(void *user, const char *name)
{
    ordering *o = user;
    const size_t maker = (size_t)names_find(&o->makers, name);
    if (!maker)
        return;
    if (o->pass == 0) {
        o->begin[maker]++;
        o->waits[o->reader]++;
        o->sorted = o->sorted && maker < o->reader;
    } else {
        o->reads[--o->begin[maker]] = o->reader;
    }
}

static void visit_all(ordering *o, Onnx__NodeProto *const *nodes, size_t count, int pass)
{
    o->pass = pass;
    for (size_t i = 0; i < count; i++) {
        o->reader = i + 1;
        node_reads(nodes[i], take_name, o);
    }
}

static void sort(ordering *o, Onnx__NodeProto *const *nodes, size_t count, Onnx__NodeProto **to)
{
    size_t *ready = arena_array(o->w->arena, count + 1, sizeof *ready), head = 0, tail = 0;
    for (size_t i = 1; i <= count + 1; i++)
        o->begin[i] += o->begin[i - 1];
    o->reads = arena_array(o->w->arena, o->begin[count + 1] + 1, sizeof *o->reads);
    visit_all(o, nodes, count, 1);
    for (size_t i = 1; i <= count; i++)
        if (o->waits[i] == 0)
            ready[tail++] = i;
    for (; head < tail; head++) {
        to[head] = nodes[ready[head] - 1];
        for (size_t r = o->begin[ready[head]]; r < o->begin[ready[head] + 1]; r++)
            if (--o->waits[o->reads[r]] == 0)
                ready[tail++] = o->reads[r];
    }
    for (size_t i = 1; tail < count && i <= count; i++)
        if (o->waits[i])
            walk_stop(o->w, KILN_INVALID,
                      "%s reads its own result, by way of other nodes or at once",
                      node_title(o->w, nodes[i - 1]));
}

Onnx__NodeProto **order_nodes(walk *w, Onnx__NodeProto *const *nodes, size_t count)
{
    ordering o = {.w = w, .sorted = true};
    Onnx__NodeProto **to = arena_array(w->arena, count + 1, sizeof *to);
    o.waits = arena_array(w->arena, count + 2, sizeof *o.waits);
    o.begin = arena_array(w->arena, count + 2, sizeof *o.begin);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < nodes[i]->n_output; j++)
            if (*text_of(nodes[i]->output[j]))
                names_set(w->arena, &o.makers, nodes[i]->output[j], (void *)(i + 1));
    visit_all(&o, nodes, count, 0);
    if (o.sorted && count)
        memcpy(to, nodes, count * sizeof *to);
    else if (count)
        sort(&o, nodes, count, to);
    return to;
}
