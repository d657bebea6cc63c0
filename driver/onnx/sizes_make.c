/* Rules of operators whose results come from sizes and attributes, not from data. */
#include "sizes.h"

#include <math.h>
#include <string.h>

enum { FLOAT = 1, INT64 = 7 };

bool size_shape(call *c)
{
    const value *x = c->in[0];
    int64_t from = attribute_int(c, "start", 0), to = attribute_int(c, "end", x->rank);
    from += from < 0 ? x->rank : 0;
    to += to < 0 ? x->rank : 0;
    from = from < 0 ? 0 : from > x->rank ? x->rank : from;
    to = to < from ? from : to > x->rank ? x->rank : to;
    value *out = c->out[0];
    if (!call_set(c, 0, 1, (const int64_t[]){to - from}) || !value_elements(c->walk->arena, out))
        return false;
    for (int64_t i = from; i < to; i++)
        out->element[i - from] = x->dim[i] == VALUE_OPEN ? NAN : (double)x->dim[i];
    return true;
}

bool size_count(call *c)
{
    const int64_t count = value_count(c->in[0]);
    value_set(c->out[0], 0, NULL);
    if (count != VALUE_OPEN)
        value_elements(c->walk->arena, c->out[0])[0] = (double)count;
    return true;
}

/* A Constant that is given as numbers rather than as a tensor. */
static void numbers(call *c, const Onnx__AttributeProto *a, bool list, bool whole)
{
    value *out = c->out[0];
    const int64_t count = !list ? 1 : (int64_t)(whole ? a->n_ints : a->n_floats);
    out->type = whole ? INT64 : FLOAT;
    value_set(out, list, &count);
    if (!value_elements(c->walk->arena, out))
        return;
    for (int64_t i = 0; i < count; i++)
        out->element[i] =
            whole ? (double)(list ? a->ints[i] : a->i) : (double)(list ? a->floats[i] : a->f);
}

bool size_constant(call *c)
{
    static const struct {
        const char *name;
        bool list, whole;
    } ways[] = {{"value_int", false, true},
                {"value_ints", true, true},
                {"value_float", false, false},
                {"value_floats", true, false}};
    const Onnx__AttributeProto *a = attribute(c, "value"), *s = attribute(c, "sparse_value");
    value *out = c->out[0];
    if (a && a->t) {
        tensor_check_place(c->walk, a->t);
        *out = *tensor_value(c->walk, a->t);
        return true;
    }
    if (s && s->sparse_tensor && s->sparse_tensor->values) {
        *out = *tensor_dims_value(c->walk, s->sparse_tensor->n_dims, s->sparse_tensor->dims,
                                  s->sparse_tensor->values->data_type);
        return true;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if ((a = attribute(c, ways[i].name))) {
            out->constant = true;
            numbers(c, a, ways[i].list, ways[i].whole);
            return true;
        }
    return call_says(c, "%s is a Constant without numbers", node_title(c->walk, c->node));
}

bool size_constant_of_shape(call *c)
{
    const Onnx__AttributeProto *a = attribute(c, "value");
    const value *fill = a && a->t ? tensor_value(c->walk, a->t) : NULL;
    int64_t dim[VALUE_RANK];
    const int n = call_list(c, NULL, 0, dim, VALUE_RANK);
    if (n < 0)
        return call_lacks(c, 0, "the elements of");
    for (int i = 0; i < n; i++)
        dim[i] = computed(dim[i]);
    if (!call_set(c, 0, n, dim))
        return false;
    value *out = c->out[0];
    out->type = fill ? fill->type : FLOAT;
    if (!value_elements(c->walk->arena, out))
        return true;
    for (int64_t i = 0, count = value_count(out); i < count; i++)
        out->element[i] = !fill ? 0 : fill->element ? fill->element[0] : NAN;
    return true;
}

bool size_range(call *c)
{
    double at[3];
    for (int i = 0; i < 3; i++) {
        if (!c->in[i] || value_count(c->in[i]) != 1 || !c->in[i]->element ||
            isnan(at[i] = c->in[i]->element[0]))
            return call_lacks(c, i, "the element of");
    }
    const double count = at[2] == 0 ? -1 : ceil((at[1] - at[0]) / at[2]);
    if (!(count < (double)VALUE_DIM_MOST) || at[2] == 0)
        return call_says(c, "%s counts in steps of %g from %g to %g", node_title(c->walk, c->node),
                         at[2], at[0], at[1]);
    value *out = c->out[0];
    if (!call_set(c, 0, 1, (const int64_t[]){count < 0 ? 0 : (int64_t)count}))
        return false;
    if (value_elements(c->walk->arena, out))
        for (int64_t i = 0; i < out->dim[0]; i++)
            out->element[i] = at[0] + (double)i * at[2];
    return true;
}

bool size_one_hot(call *c)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK + 1], depth = VALUE_OPEN;
    int axis, rank = 0;
    if (!call_axis(c, attribute_int(c, "axis", -1), x->rank + 1, &axis))
        return false;
    if (c->in[1] && value_count(c->in[1]) == 1 && value_whole(c->in[1], 0, &depth))
        depth = computed(depth);
    for (int i = 0; i <= x->rank; i++)
        dim[i] = i == axis ? depth : x->dim[rank++];
    c->out[0]->type = c->in[2] ? c->in[2]->type : 0;
    return call_set(c, 0, x->rank + 1, dim);
}

bool size_random(call *c)
{
    int64_t dim[VALUE_RANK];
    const int n = call_list(c, "shape", -1, dim, VALUE_RANK);
    for (int i = 0; i < n; i++)
        dim[i] = computed(dim[i]);
    return n >= 0 ? call_set(c, 0, n, dim)
                  : call_says(c, "%s has no shape", node_title(c->walk, c->node));
}

bool size_non_zero(call *c)
{
    return call_set(c, 0, 2, (const int64_t[]){c->in[0]->rank, VALUE_OPEN});
}

bool size_boxes(call *c)
{
    return call_set(c, 0, 2, (const int64_t[]){VALUE_OPEN, 3});
}

bool size_unique(call *c)
{
    int64_t dim[VALUE_RANK];
    int axis, rank = c->in[0]->rank;
    static const int64_t open[] = {VALUE_OPEN};
    for (int i = 0; i < rank; i++)
        dim[i] = c->in[0]->dim[i];
    for (int i = 1; i < 4; i++) {
        value_set(c->out[i], 1, open);
        c->out[i]->type = INT64;
    }
    if (!attribute(c, "axis"))
        return call_set(c, 0, 1, open);
    if (!call_axis(c, attribute_int(c, "axis", 0), rank, &axis))
        return false;
    dim[axis] = VALUE_OPEN;
    return call_set(c, 0, rank, dim);
}
