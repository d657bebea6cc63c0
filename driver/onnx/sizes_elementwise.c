/* Rules of operators that work element by element. */
#include "sizes.h"

#include <math.h>

enum { FLOAT = 1, FLOAT16 = 10 };

/* Rounds an element as its type does. */
static double as_type(double a, int type)
{
    const bool real = type == FLOAT || type == FLOAT16 || type == 11 || type == 16;
    return type == FLOAT ? (double)(float)a : real || isnan(a) ? a : trunc(a);
}

static void apply_one(call *c, double (*one)(double))
{
    value *out = c->out[0];
    const value *in = c->in[0];
    if (!in->element || !value_elements(c->walk->arena, out))
        return;
    for (int64_t i = 0, count = value_count(out); i < count; i++)
        out->element[i] = as_type(one(in->element[i]), out->type);
}

bool size_same(call *c)
{
    value_set(c->out[0], c->in[0]->rank, c->in[0]->dim);
    if (c->row->one)
        apply_one(c, c->row->one);
    return true;
}

bool size_masked(call *c)
{
    value_set(c->out[1], c->in[0]->rank, c->in[0]->dim);
    c->out[1]->type = 9;
    return size_same(c);
}

static double converted(double a)
{
    return a;
}

static double is_true(double a)
{
    return isnan(a) ? NAN : a != 0;
}

bool size_cast(call *c)
{
    const int like = c->in[1] ? c->in[1]->type : 0;
    value_set(c->out[0], c->in[0]->rank, c->in[0]->dim);
    c->out[0]->type = (int)attribute_int(c, "to", like);
    apply_one(c, c->out[0]->type == 9 ? is_true : converted);
    return true;
}

bool broadcast_dim(int64_t a, int64_t b, int64_t *dim)
{
    /* An open dim beside one that is not 1 must be equal to it, or 1. */
    *dim = a == 1 ? b : b == 1 ? a : a == VALUE_OPEN ? b : a;
    return a == b || a == 1 || b == 1 || a == VALUE_OPEN || b == VALUE_OPEN;
}

/* Widens `dim` of `rank` dims by another tensor. */
static bool widen(call *c, int *rank, int64_t *dim, const value *v)
{
    const int wide = v->rank > *rank ? v->rank : *rank;
    for (int i = 1; i <= wide; i++) {
        const int64_t a = i <= *rank ? dim[VALUE_RANK - i] : 1,
                      b = i <= v->rank ? v->dim[v->rank - i] : 1;
        if (!broadcast_dim(a, b, &dim[VALUE_RANK - i]))
            return call_says(c, "%s joins sizes of %lld and %lld", node_title(c->walk, c->node),
                             (long long)a, (long long)b);
    }
    *rank = wide;
    return true;
}

/* Gives `to` the elements of `from`, repeated to its sizes. */
static void repeat_elements(call *c, value *to, const value *from)
{
    int64_t own[VALUE_RANK], stride[VALUE_RANK] = {0};
    value_strides(from, own);
    for (int i = 1; i <= from->rank; i++)
        if (from->dim[from->rank - i] != 1)
            stride[to->rank - i] = own[from->rank - i];
    value_view(c->walk->arena, to, from, 0, stride);
}

/* Sizes the first result as the inputs from..to in steps, broadcast. */
static bool broadcast(call *c, const int *at, int count)
{
    int64_t dim[VALUE_RANK];
    int rank = 0;
    for (int i = 0; i < count; i++) {
        const value *v = c->in[at[i]];
        if (!v || v->rank < 0)
            return call_lacks(c, at[i], "the size of");
        if (!widen(c, &rank, dim, v))
            return false;
    }
    return call_set(c, 0, rank, dim + VALUE_RANK - rank);
}

static void apply_two(call *c, const value *with)
{
    value *out = c->out[0], wide = {.type = with->type};
    value_set(&wide, out->rank, out->dim);
    repeat_elements(c, &wide, with);
    if (!wide.element) {
        out->element = NULL;
        return;
    }
    for (int64_t i = 0, count = value_count(out); i < count; i++)
        out->element[i] = as_type(c->row->two(out->element[i], wide.element[i]), with->type);
}

bool size_broadcast(call *c)
{
    enum { MOST = 64 };
    int at[MOST] = {0}, count = c->row->argument ? 2 : c->inputs < MOST ? (int)c->inputs : MOST;
    for (int i = 1; i < count; i++)
        at[i] = c->row->argument ? c->row->argument : i;
    if (!broadcast(c, at, count))
        return false;
    if (!c->row->two || c->row->argument)
        return true;
    repeat_elements(c, c->out[0], c->in[0]);
    for (int i = 1; i < count && c->out[0]->element; i++)
        apply_two(c, c->in[i]);
    return true;
}

bool size_where(call *c)
{
    static const int all[] = {0, 1, 2};
    value *out = c->out[0], wide[3] = {{0}};
    if (!broadcast(c, all, 3))
        return false;
    out->type = c->in[1]->type;
    bool known = value_elements(c->walk->arena, out) != NULL;
    for (int i = 0; i < 3; i++) {
        value_set(&wide[i], out->rank, out->dim);
        repeat_elements(c, &wide[i], c->in[i]);
        known = known && wide[i].element;
    }
    if (!known)
        out->element = NULL;
    for (int64_t i = 0, count = value_count(out); known && i < count; i++)
        out->element[i] =
            isnan(wide[0].element[i]) ? NAN : wide[wide[0].element[i] != 0 ? 1 : 2].element[i];
    return true;
}
