/* What a trial's line in the log says. */
#include "generator/plan/solver.h"
#include "runtime/kiln/kiln_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const verdicts[KILN_TRIAL_VERDICTS] = {
    [KILN_TRIAL_OK] = "ok",           [KILN_TRIAL_BUILD] = "build failed",
    [KILN_TRIAL_RUN] = "run failed",  [KILN_TRIAL_WRONG] = "wrong",
    [KILN_TRIAL_SLOW] = "slow",       [KILN_TRIAL_CRASHED] = "crashed",
    [KILN_TRIAL_TIMEOUT] = "timeout",
};

static const char *const origins[] = {
    [KILN_ORIGIN_CHOICE] = "grid",
    [KILN_ORIGIN_USER_ROW] = "user row",
    [KILN_ORIGIN_SHIPPED_ROW] = "shipped row",
    [KILN_ORIGIN_GUESS] = "guess",
};

const char *kiln_trial_verdict_text(kiln_trial_verdict verdict)
{
    return (unsigned)verdict < KILN_TRIAL_VERDICTS ? verdicts[verdict] : "";
}

/* Writes the names of the solver's parameters. */
static void name_params(const char *solver_name, char *text, size_t size)
{
    const kiln_solver *solver = kiln_solver_named(solver_name);
    size_t used = 0;
    for (int i = 0; solver && i < solver->nparams && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "",
                                 solver->params[i].name);
}

static void fill_trial(kiln_trial_line *line, const kiln_trial *t)
{
    snprintf(line->solver, sizeof line->solver, "%s", t->solver);
    line->version = t->version;
    snprintf(line->config, sizeof line->config, "%s", t->config);
    name_params(t->solver, line->params, sizeof line->params);
    if ((unsigned)t->origin < sizeof origins / sizeof *origins)
        snprintf(line->origin, sizeof line->origin, "%s", origins[t->origin]);
    line->index = (int)t->index;
    line->count = (int)t->count;
    snprintf(line->verdict, sizeof line->verdict, "%s", kiln_trial_verdict_text(t->verdict));
    line->ms = t->ms;
    line->iqr = t->iqr;
    line->runs = t->runs;
    line->error = t->error;
    line->expected_ms = t->expected_ms;
    line->build_seconds = t->build_seconds;
    line->seconds = t->seconds;
    snprintf(line->hash, sizeof line->hash, "%s", t->hash);
}

void kiln_trial_line_fill(kiln_trial_line *line, const kiln *k, const kiln_problem *problem,
                          const kiln_trial *trial)
{
    time_t now = time(NULL);
    struct tm utc;
    if (!line)
        return;
    *line = (kiln_trial_line){.kind = KILN_LINE_TRIAL};
    strftime(line->time, sizeof line->time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (problem) {
        kiln_problem_text(problem, line->problem, sizeof line->problem);
        kiln_problem_row_key(problem, line->key, sizeof line->key);
    }
    if (k) {
        snprintf(line->driver, sizeof line->driver, "%s", k->facts.driver);
        snprintf(line->device, sizeof line->device, "%s", k->facts.name);
        snprintf(line->core, sizeof line->core, "%s", k->facts.core);
    }
    if (trial && trial->solver)
        fill_trial(line, trial);
}
