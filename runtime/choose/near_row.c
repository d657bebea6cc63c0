/* Looks rows up by the keys of other batches. */
#include "near_row.h"

#include "choose_rows.h"

enum { FARTHEST = 16 };

/* Returns the row of the problem with another batch. */
static bool find(kiln *k, const kiln_problem *problem, const kiln_shape *shape, int64_t batch,
                 kiln_pick *pick)
{
    kiln_problem other = *problem;
    char key[KILN_KEY_TEXT];
    other.batch = batch;
    kiln_problem_row_key(&other, key, sizeof key);
    return kiln_pick_from_rows(k, key, NULL, shape, pick);
}

int kiln_near_rows(kiln *k, const kiln_problem *problem, const kiln_shape *shape, kiln_pick *picks,
                   int room)
{
    const int64_t n = problem->batch;
    int64_t below = 1, above;
    int count = 0;
    while (below <= n / 2)
        below *= 2; /* at most n */
    above = below * 2;
    if (below == n)
        below /= 2;
    for (;;) {
        const bool small = below >= 1 && below * FARTHEST >= n;
        const bool large = above <= n * FARTHEST;
        if ((!small && !large) || count == room)
            return count;
        /* n / below against above / n */
        const bool down =
            small && (!large || (double)n * (double)n <= (double)above * (double)below);
        count += find(k, problem, shape, down ? below : above, &picks[count]);
        below = down ? below / 2 : below;
        above = down ? above : above * 2;
    }
}
