/* Makes the operations of a planned network. */
#include "build.h"

#include "generator/problem/problem_layout.h"
#include "runtime/kiln/probes.h"
#include "runtime/op/first_use.h"

#include <stdlib.h>
#include <string.h>

static kiln_status plan_conv(kiln *k, const kiln_graph *g, int i, kiln_net_build *b)
{
    const kiln_choice choice = {.packed_weights = 1};
    kiln_net_node *n = &b->node[i];
    if (kiln_layout_is_any(g->node[i].problem.w_layout))
        return kiln_graph_fail(g, i, KILN_INVALID,
                               "the layout of w is \"any\"; say how the weights lie");
    const kiln_status status = kiln_op_plan_new(k, &b->plan.node[i].problem, &choice, &n->op);
    if (status)
        return kiln_graph_fail(g, i, status, "%.200s", kiln_last_error());
    b->plan.node[i].problem = n->op->problem;
    const int64_t workspace = kiln_plan_workspace(&n->op->plan, true);
    if (workspace > b->workspace_size)
        b->workspace_size = workspace;
    b->packed_size += n->op->plan.packed_bytes;
    return KILN_OK;
}

kiln_status kiln_net_build_plan(kiln *k, const kiln_graph *g, kiln_net_build *b)
{
    *b = (kiln_net_build){.node = calloc((size_t)g->count, sizeof *b->node),
                          .pending = calloc(1, sizeof *b->pending)};
    kiln_status status = b->node && b->pending
                             ? kiln_net_plan_make(k, g, &b->plan)
                             : kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
    for (int i = 0; i < g->count && !status; i++) {
        b->node[i].move = calloc((size_t)g->node[i].sources + 1, sizeof *b->node[i].move);
        if (!b->node[i].move)
            status = kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
        else if (g->node[i].node.kind == KILN_NODE_CONV)
            status = plan_conv(k, g, i, b);
    }
    if (status)
        kiln_net_build_free(g, b);
    return status;
}

/* The copy of a source of a concatenation into its range, or of a split out of its source. */
static kiln_pool copy_of(const kiln_graph *g, const kiln_net_plan *plan, int i, int j)
{
    const kiln_form *own = &plan->node[i].form;
    const kiln_form *from = &plan->node[plan->node[i].source[j].node].form;
    const bool split = g->node[i].node.kind == KILN_NODE_SPLIT;
    kiln_pool p = {.spatial_rank = own->spatial_rank,
                   .x_type = own->type,
                   .batch = own->batch,
                   .channels = split ? own->channels : from->channels};
    memcpy(p.input, own->size, sizeof p.input);
    memcpy(p.x_layout, from->layout, sizeof p.x_layout);
    memcpy(p.y_layout, own->layout, sizeof p.y_layout);
    if (split) {
        p.x_range = (kiln_channel_range){g->node[i].node.first, from->channels};
        return p;
    }
    p.y_range.of = own->channels;
    for (int before = 0; before < j; before++)
        p.y_range.first += plan->node[plan->node[i].source[before].node].form.channels;
    return p;
}

/* The net keeps its own buffers until they are no longer in use, and flushes (run.c). What it does
 * with the caller's buffers is for the caller to promise. */
static void promise(const kiln_node_plan *n, int sources, const kiln_place *to, kiln_op *op)
{
    bool own = to->base == KILN_IN_ARENA;
    for (int j = 0; j < sources; j++)
        own = own && n->source[j].place.base == KILN_IN_ARENA;
    if (own)
        kiln_op_promise(op);
}

static kiln_status make_moves(kiln *k, const kiln_graph *g, kiln_net_build *b, int i)
{
    const kiln_node_plan *n = &b->plan.node[i];
    kiln_status status = KILN_OK;
    for (int j = 0; j < g->node[i].sources && !status; j++) {
        const kiln_source_plan *s = &n->source[j];
        const kiln_pool copy = copy_of(g, &b->plan, i, j);
        if (s->way == KILN_WAY_REFORMAT)
            status = kiln_reformat_create(k, &s->reformat, &b->node[i].move[j]);
        else if (s->way == KILN_WAY_COPY)
            status = kiln_pool_create(k, &copy, &b->node[i].move[j]);
        /* A move reads what the source's node wrote, wherever it goes. */
        if (!status && b->node[i].move[j] && b->plan.node[s->node].place.base == KILN_IN_ARENA)
            promise(n, 0, s->way == KILN_WAY_COPY ? &n->place : &s->place, b->node[i].move[j]);
    }
    return status;
}

/* One of the operations that are waited for is compiled. */
static void has_compiled(void *user)
{
    kiln_net_pending *p = user;
    if (atomic_fetch_sub(&p->count, 1) == 1 && p->ready)
        p->ready(p->user);
}

static kiln_status make_conv(kiln_net_build *b, int i, int sources, bool quick)
{
    kiln_op *op = b->node[i].op;
    const kiln_status status = kiln_op_make(op, &b->plan.node[i].problem, quick);
    if (!status)
        promise(&b->plan.node[i], sources, &b->plan.node[i].place, op);
    if (status || !op->stand_in)
        return status;
    atomic_fetch_add(&b->pending->count, 1);
    kiln_first_use_start(op, has_compiled, b->pending);
    return KILN_OK;
}

static kiln_status make_pool(kiln *k, kiln_net_build *b, int i, int sources)
{
    const kiln_node_plan *n = &b->plan.node[i];
    const kiln_status status = kiln_pool_create(k, &n->pool, &b->node[i].op);
    if (!status)
        promise(n, sources, &n->place, b->node[i].op);
    return status;
}

kiln_status kiln_net_build_compile(kiln *k, const kiln_graph *g, kiln_net_build *b, bool quick)
{
    kiln_status status = KILN_OK;
    kiln_probe_promises(k);
    atomic_init(&b->pending->count, 1); /* so that no operation is the last one before the end */
    for (int i = 0; i < g->count && !status; i++) {
        status = make_moves(k, g, b, i);
        if (!status && g->node[i].node.kind == KILN_NODE_CONV)
            status = make_conv(b, i, g->node[i].sources, quick);
        if (!status && g->node[i].node.kind == KILN_NODE_POOL)
            status = make_pool(k, b, i, g->node[i].sources);
        if (status)
            status = kiln_graph_fail(g, i, status, "%.200s", kiln_last_error());
    }
    if (!status)
        has_compiled(b->pending);
    return status;
}

static void release_mem(cl_mem *mem)
{
    if (*mem)
        clReleaseMemObject(*mem);
    *mem = NULL;
}

void kiln_net_build_drop_weights(kiln_net_build *b)
{
    for (int i = 0; i < b->plan.count; i++)
        if (b->node[i].is_packed)
            release_mem(&b->node[i].constant[0]);
}

void kiln_net_build_free(const kiln_graph *g, kiln_net_build *b)
{
    for (int i = 0; b->node && i < g->count; i++) {
        kiln_net_node *n = &b->node[i];
        for (int j = 0; n->move && j < g->node[i].sources; j++)
            kiln_op_release(n->move[j]);
        free(n->move);
        kiln_op_release(n->op);
        for (int c = 0; c < KILN_NODE_CONSTANTS; c++)
            release_mem(&n->constant[c]);
        release_mem(&n->packed);
    }
    free(b->node);
    free(b->pending);
    kiln_net_plan_free(&b->plan);
    *b = (kiln_net_build){.node = NULL};
}
