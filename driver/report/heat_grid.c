/* Sorts the trials of a layer by the values of their parameters. */
#include "heat_grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 6, SOLVERS = 64 };

/* Reads the numbers of "8,1,2". Returns how many there are. */
static int read_values(const char *config, long value[HEAT_PARAMS])
{
    int n = 0;
    while (*config && n < HEAT_PARAMS) {
        char *end;
        value[n] = strtol(config, &end, 10);
        if (end == config)
            return 0;
        n++;
        config = end + (*end == ',');
        if (*end && *end != ',')
            return 0;
    }
    return *config ? 0 : n;
}

static int read_names(const char *params, char name[HEAT_PARAMS][32])
{
    int n = 0;
    while (*params && n < HEAT_PARAMS) {
        const size_t length = strcspn(params, ",");
        snprintf(name[n++], 32, "%.*s", (int)(length < 31 ? length : 31), params);
        params += length + (params[length] == ',');
    }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void note(heat_grid *g, int param, long value)
{
    for (int i = 0; i < g->values[param] && i < HEAT_VALUES; i++)
        if (g->value[param][i] == value)
            return;
    if (g->values[param] < HEAT_VALUES)
        g->value[param][g->values[param]] = value;
    if (g->values[param] <= HEAT_VALUES)
        g->values[param]++;
}

static bool belongs(const heat_grid *g, const report_trial *t, long value[HEAT_PARAMS])
{
    return strcmp(t->solver, g->solver) == 0 && read_values(t->config, value) == g->params;
}

/* A solver with parameters, and its trials that have a time. */
typedef struct share {
    const report_trial *first;
    size_t measured;
} share;

static int count_shares(const report_layer *l, share of[SOLVERS])
{
    int n = 0;
    for (size_t i = 0; i < l->trials; i++) {
        const report_trial *t = &l->trial[i];
        int at = 0;
        while (at < n && strcmp(of[at].first->solver, t->solver) != 0)
            at++;
        if (at == SOLVERS || !*t->params)
            continue;
        if (at == n)
            of[n++] = (share){.first = t};
        of[at].measured += t->ms > 0;
    }
    return n;
}

/* Returns a trial of the winner's solver, if that has enough of them, else of the solver with most
 * trials that have a time; NULL: there is none. */
static const report_trial *trial_of_interest(const report_layer *l)
{
    share of[SOLVERS];
    const share *found = NULL;
    const int n = count_shares(l, of);
    for (int i = 0; i < n; i++) {
        if (strcmp(of[i].first->solver, l->best.solver) == 0 && of[i].measured >= ENOUGH)
            return of[i].first;
        if (of[i].measured > (found ? found->measured : 0))
            found = &of[i];
    }
    return found ? found->first : NULL;
}

bool heat_grid_open(heat_grid *g, const report_layer *l)
{
    const report_trial *of = trial_of_interest(l);
    long value[HEAT_PARAMS];
    *g = (heat_grid){.layer = l};
    if (!of)
        return false;
    g->solver = of->solver;
    g->params = read_names(of->params, g->name);
    for (size_t i = 0; i < l->trials; i++)
        if (belongs(g, &l->trial[i], value))
            for (int p = 0; p < g->params; p++)
                note(g, p, value[p]);
    for (int p = 0; p < g->params; p++)
        if (g->values[p] <= HEAT_VALUES)
            qsort(g->value[p], (size_t)g->values[p], sizeof(long), by_value);
    return true;
}

static int index_of(const heat_grid *g, int param, long value)
{
    for (int i = 0; i < g->values[param]; i++)
        if (g->value[param][i] == value)
            return i;
    return 0;
}

void heat_grid_fill(const heat_grid *g, int x, int y, heat_cell cells[HEAT_VALUES][HEAT_VALUES])
{
    long value[HEAT_PARAMS];
    memset(cells, 0, sizeof(heat_cell) * HEAT_VALUES * HEAT_VALUES);
    for (size_t i = 0; i < g->layer->trials; i++) {
        const report_trial *t = &g->layer->trial[i];
        if (!belongs(g, t, value))
            continue;
        heat_cell *c = &cells[index_of(g, y, value[y])][index_of(g, x, value[x])];
        c->tried++;
        if (t->ms > 0 && (c->ms == 0 || t->ms < c->ms)) {
            c->ms = t->ms;
            c->best = t;
        }
    }
}

/* How much two parameters matter: how far apart the best times of their pairs are, on average. */
static double weight_of(const heat_grid *g, int x, int y)
{
    heat_cell(*cells)[HEAT_VALUES] = malloc(sizeof(heat_cell) * HEAT_VALUES * HEAT_VALUES);
    double sum = 0, squares = 0;
    int n = 0;
    if (!cells)
        return 0;
    heat_grid_fill(g, x, y, cells);
    for (int i = 0; i < g->values[y]; i++)
        for (int j = 0; j < g->values[x]; j++)
            if (cells[i][j].ms > 0) {
                const double value = log(cells[i][j].ms);
                sum += value;
                squares += value * value;
                n++;
            }
    free(cells);
    /* A pair with few cells shows little. */
    return n > 2 ? sqrt(fmax(squares / n - sum * sum / n / n, 0)) * fmin(n, 12) : 0;
}

static bool fits(const heat_grid *g, int param)
{
    return g->values[param] > 1 && g->values[param] <= HEAT_VALUES;
}

bool heat_grid_pick(const heat_grid *g, int *best_x, int *best_y)
{
    double most = 0;
    for (int x = 0; x < g->params; x++)
        for (int y = x + 1; y < g->params; y++) {
            const double weight = fits(g, x) && fits(g, y) ? weight_of(g, x, y) : 0;
            if (weight > most) {
                most = weight;
                *best_x = x;
                *best_y = y;
            }
        }
    if (most > 0 && g->values[*best_y] > g->values[*best_x]) { /* wide pictures fit better */
        const int other = *best_x;
        *best_x = *best_y;
        *best_y = other;
    }
    return most > 0;
}
