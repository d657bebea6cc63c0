/* Asks every solver which layouts it prefers, and the chooser what a node takes in each pair. */
#include "layouts.h"

#include "generator/base/names.h"
#include "generator/plan/pool.h"
#include "generator/plan/reformat.h"
#include "generator/problem/problem_layout.h"
#include "runtime/choose/choose.h"

#include <math.h>
#include <string.h>

/* ---- candidates ---- */

static bool is_buffer(const char *layout)
{
    kiln_layout l;
    return kiln_layout_parse(&l, layout, NULL, NULL) && !l.image;
}

static void add(kiln_layout_set *set, const char *layout)
{
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->name[i], layout) == 0)
            return;
    if (set->count == KILN_NET_LAYOUTS || kiln_layout_is_any(layout) || !is_buffer(layout))
        return;
    memcpy(set->name[set->count++], layout, KILN_LAYOUT_TEXT);
}

static void add_all(kiln_layout_set *set, const kiln_layout_set *from)
{
    for (int i = 0; i < from->count; i++)
        add(set, from->name[i]);
}

/* What a solver makes of the open layouts, and how long it takes then. */
typedef struct preference {
    char x[KILN_LAYOUT_TEXT], y[KILN_LAYOUT_TEXT];
    double ms;
} preference;

enum { MOST_SOLVERS = 64 };

static int ask_all(const kiln *k, const kiln_problem *problem, preference list[MOST_SOLVERS])
{
    static const double hopeless = 1.5; /* times the best */
    const kiln_shape shape = kiln_shape_of(problem);
    const kiln_solver *solver;
    double best = INFINITY;
    int count = 0, kept = 0;
    for (int i = 0; (solver = kiln_solver_at(i)) && count < MOST_SOLVERS; i++) {
        kiln_pick pick;
        kiln_why why;
        kiln_problem p = *problem;
        if (!kiln_consider(k, solver, &shape, NULL, NULL, &pick, &why))
            continue;
        preference *one = &list[count++];
        kiln_shape_give_layouts(&pick.shape, &p);
        memcpy(one->x, p.x_layout, sizeof one->x);
        memcpy(one->y, p.y_layout, sizeof one->y);
        one->ms = pick.predicted_ms;
        best = fmin(best, one->ms);
    }
    for (int i = 0; i < count; i++)
        if (list[i].ms <= hopeless * best)
            list[kept++] = list[i];
    return kept;
}

static void close_set(kiln_layout_set *set, const char *layout)
{
    *set = (kiln_layout_set){0};
    add(set, layout);
}

/* Sets what the convolution itself would have. */
static void prefer(const kiln *k, const kiln_problem *p, kiln_node_costs *c)
{
    preference list[MOST_SOLVERS];
    const int n = ask_all(k, p, list);
    for (int i = 0; i < n; i++) {
        add(&c->x, list[i].x);
        add(&c->y, list[i].y);
    }
    kiln_problem plain = *p;
    kiln_problem_close(&plain);
    add(&c->x, plain.x_layout);
    add(&c->y, plain.y_layout);
    if (!kiln_layout_is_any(p->x_layout))
        close_set(&c->x, p->x_layout);
    if (!kiln_layout_is_any(p->y_layout))
        close_set(&c->y, p->y_layout);
}

static bool is_conv(const kiln_graph *g, int i)
{
    return g->node[i].node.kind == KILN_NODE_CONV;
}

/* Whether the net may decide the layout of what the node gives. */
static bool is_open(const kiln_graph *g, int i)
{
    return kiln_layout_is_any(g->node[i].form.layout);
}

/* Returns the first convolution that is the same problem. */
static int first_same(const kiln_graph *g, int i)
{
    int same = 0;
    while (!is_conv(g, same) ||
           memcmp(&g->node[same].problem, &g->node[i].problem, sizeof g->node[i].problem) != 0)
        same++;
    return same;
}

static void begin_sets(const kiln *k, const kiln_graph *g, int i, kiln_node_costs *costs)
{
    costs[i] = (kiln_node_costs){0};
    if (!is_conv(g, i)) {
        if (!is_open(g, i))
            close_set(&costs[i].y, g->node[i].form.layout);
        return;
    }
    const int same = first_same(g, i);
    if (same < i)
        costs[i] = costs[same];
    else
        prefer(k, &g->node[i].problem, &costs[i]);
}

/* Gives the tensors that node `i` reads the layouts that it prefers. */
static void ask_sources(const kiln_graph *g, int i, kiln_node_costs *costs)
{
    const kiln_node_kind kind = g->node[i].node.kind;
    for (int j = 0; j < g->node[i].sources; j++) {
        const int from = kiln_graph_source(g, i, j);
        if (!is_open(g, from))
            continue;
        if (kind == KILN_NODE_FOREIGN)
            add(&costs[from].y, g->node[i].node.takes);
        else if (kind != KILN_NODE_CONV)
            add_all(&costs[from].y, &costs[i].y);
        else if (j == 0)
            add_all(&costs[from].y, &costs[i].x);
    }
}

/* Gives node `i` the layouts that its sources have. */
static void ask_readers(const kiln_graph *g, int i, kiln_node_costs *costs)
{
    const bool conv = is_conv(g, i);
    for (int j = g->node[i].sources - 1; j >= 0; j--) {
        const kiln_layout_set *from = &costs[kiln_graph_source(g, i, j)].y;
        if (conv && j == 0 && kiln_layout_is_any(g->node[i].problem.x_layout))
            add_all(&costs[i].x, from);
        if (!(conv && j == 0) && is_open(g, i))
            add_all(&costs[i].y, from);
    }
    if (is_open(g, i) && costs[i].y.count == 0)
        add(&costs[i].y, kiln_plain_data_layout(g->node[i].form.spatial_rank));
}

void kiln_net_candidates(const kiln *k, const kiln_graph *g, kiln_node_costs *costs)
{
    for (int i = 0; i < g->count; i++)
        begin_sets(k, g, i, costs);
    for (int i = g->count - 1; i >= 0; i--)
        ask_sources(g, i, costs);
    for (int i = 0; i < g->count; i++)
        ask_readers(g, i, costs);
}

/* ---- times ---- */

double kiln_net_copy_ms(const kiln *k, const kiln_form *form, const char *from, const char *to)
{
    const double bytes = (double)kiln_form_bytes(form, from) + (double)kiln_form_bytes(form, to);
    return kiln_device_next_launch_ms(&k->facts) + kiln_device_move_ms(&k->facts, bytes);
}

double kiln_net_reformat_ms(const kiln *k, const kiln_form *form, const char *from, const char *to)
{
    return strcmp(from, to) == 0 ? 0 : kiln_net_copy_ms(k, form, from, to);
}

/* Rows are left aside: they cover a few pairs of a convolution, and were measured at other times,
 * so that their times tell less of the difference between two pairs than two predictions do. */
static kiln_status time_pair(kiln *k, const kiln_problem *problem, const char *x, const char *y,
                             double *ms)
{
    static const kiln_choice guess = {.ignore_rows = 1};
    kiln_problem p = *problem;
    memcpy(p.x_layout, x, sizeof p.x_layout);
    memcpy(p.y_layout, y, sizeof p.y_layout);
    const kiln_shape shape = kiln_shape_of(&p);
    kiln_pick pick = {0};
    kiln_status status = kiln_choose(k, &p, &shape, &guess, &pick);
    *ms = status ? INFINITY : pick.predicted_ms;
    return status;
}

static bool are_same_sets(const kiln_layout_set *a, const kiln_layout_set *b)
{
    return a->count == b->count && memcmp(a->name, b->name, sizeof a->name) == 0;
}

static kiln_status conv_costs(kiln *k, const kiln_graph *g, int i, kiln_node_costs *costs)
{
    kiln_node_costs *c = &costs[i];
    const kiln_problem *p = &g->node[i].problem;
    kiln_status status = KILN_OK;
    bool any = false;
    for (int same = first_same(g, i); same < i; same++)
        if (is_conv(g, same) && memcmp(&g->node[same].problem, p, sizeof *p) == 0 &&
            are_same_sets(&costs[same].x, &c->x) && are_same_sets(&costs[same].y, &c->y)) {
            memcpy(c->ms, costs[same].ms, sizeof c->ms);
            return KILN_OK;
        }
    for (int a = 0; a < c->x.count; a++)
        for (int b = 0; b < c->y.count; b++) {
            const kiln_status one = time_pair(k, p, c->x.name[a], c->y.name[b], &c->ms[a][b]);
            any = any || !one;
            status = one ? one : status;
        }
    return any ? KILN_OK : status;
}

/* A pool in layouts that do not fit its tensors cannot be. */
static double pool_ms(const kiln *k, const kiln_graph_node *n, const char *layout)
{
    kiln_pool p = n->pool;
    memset(p.x_layout, 0, sizeof p.x_layout);
    memset(p.y_layout, 0, sizeof p.y_layout);
    strcpy(p.x_layout, layout);
    strcpy(p.y_layout, layout);
    return kiln_pool_check(&p, NULL) == KILN_OK
               ? kiln_device_next_launch_ms(&k->facts) + kiln_pool_ms(&p, &k->facts)
               : INFINITY;
}

kiln_status kiln_net_costs(kiln *k, const kiln_graph *g, int i, kiln_node_costs *costs)
{
    if (is_conv(g, i))
        return conv_costs(k, g, i, costs);
    for (int b = 0; b < costs[i].y.count && g->node[i].node.kind == KILN_NODE_POOL; b++)
        costs[i].own[b] = pool_ms(k, &g->node[i], costs[i].y.name[b]);
    return KILN_OK;
}
