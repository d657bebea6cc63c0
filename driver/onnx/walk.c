/* Walks the nodes of a graph: each is sized by the rule of its operator. */
#include "walk.h"

#include "call.h"

#include <string.h>

/* Makes the arrays of inputs and results. */
static void gather(call *c)
{
    walk *w = c->walk;
    c->inputs = c->node->n_input;
    c->outputs = c->node->n_output;
    c->in = arena_array(w->arena, c->inputs + CALL_ROOM, sizeof *c->in);
    c->out = arena_array(w->arena, c->outputs + CALL_ROOM, sizeof *c->out);
    for (size_t i = 0; i < c->inputs; i++) {
        const char *name = text_of(c->node->input[i]);
        if (*name && !(c->in[i] = scope_find(c->scope, name))) {
            c->in[i] = value_new(w->arena);
            c->in[i]->why = arena_text(w->arena, "nothing in the file makes '%.200s'", name);
        }
    }
    for (size_t i = 0; i < c->outputs + CALL_ROOM; i++)
        c->out[i] = i < c->outputs ? value_new(w->arena) : &w->spare;
}

/* Returns the first of the inputs that is not sized; NULL: all are. */
static const value *open_input(const call *c)
{
    for (size_t i = 0; i < c->inputs; i++)
        if (c->in[i] && !value_is_sized(c->in[i]))
            return c->in[i];
    return NULL;
}

static bool apply_rule(call *c)
{
    const operator_row *row = c->row;
    for (int i = 0; i < CALL_ROOM; i++)
        if (row->needs >> i & 1 && (!c->in[i] || c->in[i]->rank < 0))
            return call_lacks(c, i, "the size of");
    if (c->in[0])
        c->out[0]->type = c->in[0]->type;
    if (row->type)
        c->out[0]->type = row->type;
    return row->size(c);
}

/* An operator that kiln does not know: nothing is known of its results, but convolutions in its
 * bodies are found. */
static bool unknown_operator(call *c)
{
    walk *w = c->walk;
    for (size_t i = 0; i < c->node->n_attribute; i++)
        if (c->node->attribute[i]->g)
            w->body(c, c->node->attribute[i]->g, text_of(c->node->attribute[i]->name), NULL, 0);
    const char *domain = text_of(c->node->domain);
    return call_says(c, "%s is a %.60s%s%.60s, which kiln does not know", node_title(w, c->node),
                     domain, *domain ? "." : "", text_of(c->node->op_type));
}

/* Returns the name of a function in the table of the model's own. */
static const char *function_name(walk *w, const char *domain, const char *name)
{
    return arena_text(w->arena, "%s:%s", text_of(domain), text_of(name));
}

/* Returns the local function that the node calls; NULL: it calls none. */
static const Onnx__FunctionProto *function_of(walk *w, const Onnx__NodeProto *node)
{
    return w->model->n_functions
               ? names_find(&w->functions, function_name(w, node->domain, node->op_type))
               : NULL;
}

static void gather_functions(walk *w)
{
    for (size_t i = 0; i < w->model->n_functions; i++) {
        Onnx__FunctionProto *f = w->model->functions[i];
        names_set(w->arena, &w->functions, function_name(w, f->domain, f->name), f);
    }
}

static int64_t opset_of(Onnx__OperatorSetIdProto *const *sets, size_t count, int64_t otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (!*text_of(sets[i]->domain) || strcmp(sets[i]->domain, "ai.onnx") == 0)
            return sets[i]->version;
    return otherwise;
}

static void enter(walk *w)
{
    if (++w->depth > 64)
        walk_stop(w, KILN_INVALID,
                  "bodies and functions call each other more than 64 deep, or in a circle");
}

static void walk_nodes(walk *w, scope *s, const frame *f, Onnx__NodeProto *const *nodes,
                       size_t count, const Onnx__GraphProto *graph);

static bool call_function(call *c, const Onnx__FunctionProto *f)
{
    walk *w = c->walk;
    scope inner = {.outer = NULL};
    const frame here = {c->node, c->frame};
    const int64_t opset = w->opset;
    const char *path = w->path;
    enter(w);
    w->opset = opset_of(f->opset_import, f->n_opset_import, opset);
    w->path = arena_text(w->arena, "%.300s%s/", path, node_title(w, c->node));
    for (size_t i = 0; i < f->n_input; i++)
        if (i < c->inputs && c->in[i])
            names_set(w->arena, &inner.values, text_of(f->input[i]), c->in[i]);
    walk_nodes(w, &inner, &here, f->node, f->n_node, NULL);
    for (size_t i = 0; i < f->n_output && i < c->outputs; i++) {
        const value *v = scope_find(&inner, text_of(f->output[i]));
        if (v)
            *c->out[i] = *v;
    }
    w->opset = opset;
    w->path = path;
    w->depth--;
    return true;
}

/* Puts the constants of a graph into its scope. */
static void graph_constants(walk *w, scope *s, const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        tensor_check_place(w, g->initializer[i]);
        names_set(w->arena, &s->values, text_of(g->initializer[i]->name),
                  tensor_value(w, g->initializer[i]));
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *t = g->sparse_initializer[i];
        if (!t->values)
            continue;
        names_set(w->arena, &s->values, text_of(t->values->name),
                  tensor_dims_value(w, t->n_dims, t->dims, t->values->data_type));
    }
}

/* Walks a body with these values as its inputs. */
static void walk_body(call *c, const Onnx__GraphProto *g, const char *label, value **in,
                      size_t inputs)
{
    walk *w = c->walk;
    scope *inner = arena_take(w->arena, sizeof *inner);
    const char *path = w->path;
    inner->outer = c->scope;
    enter(w);
    w->path = arena_text(w->arena, "%.300s%s/%.60s%s", path, node_title(w, c->node), label,
                         *label ? "/" : "");
    graph_constants(w, inner, g);
    for (size_t i = 0; i < g->n_input; i++) {
        value *v = value_new(w->arena);
        if (i < inputs && in[i])
            *v = *in[i];
        else
            v->why = arena_text(w->arena, "an input of the body of %s is not known",
                                node_title(w, c->node));
        value_declared(w, v, g->input[i]->type);
        names_set(w->arena, &inner->values, text_of(g->input[i]->name), v);
    }
    walk_nodes(w, inner, c->frame, g->node, g->n_node, g);
    c->body = inner;
    w->path = path;
    w->depth--;
}

/* Says why results are not sized. */
static void blame(call *c, value *out)
{
    if (value_is_sized(out)) {
        out->why = NULL;
        return;
    }
    const value *in = open_input(c);
    if (out->why)
        return;
    out->why = *c->why         ? arena_text(c->walk->arena, "%s", c->why)
               : in && in->why ? in->why
                               : arena_text(c->walk->arena, "%s: its result depends on the data",
                                            node_title(c->walk, c->node));
}

static void keep_results(call *c, const names *declared)
{
    walk *w = c->walk;
    for (size_t i = 0; i < c->outputs; i++) {
        const char *name = text_of(c->node->output[i]);
        value *v = c->out[i];
        if (!*name)
            continue;
        if (names_find(&c->scope->values, name))
            walk_stop(w, KILN_INVALID, "'%.200s' is made twice, the second time by %s", name,
                      node_title(w, c->node));
        if (!value_is_sized(v) || !v->type)
            value_declared(w, v, names_find(declared, name));
        blame(c, v);
        names_set(w->arena, &c->scope->values, name, v);
    }
}

static void walk_node(walk *w, scope *s, const frame *f, const Onnx__NodeProto *node,
                      const names *declared)
{
    const Onnx__FunctionProto *function = function_of(w, node);
    if (w->budget-- <= 0)
        walk_stop(w, KILN_UNSUPPORTED,
                  "the model has more nodes than kiln reads, bodies and functions repeated");
    call c = {.walk = w, .scope = s, .frame = f, .node = node};
    gather(&c);
    c.row = function ? NULL : operator_of(node);
    if (!(function ? call_function(&c, function) : c.row ? apply_rule(&c) : unknown_operator(&c)))
        for (size_t i = 0; i < c.outputs; i++)
            *c.out[i] = (value){.type = c.out[i]->type, .rank = VALUE_OPEN};
    keep_results(&c, declared);
}

/* What the file says of values: types of some, by their names. */
static void gather_declared(walk *w, names *declared, const Onnx__GraphProto *g)
{
    for (size_t i = 0; g && i < g->n_value_info; i++)
        names_set(w->arena, declared, text_of(g->value_info[i]->name), g->value_info[i]->type);
    for (size_t i = 0; g && i < g->n_output; i++)
        names_set(w->arena, declared, text_of(g->output[i]->name), g->output[i]->type);
}

static void walk_nodes(walk *w, scope *s, const frame *f, Onnx__NodeProto *const *nodes,
                       size_t count, const Onnx__GraphProto *graph)
{
    names declared = {0};
    const node_list before = w->list;
    met **from = w->last;
    gather_declared(w, &declared, graph);
    const node_list here = {order_nodes(w, nodes, count), count, 0, graph};
    for (size_t i = 0; i < count; i++) {
        w->list = here;
        w->list.index = i;
        walk_node(w, s, f, here.node[i], &declared);
    }
    epilogues_find(w, *from, &here, s);
    w->list = before;
}

void walk_model(walk *w)
{
    const Onnx__ModelProto *m = w->model;
    scope *s = arena_take(w->arena, sizeof *s);
    if (!m->graph)
        walk_stop(w, KILN_INVALID, "the file has no graph; is it an ONNX model?");
    w->opset = opset_of(m->opset_import, m->n_opset_import, 0);
    if (w->opset < 1)
        walk_stop(w, KILN_INVALID, "the file names no set of operators; is it an ONNX model?");
    if (w->opset < 7)
        walk_stop(w, KILN_UNSUPPORTED,
                  "the model is of opset %lld; kiln reads 7 and later: convert the model",
                  (long long)w->opset);
    w->body = walk_body;
    gather_functions(w);
    graph_constants(w, s, m->graph);
    input_values(w, s);
    walk_nodes(w, s, NULL, m->graph->node, m->graph->n_node, m->graph);
}
