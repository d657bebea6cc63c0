/* The finalists of a search, and the rows that it leaves. */
#include "finalists.h"

#include "runtime/programs/template.h"

#include "runtime/choose/excluded_solvers.h"
#include "runtime/kiln/load_rows.h"
#include "runtime/op/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Returns the place of the fastest finalist that needs no search; -1: there is none. */
static int fastest_first(const kiln_finalists *f)
{
    for (int i = 0; i < f->nfinalists; i++)
        if (f->finalist[i].index < f->firsts)
            return i;
    return -1;
}

const kiln_result *kiln_finalists_first(const kiln_finalists *f)
{
    for (int i = 0; i < f->nfinalists; i++)
        if (f->finalist[i].index < f->firsts && f->finalist[i].op)
            return &f->finalist[i];
    return NULL;
}

static void move(kiln_finalists *f, int from, int to)
{
    const kiln_result moved = f->finalist[from];
    for (; from < to; from++)
        f->finalist[from] = f->finalist[from + 1];
    for (; from > to; from--)
        f->finalist[from] = f->finalist[from - 1];
    f->finalist[to] = moved;
}

/* Many configs of a search are variants of each other. The configs that need no search are the only
 * ones of most solvers, and each was measured in one moment, when another program may have had one
 * of two cores. */
static bool is_finalist(const kiln_finalists *f, int which)
{
    static const double unlucky = 2.1;
    const kiln_result *r = &f->finalist[which];
    if (which < KILN_FASTEST || which == fastest_first(f) || r->index == f->guess)
        return true;
    int firsts = 0;
    for (int i = KILN_FASTEST; i < which; i++)
        firsts += f->finalist[i].index < f->firsts;
    return r->index < f->firsts && firsts < KILN_FIRSTS &&
           r->times.ms <= unlucky * f->finalist[0].times.ms;
}

void kiln_finalists_place(kiln_finalists *f, const kiln_result *r)
{
    int at = f->nfinalists;
    f->finalist[f->nfinalists++] = *r;
    while (at > 0 && f->finalist[at - 1].times.ms > r->times.ms)
        at--;
    move(f, f->nfinalists - 1, at);
    for (int i = f->nfinalists - 1; i >= KILN_FASTEST; i--)
        if (!is_finalist(f, i)) {
            kiln_op_release(f->finalist[i].op);
            move(f, i, --f->nfinalists);
        }
}

bool kiln_finalists_take(kiln_finalists *f, size_t index, kiln_result *result)
{
    for (int i = 0; i < f->nfinalists; i++)
        if (f->finalist[i].index == index) {
            *result = f->finalist[i];
            move(f, i, --f->nfinalists);
            return true;
        }
    return false;
}

static size_t followed(size_t index, size_t from, size_t to)
{
    return index == from ? to : index + (index >= to && index < from);
}

void kiln_finalists_follow(kiln_finalists *f, size_t from, size_t to)
{
    f->guess = followed(f->guess, from, to);
    for (int i = 0; i < f->nfinalists; i++)
        f->finalist[i].index = followed(f->finalist[i].index, from, to);
    for (int i = 0; i < f->nclaims; i++)
        f->claim[i].index = followed(f->claim[i].index, from, to);
}

void kiln_finalists_settle(kiln_finalists *f)
{
    static const double noise = 1.02;
    const int first = fastest_first(f);
    if (first > 0 && f->finalist[0].op &&
        f->finalist[first].times.ms <= noise * f->finalist[0].times.ms)
        move(f, first, 0);
}

/* Solvers that an earlier search with the same winner tried were compared: only names that both
 * searches left out stay. */
static void inherit(kiln *k, kiln_row *row)
{
    pthread_mutex_lock(&k->lock);
    const kiln_row *before = kiln_rows_find(k->user_rows, row->key, row->solver, 0);
    if (!before)
        before = kiln_rows_find(k->shipped_rows, row->key, row->solver, 0);
    if (before && before->version == row->version)
        kiln_excluded_solvers_by_both(row->without, before->without);
    pthread_mutex_unlock(&k->lock);
}

/* Writes "8,1 of direct", or the solver alone where it has no parameters. */
static void name_config(const kiln_candidate *c, char *text, size_t size)
{
    char config[KILN_CONFIG_TEXT];
    kiln_config_text(c->solver, &c->config, config, sizeof config);
    snprintf(text, size, "%s%s%s", config, *config ? " of " : "", c->solver->name);
}

kiln_status kiln_row_record(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                            const kiln_candidate *candidate, kiln_row *row)
{
    const kiln_solver *solver = candidate->solver;
    kiln_problem settled = *problem;
    kiln_why why;
    kiln_shape own;
    row->version = solver->version;
    snprintf(row->solver, sizeof row->solver, "%s", solver->name);
    snprintf(row->driver, sizeof row->driver, "%s", k->facts.driver);
    snprintf(row->core, sizeof row->core, "%s", k->facts.core);
    kiln_config_text(solver, &candidate->config, row->config, sizeof row->config);
    if (kiln_solver_takes(solver, shape, &k->facts, &own, &why))
        kiln_shape_give_layouts(&own, &settled);
    kiln_candidate_hash(k, shape, candidate, row->hash);
    kiln_problem_row_key(&settled, row->key, sizeof row->key);
    inherit(k, row);
    return kiln_rows_append(k->rows_file, k->facts.name, row);
}

/* Writes what the final rounds say of the winner beside the guess. Without rounds the winner may
 * still be the guess. */
static void note_win(const kiln_finalists *f, kiln_row *row)
{
    const kiln_result *winner = &f->finalist[0];
    for (int i = winner->win.turns > 0 ? f->nfinalists - 1 : 0; i >= 0; i--)
        if (f->finalist[i].index == f->guess) {
            name_config(&f->finalist[i].candidate, row->guess, sizeof row->guess);
            row->guess_ms = f->finalist[i].times.ms;
            row->turns = winner->win.turns;
            row->turns_won = winner->win.won;
            row->win_iqr = winner->win.iqr;
        }
}

static kiln_status record(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                          const kiln_result *r, const kiln_finalists *f)
{
    const time_t now = time(NULL);
    struct tm utc;
    kiln_row row = {
        .ms = r->times.ms, .iqr = r->times.iqr, .runs = r->times.runs, .error = r->error};
    const kiln_result *winner = &f->finalist[0], *second = winner + 1;
    if (r == winner)
        note_win(f, &row);
    if (r == winner && f->nfinalists > 1) {
        row.second_ms = second->times.ms;
        name_config(&second->candidate, row.second, sizeof row.second);
    }
    snprintf(row.without, sizeof row.without, "%s", f->without);
    strftime(row.date, sizeof row.date, "%Y-%m-%d", gmtime_r(&now, &utc));
    return kiln_row_record(k, problem, shape, &r->candidate, &row);
}

/* Returns what replaces a row of another solver, so that neither an old time nor a lucky moment
 * beats the winner's time. A config that failed gives way to the guess, without a time. */
static kiln_result renewed(const kiln *k, const kiln_shape *shape, const kiln_finalists *f,
                           const kiln_result *claim)
{
    const kiln_device_facts *facts = &k->facts;
    kiln_result now = *claim;
    kiln_shape own;
    kiln_why why;
    for (int i = 1; i < f->nfinalists; i++)
        if (f->finalist[i].index == claim->index)
            now = f->finalist[i];
    if (now.times.runs > 0)
        now.times.ms = fmax(now.times.ms, f->finalist[0].times.ms);
    else if (kiln_solver_takes(now.candidate.solver, shape, facts, &own, &why))
        now.candidate.solver->guess(now.candidate.solver, &own, facts, &now.candidate.config);
    return now;
}

/* The winner's row goes last: among rows without a time the newest counts. */
kiln_status kiln_finalists_keep(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                const kiln_finalists *found)
{
    const kiln_result *winner = &found->finalist[0];
    kiln_status status = KILN_OK;
    for (int i = 0; i < found->nclaims && !status; i++) {
        const kiln_result *claim = &found->claim[i];
        if (claim->candidate.solver == winner->candidate.solver)
            continue;
        const kiln_result now = renewed(k, shape, found, claim);
        status = record(k, problem, shape, &now, found);
    }
    if (!status)
        status = record(k, problem, shape, winner, found);
    kiln_reload_rows(k);
    return status;
}
