/* Rules of operators that join and cut tensors, or pick elements of them. */
#include "sizes.h"

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

/* Returns how many axes are cut, and which: those of the list, else the first ones; -2: nobody
 * knows.
 */
static int sliced_axes(call *c, int64_t axes[VALUE_RANK])
{
    size_t count;
    const int n = call_list(c, "axes", 3, axes, VALUE_RANK);
    if (n != -1)
        return n;
    const bool listed = attribute_ints(c, "starts", &count) != NULL;
    if (!listed && (!c->in[1] || c->in[1]->rank != 1 || c->in[1]->dim[0] < 0))
        return -2;
    const int64_t first = listed ? (int64_t)count : c->in[1]->dim[0];
    for (int i = 0; i < VALUE_RANK; i++)
        axes[i] = i;
    return first <= VALUE_RANK ? (int)first : -2;
}

bool size_slice(call *c)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK], axes[VALUE_RANK];
    cut cuts[VALUE_RANK];
    copy_dims(x, dim);
    for (int i = 0; i < x->rank; i++)
        cuts[i] = (cut){0, 1, dim[i]};
    const int n = sliced_axes(c, axes);
    if (n == -2)
        return call_lacks(c, 1, "the elements of");
    if (!slice_axes(c, axes, n, dim, cuts) || !call_set(c, 0, x->rank, dim))
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
