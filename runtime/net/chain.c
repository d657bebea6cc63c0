/* Plans links as the graph that they are: tensors from outside are its inputs, and nothing is kept.
 */
#include "generator/problem/problem_layout.h"
#include "runtime/choose/choose.h"

#include "chain_check.h"
#include "plan.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LINKS = 4096 };

/* Adds an input that is the x of a link, or its residual. Its layout is the chain's to decide where
 * that of the link's tensor is. Returns its number; 0: no memory. */
static int add_input(kiln_graph *g, const kiln_problem *p, bool residual)
{
    kiln_node node = {.kind = KILN_NODE_INPUT,
                      .form = {.type = residual ? p->y_type : p->x_type,
                               .spatial_rank = p->spatial_rank,
                               .batch = p->batch,
                               .channels = residual ? p->out_channels : p->in_channels}};
    const char *layout = residual ? p->y_layout : p->x_layout;
    const bool open = kiln_layout_is_any(layout);
    for (int a = 0; a < p->spatial_rank; a++)
        node.form.size[a] = residual ? kiln_problem_output(p, a) : p->input[a];
    if (!open)
        memcpy(node.form.layout, layout, sizeof node.form.layout);
    const int number = kiln_graph_add(g, &node);
    if (number && open)
        strcpy(g->node[number - 1].form.layout, "any");
    return number;
}

/* Adds a link and the tensors from outside that it reads. node[i] is the number of link i. */
static bool add_link(kiln_graph *g, const kiln_link *links, int i, int *node)
{
    const kiln_link *l = &links[i];
    kiln_node n = {.problem = l->problem};
    n.from[0] = l->x_back ? node[i - l->x_back] : add_input(g, &l->problem, false);
    if (l->problem.epilogue.beta != 0)
        n.from[1] = l->residual_back ? node[i - l->residual_back] : add_input(g, &l->problem, true);
    node[i] = kiln_graph_add(g, &n);
    return node[i] != 0;
}

/* Sets the layouts of weights and bias as the solver has them. */
static kiln_status set_problem(kiln *k, kiln_link *l, const kiln_problem *planned)
{
    kiln_pick pick;
    l->problem = *planned;
    const kiln_shape shape = kiln_shape_of(&l->problem);
    const kiln_status status = kiln_choose(k, &l->problem, &shape, NULL, &pick);
    if (!status)
        kiln_shape_give_layouts(&pick.shape, &l->problem);
    return status;
}

static kiln_status take_plan(kiln *k, const kiln_net_plan *plan, int node, kiln_link *l)
{
    const kiln_node_plan *n = &plan->node[node - 1];
    const kiln_source_plan *x = &n->source[0], *residual = &n->source[1];
    l->x_reformat = l->residual_reformat = (kiln_reformat){0};
    if (l->x_back && x->way == KILN_WAY_REFORMAT)
        l->x_reformat = x->reformat;
    if (l->residual_back && residual->way == KILN_WAY_REFORMAT)
        l->residual_reformat = residual->reformat;
    l->x_offset = l->x_back ? x->place.offset : -1;
    l->residual_offset = l->residual_back ? residual->place.offset : -1;
    l->y_offset = n->place.offset;
    l->predicted_ms = n->predicted_ms;
    return set_problem(k, l, &n->problem);
}

static kiln_status decide(kiln *k, kiln_link *links, int count, kiln_chain_info *info,
                          kiln_graph *g, int *node)
{
    kiln_net_plan plan;
    for (int i = 0; i < count; i++)
        if (!add_link(g, links, i, node))
            return g->status;
    kiln_status status = kiln_net_plan_make(k, g, &plan);
    if (status)
        return status;
    *info = (kiln_chain_info){.predicted_ms = plan.predicted_ms,
                              .reformats = plan.reformats,
                              .exact = plan.exact,
                              .arena_size = plan.arena_size};
    for (int i = 0; i < count && !status; i++)
        status = take_plan(k, &plan, node[i], &links[i]);
    kiln_net_plan_free(&plan);
    return status;
}

static kiln_status check_and_decide(kiln *k, kiln_link *links, int count, kiln_chain_info *info)
{
    kiln_graph *g = kiln_graph_new();
    int *node = calloc((size_t)count, sizeof *node);
    kiln_status status = g && node ? kiln_chain_check(links, count)
                                   : kiln_fail(KILN_NO_MEMORY, "out of memory for a chain");
    if (!status)
        status = decide(k, links, count, info, g, node);
    kiln_graph_release(g);
    free(node);
    return status;
}

kiln_status kiln_chain(kiln *k, kiln_link *links, size_t count, kiln_chain_info *info)
{
    kiln_chain_info own = {0};
    if (info)
        *info = own;
    if (!k || (count > 0 && !links))
        return kiln_fail(KILN_INVALID, "kiln_chain: k and links must not be NULL");
    if (kiln_process_check(k))
        return KILN_INVALID;
    if (count > MOST_LINKS)
        return kiln_fail(KILN_INVALID, "kiln_chain: %zu links; %d are the most", count, MOST_LINKS);
    if (count == 0)
        return KILN_OK;
    kiln_link *copy = malloc(count * sizeof *copy);
    if (!copy)
        return kiln_fail(KILN_NO_MEMORY, "out of memory for a chain");
    memcpy(copy, links, count * sizeof *copy);
    kiln_status status = check_and_decide(k, copy, (int)count, &own);
    if (!status) {
        memcpy(links, copy, count * sizeof *copy);
        if (info)
            *info = own;
    }
    free(copy);
    return status;
}
