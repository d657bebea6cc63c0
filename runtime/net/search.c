/* A state says which layouts the tensors in use have after a step, and the lowest time to get
 * there. All states of a step that agree on the tensors still in use are one. */
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 4096 };

typedef struct state {
    unsigned char layout[KILN_NET_LIVE]; /* of the tensors in use, in the order of their steps */
    unsigned char own;                   /* of the tensor that the step wrote */
    int before;                          /* the state of the step before */
    double ms;
} state;

/* The states after a step, and which tensors they tell of. */
typedef struct front {
    int live[KILN_NET_LIVE], nlive;
    state *states;
    int count;
} front;

/* Sets last[t] to the last step that reads tensor t; t where none does. */
static void find_last(const kiln_net_step *steps, int count, int *last)
{
    for (int i = 0; i < count; i++) {
        last[i] = i;
        for (int j = 0; j < steps[i].sources; j++)
            last[steps[i].from[j]] = i;
    }
}

/* Lists the tensors that steps behind `step` read. Returns false when there are too many. */
static bool list_live(front *f, const front *before, const int *last, int step)
{
    f->nlive = 0;
    for (int i = 0; i < before->nlive; i++)
        if (last[before->live[i]] > step)
            f->live[f->nlive++] = before->live[i];
    if (last[step] == step)
        return true;
    if (f->nlive == KILN_NET_LIVE)
        return false;
    f->live[f->nlive++] = step;
    return true;
}

static int layout_of(const front *f, const state *s, int tensor)
{
    for (int i = 0; i < f->nlive; i++)
        if (f->live[i] == tensor)
            return s->layout[i];
    return 0;
}

static double step_ms(const kiln_net_step *step, const front *f, const state *s, int own)
{
    double ms = step->own[own];
    for (int j = 0; j < step->sources; j++)
        ms += step->ms[j][layout_of(f, s, step->from[j])][own];
    return ms;
}

/* States with the same layouts stand together, the fastest first. */
static int by_layout(const void *a, const void *b)
{
    const state *s = a, *t = b;
    const int order = memcmp(s->layout, t->layout, sizeof s->layout);
    return order ? order : (s->ms > t->ms) - (s->ms < t->ms);
}

static int by_ms(const void *a, const void *b)
{
    const state *s = a, *t = b;
    return (s->ms > t->ms) - (s->ms < t->ms);
}

static int unite(state *s, int count)
{
    int kept = 0;
    qsort(s, (size_t)count, sizeof *s, by_layout);
    for (int i = 0; i < count; i++)
        if (kept == 0 || memcmp(s[kept - 1].layout, s[i].layout, sizeof s->layout) != 0)
            s[kept++] = s[i];
    return kept;
}

/* Makes the states after a step from the states before it. */
static kiln_net_found advance(const kiln_net_step *step, int i, const int *last, const front *from,
                              front *to)
{
    if (!list_live(to, from, last, i))
        return KILN_NET_TOO_MANY;
    to->states = calloc((size_t)from->count * (size_t)step->layouts, sizeof *to->states);
    if (!to->states)
        return KILN_NET_NO_MEMORY;
    for (int b = 0; b < from->count; b++)
        for (int own = 0; own < step->layouts; own++) {
            state s = {.own = (unsigned char)own, .before = b};
            s.ms = from->states[b].ms + step_ms(step, from, &from->states[b], own);
            for (int l = 0; l < to->nlive; l++)
                s.layout[l] = (unsigned char)(to->live[l] == i
                                                  ? own
                                                  : layout_of(from, &from->states[b], to->live[l]));
            if (isfinite(s.ms))
                to->states[to->count++] = s;
        }
    to->count = unite(to->states, to->count);
    if (to->count <= MOST_STATES)
        return to->count > 0 ? KILN_NET_EXACT : KILN_NET_NONE;
    qsort(to->states, (size_t)to->count, sizeof *to->states, by_ms);
    to->count = MOST_STATES;
    return KILN_NET_GOOD;
}

/* Goes back from the fastest state at the end. */
static double trace(const front *fronts, int count, int *layout)
{
    const front *end = &fronts[count];
    int at = 0;
    for (int i = 1; i < end->count; i++)
        if (end->states[i].ms < end->states[at].ms)
            at = i;
    const double ms = end->states[at].ms;
    for (int i = count; i > 0; i--) {
        layout[i - 1] = fronts[i].states[at].own;
        at = fronts[i].states[at].before;
    }
    return ms;
}

static kiln_net_found advance_all(const kiln_net_step *steps, int count, const int *last,
                                  front *fronts)
{
    kiln_net_found found = KILN_NET_EXACT;
    for (int i = 0; i < count && found <= KILN_NET_GOOD; i++) {
        const kiln_net_found one = advance(&steps[i], i, last, &fronts[i], &fronts[i + 1]);
        found = one > found ? one : found;
    }
    return found;
}

kiln_net_found kiln_net_search(const kiln_net_step *steps, int count, int *layout, double *ms)
{
    kiln_net_found found = KILN_NET_NO_MEMORY;
    front *fronts = calloc((size_t)count + 1, sizeof *fronts);
    int *last = calloc((size_t)count, sizeof *last);
    if (fronts)
        fronts[0] = (front){.states = calloc(1, sizeof(state)), .count = 1};
    if (fronts && fronts[0].states && last) {
        find_last(steps, count, last);
        found = advance_all(steps, count, last, fronts);
    }
    if (found <= KILN_NET_GOOD)
        *ms = trace(fronts, count, layout);
    for (int i = 0; fronts && i <= count; i++)
        free(fronts[i].states);
    free(fronts);
    free(last);
    return found;
}
