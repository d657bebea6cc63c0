/* Writes the winner of an earlier search again where its row is gone. */
#include "runtime/choose/choose_rows.h"
#include "runtime/choose/excluded_solvers.h"
#include "runtime/kiln/load_rows.h"
#include "runtime/kiln/probes.h"

#include "finalists.h"

#include <stdio.h>
#include <string.h>

/* Returns whether one of the user's rows of the winner's solver is usable. */
static bool has_row(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                    const char *solver)
{
    char key[KILN_KEY_TEXT];
    kiln_problem_row_key(problem, key, sizeof key);
    const kiln_row *row;
    bool found = false;
    pthread_mutex_lock(&k->lock);
    for (int nth = 0; !found && (row = kiln_rows_find(k->user_rows, key, solver, nth)); nth++) {
        kiln_pick pick;
        kiln_why why;
        found = kiln_row_usable(k, row, shape, &pick, &why);
    }
    pthread_mutex_unlock(&k->lock);
    return found;
}

/* Names the solvers that the search could not choose. */
static void name_excluded(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                          const char *only, char without[KILN_ROW_WITHOUT])
{
    const kiln_solver *tried[KILN_MOST_SOLVERS], *solver;
    size_t n = 0;
    for (int i = 0; (solver = kiln_solver_at(i)) && n < KILN_MOST_SOLVERS; i++) {
        kiln_pick pick;
        kiln_why why;
        if ((!only || kiln_solver_is_among(solver, only)) &&
            kiln_consider(k, solver, shape, NULL, NULL, &pick, &why))
            tried[n++] = solver;
    }
    kiln_excluded_solvers(k, problem, tried, n, without);
}

static kiln_row row_of(const kiln_trial_line *end)
{
    kiln_row row = {.version = end->version,
                    .ms = end->ms,
                    .iqr = end->iqr,
                    .runs = end->runs,
                    .error = end->error,
                    .guess_ms = end->guess_ms,
                    .turns = end->turns,
                    .turns_won = end->turns_won,
                    .win_iqr = end->win_iqr,
                    .second_ms = end->second_ms};
    snprintf(row.solver, sizeof row.solver, "%s", end->solver);
    snprintf(row.config, sizeof row.config, "%s", end->config);
    snprintf(row.second, sizeof row.second, "%s", end->second);
    snprintf(row.date, sizeof row.date, "%.10s", end->time);
    snprintf(row.guess, sizeof row.guess, "%s", end->guess);
    if (end->turns == 0 && !kiln_row_is_guess(&row)) { /* the time is of another moment */
        row.guess[0] = '\0';
        row.guess_ms = 0;
    }
    return row;
}

/* Returns false, with the reason, where the winner is not what this version would run. */
static bool is_current(const kiln *k, const kiln_row *row, const kiln_shape *shape,
                       const char *hash, kiln_pick *pick, kiln_why *why)
{
    char now[KILN_TEMPLATE_HASH];
    if (!kiln_row_usable(k, row, shape, pick, why))
        return false;
    const kiln_candidate c = {.solver = pick->solver, .config = pick->config};
    kiln_candidate_hash(k, shape, &c, now);
    return strcmp(now, hash) == 0 || !kiln_no(why, "its templates have changed since");
}

kiln_status kiln_tune_restore(kiln *k, const kiln_problem *problem, const char *solvers,
                              const kiln_trial_line *end, int *restored)
{
    char why[KILN_ERROR_TEXT];
    if (!k || !problem || !end || !restored)
        return kiln_fail(KILN_INVALID,
                         "kiln_tune_restore: k, problem, end and restored must not be NULL");
    if (kiln_process_check(k))
        return KILN_INVALID;
    *restored = 0;
    kiln_problem p = *problem;
    if (kiln_problem_check(&p, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    const kiln_shape shape = kiln_shape_of(&p);
    kiln_probe_for(k, &shape);
    kiln_row row = row_of(end);
    kiln_pick pick;
    kiln_why reason;
    if (!is_current(k, &row, &shape, end->hash, &pick, &reason))
        return kiln_fail(KILN_UNSUPPORTED, "the winner of an earlier search does not hold: %s",
                         reason.text);
    if (has_row(k, &p, &shape, end->solver))
        return KILN_OK;
    const kiln_candidate winner = {.solver = pick.solver, .config = pick.config};
    name_excluded(k, &p, &shape, solvers, row.without);
    const kiln_status status = kiln_row_record(k, &p, &shape, &winner, &row);
    kiln_reload_rows(k);
    *restored = status == KILN_OK;
    return status;
}
