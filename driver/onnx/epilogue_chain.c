/* Takes single nodes into the problem of a convolution, by a table of operators. */
#include "epilogue_chain.h"

#include <float.h>
#include <math.h>

static const char *input_of(const Onnx__NodeProto *n, size_t i)
{
    return i < n->n_input ? text_of(n->input[i]) : "";
}

static const value *value_of(const chain *c, const char *name)
{
    return *name ? scope_find(c->f->scope, name) : NULL;
}

const char *chain_other(const chain *c, const Onnx__NodeProto *n)
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
    const value *v = value_of(c, chain_other(c, n));
    const bool divides_by_it = is_op(n, "Div") && strcmp(input_of(n, 0), c->value) != 0;
    return c->stage == LINEAR && !divides_by_it && v && v->constant && is_by_channel(c, v);
}

static bool take_sum(chain *c, const Onnx__NodeProto *n)
{
    const char *other = chain_other(c, n);
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

bool chain_takes_activation(chain *c, const char *name, double a, double b)
{
    kiln_activation activation;
    if (c->stage == DONE || !kiln_activation_named(name, &activation))
        return false;
    c->problem.epilogue.activation = activation;
    c->problem.epilogue.param[0] = (float)a;
    c->problem.epilogue.param[1] = (float)b;
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
    if (!(least < most) || least <= -(double)FLT_MAX || strcmp(input_of(n, 0), c->value) != 0)
        return false;
    if (most >= (double)FLT_MAX)
        return least == 0 && chain_takes_activation(c, "relu", 0, 0);
    return least == 0 ? chain_takes_activation(c, "clipped_relu", most, 0)
                      : chain_takes_activation(c, "hard_tanh", least, most);
}

static bool take_slope(chain *c, const Onnx__NodeProto *n)
{
    const value *v = value_of(c, input_of(n, 1));
    if (strcmp(input_of(n, 0), c->value) != 0 || !v || value_count(v) != 1 || !v->element ||
        !(v->element[0] > 0))
        return false;
    return chain_takes_activation(c, "leaky_relu", v->element[0], 0);
}

/* Operators that may follow, and what takes them. */
static const struct follower {
    const char *op;
    bool (*take)(chain *c, const Onnx__NodeProto *n);
    const char *activation;   /* without a taker: the activation's name, */
    const char *attribute[2]; /* its parameters' names, */
    double usual[2];          /* and those parameters where the node does not say them */
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
    {.op = "LeakyRelu", .activation = "leaky_relu", .attribute = {"alpha"}, .usual = {0.01}},
    {.op = "Elu", .activation = "elu", .attribute = {"alpha"}, .usual = {1}},
    {.op = "Sigmoid", .activation = "sigmoid"},
    {.op = "Tanh", .activation = "tanh"},
    {.op = "HardSigmoid",
     .activation = "hard_sigmoid",
     .attribute = {"alpha", "beta"},
     .usual = {0.2, 0.5}},
    {.op = "HardSwish", .activation = "hard_swish"},
    {.op = "Mish", .activation = "mish"},
    {.op = "Exp", .activation = "exp"},
    {.op = "Abs", .activation = "abs"},
    {.op = "Softplus", .activation = "softplus"},
    {.op = "Swish", .activation = "silu"},
    {.op = "Gelu", .activation = "gelu"}};

static const struct follower *follower_of(const Onnx__NodeProto *n)
{
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (is_op(n, followers[i].op))
            return &followers[i];
    return NULL;
}

/* In a problem, parameters of 0 stand for the usual ones. */
static bool takes_with(chain *c, const Onnx__NodeProto *n, const struct follower *f,
                       const char *name)
{
    double param[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        if (f->attribute[i])
            param[i] = float_of(n, f->attribute[i], f->usual[i]);
    return (!f->attribute[0] || param[0] != 0 || param[1] != 0) &&
           chain_takes_activation(c, name, param[0], param[1]);
}

bool chain_takes_as(chain *c, const Onnx__NodeProto *n, const char *op, const char *name)
{
    const struct follower *f = is_op(n, op) ? follower_of(n) : NULL;
    return f && takes_with(c, n, f, name);
}

bool chain_takes(chain *c, const Onnx__NodeProto *n)
{
    const struct follower *f = follower_of(n);
    return f && (f->take ? f->take(c, n) : takes_with(c, n, f, f->activation));
}
