/* Finds what follows a convolution and can be a part of its problem: a folded normalisation, bias,
 * residual, activation. */
#include "call.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Who reads a value. */
typedef struct readers {
    int count;
    size_t node[2]; /* the first two, by their places in the list */
} readers;

/* A list of nodes whose convolutions are looked at. */
typedef struct finding {
    walk *w;
    const scope *scope;
    const node_list *list;
    names read; /* readers of a name */
    names made; /* place of the node that makes it, plus 1 */
    size_t at;  /* whose names are visited */
} finding;

/* The way from a convolution through what follows it. */
typedef struct chain {
    const finding *f;
    met *m;
    kiln_problem problem;               /* as it would become */
    const char *value;                  /* that was made so far */
    enum { LINEAR, ADDED, DONE } stage; /* a residual was added; an activation applied */
    const char *words;
} chain;

static void count_reader(void *user, const char *name)
{
    finding *f = user;
    readers *r = names_find(&f->read, name);
    if (!*name)
        return;
    if (!r) {
        r = arena_take(f->w->arena, sizeof *r);
        names_set(f->w->arena, &f->read, name, r);
    }
    if (r->count < 2)
        r->node[r->count] = f->at;
    r->count++;
}

static void gather(finding *f)
{
    for (size_t i = 0; i < f->list->count; i++) {
        const Onnx__NodeProto *node = f->list->node[i];
        f->at = i;
        node_reads(node, count_reader, f);
        for (size_t j = 0; j < node->n_output; j++)
            names_set(f->w->arena, &f->made, text_of(node->output[j]), (void *)(i + 1));
    }
    /* What leaves the graph must be in memory: its reader is no node of the list. */
    f->at = f->list->count;
    for (size_t i = 0; f->list->graph && i < f->list->graph->n_output; i++)
        count_reader(f, text_of(f->list->graph->output[i]->name));
}

static bool is_op(const Onnx__NodeProto *n, const char *op)
{
    return strcmp(text_of(n->op_type), op) == 0;
}

static const char *input_of(const Onnx__NodeProto *n, size_t i)
{
    return i < n->n_input ? text_of(n->input[i]) : "";
}

static const value *value_of(const chain *c, const char *name)
{
    return *name ? scope_find(c->f->scope, name) : NULL;
}

/* Returns the input of a node of two that is not the chain's value. */
static const char *other_input(const chain *c, const Onnx__NodeProto *n)
{
    return strcmp(input_of(n, 0), c->value) == 0 ? input_of(n, 1) : input_of(n, 0);
}

static int64_t channels_of(const chain *c)
{
    return c->problem.out_channels;
}

/* Whether a value has one number for each channel of the result, or one for all. */
static bool is_by_channel(const chain *c, const value *v)
{
    const int rank = c->problem.spatial_rank + 2;
    if (!v || v->rank > rank || !value_is_sized(v))
        return false;
    for (int i = 0; i < v->rank; i++) {
        const bool channel = i - v->rank + rank == 1;
        if (v->dim[i] != 1 && !(channel && v->dim[i] == channels_of(c)))
            return false;
    }
    return true;
}

static bool has_same_size(const chain *c, const value *v)
{
    const kiln_problem *p = &c->problem;
    bool same = v && v->rank == p->spatial_rank + 2 && v->dim[0] == p->batch &&
                v->dim[1] == p->out_channels;
    for (int i = 0; same && i < p->spatial_rank; i++)
        same = v->dim[2 + i] == kiln_problem_output(p, i);
    return same;
}

/* Whether a value is there before the convolution runs. */
static bool is_earlier(const chain *c, const char *name)
{
    const size_t maker = (size_t)names_find(&c->f->made, name);
    return maker == 0 || maker - 1 < c->m->list.index;
}

static void need_bias(chain *c)
{
    if (!c->problem.epilogue.bias)
        c->problem.epilogue.bias = KILN_F32;
}

/* The takers: each returns whether it made the node a part of the problem. */
static bool take_normalisation(chain *c, const Onnx__NodeProto *n)
{
    if (c->stage != LINEAR || strcmp(input_of(n, 0), c->value) != 0)
        return false;
    for (size_t i = 1; i < 5; i++) {
        const value *v = value_of(c, input_of(n, i));
        if (!v || !v->constant)
            return false;
    }
    need_bias(c);
    return true;
}

/* A constant factor goes into the weights. */
static bool take_factor(chain *c, const Onnx__NodeProto *n)
{
    const value *v = value_of(c, other_input(c, n));
    const bool divides_by_it = is_op(n, "Div") && strcmp(input_of(n, 0), c->value) != 0;
    return c->stage == LINEAR && !divides_by_it && v && v->constant && is_by_channel(c, v);
}

static bool take_sum(chain *c, const Onnx__NodeProto *n)
{
    const char *other = other_input(c, n);
    const value *v = value_of(c, other);
    if (n->n_input != 2 || c->stage == DONE || strcmp(input_of(n, 0), input_of(n, 1)) == 0)
        return false;
    if (is_by_channel(c, v) && is_earlier(c, other) && !has_same_size(c, v)) {
        need_bias(c);
        return true;
    }
    if (c->stage == ADDED || is_op(n, "Sub") || !has_same_size(c, v) || !is_earlier(c, other))
        return false;
    c->problem.epilogue.beta = 1;
    c->stage = ADDED;
    return true;
}

static bool set_activation(chain *c, const char *name, double a)
{
    kiln_activation activation;
    if (c->stage == DONE || !kiln_activation_named(name, &activation))
        return false;
    c->problem.epilogue.activation = activation;
    c->problem.epilogue.param[0] = (float)a;
    c->stage = DONE;
    return true;
}

static double float_of(const Onnx__NodeProto *n, const char *name, double otherwise)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(text_of(n->attribute[i]->name), name) == 0 && n->attribute[i]->has_f)
            return (double)n->attribute[i]->f;
    return otherwise;
}

/* The bound of a Clip, from its attribute or from an input; NaN where it is not known. */
static double bound_of(const chain *c, const Onnx__NodeProto *n, const char *name, size_t input,
                       double otherwise)
{
    const value *v = value_of(c, input_of(n, input));
    if (!*input_of(n, input))
        return float_of(n, name, otherwise);
    return v && value_count(v) == 1 && v->element ? v->element[0] : NAN;
}

static bool take_clip(chain *c, const Onnx__NodeProto *n)
{
    const double least = bound_of(c, n, "min", 1, -DBL_MAX),
                 most = bound_of(c, n, "max", 2, DBL_MAX);
    if (least != 0 || !(most > 0) || strcmp(input_of(n, 0), c->value) != 0)
        return false;
    return most >= (double)FLT_MAX ? set_activation(c, "relu", 0)
                                   : set_activation(c, "clipped_relu", most);
}

static bool take_slope(chain *c, const Onnx__NodeProto *n)
{
    const value *v = value_of(c, input_of(n, 1));
    if (strcmp(input_of(n, 0), c->value) != 0 || !v || value_count(v) != 1 || !v->element ||
        !(v->element[0] > 0))
        return false;
    return set_activation(c, "leaky_relu", v->element[0]);
}

/* Operators that may follow, and what takes them. */
static const struct follower {
    const char *op;
    bool (*take)(chain *c, const Onnx__NodeProto *n);
    const char *activation; /* without a taker: the activation's name, */
    const char *attribute;  /* its parameter's name, */
    double usual;           /* and that parameter where the node does not say it */
} followers[] = {
    {.op = "BatchNormalization", .take = take_normalisation},
    {.op = "Mul", .take = take_factor},
    {.op = "Div", .take = take_factor},
    {.op = "Add", .take = take_sum},
    {.op = "Sum", .take = take_sum},
    {.op = "Sub", .take = take_sum},
    {.op = "Clip", .take = take_clip},
    {.op = "PRelu", .take = take_slope},
    {.op = "Relu", .activation = "relu"},
    {.op = "LeakyRelu", .activation = "leaky_relu", .attribute = "alpha", .usual = 0.01},
    {.op = "Elu", .activation = "elu", .attribute = "alpha", .usual = 1},
    {.op = "Sigmoid", .activation = "sigmoid"},
    {.op = "Tanh", .activation = "tanh"},
    {.op = "HardSwish", .activation = "hard_swish"},
    {.op = "Swish", .activation = "silu"},
    {.op = "Gelu", .activation = "gelu"}};

/* A gate: the value times a function of itself, which two nodes compute. */
static const struct {
    const char *op, *activation;
} gates[] = {{"Sigmoid", "silu"}, {"HardSigmoid", "hard_swish"}};

static bool take_node(chain *c, const Onnx__NodeProto *n)
{
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
        const struct follower *f = &followers[i];
        if (!is_op(n, f->op))
            continue;
        if (f->take)
            return f->take(c, n);
        const double a = f->attribute ? float_of(n, f->attribute, f->usual) : 0;
        /* In a problem, a parameter of 0 stands for the usual one. */
        return (!f->attribute || a != 0) && set_activation(c, f->activation, a);
    }
    return false;
}

/* The two readers of a value as a gate; NULL: they are none. Returns the product. */
static const Onnx__NodeProto *take_gate(chain *c, const readers *r)
{
    const finding *f = c->f;
    for (int i = 0; i < 2 && r->node[0] < f->list->count && r->node[1] < f->list->count; i++) {
        const Onnx__NodeProto *gate = f->list->node[r->node[i]],
                              *product = f->list->node[r->node[1 - i]];
        const char *made = gate->n_output ? text_of(gate->output[0]) : "";
        const readers *only = names_find(&f->read, made);
        if (!only || only->count != 1 || !is_op(product, "Mul") || product->n_input != 2 ||
            strcmp(other_input(c, product), made) != 0)
            continue;
        for (size_t g = 0; g < sizeof gates / sizeof *gates; g++)
            if (is_op(gate, gates[g].op) && set_activation(c, gates[g].activation, 0))
                return product;
    }
    return NULL;
}

/* Takes what follows the chain's value. Returns the node whose result is the chain's now; NULL:
 * nothing more is taken. */
static const Onnx__NodeProto *take_next(chain *c)
{
    const readers *r = names_find(&c->f->read, c->value);
    if (r && r->count == 2)
        return take_gate(c, r);
    if (!r || r->count != 1 || r->node[0] >= c->f->list->count)
        return NULL;
    const Onnx__NodeProto *n = c->f->list->node[r->node[0]];
    return n->n_output && take_node(c, n) ? n : NULL;
}

static const char *word_of(const chain *c, const Onnx__NodeProto *n, bool residual)
{
    if (is_op(n, "Mul") && c->stage == DONE)
        return kiln_activation_name(c->problem.epilogue.activation);
    return arena_text(c->f->w->arena, "%.40s%s", text_of(n->op_type), residual ? " residual" : "");
}

static void follow(const finding *f, met *m)
{
    char why[KILN_ERROR_TEXT];
    const Onnx__NodeProto *n = f->list->node[m->list.index];
    chain c = {.f = f, .m = m, .problem = m->layer.problem};
    c.value = n->n_output ? text_of(n->output[0]) : "";
    c.words = c.problem.epilogue.bias ? "bias" : "";
    m->layer.epilogue = c.words;
    if (kiln_type_is_integer(c.problem.x_type))
        return;
    while (*c.value) {
        const int before = (int)c.stage;
        n = take_next(&c);
        kiln_problem p = c.problem;
        if (!n || kiln_problem_check(&p, why))
            return;
        m->layer.problem = p;
        c.words = arena_text(f->w->arena, "%s%s%s", c.words, *c.words ? ", " : "",
                             word_of(&c, n, before == LINEAR && c.stage == ADDED));
        m->layer.epilogue = c.words;
        c.value = text_of(n->output[0]);
    }
}

void epilogues_find(walk *w, met *from, const node_list *list, const scope *s)
{
    finding f = {.w = w, .scope = s, .list = list};
    for (met *m = from; m; m = m->next) {
        if (!m->layer.sized || m->list.node != list->node)
            continue;
        if (!f.made.slots)
            gather(&f);
        follow(&f, m);
    }
}
