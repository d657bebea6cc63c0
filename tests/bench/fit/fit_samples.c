/* A log of trials as samples of a fit. */
#include "fit_samples.h"

#include "runtime/kiln/kiln_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    fit_log *log;
    const fit_model *model;
    char (*name)[KILN_KEY_TEXT]; /* of the problems so far */
    bool failed;
} reading;

static int solver_of(const fit_model *m, const kiln_trial_line *line)
{
    for (int i = 0; i < m->solvers; i++)
        if (strcmp(m->solver[i].name, line->solver) == 0 && m->solver[i].version == line->version)
            return i;
    return -1;
}

static bool make_room(reading *r)
{
    fit_samples *s = &r->log->samples;
    if (s->count < s->room)
        return true;
    const int room = s->room ? 2 * s->room : 256;
    fit_sample *more = realloc(s->at, (size_t)room * sizeof *more);
    if (more)
        s->at = more;
    char(*names)[KILN_KEY_TEXT] = realloc(r->name, (size_t)room * sizeof *names);
    if (names)
        r->name = names;
    if (!more || !names)
        return false;
    s->room = room;
    return true;
}

/* Returns the number of a problem, which may be a new one. */
static int problem_of(reading *r, const char *name)
{
    fit_samples *s = &r->log->samples;
    int i = s->problems;
    while (i > 0 && strcmp(r->name[i - 1], name) != 0)
        i--;
    if (i > 0)
        return i - 1;
    snprintf(r->name[s->problems], sizeof *r->name, "%s", name);
    return s->problems++;
}

/* Returns false where the line is no sample. */
static bool make_sample(const reading *r, const kiln_trial_line *line, fit_sample *to)
{
    const kiln_device_facts *d = r->log->samples.device;
    kiln_problem p;
    char text[KILN_ERROR_TEXT];
    kiln_why why;
    to->solver = solver_of(r->model, line);
    to->ms = line->ms;
    if (line->kind != KILN_LINE_TRIAL || to->solver < 0 || strcmp(line->verdict, "ok") != 0 ||
        line->ms <= 0 || kiln_problem_parse(&p, line->problem, text) != KILN_OK ||
        kiln_problem_check(&p, text) != KILN_OK)
        return false;
    const kiln_solver *solver = &r->model->solver[to->solver];
    const kiln_shape s = kiln_shape_of(&p);
    return kiln_solver_takes(solver, &s, d, &to->shape, &why) &&
           kiln_config_parse(solver, line->config, &to->config, &why) &&
           !kiln_config_refused(solver, &to->shape, d, &to->config, true, &why);
}

static void visit(void *user, const kiln_trial_line *line)
{
    reading *r = user;
    fit_samples *s = &r->log->samples;
    if (r->failed || line->kind != KILN_LINE_TRIAL)
        return;
    if (strcmp(line->device, s->device->name) != 0 ||
        strcmp(line->driver, s->device->driver) != 0) {
        r->log->elsewhere++;
        return;
    }
    if (!make_room(r)) {
        r->failed = true;
        return;
    }
    fit_sample *to = &s->at[s->count];
    *to = (fit_sample){0};
    if (!make_sample(r, line, to)) {
        r->log->others++;
        return;
    }
    to->problem = problem_of(r, line->problem);
    s->count++;
}

static int by_problem(const void *a, const void *b)
{
    return ((const fit_sample *)a)->problem - ((const fit_sample *)b)->problem;
}

bool fit_log_read(fit_log *log, const fit_model *m, const kiln *k, const char *file, char *why,
                  size_t size)
{
    *log = (fit_log){.samples = {.device = &k->facts}};
    reading r = {.log = log, .model = m};
    const bool read = kiln_trials_read(file, NULL, visit, &r, NULL) == KILN_OK;
    free(r.name);
    if (!read)
        snprintf(why, size, "%s", kiln_last_error());
    else if (r.failed)
        snprintf(why, size, "out of memory for the trials of %s", file);
    else if (log->samples.count > 0)
        qsort(log->samples.at, (size_t)log->samples.count, sizeof(fit_sample), by_problem);
    return read && !r.failed;
}

void fit_log_free(fit_log *log)
{
    free(log->samples.at);
}
