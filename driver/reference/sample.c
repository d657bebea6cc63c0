/* Picks elements of a destination that is too large to check as a whole. */
#include "sample.h"

#include "host.h"
#include "reference.h"

#include <stdlib.h>

/* A sample in the making. */
typedef struct draft {
    int64_t *index, count, room;
    uint64_t seed, rolls;
    int64_t outer, size[3],
        plane; /* of the destination: images times channels, the image's sizes */
} draft;

static int64_t roll(draft *s, int64_t below)
{
    return (int64_t)(host_random(s->seed, 0x5a3b1e, s->rolls++) % (uint64_t)below);
}

static void take(draft *s, int64_t outer, int64_t at)
{
    if (s->count < s->room)
        s->index[s->count++] = outer * s->plane + at;
}

static draft draft_of(const kiln_problem *p, uint64_t seed, int64_t room)
{
    draft s = {.seed = seed, .room = room, .size = {1, 1, 1}, .plane = 1};
    for (int i = 0; i < p->spatial_rank; i++) {
        bool input = p->direction == KILN_BACKWARD_DATA;
        s.size[3 - p->spatial_rank + i] = p->direction == KILN_BACKWARD_WEIGHTS ? p->filter[i]
                                          : input                               ? p->input[i]
                                                  : kiln_problem_output(p, i);
    }
    for (int a = 0; a < 3; a++)
        s.plane *= s.size[a];
    s.outer = reference_count(p) / s.plane;
    s.index = malloc((size_t)room * sizeof *s.index);
    return s;
}

/* Takes the corners in the first and the last image and channel, then each position of the border
 * in a random one, up to half of the room. */
static void take_borders(draft *s)
{
    const int64_t *n = s->size, half = s->room / 2;
    for (int corner = 0; corner < 16; corner++) {
        int64_t d = corner & 1 ? n[0] - 1 : 0, h = corner & 2 ? n[1] - 1 : 0,
                w = corner & 4 ? n[2] - 1 : 0;
        take(s, corner & 8 ? s->outer - 1 : 0, (d * n[1] + h) * n[2] + w);
    }
    for (int64_t d = 0; d < n[0]; d++)
        for (int64_t h = 0; h < n[1] && s->count < half; h++) {
            bool edge = (n[0] > 1 && (d == 0 || d == n[0] - 1)) || h == 0 || h == n[1] - 1;
            int64_t step = edge || n[2] == 1 ? 1 : n[2] - 1;
            for (int64_t w = 0; w < n[2] && s->count < half; w += step)
                take(s, roll(s, s->outer), (d * n[1] + h) * n[2] + w);
        }
}

static int by_index(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_once(draft *s)
{
    qsort(s->index, (size_t)s->count, sizeof *s->index, by_index);
    int64_t kept = 0;
    for (int64_t i = 0; i < s->count; i++)
        if (kept == 0 || s->index[i] != s->index[kept - 1])
            s->index[kept++] = s->index[i];
    s->count = kept;
}

static void take_some(draft *s)
{
    take_borders(s);
    while (s->count < s->room)
        take(s, roll(s, s->outer), roll(s, s->plane));
    sort_once(s);
}

static void take_all(draft *s)
{
    while (s->count < s->room)
        take(s, 0, s->count);
}

bool sample_take(sample *s, const kiln_problem *problem, uint64_t seed, int64_t size)
{
    draft d = draft_of(problem, seed, size);
    if (!d.index)
        return false;
    if (size < d.outer * d.plane)
        take_some(&d);
    else
        take_all(&d);
    *s = (sample){d.index, d.count};
    return true;
}

bool sample_holds(const sample *s, int64_t index)
{
    return bsearch(&index, s->index, (size_t)s->count, sizeof index, by_index) != NULL;
}

void sample_free(sample *s)
{
    free(s->index);
}
