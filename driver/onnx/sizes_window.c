/* Rules of operators with windows or scales over spatial axes. */
#include "sizes.h"

#include <math.h>

enum { SPATIAL = VALUE_RANK - 2, LARGEST = 1 << 30 };

/* A list with `count` numbers from `least` on, or the default. */
static bool window_list(call *c, const char *name, int count, int64_t least, int64_t otherwise,
                        int64_t *to)
{
    const int n = call_list(c, name, -1, to, count);
    for (int i = 0; i < count && n == -1; i++)
        to[i] = otherwise;
    if (n != -1 && n != count)
        return call_says(c, "%s has not %d numbers of %s", node_title(c->walk, c->node), count,
                         name);
    for (int i = 0; i < count; i++)
        if (to[i] < least || to[i] > LARGEST)
            return call_says(c, "%s has %s of %lld", node_title(c->walk, c->node), name,
                             (long long)to[i]);
    return true;
}

/* The number of windows in an axis. The last one of ceil_mode may reach past the end, but must
 * begin in the tensor or the padding before it. */
static int64_t windows(int64_t in, int64_t begin, int64_t end, int64_t span, int64_t stride,
                       bool ceils)
{
    const int64_t room = in + begin + end - span;
    if (room < 0)
        return 0;
    int64_t count = (room + (ceils ? stride - 1 : 0)) / stride + 1;
    if (ceils && (count - 1) * stride >= in + begin)
        count--;
    return count;
}

bool size_pool(call *c)
{
    const value *x = c->in[0];
    const int axes = x->rank - 2;
    int64_t kernel[SPATIAL], stride[SPATIAL], dilation[SPATIAL], pads[2 * SPATIAL];
    int64_t dim[VALUE_RANK];
    const bool valid = attribute_is(c, "auto_pad", "VALID"),
               same = attribute_is(c, "auto_pad", "SAME_UPPER") ||
                      attribute_is(c, "auto_pad", "SAME_LOWER");
    if (axes < 1)
        return call_says(c, "%s has no spatial axis", node_title(c->walk, c->node));
    if (!window_list(c, "kernel_shape", axes, 1, 0, kernel) ||
        !window_list(c, "strides", axes, 1, 1, stride) ||
        !window_list(c, "dilations", axes, 1, 1, dilation) ||
        !window_list(c, "pads", 2 * axes, 0, 0, pads))
        return false;
    const bool ceils = attribute_int(c, "ceil_mode", 0) && !valid && !same;
    for (int i = 0; i < 2; i++)
        dim[i] = x->dim[i];
    for (int i = 0; i < axes; i++) {
        const int64_t in = x->dim[2 + i], none = valid || same;
        dim[2 + i] = in == VALUE_OPEN ? VALUE_OPEN
                     : same           ? (in + stride[i] - 1) / stride[i]
                                      : windows(in, none ? 0 : pads[i], none ? 0 : pads[axes + i],
                                      (kernel[i] - 1) * dilation[i] + 1, stride[i], ceils);
    }
    value_set(c->out[1], x->rank, dim);
    c->out[1]->type = 7;
    return call_set(c, 0, x->rank, dim);
}

bool size_max_unpool(call *c)
{
    const value *x = c->in[0];
    const int axes = x->rank - 2;
    int64_t kernel[SPATIAL], stride[SPATIAL], pads[2 * SPATIAL], dim[VALUE_RANK];
    const int n = call_list(c, NULL, 2, dim, VALUE_RANK);
    if (n >= 0)
        return call_set(c, 0, n, dim);
    if (n == -2)
        return call_lacks(c, 2, "the elements of");
    if (axes < 1 || !window_list(c, "kernel_shape", axes, 1, 0, kernel) ||
        !window_list(c, "strides", axes, 1, 1, stride) ||
        !window_list(c, "pads", 2 * axes, 0, 0, pads))
        return axes < 1 ? call_says(c, "%s has no spatial axis", node_title(c->walk, c->node))
                        : false;
    for (int i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    for (int i = 0; i < axes; i++)
        if (dim[2 + i] != VALUE_OPEN)
            dim[2 + i] =
                dim[2 + i] < 1 || dim[2 + i] > LARGEST
                    ? VALUE_OPEN - 1
                    : computed((dim[2 + i] - 1) * stride[i] + kernel[i] - pads[i] - pads[axes + i]);
    return call_set(c, 0, x->rank, dim);
}

bool size_global_pool(call *c)
{
    int64_t dim[VALUE_RANK];
    for (int i = 0; i < c->in[0]->rank; i++)
        dim[i] = i < 2 ? c->in[0]->dim[i] : 1;
    return call_set(c, 0, c->in[0]->rank, dim);
}

static bool set_regions(call *c, int64_t height, int64_t width)
{
    const value *x = c->in[0], *regions = c->in[1];
    if (x->rank != 4 || regions->rank < 1)
        return call_says(c, "%s has inputs of other ranks than its operator",
                         node_title(c->walk, c->node));
    return call_set(
        c, 0, 4, (const int64_t[]){regions->dim[0], x->dim[1], computed(height), computed(width)});
}

bool size_roi_pool(call *c)
{
    int64_t shape[2];
    return window_list(c, "pooled_shape", 2, 1, 0, shape) && set_regions(c, shape[0], shape[1]);
}

bool size_roi_align(call *c)
{
    return set_regions(c, attribute_int(c, "output_height", 1),
                       attribute_int(c, "output_width", 1));
}

/* Sizes by "sizes": all of them, or those of some axes, with their ratio kept if that is asked. */
static bool resize_to(call *c, const int64_t *sizes, const int *axes, int n)
{
    const value *x = c->in[0];
    int64_t dim[VALUE_RANK];
    const bool less = attribute_is(c, "keep_aspect_ratio_policy", "not_larger"),
               more = attribute_is(c, "keep_aspect_ratio_policy", "not_smaller");
    double scale = less ? INFINITY : 0;
    for (int i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    for (int i = 0; i < n; i++) {
        const double here = (double)sizes[i] / (double)dim[axes[i]];
        scale = less ? fmin(scale, here) : fmax(scale, here);
    }
    for (int i = 0; i < n; i++)
        dim[axes[i]] = computed((less || more) && dim[axes[i]] > 0
                                    ? (int64_t)fmin(floor(scale * (double)dim[axes[i]] + 0.5), 1e15)
                                    : sizes[i]);
    return call_set(c, 0, x->rank, dim);
}

static bool resize_by(call *c, const double *scales, const int *axes, int n)
{
    int64_t dim[VALUE_RANK];
    for (int i = 0; i < c->in[0]->rank; i++)
        dim[i] = c->in[0]->dim[i];
    for (int i = 0; i < n; i++) {
        /* Scales are 32-bit floats, and the product is one, too. */
        const double size = floor((double)((float)dim[axes[i]] * (float)scales[i]));
        if (dim[axes[i]] != VALUE_OPEN)
            dim[axes[i]] = size >= 0 && size < 1e15 ? (int64_t)size : VALUE_OPEN - 1;
    }
    return call_set(c, 0, c->in[0]->rank, dim);
}

/* Returns the number of axes that sizes or scales are for. */
static bool resize_axes(call *c, int axes[VALUE_RANK], int *n)
{
    int64_t list[VALUE_RANK];
    const int count = call_list(c, "axes", -1, list, VALUE_RANK);
    *n = count < 0 ? c->in[0]->rank : count;
    for (int i = 0; i < *n; i++)
        if (!call_axis(c, count < 0 ? i : list[i], c->in[0]->rank, &axes[i]))
            return false;
    return true;
}

bool size_resize(call *c)
{
    const int last = c->walk->opset > 10 ? 2 : 1; /* the input of scales */
    const Onnx__AttributeProto *listed = attribute(c, "scales");
    const value *scales = c->in[last];
    double by[VALUE_RANK];
    int64_t to[VALUE_RANK];
    int axes[VALUE_RANK], n;
    if (!resize_axes(c, axes, &n))
        return false;
    if (c->in[3]) {
        if (call_list(c, NULL, 3, to, VALUE_RANK) != n)
            return call_lacks(c, 3, "the elements of");
        return resize_to(c, to, axes, n);
    }
    const bool from_list = listed && listed->n_floats == (size_t)n;
    if (!from_list && (!scales || !scales->element || value_count(scales) != n))
        return call_lacks(c, last, "the elements of");
    for (int i = 0; i < n; i++)
        by[i] = from_list ? (double)listed->floats[i] : scales->element[i];
    for (int i = 0; i < n; i++)
        if (isnan(by[i]))
            return call_lacks(c, last, "an element of");
    return resize_by(c, by, axes, n);
}

bool size_grid_sample(call *c)
{
    const value *x = c->in[0], *grid = c->in[1];
    int64_t dim[VALUE_RANK];
    if (grid->rank != x->rank || x->rank < 3)
        return call_says(c, "%s has inputs of %d and %d dims", node_title(c->walk, c->node),
                         x->rank, grid->rank);
    for (int i = 0; i < x->rank; i++)
        dim[i] = i < 2 ? x->dim[i] : grid->dim[i - 1];
    return call_set(c, 0, x->rank, dim);
}

bool size_affine_grid(call *c)
{
    int64_t size[5];
    const int n = call_list(c, NULL, 1, size, 5);
    if (n < 4)
        return call_lacks(c, 1, "the elements of");
    if (n == 4)
        return call_set(c, 0, 4, (const int64_t[]){size[0], size[2], size[3], 2});
    return call_set(c, 0, 5, (const int64_t[]){size[0], size[2], size[3], size[4], 3});
}

/* Moves between channels and two spatial axes. */
static bool move_blocks(call *c, bool to_space)
{
    const value *x = c->in[0];
    const int64_t block = attribute_int(c, "blocksize", 0);
    int64_t dim[4];
    if (x->rank != 4 || block < 1 || block > LARGEST)
        return call_says(c, "%s has blocks of %lld in %d dims", node_title(c->walk, c->node),
                         (long long)block, x->rank);
    for (int i = 0; i < 4; i++) {
        const int64_t by = i == 1 ? block * block : block;
        const bool grows = (i == 1) != to_space;
        dim[i] = i == 0 || x->dim[i] == VALUE_OPEN ? x->dim[i]
                 : grows                           ? product(x->dim[i], by)
                                                   : x->dim[i] / by;
    }
    return call_set(c, 0, 4, dim);
}

bool size_depth_to_space(call *c)
{
    return move_blocks(c, true);
}

bool size_space_to_depth(call *c)
{
    return move_blocks(c, false);
}
