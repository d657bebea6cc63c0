/* What earlier searches measured, in a search that goes on.
 *
 * A search that is killed again and again must come to its end, so it tries something new before it
 * repeats anything, and repeats no more than the final rounds need.
 */
#include "tuner.h"

static bool is_finalist(const kiln_tuner *t, size_t index)
{
    for (int i = 0; i < t->found.nfinalists; i++)
        if (t->found.finalist[i].index == index)
            return true;
    return false;
}

/* Returns the fastest of the first `end` candidates that an earlier search measured and that is no
 * finalist yet; list.count: there is none. */
static size_t fastest_known(const kiln_tuner *t, size_t end)
{
    const kiln_candidates *list = &t->list;
    size_t best = list->count;
    for (size_t i = 0; i < end; i++) {
        const kiln_candidate *c = &list->at[i];
        if (c->known && c->measured > 0 && !is_finalist(t, i) &&
            (best == list->count || c->measured < list->at[best].measured))
            best = i;
    }
    return best;
}

static kiln_times times_of(const kiln_trial *known)
{
    return (kiln_times){known->ms, known->iqr, known->runs};
}

static void recall(kiln_tuner *t, size_t index)
{
    if (index == t->list.count || is_finalist(t, index))
        return;
    const kiln_candidate *c = &t->list.at[index];
    if (!c->known || c->measured <= 0) /* what crashed must not be tried again */
        return;
    const kiln_result r = {
        .candidate = *c, .index = index, .times = times_of(c->known), .error = c->known->error};
    kiln_finalists_place(&t->found, &r);
}

void kiln_recall(kiln_tuner *t)
{
    recall(t, fastest_known(t, t->list.firsts));
    if (t->list.guess < t->list.firsts)
        recall(t, t->list.guess);
    for (int n = 0; n < KILN_FASTEST; n++)
        recall(t, fastest_known(t, kiln_candidates_untried(&t->list)));
}

/* Repeats a trial. Where it cannot be judged now, what was known stays. */
static bool repeat(kiln_tuner *t, size_t index)
{
    kiln_result before;
    if (!kiln_finalists_take(&t->found, index, &before))
        return false;
    const bool judged = kiln_trial_run(t, index);
    if (!judged)
        kiln_finalists_place(&t->found, &before);
    return judged;
}

/* Returns the fastest finalist among the first `end` candidates that this search has not run. */
static const kiln_result *recalled(const kiln_tuner *t, size_t end)
{
    for (int i = 0; i < t->found.nfinalists; i++)
        if (!t->found.finalist[i].op && t->found.finalist[i].index < end)
            return &t->found.finalist[i];
    return NULL;
}

void kiln_recall_pace(kiln_tuner *t)
{
    const kiln_result *first = recalled(t, t->list.firsts);
    if (first && !t->stopped)
        repeat(t, first->index);
    for (int i = 0; i < t->found.nfinalists && !t->stopped; i++)
        if (t->found.finalist[i].index == t->list.guess && !t->found.finalist[i].op) {
            repeat(t, t->list.guess);
            return;
        }
}

void kiln_recall_rest(kiln_tuner *t)
{
    const kiln_result *next;
    while (!t->stopped && !kiln_bench_is_late(&t->bench) && (next = recalled(t, t->list.count)) &&
           repeat(t, next->index))
        ;
}

void kiln_recall_times(kiln_tuner *t)
{
    kiln_result of;
    for (size_t i = 0; i < kiln_candidates_untried(&t->list); i++) {
        kiln_candidate *c = &t->list.at[i];
        if (!c->known || c->measured <= c->known->ms) /* 0: it failed now */
            continue;
        c->measured = c->known->ms;
        if (kiln_finalists_take(&t->found, i, &of)) {
            of.times = times_of(c->known);
            of.win = (kiln_win){0};
            kiln_finalists_place(&t->found, &of);
        }
    }
    kiln_recall(t);
}
