/* Shares the time of a run among its problems. */
#include "tune_rounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Trials of the grids without a faster config after which a search leaves its time to others; twice
 * as many in each further round. */
enum { PATIENCE = 24 };

/* A search that goes on needs seconds for tensors, the reference and the final rounds. */
static const double least_again = 8, least = 1;

/* Problems that would have less than this for one search get all of it in the first round. */
static const double worth_sharing = 10;

static bool makes_rounds(const tune_run *run)
{
    return run->options->total_time > 0;
}

static double time_left(const tune_run *run)
{
    return run->options->total_time - (kiln_run_seconds() - run->began);
}

static double weight_of(const tune_run *run, int item)
{
    const tune_item *it = &run->list->item[item];
    return run->options->profile && it->cost > 0 ? it->cost * (double)it->count : 1;
}

/* Returns whether one of two items is claimed and the other one is not. */
static bool differ_in_claims(const tune_kind *kind, int a, int b)
{
    return (kind->progress[a].claims > 0) != (kind->progress[b].claims > 0);
}

/* Returns whether an item comes before another one in the first round. Several devices end together
 * if the long problems do not come last. */
static bool is_sooner(const tune_run *run, const tune_kind *kind, int a, int b)
{
    if (differ_in_claims(kind, a, b))
        return kind->progress[a].claims == 0;
    return kind->devices > 1 && run->list->item[a].cost > run->list->item[b].cost;
}

static int next_waiting(const tune_run *run, const tune_kind *kind)
{
    int next = -1;
    for (size_t i = 0; i < run->list->count; i++)
        if (kind->state[i] == TUNE_WAITING && (next < 0 || is_sooner(run, kind, (int)i, next)))
            next = (int)i;
    return next;
}

/* Returns whether an item comes before another one in further rounds. */
static bool comes_before(const tune_run *run, const tune_kind *kind, int a, int b)
{
    const tune_progress *p = &kind->progress[a], *q = &kind->progress[b];
    if (differ_in_claims(kind, a, b))
        return p->claims == 0;
    if (p->rounds != q->rounds)
        return p->rounds < q->rounds;
    if (p->ended_late != q->ended_late)
        return p->ended_late;
    return weight_of(run, a) * log(p->gain) > weight_of(run, b) * log(q->gain);
}

static int next_again(const tune_run *run, const tune_kind *kind)
{
    int next = -1;
    for (size_t i = 0; i < run->list->count; i++)
        if (kind->state[i] == TUNE_AGAIN && (next < 0 || comes_before(run, kind, (int)i, next)))
            next = (int)i;
    return next;
}

int tune_rounds_next(const tune_run *run, const tune_kind *kind)
{
    const int next = next_waiting(run, kind);
    if (next >= 0 || !makes_rounds(run))
        return next;
    return time_left(run) < least_again ? -1 : next_again(run, kind);
}

/* What the round has left goes to the items that it has left, by their weight. */
static double share_of(const tune_run *run, const tune_kind *kind, int item)
{
    const bool first = kind->progress[item].rounds == 0;
    const double each = run->options->total_time * kind->devices / (double)run->list->count;
    double all = 0;
    for (size_t i = 0; i < run->list->count; i++) {
        const bool same = kind->progress[i].rounds == kind->progress[item].rounds;
        const bool waits = kind->state[i] == TUNE_WAITING || kind->state[i] == TUNE_AGAIN;
        all += (waits && same) || (int)i == item ? weight_of(run, (int)i) : 0;
    }
    double time = time_left(run);
    if (first && each >= worth_sharing)
        time -= run->options->total_time / 2;
    else if (!first)
        time /= 2;
    return time * kind->devices * weight_of(run, item) / all;
}

tune_slice tune_rounds_slice(const tune_run *run, const tune_kind *kind, int item)
{
    const tune_options *o = run->options;
    const int before = kind->progress[item].rounds;
    tune_slice slice = {.seconds = o->seconds, .patience = o->patience, .round = before + 1};
    if (!makes_rounds(run))
        return slice;
    const double share = fmax(share_of(run, kind, item), before > 0 ? least_again : least);
    slice.alone = true;
    slice.seconds = o->seconds > 0 ? fmin(o->seconds, share) : share;
    if (o->patience == 0)
        slice.patience = (int64_t)PATIENCE << (before < 16 ? before : 16);
    return slice;
}

/* Returns whether a search for the item may still find something. */
static bool may_go_on(const tune_run *run, const tune_result *r, bool ended_late)
{
    const tune_options *o = run->options;
    return makes_rounds(run) && !r->status && !r->known && !r->interrupted &&
           r->end.index < r->end.count && (ended_late || o->patience == 0);
}

/* A round that fails, or that does not time the guess again, leaves what was known. */
static void merge(tune_result *into, const tune_result *from)
{
    const kiln_trial_line before = into->end;
    if (before.ms > 0 && from->status)
        return;
    *into = *from;
    if (before.guess_ms > 0 && into->end.guess_ms <= 0) {
        into->end.guess_ms = before.guess_ms;
        memcpy(into->end.guess, before.guess, sizeof before.guess);
    }
}

void tune_rounds_note(tune_run *run, tune_kind *kind, int item, const tune_result *result)
{
    tune_progress *p = &kind->progress[item];
    tune_result *known = &kind->result[item];
    const double before = known->end.ms > 0 ? known->end.ms : result->end.guess_ms;
    kind->ended += p->rounds == 0;
    p->rounds++;
    p->gain = before > 0 && result->end.ms > 0 ? fmax(before / result->end.ms, 1) : 1;
    p->ended_late = result->ended_late;
    merge(known, result);
    const bool again = may_go_on(run, result, p->ended_late);
    kind->state[item] = again ? TUNE_AGAIN : TUNE_ENDED;
    if (result->interrupted)
        run->interrupted = true;
    if (result->status == KILN_FILE)
        run->unkept = true;
    if (!result->status && *result->end.verdict && !result->known)
        trial_book_add(kind->book, &result->end);
}

kiln_status tune_rounds_end(tune_run *run)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < run->kinds && !run->interrupted && !run->unkept; k++)
        for (size_t i = 0; i < run->list->count && !status; i++) {
            tune_kind *kind = &run->kind[k];
            kiln_trial_line *end = &kind->result[i].end;
            if (kind->progress[i].rounds == 0 || strcmp(end->verdict, "paused") != 0)
                continue;
            snprintf(end->verdict, sizeof end->verdict, "done");
            status = kiln_trials_append(kind->log, end);
        }
    return status;
}
