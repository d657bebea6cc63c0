/* Looks rows up in files of other devices, and by the keys of other batches. */
#include "near_row.h"

#include "choose_rows.h"

enum { FARTHEST = 16 };

/* Returns the row of the problem with another batch. */
static bool find(kiln *k, const kiln_problem *problem, const kiln_shape *shape, int64_t batch,
                 kiln_near *near)
{
    kiln_problem other = *problem;
    char key[KILN_KEY_TEXT];
    other.batch = batch;
    kiln_problem_row_key(&other, key, sizeof key);
    near->device[0] = '\0';
    return kiln_row_of_pick(k, key, shape, &near->pick, &near->row);
}

static int find_kindred(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                        kiln_near *near, int room)
{
    char key[KILN_KEY_TEXT];
    int count = 0;
    kiln_problem_row_key(problem, key, sizeof key);
    for (int i = 0; i < KILN_MOST_KINDRED && count < room; i++)
        count += kiln_pick_from_kindred(k, i, key, shape, &near[count].pick, &near[count].row,
                                        near[count].device);
    return count;
}

static int find_batches(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                        kiln_near *near, int room)
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
        count += find(k, problem, shape, down ? below : above, &near[count]);
        below = down ? below / 2 : below;
        above = down ? above : above * 2;
    }
}

int kiln_near_rows(kiln *k, const kiln_problem *problem, const kiln_shape *shape, kiln_near *near,
                   int room)
{
    const int kindred = find_kindred(k, problem, shape, near, room);
    return kindred + find_batches(k, problem, shape, near + kindred, room - kindred);
}
