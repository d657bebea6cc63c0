/* Rules of operators that give elements other axes, or repeat them. */
#include "sizes.h"

/* Gives the first result the first input's elements in their order. */
static void keep_elements(call *c)
{
    int64_t stride[VALUE_RANK];
    value *out = c->out[0];
    const value *in = c->in[0];
    out->constant = in->constant;
    if (!in->element || value_count(out) != value_count(in))
        return;
    value_strides(out, stride);
    value_view(c->walk->arena, out, in, 0, stride);
}

bool size_transpose(call *c)
{
    const value *x = c->in[0];
    int64_t order[VALUE_RANK], dim[VALUE_RANK], stride[VALUE_RANK], own[VALUE_RANK];
    const int n = call_list(c, "perm", -1, order, VALUE_RANK);
    unsigned met = 0;
    if (n != -1 && n != x->rank)
        return call_says(c, "%s has not %d axes to order", node_title(c->walk, c->node), x->rank);
    for (int i = 0; i < x->rank; i++) {
        int at;
        if (!call_axis(c, n == -1 ? x->rank - 1 - i : order[i], x->rank, &at))
            return false;
        order[i] = at;
        dim[i] = x->dim[at];
        met |= 1u << at;
    }
    if (met != (1u << x->rank) - 1)
        return call_says(c, "%s has an axis twice", node_title(c->walk, c->node));
    if (!call_set(c, 0, x->rank, dim) || !x->element)
        return *c->why == '\0';
    value_strides(x, own);
    for (int i = 0; i < x->rank; i++)
        stride[i] = own[order[i]];
    value_view(c->walk->arena, c->out[0], x, 0, stride);
    return true;
}

/* Fills the dim that is left to the others, at `free`. */
static bool fill_free(call *c, int64_t *dim, int rank, int at, int64_t count)
{
    int64_t rest = 1;
    for (int i = 0; i < rank; i++)
        rest = i == at ? rest : product(rest, dim[i]);
    if (count == VALUE_OPEN || rest == VALUE_OPEN)
        return true;
    if (rest == 0 || count % rest)
        return call_says(c, "%s reshapes %lld elements, which is no multiple of %lld",
                         node_title(c->walk, c->node), (long long)count, (long long)rest);
    dim[at] = count / rest;
    return true;
}

bool size_reshape(call *c)
{
    const value *x = c->in[0], *shape = c->in[1];
    const bool keeps_zero = attribute_int(c, "allowzero", 0) != 0;
    int64_t dim[VALUE_RANK];
    int free = -1, open = 0;
    if (!x || !shape || shape->rank != 1 || shape->dim[0] < 0)
        return call_lacks(c, x ? 1 : 0, "the elements of");
    if (shape->dim[0] > VALUE_RANK)
        return call_says(c, "%s has a result of more than %d dims", node_title(c->walk, c->node),
                         VALUE_RANK);
    const int rank = (int)shape->dim[0];
    for (int i = 0; i < rank; i++) {
        const bool known = value_whole(shape, i, &dim[i]);
        if (known && dim[i] == 0 && !keeps_zero)
            dim[i] = i < x->rank ? x->dim[i] : VALUE_OPEN;
        else if (!known || dim[i] == -1) {
            open++;
            free = known || free < 0 ? i : free;
            dim[i] = VALUE_OPEN;
        } else if (dim[i] < 0)
            return call_says(c, "%s has a result whose dim %d is %lld",
                             node_title(c->walk, c->node), i, (long long)dim[i]);
    }
    if (open == 1 && !fill_free(c, dim, rank, free, value_count(x)))
        return false;
    if (!call_set(c, 0, rank, dim))
        return false;
    const int64_t before = value_count(x), after = value_count(c->out[0]);
    if (before != VALUE_OPEN && after != VALUE_OPEN && before != after)
        return call_says(c, "%s reshapes %lld elements to %lld", node_title(c->walk, c->node),
                         (long long)before, (long long)after);
    keep_elements(c);
    return true;
}

bool size_flatten(call *c)
{
    const value *x = c->in[0];
    const int64_t axis = attribute_int(c, "axis", 1);
    int64_t dim[2] = {1, 1};
    if (axis < -x->rank || axis > x->rank)
        return call_says(c, "%s names axis %lld of %d", node_title(c->walk, c->node),
                         (long long)axis, x->rank);
    for (int i = 0; i < x->rank; i++) {
        const int side = i >= (axis < 0 ? axis + x->rank : axis);
        dim[side] = product(dim[side], x->dim[i]);
    }
    return call_set(c, 0, 2, dim);
}

/* Marks the axes of a list in `marked`, which has a flag for each of `rank` axes. */
static bool mark_axes(call *c, const int64_t *axes, int n, int rank, bool *marked)
{
    for (int i = 0; i < n; i++) {
        int at;
        if (!call_axis(c, axes[i], rank, &at))
            return false;
        if (marked[at])
            return call_says(c, "%s has an axis twice", node_title(c->walk, c->node));
        marked[at] = true;
    }
    return true;
}

bool size_squeeze(call *c)
{
    const value *x = c->in[0];
    int64_t axes[VALUE_RANK], dim[VALUE_RANK];
    bool marked[VALUE_RANK] = {false};
    int rank = 0;
    const int n = call_list(c, "axes", 1, axes, VALUE_RANK);
    if (n == -2)
        return call_lacks(c, 1, "the elements of");
    if (!mark_axes(c, axes, n, x->rank, marked))
        return false;
    for (int i = 0; i < x->rank; i++) {
        if (n == -1 && x->dim[i] == VALUE_OPEN)
            return call_lacks(c, 0, "the size of");
        if (!(n == -1 ? x->dim[i] == 1 : marked[i]))
            dim[rank++] = x->dim[i];
        else if (x->dim[i] > 1 || x->dim[i] == 0)
            return call_says(c, "%s leaves out a dim of %lld", node_title(c->walk, c->node),
                             (long long)x->dim[i]);
    }
    if (!call_set(c, 0, rank, dim))
        return false;
    keep_elements(c);
    return true;
}

bool size_unsqueeze(call *c)
{
    const value *x = c->in[0];
    int64_t axes[VALUE_RANK], dim[VALUE_RANK];
    bool marked[VALUE_RANK] = {false};
    const int n = call_list(c, "axes", 1, axes, VALUE_RANK);
    if (n < 0)
        return call_lacks(c, 1, "the elements of");
    const int rank = x->rank + n;
    if (rank > VALUE_RANK)
        return call_says(c, "%s has a result of %d dims", node_title(c->walk, c->node), rank);
    if (!mark_axes(c, axes, n, rank, marked))
        return false;
    for (int i = 0, from = 0; i < rank; i++)
        dim[i] = marked[i] ? 1 : x->dim[from++];
    if (!call_set(c, 0, rank, dim))
        return false;
    keep_elements(c);
    return true;
}

bool size_expand(call *c)
{
    const value *x = c->in[0];
    int64_t to[VALUE_RANK], dim[VALUE_RANK], own[VALUE_RANK], stride[VALUE_RANK] = {0};
    const int n = call_list(c, NULL, 1, to, VALUE_RANK);
    if (n < 0)
        return call_lacks(c, 1, "the elements of");
    const int rank = n > x->rank ? n : x->rank;
    for (int i = 1; i <= rank; i++) {
        const int64_t a = i <= x->rank ? x->dim[x->rank - i] : 1, b = i <= n ? to[n - i] : 1;
        if (!broadcast_dim(a, computed(b), &dim[rank - i]))
            return call_says(c, "%s widens %lld to %lld", node_title(c->walk, c->node),
                             (long long)a, (long long)b);
    }
    if (!call_set(c, 0, rank, dim) || !x->element)
        return *c->why == '\0';
    value_strides(x, own);
    for (int i = 1; i <= x->rank; i++)
        stride[rank - i] = x->dim[x->rank - i] == 1 ? 0 : own[x->rank - i];
    value_view(c->walk->arena, c->out[0], x, 0, stride);
    return true;
}

bool size_tile(call *c)
{
    const value *x = c->in[0];
    int64_t by[VALUE_RANK], dim[VALUE_RANK];
    if (call_list(c, NULL, 1, by, VALUE_RANK) != x->rank)
        return call_lacks(c, 1, "the elements of");
    for (int i = 0; i < x->rank; i++)
        dim[i] = product(x->dim[i], computed(by[i]));
    return call_set(c, 0, x->rank, dim);
}
