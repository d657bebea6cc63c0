/* The rule of convolutions, which are what a model is read for: makes a problem of the node. */
#include "call.h"

#include <stdio.h>
#include <string.h>

/* What the operators that convolve differ in, by operator_row.argument. */
typedef enum conv_kind { CONV, CONV_TRANSPOSE, CONV_INTEGER, QLINEAR_CONV } conv_kind;

static const struct conv_row {
    int w, bias; /* the inputs; -1: none */
    bool transposed, integer;
} rows[] = {[CONV] = {.w = 1, .bias = 2},
            [CONV_TRANSPOSE] = {.w = 1, .bias = 2, .transposed = true},
            [CONV_INTEGER] = {.w = 1, .bias = -1, .integer = true},
            [QLINEAR_CONV] = {.w = 3, .bias = 8, .integer = true}};

/* kiln's type of an ONNX type, and what is said where it is another. */
static const struct {
    int onnx;
    kiln_type type;
    const char *note;
} types[] = {{1, KILN_F32, ""},     {10, KILN_F16, ""},
             {16, KILN_BF16, ""},   {3, KILN_I8, ""},
             {2, KILN_U8, ""},      {11, KILN_F32, "64-bit floats, as 32-bit ones"},
             {17, KILN_F8E4M3, ""}, {19, KILN_F8E5M2, ""}};

/* Sizes above this are refused, so that sums and products of two fit. */
enum { LARGEST = 1 << 30 };

static void add_note(call *c, met *m, const char *note)
{
    if (*note && !strstr(m->layer.note, note))
        m->layer.note =
            arena_text(c->walk->arena, "%s%s%s", m->layer.note, *m->layer.note ? "; " : "", note);
}

/* Weights are signed in kiln: unsigned ones are taken for them less their zero point. */
static void sign_weights(call *c, met *m, kiln_type *type)
{
    if (*type != KILN_U8)
        return;
    *type = KILN_I8;
    add_note(c, m, "unsigned weights, as signed ones less 128");
}

static bool take_type(call *c, met *m, const value *v, kiln_type *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].onnx == v->type) {
            *type = types[i].type;
            add_note(c, m, types[i].note);
            return true;
        }
    return call_says(c, "%s convolves elements of ONNX's type %d, which kiln does not",
                     node_title(c->walk, c->node), v->type);
}

/* Reads a list with a number for each axis, or twice as many; the default where there is none. */
static bool take_axes(call *c, const char *name, int count, int64_t least, int64_t otherwise,
                      int64_t *to)
{
    size_t n;
    const int64_t *list = attribute_ints(c, name, &n);
    for (int i = 0; i < count; i++)
        to[i] = otherwise;
    if (!list)
        return true;
    if (n != (size_t)count)
        return call_says(c, "%s has %zu numbers of %s, not %d", node_title(c->walk, c->node), n,
                         name, count);
    for (int i = 0; i < count; i++) {
        if (list[i] < least || list[i] > LARGEST)
            return call_says(c, "%s has %s of %lld", node_title(c->walk, c->node), name,
                             (long long)list[i]);
        to[i] = list[i];
    }
    return true;
}

/* Takes the sizes of x and w, which must be known and fit each other. */
static bool take_tensors(call *c, const struct conv_row *row, kiln_problem *p)
{
    const value *x = c->in[0], *w = c->in[row->w];
    int64_t kernel[KILN_MAX_RANK];
    for (int i = 0; i < 2; i++) {
        const int at = i ? row->w : 0;
        if (!c->in[at] || !value_is_sized(c->in[at]))
            return call_lacks(c, at, i ? "the size of the weights" : "the size of");
    }
    const int rank = x->rank - 2;
    if (rank < 1 || rank > KILN_MAX_RANK)
        return call_says(c, "%s has %d spatial axes; kiln takes 1 to 3",
                         node_title(c->walk, c->node), rank);
    if (w->rank != x->rank)
        return call_says(c, "%s has weights of %d dims for an input of %d",
                         node_title(c->walk, c->node), w->rank, x->rank);
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] > LARGEST || w->dim[i] > LARGEST)
            return call_says(c, "%s has a size above 2^30", node_title(c->walk, c->node));
    p->spatial_rank = rank;
    p->batch = x->dim[0];
    p->in_channels = x->dim[1];
    for (int i = 0; i < rank; i++) {
        p->input[i] = x->dim[2 + i];
        p->filter[i] = w->dim[2 + i];
    }
    if (!take_axes(c, "kernel_shape", rank, 1, 0, kernel))
        return false;
    for (int i = 0; i < rank; i++)
        if (kernel[i] && kernel[i] != p->filter[i])
            return call_says(c, "%s has a kernel_shape that its weights have not",
                             node_title(c->walk, c->node));
    return true;
}

static bool take_channels(call *c, const struct conv_row *row, kiln_problem *p)
{
    const value *w = c->in[row->w];
    p->groups = attribute_int(c, "group", 1);
    if (p->groups < 1 || p->groups > LARGEST)
        return call_says(c, "%s has %lld groups", node_title(c->walk, c->node),
                         (long long)p->groups);
    p->out_channels = row->transposed ? w->dim[1] * p->groups : w->dim[0];
    const int64_t needs = row->transposed ? w->dim[0] : w->dim[1] * p->groups;
    if (needs != p->in_channels)
        return call_says(c, "%s has weights for %lld channels, but its input has %lld",
                         node_title(c->walk, c->node), (long long)needs, (long long)p->in_channels);
    return true;
}

/* Sets the padding of a transposed convolution from the size that its result must have. Where that
 * is more than the sum of all, the rest becomes output padding. */
static void pad_for_output(call *c, kiln_problem *p, int i, int64_t output)
{
    int64_t total = p->stride[i] * (p->input[i] - 1) + p->output_pad[i] +
                    (p->filter[i] - 1) * p->dilation[i] + 1 - output;
    const int64_t half = total / 2;
    const bool upper = attribute_is(c, "auto_pad", "SAME_UPPER");
    if (total < 0) {
        p->output_pad[i] -= total;
        total = 0;
    }
    p->pad_begin[i] = upper ? total / 2 : total - half;
    p->pad_end[i] = total - p->pad_begin[i];
}

static bool pad_transposed(call *c, kiln_problem *p, bool same)
{
    size_t n;
    const int64_t *shape = attribute_ints(c, "output_shape", &n);
    const int rank = p->spatial_rank;
    if (shape && n < (size_t)rank)
        return call_says(c, "%s has an output_shape of %zu dims", node_title(c->walk, c->node), n);
    for (int i = 0; i < rank; i++) {
        const int64_t output =
            shape ? shape[n - (size_t)rank + (size_t)i] : p->input[i] * p->stride[i];
        if (shape && (output < 1 || output > LARGEST))
            return call_says(c, "%s has an output_shape of %lld", node_title(c->walk, c->node),
                             (long long)output);
        if (shape || same)
            pad_for_output(c, p, i, output);
    }
    return true;
}

static void pad_same(call *c, kiln_problem *p)
{
    const bool lower = attribute_is(c, "auto_pad", "SAME_LOWER");
    for (int i = 0; i < p->spatial_rank; i++) {
        const int64_t output = (p->input[i] - 1) / p->stride[i] + 1;
        int64_t total =
            (output - 1) * p->stride[i] + (p->filter[i] - 1) * p->dilation[i] + 1 - p->input[i];
        total = total > 0 ? total : 0;
        p->pad_begin[i] = lower ? total - total / 2 : total / 2;
        p->pad_end[i] = total - p->pad_begin[i];
    }
}

static bool take_window(call *c, kiln_problem *p)
{
    int64_t pads[2 * KILN_MAX_RANK];
    const int rank = p->spatial_rank;
    const bool valid = attribute_is(c, "auto_pad", "VALID"),
               same = attribute_is(c, "auto_pad", "SAME_UPPER") ||
                      attribute_is(c, "auto_pad", "SAME_LOWER");
    if (!take_axes(c, "strides", rank, 1, 1, p->stride) ||
        !take_axes(c, "dilations", rank, 1, 1, p->dilation) ||
        !take_axes(c, "pads", 2 * rank, 0, 0, pads))
        return false;
    if (p->transposed && !take_axes(c, "output_padding", rank, 0, 0, p->output_pad))
        return false;
    for (int i = 0; i < rank && !valid && !same; i++) {
        p->pad_begin[i] = pads[i];
        p->pad_end[i] = pads[rank + i];
    }
    if (p->transposed)
        return pad_transposed(c, p, same);
    if (same)
        pad_same(c, p);
    return true;
}

/* The problem of quantized tensors has their types; scales and zero points are a caller's. */
static bool take_types(call *c, met *m, const struct conv_row *row, kiln_problem *p)
{
    const value *x = c->in[0], *w = c->in[row->w], *y_zero = c->in[7];
    if (!take_type(c, m, x->type ? x : w, &p->x_type) || !take_type(c, m, w, &p->w_type))
        return false;
    sign_weights(c, m, &p->w_type);
    if (row->integer && row->bias < 0)
        p->y_type = KILN_I32;
    else if (row->integer && (!y_zero || !take_type(c, m, y_zero, &p->y_type)))
        p->y_type = KILN_I8;
    if (row->integer)
        add_note(c, m, "scales and zero points are not a part of the problem");
    if (row->bias >= 0 && c->in[row->bias])
        p->epilogue.bias =
            row->integer || kiln_type_is_integer(p->x_type) ? (int)KILN_I32 : (int)p->x_type;
    return true;
}

static bool make_problem(call *c, met *m, const struct conv_row *row)
{
    char why[KILN_ERROR_TEXT];
    int64_t dim[2 + KILN_MAX_RANK];
    kiln_problem *p = &m->layer.problem;
    p->transposed = row->transposed;
    if (!take_tensors(c, row, p) || !take_channels(c, row, p) || !take_window(c, p) ||
        !take_types(c, m, row, p))
        return false;
    if (kiln_problem_check(p, why))
        return call_says(c, "%s: %s", node_title(c->walk, c->node), why);
    dim[0] = p->batch;
    dim[1] = p->out_channels;
    for (int i = 0; i < p->spatial_rank; i++)
        dim[2 + i] = kiln_problem_output(p, i);
    return call_set(c, 0, 2 + p->spatial_rank, dim);
}

/* A convolution without known sizes still tells the rank and the channels of its result. */
static void set_what_is_known(call *c, const struct conv_row *row)
{
    const value *x = c->in[0], *w = c->in[row->w];
    const int rank = x && x->rank >= 3 ? x->rank : w && w->rank >= 3 ? w->rank : VALUE_OPEN;
    c->out[0]->rank = rank;
    for (int i = 0; i < rank; i++)
        c->out[0]->dim[i] = VALUE_OPEN;
    if (rank >= 3 && x && x->rank == rank)
        c->out[0]->dim[0] = x->dim[0];
    if (rank >= 3 && w && w->rank == rank && !row->transposed)
        c->out[0]->dim[1] = w->dim[0];
}

bool size_conv(call *c)
{
    static const met none = {.layer = {.epilogue = "", .note = "", .why = ""}};
    walk *w = c->walk;
    met *m = arena_take(w->arena, sizeof *m);
    *m = none;
    m->layer.op = c->row->name;
    m->layer.name = arena_text(w->arena, "%s%s", w->path, node_title(w, c->node));
    m->layer.times = w->times;
    m->list = w->list;
    if (w->times_open)
        add_note(c, m, "in a loop that runs nobody knows how often: counted once");
    const struct conv_row *row = &rows[c->row->argument];
    m->layer.sized = make_problem(c, m, row);
    if (!m->layer.sized) {
        m->layer.why = arena_text(w->arena, "%s", c->why);
        set_what_is_known(c, row);
    }
    c->out[0]->type = row->bias < 0 ? ONNX__TENSOR_PROTO__DATA_TYPE__INT32 : c->out[0]->type;
    if (!w->quiet) {
        *w->last = m;
        w->last = &m->next;
        w->count++;
    }
    return true;
}
