/* Keeps and replays the reference's sums. */
#include "kept_sums.h"

#include <omp.h>
#include <stdlib.h>

enum { BLOCK = 4096, MOST = 1 << 25 /* half a gibibyte */ };

bool kept_sums_new(kept_sums *s, int64_t count)
{
    s->count = count;
    s->sum = malloc(2 * (size_t)count * sizeof *s->sum);
    s->magnitude = s->sum ? s->sum + count : NULL;
    return s->sum;
}

void kept_sums_free(kept_sums *s)
{
    free(s->sum);
    *s = (kept_sums){.count = 0};
}

/* Keeps the sums while another visitor gets them. */
typedef struct recorder {
    kept_sums *to;
    contraction_visit *visit;
    void *user;
} recorder;

static void record(void *user, int thread, const contraction_part *part)
{
    const recorder *r = user;
    for (int i = 0; i < part->count; i++) {
        r->to->sum[part->index[i]] = part->sum[i];
        r->to->magnitude[part->index[i]] = part->magnitude[i];
    }
    r->visit(r->user, thread, part);
}

bool kept_sums_record(kept_sums *s, const kiln_problem *problem, const reference_tensors *t,
                      contraction_visit *visit, void *user)
{
    recorder r = {s, visit, user};
    return reference_sums(problem, t, record, &r);
}

void kept_sums_replay(const kept_sums *s, contraction_visit *visit, void *user)
{
#pragma omp parallel for schedule(static)
    for (int64_t first = 0; first < s->count; first += BLOCK) {
        int64_t index[BLOCK], n = s->count - first < BLOCK ? s->count - first : BLOCK;
        for (int64_t i = 0; i < n; i++)
            index[i] = first + i;
        const contraction_part part = {(int)n, index, s->sum + first, s->magnitude + first};
        visit(user, omp_get_thread_num(), &part);
    }
}

bool kept_sums_visit(kept_sums *s, const kiln_problem *problem, const reference_tensors *t,
                     contraction_visit *visit, void *user)
{
    const int64_t count = reference_count(problem);
    if (s->sum) {
        kept_sums_replay(s, visit, user);
        return true;
    }
    if (count > MOST || !kept_sums_new(s, count))
        return reference_sums(problem, t, visit, user);
    const bool done = kept_sums_record(s, problem, t, visit, user);
    if (!done)
        kept_sums_free(s);
    return done;
}
