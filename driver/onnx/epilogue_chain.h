/* What follows a convolution, node by node, and whether it can be a part of the problem. */
#ifndef KILN_ONNX_EPILOGUE_CHAIN_H
#define KILN_ONNX_EPILOGUE_CHAIN_H

#include "walk.h"

#include <string.h>

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

/* Whether the node became a part of the chain's problem. */
bool chain_takes(chain *c, const Onnx__NodeProto *n);
/* The same for an activation by kiln's name, with its parameters; 0 and 0: the usual ones. */
bool chain_takes_activation(chain *c, const char *name, double a, double b);
/* The same for an activation whose parameters the attributes of the node say. */
bool chain_takes_as(chain *c, const Onnx__NodeProto *n, const char *op, const char *name);

/* Returns the input of a node of two that is not the chain's value. */
const char *chain_other(const chain *c, const Onnx__NodeProto *n);

static inline bool is_op(const Onnx__NodeProto *n, const char *op)
{
    return strcmp(text_of(n->op_type), op) == 0;
}

#endif
