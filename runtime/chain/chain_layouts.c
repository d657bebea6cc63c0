/* Asks every solver which layouts it prefers, and the chooser what a link takes in each pair. */
#include "chain_layouts.h"

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
    if (set->count == KILN_CHAIN_LAYOUTS || kiln_layout_is_any(layout) || !is_buffer(layout))
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

/* Sets what the link itself would have. */
static void prefer(const kiln *k, const kiln_link *link, kiln_link_costs *c)
{
    preference list[MOST_SOLVERS];
    const kiln_problem *p = &link->problem;
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

static bool is_same(const kiln_problem *a, const kiln_problem *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

void kiln_chain_candidates(const kiln *k, const kiln_link *links, int count, kiln_link_costs *costs)
{
    for (int i = 0; i < count; i++) {
        int same = 0;
        while (!is_same(&links[same].problem, &links[i].problem))
            same++;
        costs[i] = same < i ? costs[same] : (kiln_link_costs){0};
        if (same == i)
            prefer(k, &links[i], &costs[i]);
    }
    /* A tensor may also have what those prefer that read it. */
    for (int i = 0; i < count; i++) {
        kiln_link_costs *from = &costs[i - links[i].x_back];
        if (links[i].x_back && kiln_layout_is_any(links[i - links[i].x_back].problem.y_layout))
            add_all(&from->y, &costs[i].x);
    }
    for (int i = 0; i < count; i++) {
        if (links[i].residual_back && kiln_layout_is_any(links[i].problem.y_layout))
            add_all(&costs[i].y, &costs[i - links[i].residual_back].y);
        if (links[i].x_back && kiln_layout_is_any(links[i].problem.x_layout))
            add_all(&costs[i].x, &costs[i - links[i].x_back].y);
    }
}

/* ---- times ---- */

double kiln_chain_reformat_ms(const kiln *k, const kiln_problem *p, const char *from,
                              const char *to)
{
    double bytes = 0;
    if (strcmp(from, to) == 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        kiln_problem q = *p;
        memset(q.y_layout, 0, sizeof q.y_layout);
        strcpy(q.y_layout, i ? to : from);
        bytes += (double)kiln_problem_bytes(&q, 'y', NULL);
    }
    return kiln_device_next_launch_ms(&k->facts) + kiln_device_move_ms(&k->facts, bytes);
}

/* Rows are left aside: they cover a few pairs of a link, and were measured at other times, so that
 * their times tell less of the difference between two pairs than two predictions do. */
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

kiln_status kiln_chain_costs(kiln *k, const kiln_link *links, int i, kiln_link_costs *costs)
{
    kiln_link_costs *c = &costs[i];
    kiln_status status = KILN_OK;
    bool any = false;
    for (int same = 0; same < i; same++)
        if (is_same(&links[same].problem, &links[i].problem) &&
            are_same_sets(&costs[same].x, &c->x) && are_same_sets(&costs[same].y, &c->y)) {
            memcpy(c->ms, costs[same].ms, sizeof c->ms);
            return KILN_OK;
        }
    for (int a = 0; a < c->x.count; a++)
        for (int b = 0; b < c->y.count; b++) {
            const kiln_status one =
                time_pair(k, &links[i].problem, c->x.name[a], c->y.name[b], &c->ms[a][b]);
            any = any || !one;
            status = one ? one : status;
        }
    return any ? KILN_OK : status;
}
