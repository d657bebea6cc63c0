/* Rules of operators that sum: reductions, products of matrices, recurrent layers, normalisations,
 * quantization. */
#include "sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INT64 = 7 };

/* Folds a list into one element. */
static void fold(call *c)
{
    const value *x = c->in[0];
    value *out = c->out[0];
    if (!c->row->two || x->rank > 1 || !x->element || value_count(x) < 1 || value_count(out) != 1 ||
        !value_elements(c->walk->arena, out))
        return;
    out->element[0] = x->element[0];
    for (int64_t i = 1, count = value_count(x); i < count; i++)
        out->element[0] = c->row->two(out->element[0], x->element[i]);
}

bool size_reduce(call *c)
{
    const value *x = c->in[0];
    int64_t axes[VALUE_RANK], dim[VALUE_RANK];
    bool summed[VALUE_RANK] = {false};
    const bool keeps = attribute_int(c, "keepdims", 1) != 0;
    int rank = 0, n = call_list(c, "axes", 1, axes, VALUE_RANK);
    if (n == -2)
        return call_lacks(c, 1, "the elements of");
    const bool all = n <= 0 && !attribute_int(c, "noop_with_empty_axes", 0);
    for (int i = 0, at; i < n; i++) {
        if (!call_axis(c, axes[i], x->rank, &at))
            return false;
        summed[at] = true;
    }
    for (int i = 0; i < x->rank; i++)
        if (!all && !summed[i])
            dim[rank++] = x->dim[i];
        else if (keeps)
            dim[rank++] = 1;
    if (!call_set(c, 0, rank, dim))
        return false;
    if (all || (n == 1 && x->rank == 1))
        fold(c);
    return true;
}

bool size_arg(call *c)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK];
    int axis, rank = 0;
    if (!call_axis(c, attribute_int(c, "axis", 0), x->rank, &axis))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dim[rank++] = x->dim[i];
        else if (attribute_int(c, "keepdims", 1))
            dim[rank++] = 1;
    return call_set(c, 0, rank, dim);
}

bool size_top_k(call *c)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK], k = attribute_int(c, "k", VALUE_OPEN);
    int axis;
    if (!call_axis(c, attribute_int(c, "axis", -1), x->rank, &axis))
        return false;
    if (c->in[1] && value_count(c->in[1]) == 1 && value_whole(c->in[1], 0, &k))
        k = computed(k);
    for (int i = 0; i < x->rank; i++)
        dim[i] = i == axis ? k : x->dim[i];
    c->out[1]->type = INT64;
    return call_set(c, 0, x->rank, dim) && call_set(c, 1, x->rank, dim);
}

bool size_matmul(call *c)
{
    const value *a = c->in[0], *b = c->in[c->row->argument];
    const bool turn_a = attribute_int(c, "transA", 0) && a->rank > 1,
               turn_b = attribute_int(c, "transB", 0) && b->rank > 1;
    int64_t dim[VALUE_RANK + 2];
    if (a->rank < 1 || b->rank < 1)
        return call_says(c, "%s multiplies a single number", node_title(c->walk, c->node));
    const int wide_a = a->rank > 2 ? a->rank - 2 : 0, wide_b = b->rank > 2 ? b->rank - 2 : 0;
    int rank = wide_a > wide_b ? wide_a : wide_b;
    for (int i = 1; i <= rank; i++) {
        const int64_t p = i <= wide_a ? a->dim[wide_a - i] : 1,
                      q = i <= wide_b ? b->dim[wide_b - i] : 1;
        if (!broadcast_dim(p, q, &dim[rank - i]))
            return call_says(c, "%s joins sizes of %lld and %lld", node_title(c->walk, c->node),
                             (long long)p, (long long)q);
    }
    const int64_t in_a = a->dim[a->rank - (turn_a ? 2 : 1)],
                  in_b = b->rank == 1 ? b->dim[0] : b->dim[b->rank - (turn_b ? 1 : 2)];
    if (in_a != VALUE_OPEN && in_b != VALUE_OPEN && in_a != in_b)
        return call_says(c, "%s multiplies rows of %lld with columns of %lld",
                         node_title(c->walk, c->node), (long long)in_a, (long long)in_b);
    if (a->rank > 1)
        dim[rank++] = a->dim[a->rank - (turn_a ? 1 : 2)];
    if (b->rank > 1)
        dim[rank++] = b->dim[b->rank - (turn_b ? 2 : 1)];
    return call_set(c, 0, rank, dim);
}

bool size_gemm(call *c)
{
    const value *a = c->in[0], *b = c->in[1];
    if (a->rank != 2 || b->rank != 2)
        return call_says(c, "%s multiplies tensors of %d and %d dims", node_title(c->walk, c->node),
                         a->rank, b->rank);
    return call_set(c, 0, 2,
                    (const int64_t[]){a->dim[attribute_int(c, "transA", 0) != 0],
                                      b->dim[attribute_int(c, "transB", 0) == 0]});
}

/* Letters of Einstein's notation and the dims that they stand for. */
typedef struct letters {
    int64_t dim[128];
    int count[128];
} letters;

/* Reads the letters of one input up to a comma or an arrow. */
static const char *read_term(const char *at, const value *v, letters *l, bool *fits)
{
    int rank = 0;
    for (; *at && *at != ',' && *at != '-'; at++) {
        if (*at == ' ')
            continue;
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')) || !v || rank >= v->rank) {
            *fits = false;
            return at;
        }
        l->count[(int)*at]++;
        l->dim[(int)*at] = v->dim[rank++];
    }
    *fits = *fits && v && rank == v->rank;
    return at;
}

bool size_einsum(call *c)
{
    const Onnx__AttributeProto *a = attribute(c, "equation");
    int64_t dim[VALUE_RANK];
    letters l = {{0}, {0}};
    char text[200];
    bool fits = a && a->s.len < sizeof text;
    int rank = 0;
    snprintf(text, sizeof text, "%.*s", fits ? (int)a->s.len : 0, fits ? (char *)a->s.data : "");
    const char *at = text;
    for (size_t i = 0; fits && i < c->inputs; i++) {
        at = read_term(at, c->in[i] && c->in[i]->rank >= 0 ? c->in[i] : NULL, &l, &fits);
        at += *at == ',';
    }
    if (!fits || (*at && *at != '-'))
        return call_says(c, "%s has the equation '%.80s', which kiln does not read",
                         node_title(c->walk, c->node), text);
    const char *arrow = strstr(at, "->");
    for (int letter = 'A'; letter <= 'z' && !arrow && rank < VALUE_RANK; letter++)
        if (l.count[letter] == 1)
            dim[rank++] = l.dim[letter];
    for (at = arrow ? arrow + 2 : ""; *at && rank < VALUE_RANK; at++)
        if (*at > 0 && l.count[(int)*at])
            dim[rank++] = l.dim[(int)*at];
    return call_set(c, 0, rank, dim);
}

bool size_recurrent(call *c)
{
    const value *x = c->in[0], *r = c->in[2];
    const bool turned = attribute_int(c, "layout", 0) != 0;
    if (x->rank != 3 || r->rank != 3)
        return call_says(c, "%s has inputs of %d and %d dims", node_title(c->walk, c->node),
                         x->rank, r->rank);
    const int64_t steps = x->dim[turned], batch = x->dim[!turned],
                  ways = attribute_is(c, "direction", "bidirectional") ? 2 : 1,
                  size = computed(attribute_int(c, "hidden_size", r->dim[2]));
    const int64_t all[2][4] = {{steps, ways, batch, size}, {batch, steps, ways, size}};
    const int64_t last[2][3] = {{ways, batch, size}, {batch, ways, size}};
    for (int i = 1; i < 3; i++) {
        c->out[i]->type = x->type;
        if (!call_set(c, i, 3, last[turned]))
            return false;
    }
    return call_set(c, 0, 4, all[turned]);
}

bool size_batch_normalization(call *c)
{
    const value *x = c->in[0];
    const int64_t channels = x->rank > 1 ? x->dim[1] : 1;
    for (int i = 1; i < 5; i++) {
        value_set(c->out[i], 1, &channels);
        c->out[i]->type = x->type;
    }
    return size_same(c);
}

bool size_layer_normalization(call *c)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK];
    int axis;
    if (!call_axis(c, attribute_int(c, "axis", -1), x->rank, &axis))
        return false;
    for (int i = 0; i < x->rank; i++)
        dim[i] = i < axis ? x->dim[i] : 1;
    for (int i = 1; i < 3; i++) {
        value_set(c->out[i], x->rank, dim);
        c->out[i]->type = 1;
    }
    return size_same(c);
}

bool size_quantize(call *c)
{
    const int type = c->in[2] ? c->in[2]->type : 2; /* unsigned bytes */
    c->out[0]->type = (int)attribute_int(c, "output_dtype", type);
    return size_same(c);
}

bool size_dequantize(call *c)
{
    c->out[0]->type = c->in[1] ? c->in[1]->type : 1;
    return size_same(c);
}

bool size_dynamic_quantize(call *c)
{
    value_set(c->out[1], 0, NULL);
    value_set(c->out[2], 0, NULL);
    c->out[1]->type = 1;
    c->out[2]->type = 2;
    return size_same(c);
}
