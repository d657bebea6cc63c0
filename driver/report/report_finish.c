/* What is decided when all files are read: the best of searches that were stopped, the guesses
 * beside the best, the order of the page. */
#include "report_data.h"

#include <stdlib.h>
#include <string.h>

/* Returns the time of the guess in the run of a trial; 0: it was not measured there. The first
 * guess that a search tries is the config that would run. */
static double guess_beside(const report_layer *l, const report_trial *of)
{
    const report_trial *guess = NULL;
    for (size_t i = 0; i < l->trials; i++) {
        const report_trial *t = &l->trial[i];
        guess = guess || !t->guessed ? guess : t;
        if (guess && t->run == of->run && t->ms > 0 && strcmp(t->solver, guess->solver) == 0 &&
            strcmp(t->config, guess->config) == 0)
            return t->ms;
    }
    return 0;
}

/* A search that had no time for turns compared its best with the guess by their trials. */
static void find_guess(report_layer *l)
{
    const report_trial *best = NULL;
    for (size_t i = 0; i < l->trials; i++) {
        const report_trial *t = &l->trial[i];
        if (t->ms > 0 && strcmp(t->solver, l->best.solver) == 0 &&
            strcmp(t->config, l->best.config) == 0)
            best = t;
    }
    if (best)
        l->best.guess_ms = guess_beside(l, best);
}

/* A search that was stopped has no end in the log: its trials tell. */
static void finish(report_layer *l)
{
    const report_trial *best = NULL;
    if (l->source == FROM_SEARCH && l->best.guess_ms == 0)
        find_guess(l);
    if (l->source >= FROM_ROW)
        return;
    for (size_t i = 0; i < l->trials; i++) {
        const report_trial *t = &l->trial[i];
        if (t->ms > 0 && t->verdict == KILN_TRIAL_OK && (!best || t->ms < best->ms))
            best = t;
    }
    if (!best)
        return;
    report_best found = {.ms = best->ms};
    snprintf(found.solver, sizeof found.solver, "%s", best->solver);
    snprintf(found.config, sizeof found.config, "%s", best->config);
    report_data_best(l, FROM_SEARCH, &found);
    l->best.guess_ms = guess_beside(l, best);
}

static int by_place(const void *a, const void *b)
{
    const report_layer *l = a, *m = b;
    return l->device != m->device ? l->device - m->device : strcmp(l->name, m->name);
}

static int by_time(const void *a, const void *b)
{
    const report_layer *l = *(report_layer *const *)a, *m = *(report_layer *const *)b;
    return (l->best.ms < m->best.ms) - (l->best.ms > m->best.ms);
}

/* Lists the layers that take longest. */
static void list_rows(report_layer *of, size_t count)
{
    report_layer **sorted = count > REPORT_ROWS ? malloc(count * sizeof(report_layer *)) : NULL;
    for (size_t i = 0; i < count && sorted; i++)
        sorted[i] = &of[i];
    if (sorted)
        qsort(sorted, count, sizeof *sorted, by_time);
    for (size_t i = 0; i < count && i < REPORT_ROWS; i++)
        (sorted ? sorted[i] : &of[i])->listed = true;
    free(sorted);
}

void report_data_finish(report_data *d)
{
    for (size_t i = 0; i < d->layers; i++)
        finish(&d->layer[i]);
    if (d->layers > 1)
        qsort(d->layer, d->layers, sizeof *d->layer, by_place);
    for (size_t i = 0, end; i < d->layers; i = end) {
        for (end = i + 1; end < d->layers && d->layer[end].device == d->layer[i].device;)
            end++;
        list_rows(&d->layer[i], end - i);
    }
    free(d->slot); /* its places are those before */
    d->slot = NULL;
    d->slots = d->layers_room = 0;
}
