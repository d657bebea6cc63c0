/* Decides the layouts of a network. */
#include "plan.h"

#include "generator/plan/shape.h"
#include "runtime/kiln/probes.h"

#include "layouts.h"
#include "range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the search works on. */
typedef struct tables {
    kiln_node_costs *costs;
    kiln_net_step *steps;
    int *layout;
    int *from; /* of all sources, one behind the other, as is */
    kiln_layout_times *ms;
    int *first; /* of node i, in these */
    int *home;  /* the concatenation in which a node's tensor may lie; -1: none */
} tables;

/* ---- ranges of channels ---- */

/* Returns whether a tensor may be written in place of a range of a concatenation, which reads it:
 * the node chooses where its result lies. */
static bool may_lie_in(const kiln_graph *g, int node, int concat)
{
    const kiln_graph_node *n = &g->node[node];
    int reads = 0;
    for (int j = 0; j < g->node[concat].sources; j++)
        reads += kiln_graph_source(g, concat, j) == node;
    return reads == 1 && !n->node.kept && n->node.kind != KILN_NODE_INPUT &&
           n->node.kind != KILN_NODE_SPLIT;
}

/* The first concatenation that reads a tensor has it in place. */
static void find_homes(const kiln_graph *g, int *home)
{
    for (int i = 0; i < g->count; i++)
        home[i] = -1;
    for (int i = 0; i < g->count; i++)
        for (int j = 0; g->node[i].node.kind == KILN_NODE_CONCAT && j < g->node[i].sources; j++) {
            const int from = kiln_graph_source(g, i, j);
            if (home[from] < 0 && may_lie_in(g, from, i))
                home[from] = i;
        }
}

static int64_t first_channel(const kiln_graph *g, int concat, int source)
{
    int64_t first = 0;
    for (int j = 0; j < source; j++)
        first += g->node[kiln_graph_source(g, concat, j)].form.channels;
    return first;
}

/* Whether source `j` of node `i` is a range of the same bytes in this layout. */
static bool lies_in_place(const kiln *k, const kiln_graph *g, const int *home, int i, int j,
                          const char *layout, int64_t *range)
{
    const int from = kiln_graph_source(g, i, j);
    const kiln_form *own = &g->node[i].form, *other = &g->node[from].form;
    const bool split = g->node[i].node.kind == KILN_NODE_SPLIT;
    if (split ? g->node[i].node.kept : home[from] != i)
        return false;
    const bool whole =
        split ? kiln_range_is_tensor(other, own, g->node[i].node.first, layout, range)
              : kiln_range_is_tensor(own, other, first_channel(g, i, j), layout, range);
    const int64_t align = k->facts.base_align > 0 ? k->facts.base_align : 1;
    return whole && *range % align == 0;
}

/* ---- what the search is told ---- */

static double source_ms(const kiln *k, const kiln_graph *g, const int *home, int i, int j,
                        const char *from, const char *to)
{
    const kiln_form *form = &g->node[kiln_graph_source(g, i, j)].form;
    int64_t range;
    switch (g->node[i].node.kind) {
    case KILN_NODE_POOL: /* reads x in any layout, but slower */
        return j > 0 ? kiln_net_reformat_ms(k, form, from, to)
                     : 2 * kiln_net_reformat_ms(k, form, from, to);
    case KILN_NODE_CONCAT:
    case KILN_NODE_SPLIT:
        return strcmp(from, to) == 0 && lies_in_place(k, g, home, i, j, to, &range)
                   ? 0
                   : kiln_net_copy_ms(k, form, from, to);
    case KILN_NODE_FOREIGN:
        return kiln_net_reformat_ms(k, form, from, g->node[i].node.takes);
    default:
        return kiln_net_reformat_ms(k, form, from, to);
    }
}

/* Fills the table of a convolution's x: for each layout in which it was written, the best one to
 * read it in. */
static void make_conv_times(const kiln *k, const kiln_graph *g, int i, kiln_node_costs *costs,
                            kiln_layout_times ms)
{
    kiln_node_costs *c = &costs[i];
    const int from = kiln_graph_source(g, i, 0);
    const kiln_layout_set *written = &costs[from].y;
    for (int a = 0; a < written->count; a++)
        for (int own = 0; own < c->x.count; own++) {
            const double move =
                kiln_net_reformat_ms(k, &g->node[from].form, written->name[a], c->x.name[own]);
            for (int b = 0; b < c->y.count; b++) {
                const double all = c->ms[own][b] + move;
                if (own > 0 && all >= ms[a][b])
                    continue;
                ms[a][b] = all;
                c->best_x[a][b] = own;
            }
        }
}

static void make_step(const kiln *k, const kiln_graph *g, int i, const tables *t)
{
    kiln_node_costs *c = &t->costs[i];
    const int sources = g->node[i].sources;
    kiln_layout_times *ms = &t->ms[t->first[i]];
    t->steps[i] = (kiln_net_step){
        .sources = sources, .from = &t->from[t->first[i]], .ms = ms, .layouts = c->y.count};
    memcpy(t->steps[i].own, c->own, sizeof c->own);
    for (int j = 0; j < sources; j++) {
        const kiln_layout_set *from = &t->costs[t->from[t->first[i] + j]].y;
        if (j == 0 && g->node[i].node.kind == KILN_NODE_CONV) {
            make_conv_times(k, g, i, t->costs, ms[0]);
            continue;
        }
        for (int a = 0; a < from->count; a++)
            for (int b = 0; b < c->y.count; b++)
                ms[j][a][b] = source_ms(k, g, t->home, i, j, from->name[a], c->y.name[b]);
    }
}

static kiln_status search(const tables *t, int count, kiln_net_plan *plan)
{
    double weighed;
    switch (kiln_net_search(t->steps, count, t->layout, &weighed)) {
    case KILN_NET_EXACT:
        plan->exact = 1;
        return KILN_OK;
    case KILN_NET_GOOD:
        return KILN_OK;
    case KILN_NET_NONE:
        return kiln_fail(KILN_UNSUPPORTED, "no layouts suit all nodes of the net");
    case KILN_NET_TOO_MANY:
        return kiln_fail(KILN_UNSUPPORTED,
                         "more than %d tensors of the net are in use at once; cut it into parts",
                         KILN_NET_LIVE);
    default:
        return kiln_fail(KILN_NO_MEMORY, "out of memory for the layouts of a net");
    }
}

/* ---- what it found ---- */

/* Says which reformat leads from a tensor to another layout. Returns whether there is one. */
static bool set_reformat(const kiln_form *from, const char *to, kiln_reformat *r)
{
    kiln_storage storage;
    *r = (kiln_reformat){.from_type = from->type, .to_type = from->type};
    if (strcmp(from->layout, to) == 0 || !kiln_form_storage(from, from->layout, &storage, NULL))
        return false;
    memcpy(r->dims, storage.layout.dims, sizeof r->dims);
    memcpy(r->size, storage.dim, sizeof r->size);
    strcpy(r->from, from->layout);
    strcpy(r->to, to);
    return true;
}

static void copy_layout(char *to, const char *from)
{
    memset(to, 0, KILN_LAYOUT_TEXT);
    memcpy(to, from, strnlen(from, KILN_LAYOUT_TEXT - 1));
}

/* Decides how a node comes by its source `j`. */
static void settle_source(const kiln *k, const kiln_graph *g, const tables *t, int i, int j,
                          kiln_net_plan *plan)
{
    kiln_node_plan *n = &plan->node[i];
    kiln_source_plan *s = &n->source[j];
    const kiln_form *from = &plan->node[s->node].form;
    const kiln_node_kind kind = g->node[i].node.kind;
    s->way = KILN_WAY_DIRECT;
    if (kind == KILN_NODE_CONCAT || kind == KILN_NODE_SPLIT) {
        if (strcmp(from->layout, n->form.layout) != 0 ||
            !lies_in_place(k, g, t->home, i, j, n->form.layout, &s->range))
            s->way = KILN_WAY_COPY;
        plan->copies += s->way == KILN_WAY_COPY;
        return;
    }
    if (kind == KILN_NODE_POOL && j == 0)
        return;
    const char *wanted = kind == KILN_NODE_FOREIGN          ? g->node[i].node.takes
                         : kind == KILN_NODE_CONV && j == 0 ? n->problem.x_layout
                                                            : n->form.layout;
    if (set_reformat(from, wanted, &s->reformat))
        s->way = KILN_WAY_REFORMAT;
    plan->reformats += s->way == KILN_WAY_REFORMAT;
}

static void settle(const kiln *k, const kiln_graph *g, const tables *t, int i, kiln_net_plan *plan)
{
    kiln_node_plan *n = &plan->node[i];
    const kiln_net_step *step = &t->steps[i];
    const kiln_node_costs *c = &t->costs[i];
    n->form = g->node[i].form;
    n->problem = g->node[i].problem;
    n->pool = g->node[i].pool;
    copy_layout(n->form.layout, c->y.name[t->layout[i]]);
    if (g->node[i].node.kind == KILN_NODE_CONV) {
        const int a = t->layout[step->from[0]];
        copy_layout(n->problem.x_layout, c->x.name[c->best_x[a][t->layout[i]]]);
        copy_layout(n->problem.y_layout, n->form.layout);
    }
    n->predicted_ms = step->own[t->layout[i]];
    for (int j = 0; j < step->sources; j++) {
        n->source[j].node = step->from[j];
        n->predicted_ms += step->ms[j][t->layout[step->from[j]]][t->layout[i]];
        settle_source(k, g, t, i, j, plan);
    }
    if (g->node[i].node.kind == KILN_NODE_POOL) {
        copy_layout(n->pool.x_layout, plan->node[n->source[0].node].form.layout);
        copy_layout(n->pool.y_layout, n->form.layout);
    }
    plan->predicted_ms += n->predicted_ms;
}

/* ---- the whole ---- */

static void probe(kiln *k, const kiln_graph *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->node[i].node.kind == KILN_NODE_CONV) {
            const kiln_shape shape = kiln_shape_of(&g->node[i].problem);
            kiln_probe_for(k, &shape);
        }
    kiln_probe_pocl(k);
}

static kiln_status decide(kiln *k, const kiln_graph *g, const tables *t, kiln_net_plan *plan)
{
    kiln_status status = KILN_OK;
    probe(k, g);
    find_homes(g, t->home);
    kiln_net_candidates(k, g, t->costs);
    for (int i = 0; i < g->count && !status; i++) {
        status = kiln_net_costs(k, g, i, t->costs);
        if (status)
            return kiln_graph_fail(g, i, status, "%.200s", kiln_last_error());
        make_step(k, g, i, t);
    }
    status = search(t, g->count, plan);
    for (int i = 0; i < g->count && !status; i++)
        settle(k, g, t, i, plan);
    return status ? status : kiln_net_plan_place(k, g, plan);
}

static int count_sources(const kiln_graph *g)
{
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += g->node[i].sources;
    return count;
}

static bool make_tables(const kiln_graph *g, tables *t)
{
    const size_t nodes = (size_t)g->count, sources = (size_t)count_sources(g) + 1;
    *t = (tables){.costs = calloc(nodes, sizeof *t->costs),
                  .steps = calloc(nodes, sizeof *t->steps),
                  .layout = calloc(nodes, sizeof *t->layout),
                  .from = calloc(sources, sizeof *t->from),
                  .ms = calloc(sources, sizeof *t->ms),
                  .first = calloc(nodes, sizeof *t->first),
                  .home = calloc(nodes, sizeof *t->home)};
    if (!t->costs || !t->steps || !t->layout || !t->from || !t->ms || !t->first || !t->home)
        return false;
    int at = 0;
    for (int i = 0; i < g->count; i++) {
        t->first[i] = at;
        for (int j = 0; j < g->node[i].sources; j++)
            t->from[at++] = kiln_graph_source(g, i, j);
    }
    return true;
}

static void free_tables(tables *t)
{
    free(t->costs);
    free(t->steps);
    free(t->layout);
    free(t->from);
    free(t->ms);
    free(t->first);
    free(t->home);
}

static bool make_nodes(const kiln_graph *g, kiln_net_plan *plan)
{
    *plan = (kiln_net_plan){.node = calloc((size_t)g->count, sizeof *plan->node)};
    if (!plan->node)
        return false;
    for (plan->count = 0; plan->count < g->count; plan->count++) {
        kiln_node_plan *n = &plan->node[plan->count];
        n->source = calloc((size_t)g->node[plan->count].sources + 1, sizeof *n->source);
        if (!n->source)
            return false;
    }
    return true;
}

void kiln_net_plan_free(kiln_net_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        free(plan->node[i].source);
    free(plan->node);
    *plan = (kiln_net_plan){0};
}

kiln_status kiln_net_plan_make(kiln *k, const kiln_graph *g, kiln_net_plan *plan)
{
    tables t;
    const bool made = make_tables(g, &t) && make_nodes(g, plan);
    const kiln_status status =
        made ? decide(k, g, &t, plan) : kiln_fail(KILN_NO_MEMORY, "out of memory for a net");
    free_tables(&t);
    if (status)
        kiln_net_plan_free(plan);
    return status;
}
