/* Finds what follows a convolution and can be a part of its problem: a folded normalisation, bias,
 * residual, activation. */
#include "epilogue_chain.h"

/* Who reads a value. */
typedef struct readers {
    int count;
    size_t node[2]; /* the first two, by their places in the list */
} readers;

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

/* A gate: the value times a function of itself, which two nodes compute. */
static const struct {
    const char *op, *activation;
} gates[] = {{"Sigmoid", "silu"}, {"HardSigmoid", "hard_swish"}};

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
            strcmp(chain_other(c, product), made) != 0)
            continue;
        for (size_t g = 0; g < sizeof gates / sizeof *gates; g++)
            if (chain_takes_as(c, gate, gates[g].op, gates[g].activation))
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
    return n->n_output && chain_takes(c, n) ? n : NULL;
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
        c.value = n->n_output ? text_of(n->output[0]) : "";
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
