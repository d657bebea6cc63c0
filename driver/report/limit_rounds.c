/* Judges the rounds of a limit. */
#include "limit_rounds.h"

#include <math.h>
#include <stdio.h>

/* Rounds of an idle machine differ by some per cent. */
static const double far = 0.9, most_others = 0.1, most_stolen = 0.02;
enum { FEW = 1 };

void limit_rounds_add(limit_rounds *r, double value)
{
    if (r->count < LIMIT_ROUNDS && value > 0)
        r->value[r->count++] = value;
}

double limit_rounds_best(const limit_rounds *r)
{
    double best = 0;
    for (int i = 0; i < r->count; i++)
        best = fmax(best, r->value[i]);
    return best;
}

double limit_rounds_least(const limit_rounds *r)
{
    double least = limit_rounds_best(r);
    for (int i = 0; i < r->count; i++)
        least = fmin(least, r->value[i]);
    return least;
}

static int count_far(const limit_rounds *r)
{
    int n = 0;
    for (int i = 0; i < r->count; i++)
        n += r->value[i] < far * limit_rounds_best(r);
    return n;
}

bool limit_rounds_doubt(const limit_rounds *gflops, const limit_rounds *gbs,
                        const machine_share *others, char *why, size_t size)
{
    const int slow = count_far(gflops) > count_far(gbs) ? count_far(gflops) : count_far(gbs);
    const bool used = others->used > most_others, stolen = others->stolen > most_stolen;
    *why = '\0';
    if (slow <= FEW && !used && !stolen)
        return false;
    int n = snprintf(why, size, "the machine was busy while its limits were measured (");
    if (slow > FEW)
        n += snprintf(why + n, size - (size_t)n,
                      "%d of %d rounds were more than 10 %% below the best%s", slow, gflops->count,
                      used || stolen ? "; " : "");
    if (used)
        n += snprintf(why + n, size - (size_t)n, "other programs had %.0f %% of the cores%s",
                      100 * others->used, stolen ? "; " : "");
    if (stolen)
        n += snprintf(why + n, size - (size_t)n, "%.0f %% of the cores' time was another machine's",
                      100 * others->stolen);
    snprintf(why + n, size - (size_t)n, "): the roof may be too low");
    return true;
}
