/* The rules of If, Loop and Scan, whose bodies are graphs. */
#include "call.h"

#include <string.h>

static const Onnx__GraphProto *body_of(const call *c, const char *name)
{
    const Onnx__AttributeProto *a = attribute(c, name);
    return a ? a->g : NULL;
}

static bool same_elements(const value *a, const value *b)
{
    const int64_t count = value_count(a);
    return a->element && b->element && count == value_count(b) &&
           memcmp(a->element, b->element, (size_t)count * sizeof *a->element) == 0;
}

/* Leaves open what differs between two values that may stand at the same place. Returns whether
 * anything did. */
static bool merge(value *v, const value *other, const char *why)
{
    bool changed = false;
    if (v->element && !same_elements(v, other)) {
        v->element = NULL;
        changed = true;
    }
    v->constant = false;
    if (v->rank != other->rank) {
        changed = changed || v->rank != VALUE_OPEN;
        v->rank = VALUE_OPEN;
    }
    for (int i = 0; i < v->rank; i++)
        if (v->dim[i] != other->dim[i]) {
            changed = changed || v->dim[i] != VALUE_OPEN;
            v->dim[i] = VALUE_OPEN;
        }
    if (!value_is_sized(v) && !v->why)
        v->why = other->why ? other->why : why;
    return changed;
}

bool size_if(call *c)
{
    static const char *const names[] = {"else_branch", "then_branch"};
    static const char *const labels[] = {"else", "then"};
    walk *w = c->walk;
    int64_t condition = -1;
    bool first = true;
    if (c->in[0] && value_count(c->in[0]) == 1)
        value_whole(c->in[0], 0, &condition);
    for (int side = 1; side >= 0; side--) {
        const Onnx__GraphProto *g = body_of(c, names[side]);
        if (!g)
            return call_says(c, "%s has no %s", node_title(w, c->node), names[side]);
        if (condition >= 0 && (condition != 0) != side)
            continue;
        w->body(c, g, labels[side], NULL, 0);
        for (size_t i = 0; i < c->outputs; i++)
            if (first)
                *c->out[i] = *body_result(c, g, i);
            else
                merge(c->out[i], body_result(c, g, i),
                      arena_text(c->walk->arena, "the branches of %s differ in size",
                                 node_title(c->walk, c->node)));
        first = false;
    }
    return true;
}

/* How often a body runs. */
typedef struct repeats {
    int64_t before;
    bool open_before;
} repeats;

static repeats repeat(walk *w, int64_t trips)
{
    repeats r = {.before = w->times, .open_before = w->times_open};
    if (trips < 0)
        w->times_open = true;
    else if (__builtin_mul_overflow(w->times, trips, &w->times) || w->times > VALUE_DIM_MOST)
        w->times = VALUE_DIM_MOST;
    return r;
}

static void repeat_end(walk *w, repeats r)
{
    w->times = r.before;
    w->times_open = r.open_before;
}

/* Walks a body whose values at `carried` come from its own results, `shift` results later, until
 * their sizes stay. The last time its convolutions are kept. */
static void walk_repeated(call *c, const Onnx__GraphProto *g, value **in, size_t inputs,
                          size_t first, size_t carried, size_t result)
{
    walk *w = c->walk;
    const bool quiet = w->quiet;
    bool changed = true;
    const char *why =
        arena_text(w->arena, "it differs between the passes of %s", node_title(w, c->node));
    w->quiet = true;
    for (int pass = 0; changed && pass < 4; pass++) {
        changed = false;
        w->body(c, g, "", in, inputs);
        for (size_t i = 0; i < carried; i++)
            changed = merge(in[first + i], body_result(c, g, result + i), why) || changed;
    }
    w->quiet = quiet;
    w->body(c, g, "", in, inputs);
}

static value *copy_of(walk *w, const value *v)
{
    value *copy = value_new(w->arena);
    if (v)
        *copy = *v;
    return copy;
}

/* Makes a result of the pieces that the passes of a body give. */
static void stack(value *out, const value *piece, int64_t passes, int axis)
{
    *out = (value){.type = piece->type, .rank = VALUE_OPEN, .why = piece->why};
    if (piece->rank < 0 || piece->rank >= VALUE_RANK || axis > piece->rank)
        return;
    out->rank = piece->rank + 1;
    for (int i = 0; i < out->rank; i++)
        out->dim[i] = i == axis ? passes : piece->dim[i - (i > axis)];
}

bool size_loop(call *c)
{
    walk *w = c->walk;
    const Onnx__GraphProto *g = body_of(c, "body");
    const size_t carried = c->inputs > 2 ? c->inputs - 2 : 0;
    int64_t trips = -1, condition = 1;
    if (!g || g->n_output < carried + 1)
        return call_says(c, "%s has no body, or one with too few results", node_title(w, c->node));
    if (c->in[0] && value_count(c->in[0]) == 1)
        value_whole(c->in[0], 0, &trips);
    if (c->in[1] && (value_count(c->in[1]) != 1 || !value_whole(c->in[1], 0, &condition)))
        condition = -1;
    value **in = arena_array(w->arena, carried + 2, sizeof *in);
    in[0] = value_new(w->arena);
    *in[0] = (value){.type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64, .rank = 0};
    in[1] = value_new(w->arena);
    *in[1] = (value){.type = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL, .rank = 0};
    for (size_t i = 0; i < carried; i++)
        in[2 + i] = copy_of(w, c->in[2 + i]);
    const repeats r = repeat(w, condition == 1 ? trips : -1);
    walk_repeated(c, g, in, carried + 2, 2, carried, 1);
    repeat_end(w, r);
    for (size_t i = 0; i < c->outputs; i++)
        if (i < carried)
            *c->out[i] = *in[2 + i];
        else
            stack(c->out[i], body_result(c, g, 1 + i), condition == 1 ? trips : VALUE_OPEN, 0);
    return true;
}

/* Returns the axis of one scanned input or result. */
static int scan_axis(const call *c, const char *name, size_t i, int rank)
{
    size_t count;
    const int64_t *axes = attribute_ints(c, name, &count);
    const int64_t axis = i < count ? axes[i] : 0;
    return axis >= -rank && axis < rank ? (int)(axis < 0 ? axis + rank : axis) : 0;
}

/* Returns one step of a scanned input, and counts the steps. */
static value *step_of(const call *c, size_t i, const value *v, int64_t *steps)
{
    value *step = copy_of(c->walk, v);
    if (step->rank < 1) {
        step->rank = VALUE_OPEN;
        return step;
    }
    const int axis = scan_axis(c, "scan_input_axes", i, step->rank);
    *steps = *steps < 0 ? step->dim[axis] : *steps;
    step->rank--;
    for (int d = axis; d < step->rank; d++)
        step->dim[d] = step->dim[d + 1];
    step->element = NULL;
    step->constant = false;
    return step;
}

bool size_scan(call *c)
{
    walk *w = c->walk;
    const Onnx__GraphProto *g = body_of(c, "body");
    const int64_t scanned = attribute_int(c, "num_scan_inputs", 0);
    int64_t steps = -1;
    if (w->opset < 9 || !g || scanned < 1 || scanned > (int64_t)c->inputs ||
        g->n_output < c->inputs - (size_t)scanned)
        return call_says(c, "%s: kiln reads a Scan of opset 9 or later with a whole body",
                         node_title(w, c->node));
    const size_t carried = c->inputs - (size_t)scanned;
    value **in = arena_array(w->arena, c->inputs, sizeof *in);
    for (size_t i = 0; i < c->inputs; i++)
        in[i] = i < carried ? copy_of(w, c->in[i]) : step_of(c, i - carried, c->in[i], &steps);
    const repeats r = repeat(w, steps);
    walk_repeated(c, g, in, c->inputs, 0, carried, 0);
    repeat_end(w, r);
    for (size_t i = 0; i < c->outputs; i++) {
        const value *piece = body_result(c, g, i);
        if (i < carried)
            *c->out[i] = *in[i];
        else
            stack(c->out[i], piece, steps,
                  scan_axis(c, "scan_output_axes", i - carried, piece->rank + 1));
    }
    return true;
}
