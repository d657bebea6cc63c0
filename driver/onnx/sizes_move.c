/* Rules of operators that move elements: join, split, cut, repeat, rename axes. */
#include "sizes.h"

#include <string.h>

static void copy_dims(const value *v, int64_t dim[VALUE_RANK])
{
    for (int i = 0; i < v->rank; i++)
        dim[i] = v->dim[i];
}

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

/* Joins one-dimensional elements. */
static void join_elements(call *c, int first, int step)
{
    value *out = c->out[0];
    int64_t at = 0;
    for (size_t i = (size_t)first; i < c->inputs; i += (size_t)step)
        if (!c->in[i] || !c->in[i]->element || c->in[i]->rank != 1)
            return;
    if (!value_elements(c->walk->arena, out))
        return;
    for (size_t i = (size_t)first; i < c->inputs; i += (size_t)step)
        for (int64_t j = 0; j < c->in[i]->dim[0]; j++)
            out->element[at++] = c->in[i]->element[j];
}

bool size_concat(call *c)
{
    const int first = c->row->argument, step = first ? 3 : 1;
    const value *x = (size_t)first < c->inputs ? c->in[first] : NULL;
    int64_t dim[VALUE_RANK];
    int axis;
    if (!x || x->rank < 0)
        return call_lacks(c, first, "the size of");
    if (!call_axis(c, attribute_int(c, "axis", 1), x->rank, &axis))
        return false;
    copy_dims(x, dim);
    for (size_t i = (size_t)(first + step); i < c->inputs; i += (size_t)step) {
        const value *v = c->in[i];
        if (!v || v->rank < 0)
            return call_lacks(c, (int)i, "the size of");
        if (v->rank != x->rank)
            return call_says(c, "%s joins tensors of %d and %d dims", node_title(c->walk, c->node),
                             x->rank, v->rank);
        for (int d = 0; d < x->rank; d++)
            if (d == axis)
                dim[d] = dim[d] == VALUE_OPEN || v->dim[d] == VALUE_OPEN ? VALUE_OPEN
                                                                         : dim[d] + v->dim[d];
            else if (dim[d] == VALUE_OPEN)
                dim[d] = v->dim[d];
            else if (v->dim[d] != VALUE_OPEN && v->dim[d] != dim[d])
                return call_says(c, "%s joins sizes of %lld and %lld in dim %d",
                                 node_title(c->walk, c->node), (long long)dim[d],
                                 (long long)v->dim[d], d);
        if (dim[axis] > VALUE_DIM_MOST)
            break; /* call_set() refuses it */
    }
    c->out[0]->type = x->type;
    if (!call_set(c, 0, x->rank, dim))
        return false;
    join_elements(c, first, step);
    return true;
}

bool size_split(call *c)
{
    enum { PARTS = 256 };
    const value *x = c->in[0];
    int64_t part[PARTS], dim[VALUE_RANK], offset = 0, stride[VALUE_RANK];
    int axis;
    if (!call_axis(c, attribute_int(c, "axis", 0), x->rank, &axis))
        return false;
    const int n = call_list(c, "split", 1, part, PARTS);
    const int64_t count = attribute_int(c, "num_outputs", (int64_t)c->outputs);
    if (n == -2)
        return call_lacks(c, 1, "the elements of");
    if (n >= 0 && (size_t)n < c->outputs)
        return call_says(c, "%s splits into %d parts, but has %zu results",
                         node_title(c->walk, c->node), n, c->outputs);
    const int64_t equal =
        count > 0 && x->dim[axis] >= 0 ? (x->dim[axis] + count - 1) / count : VALUE_OPEN;
    for (size_t i = 0; i < c->outputs; i++) {
        copy_dims(x, dim);
        const int64_t left = x->dim[axis] - offset;
        dim[axis] = n >= 0                ? computed(part[i])
                    : equal == VALUE_OPEN ? VALUE_OPEN
                                          : (left < equal ? computed(left) : equal);
        c->out[i]->type = x->type;
        if (!call_set(c, (int)i, x->rank, dim))
            return false;
        const int64_t end = dim[axis] == VALUE_OPEN ? VALUE_OPEN : offset + dim[axis];
        if (x->element && end >= 0 && end <= x->dim[axis]) {
            value_strides(x, stride);
            value_view(c->walk->arena, c->out[i], x, offset * stride[axis], stride);
        }
        offset = end < 0 ? offset : end;
    }
    return true;
}

/* What a slice takes of an axis. */
typedef struct cut {
    int64_t begin, step, count;
} cut;

static int64_t clamp(int64_t at, int64_t least, int64_t most)
{
    return at < least ? least : at > most ? most : at;
}

static cut cut_of(int64_t dim, int64_t begin, int64_t end, int64_t step)
{
    const int64_t last = step > 0 ? dim : dim - 1, first = step > 0 ? 0 : -1;
    begin = clamp(begin < 0 ? begin + dim : begin, 0, last);
    end = clamp(end < 0 ? end + dim : end, first, dim);
    const int64_t way = step > 0 ? end - begin : begin - end, pace = step > 0 ? step : -step;
    return (cut){begin, step, way <= 0 || dim == 0 ? 0 : (way - 1) / pace + 1};
}

/* Cuts an axis whose begin or end is not known: its size is open. */
static bool slice_axes(call *c, const int64_t *axes, int n, int64_t dim[VALUE_RANK],
                       cut cuts[VALUE_RANK])
{
    const value *x = c->in[0];
    int64_t begin[VALUE_RANK], end[VALUE_RANK], step[VALUE_RANK];
    const int begins = call_list(c, "starts", 1, begin, VALUE_RANK),
              ends = call_list(c, "ends", 2, end, VALUE_RANK),
              steps = call_list(c, NULL, 4, step, VALUE_RANK);
    for (int i = 0; i < n; i++) {
        int at;
        if (!call_axis(c, axes[i], x->rank, &at))
            return false;
        const int64_t pace = steps == -1 ? 1 : steps == n ? step[i] : 0;
        dim[at] = VALUE_OPEN;
        if (begins != n || ends != n || pace == 0 || pace == INT64_MIN || x->dim[at] < 0)
            continue;
        cuts[at] = cut_of(x->dim[at], begin[i], end[i], pace);
        dim[at] = cuts[at].count;
    }
    return true;
}

static void slice_elements(call *c, const cut *cuts)
{
    int64_t stride[VALUE_RANK], offset = 0;
    if (!c->in[0]->element || !value_is_sized(c->out[0]))
        return;
    value_strides(c->in[0], stride);
    for (int i = 0; i < c->in[0]->rank && value_count(c->out[0]) > 0; i++) {
        offset += cuts[i].begin * stride[i];
        stride[i] *= cuts[i].step;
    }
    value_view(c->walk->arena, c->out[0], c->in[0], offset, stride);
}

bool size_slice(call *c)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK], axes[VALUE_RANK];
    cut cuts[VALUE_RANK];
    copy_dims(x, dim);
    for (int i = 0; i < x->rank; i++)
        cuts[i] = (cut){0, 1, dim[i]};
    int n = call_list(c, "axes", 3, axes, VALUE_RANK);
    if (n == -1 && c->in[1])
        n = c->in[1]->rank == 1 && c->in[1]->dim[0] <= VALUE_RANK ? (int)c->in[1]->dim[0] : -2;
    else if (n == -1) {
        size_t count;
        n = attribute_ints(c, "starts", &count) && count <= VALUE_RANK ? (int)count : -2;
    } else {
        if (n == -2 || !slice_axes(c, axes, n, dim, cuts))
            return n == -2 ? call_lacks(c, 3, "the elements of") : false;
        n = -1;
    }
    for (int i = 0; i < VALUE_RANK; i++)
        axes[i] = i;
    if (n == -2)
        return call_lacks(c, 1, "the elements of");
    if (n >= 0 && !slice_axes(c, axes, n, dim, cuts))
        return false;
    if (!call_set(c, 0, x->rank, dim))
        return false;
    slice_elements(c, cuts);
    return true;
}

bool size_pad(call *c)
{
    const value *x = c->in[0];
    int64_t pads[2 * VALUE_RANK], axes[VALUE_RANK], dim[VALUE_RANK];
    const int n = call_list(c, "pads", 1, pads, 2 * VALUE_RANK),
              named = call_list(c, NULL, 3, axes, VALUE_RANK), count = n / 2;
    if (n < 0 || n % 2 || named == -2 || (named >= 0 && named != count) ||
        (named < 0 && count != x->rank))
        return call_lacks(c, 1, "the elements of");
    copy_dims(x, dim);
    for (int i = 0; i < count; i++) {
        int at;
        if (!call_axis(c, named >= 0 ? axes[i] : i, x->rank, &at))
            return false;
        if (dim[at] == VALUE_OPEN)
            continue;
        for (int end = 0; end < 2; end++) {
            const int64_t pad = clamp(pads[i + end * count], -VALUE_DIM_MOST, VALUE_DIM_MOST);
            dim[at] += pad;
        }
        dim[at] = computed(dim[at]);
    }
    return call_set(c, 0, x->rank, dim);
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

/* Elements that are picked from a list. */
static void pick_elements(call *c)
{
    const value *x = c->in[0], *at = c->in[1];
    value *out = c->out[0];
    if (x->rank != 1 || !x->element || !at->element || !value_elements(c->walk->arena, out))
        return;
    for (int64_t i = 0, count = value_count(out); i < count; i++) {
        int64_t index;
        if (!value_whole(at, i, &index))
            continue;
        index += index < 0 ? x->dim[0] : 0;
        if (index >= 0 && index < x->dim[0])
            out->element[i] = x->element[index];
    }
}

bool size_gather(call *c)
{
    const value *x = c->in[0], *at = c->in[1];
    int64_t dim[2 * VALUE_RANK];
    int axis, rank = 0;
    if (!call_axis(c, attribute_int(c, "axis", 0), x->rank, &axis))
        return false;
    for (int i = 0; i < axis; i++)
        dim[rank++] = x->dim[i];
    for (int i = 0; i < at->rank; i++)
        dim[rank++] = at->dim[i];
    for (int i = axis + 1; i < x->rank; i++)
        dim[rank++] = x->dim[i];
    if (!call_set(c, 0, rank, dim))
        return false;
    pick_elements(c);
    return true;
}

bool size_gather_elements(call *c)
{
    return call_set(c, 0, c->in[1]->rank, c->in[1]->dim);
}

bool size_gather_nd(call *c)
{
    const value *x = c->in[0], *at = c->in[1];
    const int64_t batch = attribute_int(c, "batch_dims", 0);
    int64_t dim[2 * VALUE_RANK];
    int rank = 0;
    const int64_t depth = at->rank ? at->dim[at->rank - 1] : VALUE_OPEN;
    if (depth == VALUE_OPEN || batch < 0 || batch > x->rank || batch + depth > x->rank)
        return call_lacks(c, 1, "the size of");
    for (int i = 0; i < at->rank - 1; i++)
        dim[rank++] = at->dim[i];
    for (int i = (int)(batch + depth); i < x->rank; i++)
        dim[rank++] = x->dim[i];
    return call_set(c, 0, rank, dim);
}

bool size_compress(call *c)
{
    int64_t dim[VALUE_RANK];
    int axis;
    copy_dims(c->in[0], dim);
    if (!attribute(c, "axis"))
        return call_set(c, 0, 1, (const int64_t[]){VALUE_OPEN});
    if (!call_axis(c, attribute_int(c, "axis", 0), c->in[0]->rank, &axis))
        return false;
    dim[axis] = VALUE_OPEN;
    return call_set(c, 0, c->in[0]->rank, dim);
}
