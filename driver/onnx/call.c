/* Attributes, lists and sentences of a node. */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool call_says(call *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(c->why, sizeof c->why, format, list);
    va_end(list);
    return false;
}

bool call_lacks(call *c, int i, const char *what)
{
    const value *v = (size_t)i < c->inputs ? c->in[i] : NULL;
    if (!v)
        return call_says(c, "%s lacks its input %d", node_title(c->walk, c->node), i);
    if (v->why)
        return call_says(c, "%s", v->why);
    return call_says(c, "%s '%s' of %s: not known before the model runs", what,
                     text_of(c->node->input[i]), node_title(c->walk, c->node));
}

static const Onnx__AttributeProto *find(const Onnx__NodeProto *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(text_of(node->attribute[i]->name), name) == 0)
            return node->attribute[i];
    return NULL;
}

const Onnx__AttributeProto *attribute(const call *c, const char *name)
{
    const Onnx__AttributeProto *a = find(c->node, name);
    for (const frame *f = c->frame; a && f && *text_of(a->ref_attr_name); f = f->outer)
        a = find(f->caller, a->ref_attr_name);
    return a && !*text_of(a->ref_attr_name) ? a : NULL;
}

int64_t attribute_int(const call *c, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = attribute(c, name);
    return a && a->has_i ? a->i : otherwise;
}

double attribute_float(const call *c, const char *name, double otherwise)
{
    const Onnx__AttributeProto *a = attribute(c, name);
    return a && a->has_f ? (double)a->f : otherwise;
}

bool attribute_is(const call *c, const char *name, const char *text)
{
    const Onnx__AttributeProto *a = attribute(c, name);
    return a && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

const int64_t *attribute_ints(const call *c, const char *name, size_t *count)
{
    const Onnx__AttributeProto *a = attribute(c, name);
    *count = a ? a->n_ints : 0;
    return a && a->n_ints ? a->ints : NULL;
}

static int list_of_input(const value *v, int64_t *list, int room)
{
    const int64_t count = value_count(v);
    if (!v->element || v->rank > 1 || count < 0 || count > room)
        return -2;
    for (int64_t i = 0; i < count; i++)
        if (!value_whole(v, i, &list[i]))
            return -2;
    return (int)count;
}

int call_list(call *c, const char *name, int input, int64_t *list, int room)
{
    size_t count;
    const int64_t *ints = name ? attribute_ints(c, name, &count) : NULL;
    if (!ints)
        return input >= 0 && c->in[input] ? list_of_input(c->in[input], list, room) : -1;
    if (count > (size_t)room)
        return -2;
    memcpy(list, ints, count * sizeof *list);
    return (int)count;
}

bool call_axis(call *c, int64_t axis, int rank, int *at)
{
    if (axis < -rank || axis >= rank)
        return call_says(c, "%s names axis %lld of %d", node_title(c->walk, c->node),
                         (long long)axis, rank);
    *at = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool call_set(call *c, int out, int rank, const int64_t *dim)
{
    if (rank > VALUE_RANK)
        return call_says(c, "%s has a result of %d dims, more than %d",
                         node_title(c->walk, c->node), rank, VALUE_RANK);
    for (int i = 0; i < rank; i++)
        if (dim[i] < VALUE_OPEN || dim[i] > VALUE_DIM_MOST)
            return call_says(c, "%s has a result whose dim %d is %lld",
                             node_title(c->walk, c->node), i, (long long)dim[i]);
    value_set(c->out[out], rank, dim);
    return true;
}

value *body_result(const call *c, const Onnx__GraphProto *g, size_t i)
{
    value *v = i < g->n_output ? scope_find(c->body, text_of(g->output[i]->name)) : NULL;
    return v ? v : value_new(c->walk->arena);
}
