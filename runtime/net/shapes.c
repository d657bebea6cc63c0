/* What each node of a graph gives: types and sizes, from the nodes that it reads. */
#include "generator/base/names.h"
#include "generator/base/types.h"
#include "generator/problem/problem_layout.h"

#include "graph.h"

#include <string.h>

static const int64_t largest = (int64_t)1 << 40;

bool kiln_form_storage(const kiln_form *f, const char *layout, kiln_storage *storage, char *why)
{
    kiln_extent e = {.tensor = 'x',
                     .rank = f->spatial_rank,
                     .dim = {f->batch, f->channels},
                     .groups = 1,
                     .type = f->type};
    memcpy(&e.dim[2], f->size, sizeof f->size);
    return kiln_extent_storage(&e, layout, storage, why);
}

int64_t kiln_form_bytes(const kiln_form *f, const char *layout)
{
    kiln_storage s;
    return kiln_form_storage(f, layout, &s, NULL) ? s.cells * (int64_t)kiln_type_size(f->type) : 0;
}

static const kiln_form *source(const kiln_graph *g, int i, int j)
{
    return &g->node[kiln_graph_source(g, i, j)].form;
}

static void set_layout(char *layout, const char *text)
{
    memset(layout, 0, KILN_LAYOUT_TEXT);
    memcpy(layout, text, strnlen(text, KILN_LAYOUT_TEXT - 1));
}

/* ---- what must agree ---- */

static kiln_status count_sources(const kiln_graph *g, int i, int wanted)
{
    const int n = g->node[i].sources;
    return n == wanted ? KILN_OK
                       : kiln_graph_fail(g, i, KILN_INVALID, "it reads %d tensors instead of %d", n,
                                         wanted);
}

/* Takes a size from a source. What the node says itself must be the same. */
static kiln_status take(const kiln_graph *g, int i, bool strict, const char *what, int64_t from,
                        int64_t *value)
{
    if (strict && *value && *value != from)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "its %s is %lld, but its source has %lld; leave it at 0", what,
                               (long long)*value, (long long)from);
    *value = from;
    return KILN_OK;
}

static bool same_sizes(const kiln_form *a, const kiln_form *b)
{
    return a->type == b->type && a->spatial_rank == b->spatial_rank && a->batch == b->batch &&
           memcmp(a->size, b->size, sizeof a->size) == 0;
}

/* The second tensor that is read: shaped as the result. */
static kiln_status check_other(const kiln_graph *g, int i, const kiln_form *wanted,
                               const char *what)
{
    const kiln_form *other = source(g, i, 1);
    return same_sizes(other, wanted) && other->channels == wanted->channels
               ? KILN_OK
               : kiln_graph_fail(g, i, KILN_INVALID,
                                 "%s, node %d, has another type or other sizes than it should",
                                 what, g->node[i].node.from[1]);
}

/* ---- kinds of nodes ---- */

/* What a node gives that may be kept: the layout is the caller's then. */
static void set_open_layout(kiln_graph_node *n)
{
    const char *asked = n->node.form.layout;
    if (!n->node.kept)
        set_layout(n->form.layout, "any");
    else
        set_layout(n->form.layout, *asked ? asked : kiln_plain_data_layout(n->form.spatial_rank));
}

static kiln_status check_form(kiln_graph *g, int i)
{
    kiln_form *f = &g->node[i].form;
    kiln_storage s;
    char why[KILN_ERROR_TEXT];
    bool fine = f->batch >= 1 && f->channels >= 1 && f->batch <= largest && f->channels <= largest;
    for (int a = 0; a < f->spatial_rank; a++)
        fine = fine && f->size[a] >= 1 && f->size[a] <= largest;
    if (!fine)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "batch, channels and %d sizes of its tensor must be from 1 to 2^40",
                               f->spatial_rank);
    if (kiln_layout_is_any(f->layout))
        return KILN_OK;
    if (!kiln_form_storage(f, f->layout, &s, why))
        return kiln_graph_fail(g, i, KILN_INVALID, "%s", why);
    if (s.layout.image)
        return kiln_graph_fail(g, i, KILN_UNSUPPORTED,
                               "its layout %s is an image; a net has buffers", s.layout.name);
    set_layout(f->layout, s.layout.name);
    return KILN_OK;
}

/* Completes a form that the caller gives. */
static kiln_status infer_given(kiln_graph *g, int i)
{
    kiln_graph_node *n = &g->node[i];
    kiln_form *f = &n->form;
    if (f->spatial_rank < 0 || f->spatial_rank > KILN_MAX_RANK)
        return kiln_graph_fail(g, i, KILN_INVALID, "its spatial_rank is %d; it must be 1, 2 or 3",
                               f->spatial_rank);
    f->spatial_rank = f->spatial_rank ? f->spatial_rank : 2;
    f->type = f->type ? f->type : KILN_F32;
    if (!kiln_type_is_known(f->type))
        return kiln_graph_fail(g, i, KILN_INVALID, "its type is %d, none of kiln_type",
                               (int)f->type);
    if (!memchr(f->layout, 0, sizeof f->layout) || kiln_layout_is_any(f->layout))
        return kiln_graph_fail(g, i, KILN_INVALID, "its layout is not named; \"\" stands for NCHW");
    if (!*f->layout)
        set_layout(f->layout, kiln_plain_data_layout(f->spatial_rank));
    return KILN_OK;
}

static kiln_status infer_input(kiln_graph *g, int i)
{
    kiln_graph_node *n = &g->node[i];
    n->form = n->node.form;
    if (n->node.kept)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "it is an input; to keep it, add a pool without "
                               "a window that reads it, and keep that");
    const kiln_status status = count_sources(g, i, 0);
    return status ? status : infer_given(g, i);
}

static kiln_status infer_foreign(kiln_graph *g, int i)
{
    kiln_graph_node *n = &g->node[i];
    kiln_form *f = &n->form;
    if (n->sources < 1 || !n->node.enqueue)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "a foreign node reads at least one tensor and has `enqueue`");
    const kiln_form *x = source(g, i, 0);
    *f = n->node.form;
    f->batch = x->batch;
    f->type = f->type ? f->type : x->type;
    f->spatial_rank = f->spatial_rank ? f->spatial_rank : x->spatial_rank;
    f->channels = f->channels ? f->channels : x->channels;
    for (int a = 0; a < KILN_MAX_RANK && a < f->spatial_rank; a++)
        f->size[a] = f->size[a] ? f->size[a] : x->size[a];
    if (!*n->node.takes)
        set_layout(n->node.takes, kiln_plain_data_layout(x->spatial_rank));
    for (int j = 0; j < n->sources; j++)
        if (kiln_form_bytes(source(g, i, j), n->node.takes) == 0)
            return kiln_graph_fail(g, i, KILN_INVALID, "its source %d has no layout \"%.31s\"",
                                   n->node.from[j], n->node.takes);
    return infer_given(g, i);
}

static kiln_status take_problem(kiln_graph *g, int i, bool strict)
{
    kiln_graph_node *n = &g->node[i];
    const kiln_form *x = source(g, i, 0);
    kiln_problem *p = &n->problem;
    *p = n->node.problem;
    p->spatial_rank = x->spatial_rank;
    kiln_status status = take(g, i, strict, "batch", x->batch, &p->batch);
    if (!status)
        status = take(g, i, strict, "in_channels", x->channels, &p->in_channels);
    for (int a = 0; a < KILN_MAX_RANK && !status; a++)
        status = take(g, i, strict, "input", x->size[a], &p->input[a]);
    p->x_type = x->type;
    if (!*p->x_layout)
        set_layout(p->x_layout, "any");
    return status;
}

static kiln_status infer_conv(kiln_graph *g, int i, bool strict)
{
    kiln_graph_node *n = &g->node[i];
    char why[KILN_ERROR_TEXT];
    kiln_status status = n->sources < 1 ? count_sources(g, i, 1) : KILN_OK;
    if (!status)
        status = count_sources(g, i, n->node.problem.epilogue.beta == 0 ? 1 : 2);
    if (!status)
        status = take_problem(g, i, strict);
    if (status)
        return status;
    kiln_problem *p = &n->problem;
    if (p->direction != KILN_FORWARD)
        return kiln_graph_fail(g, i, KILN_INVALID, "its direction is %s; a net runs forward",
                               kiln_direction_name(p->direction));
    if (n->node.kept)
        set_layout(p->y_layout, n->node.form.layout);
    else if (!*p->y_layout)
        set_layout(p->y_layout, "any");
    if (kiln_problem_check(p, why))
        return kiln_graph_fail(g, i, KILN_INVALID, "%s", why);
    n->form = (kiln_form){.type = p->y_type,
                          .spatial_rank = p->spatial_rank,
                          .batch = p->batch,
                          .channels = p->out_channels};
    for (int a = 0; a < p->spatial_rank; a++)
        n->form.size[a] = kiln_problem_output(p, a);
    set_layout(n->form.layout, p->y_layout);
    kiln_form residual = n->form;
    if (p->quant.residual_type)
        residual.type = p->quant.residual_type;
    return n->sources == 2 ? check_other(g, i, &residual, "its residual") : KILN_OK;
}

static kiln_status take_pool(kiln_graph *g, int i, bool strict)
{
    kiln_graph_node *n = &g->node[i];
    const kiln_form *x = source(g, i, 0);
    kiln_pool *p = &n->pool;
    *p = n->node.pool;
    p->spatial_rank = x->spatial_rank;
    kiln_status status = take(g, i, strict, "batch", x->batch, &p->batch);
    if (!status)
        status = take(g, i, strict, "channels", x->channels, &p->channels);
    for (int a = 0; a < KILN_MAX_RANK && !status; a++)
        status = take(g, i, strict, "input", x->size[a], &p->input[a]);
    p->x_type = x->type;
    memset(p->x_layout, 0, sizeof p->x_layout);
    memset(p->y_layout, 0, sizeof p->y_layout);
    return status;
}

static kiln_status infer_pool(kiln_graph *g, int i, bool strict)
{
    kiln_graph_node *n = &g->node[i];
    char why[KILN_ERROR_TEXT];
    kiln_status status = count_sources(g, i, n->node.pool.with == KILN_WITH_NOTHING ? 1 : 2);
    if (status)
        return status;
    if (n->node.pool.x_range.of || n->node.pool.y_range.of)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "its pool has a range of channels; add a split or a concatenation");
    status = take_pool(g, i, strict);
    if (status)
        return status;
    if (kiln_pool_check(&n->pool, why))
        return kiln_graph_fail(g, i, KILN_INVALID, "%s", why);
    n->form = *source(g, i, 0);
    n->form.type = n->pool.y_type;
    for (int a = 0; a < n->form.spatial_rank; a++)
        n->form.size[a] = kiln_pool_output(&n->pool, a);
    set_open_layout(n);
    kiln_form other = n->form;
    for (int a = 0; a < other.spatial_rank && n->pool.other_is_one; a++)
        other.size[a] = 1;
    return n->sources == 2 ? check_other(g, i, &other, "its other tensor") : KILN_OK;
}

static kiln_status infer_concat(kiln_graph *g, int i)
{
    kiln_graph_node *n = &g->node[i];
    if (n->sources < 1)
        return count_sources(g, i, 1);
    n->form = *source(g, i, 0);
    for (int j = 1; j < n->sources; j++) {
        const kiln_form *x = source(g, i, j);
        if (!same_sizes(x, &n->form))
            return kiln_graph_fail(g, i, KILN_INVALID,
                                   "its sources, nodes %d and %d, differ in more than channels",
                                   n->node.from[0], n->node.from[j]);
        n->form.channels += x->channels;
    }
    set_open_layout(n);
    return KILN_OK;
}

static kiln_status infer_split(kiln_graph *g, int i)
{
    kiln_graph_node *n = &g->node[i];
    const kiln_status status = count_sources(g, i, 1);
    if (status)
        return status;
    n->form = *source(g, i, 0);
    if (n->node.first < 0 || n->node.channels < 1 ||
        n->node.channels > n->form.channels - n->node.first)
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "channels %lld and %lld behind them are not among the %lld of its "
                               "source",
                               (long long)n->node.first, (long long)n->node.channels - 1,
                               (long long)n->form.channels);
    n->form.channels = n->node.channels;
    set_open_layout(n);
    return KILN_OK;
}

static kiln_status infer(kiln_graph *g, int i, bool strict)
{
    switch (g->node[i].node.kind) {
    case KILN_NODE_CONV:
        return infer_conv(g, i, strict);
    case KILN_NODE_POOL:
        return infer_pool(g, i, strict);
    case KILN_NODE_CONCAT:
        return infer_concat(g, i);
    case KILN_NODE_SPLIT:
        return infer_split(g, i);
    case KILN_NODE_FOREIGN:
        return infer_foreign(g, i);
    case KILN_NODE_INPUT:
        return infer_input(g, i);
    default:
        return kiln_graph_fail(g, i, KILN_INVALID, "its kind is %d, none of kiln_node_kind",
                               (int)g->node[i].node.kind);
    }
}

kiln_status kiln_graph_infer(kiln_graph *g, int i, bool strict)
{
    const kiln_status status = infer(g, i, strict);
    return status ? status : check_form(g, i);
}
