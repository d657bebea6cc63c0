/* Picks solver and config: the caller's choice, a tuning row, or the best prediction. */
#include "kiln_internal.h"
#include "kiln_layout.h"
#include "problem_layout.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SOLVERS = 64 };

/* Turns a row into a pick if it still holds: known solver, same version, legal config. */
static bool use_row(const kiln *k, const kiln_row *row, const kiln_shape *shape, kiln_pick *pick,
                    kiln_why *why)
{
    const kiln_solver *solver = kiln_solver_named(row->solver);
    if (!solver)
        return !kiln_no(why, "names solver %s, which this version does not have", row->solver);
    if (solver->version != row->version)
        return !kiln_no(why, "is of version %d of solver %s; this is version %d", row->version,
                        row->solver, solver->version);
    memset(&pick->config, 0, sizeof pick->config);
    if (!kiln_solver_takes(solver, shape, &k->facts, &pick->shape, why) ||
        !kiln_config_parse(solver, row->config, &pick->config, why) ||
        kiln_config_refused(solver, &pick->shape, &k->facts, &pick->config, false, why))
        return false;
    pick->solver = solver;
    return true;
}

/* The best usable row of one file: per solver the newest counts, and of those the fastest. */
static bool best_row(const kiln *k, const kiln_rows *rows, const char *key, const char *only,
                     const kiln_shape *shape, kiln_pick *pick)
{
    const kiln_solver *seen[MAX_SOLVERS];
    int nseen = 0;
    double best = 0;
    const kiln_row *row;
    for (int nth = 0; (row = kiln_rows_find(rows, key, only, nth)); nth++) {
        kiln_pick candidate = *pick;
        kiln_why why;
        if (!use_row(k, row, shape, &candidate, &why)) {
            kiln_log(&k->logger, "row skipped: %s: it %s", key, why.text);
            continue;
        }
        bool old = false;
        for (int i = 0; i < nseen; i++)
            old = old || seen[i] == candidate.solver;
        if (old || nseen == MAX_SOLVERS)
            continue;
        bool faster = row->ms > 0 && (best == 0 || row->ms < best);
        if (nseen == 0 || faster) {
            *pick = candidate;
            pick->row_ms = best = row->ms;
        }
        seen[nseen++] = candidate.solver;
    }
    return nseen > 0;
}

/* The best row of all solvers or `only` one. Rows for any device were measured on others: they tell
 * a solver's config, not which solver is fastest here. */
static bool pick_from_rows(kiln *k, const char *key, const char *only, const kiln_shape *shape,
                           kiln_pick *pick)
{
    pthread_mutex_lock(&k->lock);
    bool found = best_row(k, k->user_rows, key, only, shape, pick);
    pick->origin = KILN_ORIGIN_USER_ROW;
    if (!found) {
        pick->origin = KILN_ORIGIN_SHIPPED_ROW;
        found = best_row(k, k->shipped_rows, key, only, shape, pick) ||
                (only && best_row(k, k->generic_rows, key, only, shape, pick));
    }
    pthread_mutex_unlock(&k->lock);
    return found;
}

/* Of the problem once a solver decided its layouts. */
static void settled_key(const kiln_problem *problem, const kiln_shape *settled,
                        char key[KILN_KEY_TEXT])
{
    kiln_problem p = *problem;
    kiln_shape_give_layouts(settled, &p);
    kiln_problem_row_key(&p, key, KILN_KEY_TEXT);
}

bool kiln_solver_config(kiln *k, const kiln_solver *solver, const kiln_problem *problem,
                        const kiln_shape *shape, bool ignore_rows, kiln_pick *pick, kiln_plan *plan,
                        kiln_why *why)
{
    char key[KILN_KEY_TEXT];
    if (!kiln_solver_takes(solver, shape, &k->facts, &pick->shape, why))
        return false;
    settled_key(problem, &pick->shape, key);
    pick->row_ms = 0;
    if (ignore_rows || !pick_from_rows(k, key, solver->name, shape, pick)) {
        pick->solver = solver;
        memset(&pick->config, 0, sizeof pick->config);
        solver->guess(&pick->shape, &k->facts, &pick->config);
        pick->origin = KILN_ORIGIN_GUESS;
        if (kiln_config_refused(solver, &pick->shape, &k->facts, &pick->config, false, why))
            return false;
    }
    return kiln_solver_plan(solver, &pick->shape, &k->facts, &pick->config, plan, why);
}

static kiln_status unsupported_by_all(kiln *k, const kiln_problem *problem, const kiln_shape *shape)
{
    char text[2048] = "";
    size_t used = 0;
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)) && used < sizeof text; i++) {
        kiln_pick pick;
        kiln_plan plan;
        kiln_why why = {""};
        kiln_solver_config(k, solver, problem, shape, true, &pick, &plan, &why);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s", i ? "; " : "",
                                 solver->name, why.text);
    }
    return kiln_fail(KILN_UNSUPPORTED, "no solver takes the problem (%s)", text);
}

/* The best by measured time where a row counts and has one, else by prediction. */
static kiln_status pick_fastest(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                bool ignore_rows, kiln_pick *pick)
{
    double best = 0;
    const kiln_solver *solver;
    pick->solver = NULL;
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_pick candidate;
        kiln_plan plan;
        kiln_why why;
        if (!kiln_solver_config(k, solver, problem, shape, ignore_rows, &candidate, &plan, &why))
            continue;
        double ms = candidate.row_ms;
        if (ms <= 0)
            ms = kiln_solver_predict(solver, &candidate.shape, &k->facts, &candidate.config);
        if (!pick->solver || ms < best) {
            best = ms;
            *pick = candidate;
        }
    }
    return pick->solver ? KILN_OK : unsupported_by_all(k, problem, shape);
}

static bool has_open_layout(const kiln_problem *p)
{
    return kiln_layout_is_any(p->x_layout) || kiln_layout_is_any(p->w_layout) ||
           kiln_layout_is_any(p->y_layout) || kiln_layout_is_any(p->bias_layout);
}

/* The problem with the layouts that the best prediction makes of open ones, and its row. */
static bool pick_from_rows_of_open(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                   kiln_pick *pick)
{
    char key[KILN_KEY_TEXT];
    kiln_pick predicted;
    if (pick_fastest(k, problem, shape, true, &predicted) != KILN_OK)
        return false;
    kiln_problem settled = *problem;
    kiln_shape_give_layouts(&predicted.shape, &settled);
    const kiln_shape closed = kiln_shape_of(&settled);
    kiln_problem_row_key(&settled, key, sizeof key);
    return pick_from_rows(k, key, NULL, &closed, pick);
}

/* What an unforced choice comes to. A row of the problem decides. Where layouts are open that is
 * one of the problem with those that predictions choose, which a search is about; failing that,
 * rows of the solvers' layouts stand beside predictions. */
static kiln_status pick_naturally(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                  bool ignore_rows, kiln_pick *pick)
{
    char key[KILN_KEY_TEXT];
    if (ignore_rows)
        return pick_fastest(k, problem, shape, true, pick);
    if (has_open_layout(problem))
        return pick_from_rows_of_open(k, problem, shape, pick)
                   ? KILN_OK
                   : pick_fastest(k, problem, shape, false, pick);
    kiln_problem_row_key(problem, key, sizeof key);
    if (pick_from_rows(k, key, NULL, shape, pick))
        return KILN_OK;
    return pick_fastest(k, problem, shape, false, pick);
}

static kiln_status unknown_solver(const char *name)
{
    char names[512] = "";
    size_t used = 0;
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s (%d)", i ? ", " : "",
                                 solver->name, solver->id);
    return kiln_fail(KILN_INVALID, "there is no solver \"%.60s\"; there are %s", name, names);
}

/* A config the caller insists on, for one solver. */
static kiln_status force_config(kiln *k, const kiln_solver *solver, const char *text,
                                const kiln_shape *shape, kiln_pick *pick)
{
    kiln_why why;
    if (!kiln_solver_takes(solver, shape, &k->facts, &pick->shape, &why))
        return kiln_fail(KILN_UNSUPPORTED, "solver %s: %s", solver->name, why.text);
    memset(&pick->config, 0, sizeof pick->config);
    solver->guess(&pick->shape, &k->facts, &pick->config);
    if (!kiln_config_parse(solver, text, &pick->config, &why) ||
        kiln_config_unlisted(solver, &pick->config, &why))
        return kiln_fail(KILN_INVALID, "%s", why.text);
    if (kiln_config_refused(solver, &pick->shape, &k->facts, &pick->config, true, &why))
        return kiln_fail(KILN_UNSUPPORTED, "config %s of solver %s: %s", text, solver->name,
                         why.text);
    pick->solver = solver;
    pick->origin = KILN_ORIGIN_CHOICE;
    return KILN_OK;
}

/* A config without a solver belongs to the solver that would be chosen, else to the first that
 * takes it. */
static kiln_status force_config_anywhere(kiln *k, const char *text, const kiln_problem *problem,
                                         const kiln_shape *shape, kiln_pick *pick)
{
    kiln_pick natural;
    kiln_status status = pick_naturally(k, problem, shape, false, &natural);
    if (status)
        return status;
    if (force_config(k, natural.solver, text, shape, pick) == KILN_OK)
        return KILN_OK;
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)); i++)
        if (force_config(k, solver, text, shape, pick) == KILN_OK)
            return KILN_OK;
    return force_config(k, natural.solver, text, shape, pick);
}

/* No image may be larger than the device's. */
static kiln_status check_image(const kiln *k, const kiln_problem *p, char tensor)
{
    kiln_storage storage;
    char why[KILN_ERROR_TEXT];
    if (!kiln_problem_storage(p, tensor, &storage, why))
        return kiln_fail(KILN_INVALID, "tensor %c: %.200s", tensor, why);
    if (storage.layout.image && !k->facts.image_width)
        return kiln_fail(KILN_UNSUPPORTED,
                         "tensor %c: the device has no images; take a buffer layout", tensor);
    if (!kiln_storage_fits_image(&storage, k->facts.image_width, k->facts.image_height, why))
        return kiln_fail(KILN_UNSUPPORTED, "tensor %c: %.200s; take a buffer layout", tensor, why);
    return KILN_OK;
}

/* No buffer may be larger than the device can allocate. */
static kiln_status check_sizes(const kiln *k, const kiln_problem *p)
{
    for (const char *t = p->epilogue.bias ? "xwyb" : "xwy"; *t; t++) {
        kiln_status status = check_image(k, p, *t);
        if (status)
            return status;
        int64_t bytes = kiln_problem_bytes(p, *t);
        if (bytes > k->facts.max_alloc)
            return kiln_fail(KILN_UNSUPPORTED,
                             "tensor %c needs %lld bytes, but the device's largest buffer is %lld",
                             *t, (long long)bytes, (long long)k->facts.max_alloc);
    }
    return KILN_OK;
}

kiln_status kiln_choose(kiln *k, const kiln_problem *problem, const kiln_shape *asked,
                        const kiln_choice *choice, kiln_pick *pick)
{
    static const kiln_choice free_choice;
    const kiln_choice *c = choice ? choice : &free_choice;
    kiln_shape own = *asked;
    own.native_layout = c->native_layout != 0;
    const kiln_shape *shape = &own;
    bool named = c->solver && *c->solver, forced = c->config && *c->config;
    kiln_status status = check_sizes(k, problem);
    if (status)
        return status;
    const kiln_solver *solver = named ? kiln_solver_named(c->solver) : NULL;
    if (named && !solver)
        return unknown_solver(c->solver);
    if (forced)
        return solver ? force_config(k, solver, c->config, shape, pick)
                      : force_config_anywhere(k, c->config, problem, shape, pick);
    if (solver) {
        kiln_plan plan;
        kiln_why why;
        if (!kiln_solver_config(k, solver, problem, shape, c->ignore_rows, pick, &plan, &why))
            return kiln_fail(KILN_UNSUPPORTED, "solver %s: %s", solver->name, why.text);
        return KILN_OK;
    }
    return pick_naturally(k, problem, shape, c->ignore_rows != 0, pick);
}

kiln_status kiln_explain(kiln *k, const kiln_problem *problem, int index, kiln_verdict *verdict)
{
    if (!k || !problem || !verdict)
        return kiln_fail(KILN_INVALID, "kiln_explain: k, problem and verdict must not be NULL");
    const kiln_solver *solver = kiln_solver_at(index);
    if (!solver)
        return kiln_fail(KILN_INVALID, "there is no solver number %d", index);
    kiln_problem p = *problem;
    char text[KILN_ERROR_TEXT];
    if (kiln_problem_check(&p, text))
        return kiln_fail(KILN_INVALID, "%s", text);
    kiln_shape shape = kiln_shape_of(&p);
    *verdict = (kiln_verdict){
        .solver = solver->name, .solver_id = solver->id, .algorithm = solver->algorithm};
    kiln_pick pick, chosen;
    kiln_plan plan;
    kiln_why why = {""};
    if (check_sizes(k, &p)) {
        snprintf(verdict->reason, sizeof verdict->reason, "%.*s", KILN_ERROR_TEXT - 1,
                 kiln_last_error());
        return KILN_OK;
    }
    if (!kiln_solver_config(k, solver, &p, &shape, false, &pick, &plan, &why)) {
        snprintf(verdict->reason, sizeof verdict->reason, "%s", why.text);
        return KILN_OK;
    }
    verdict->accepted = 1;
    kiln_config_text(solver, &pick.config, verdict->config, sizeof verdict->config);
    verdict->origin = pick.origin;
    verdict->predicted_ms = kiln_solver_predict(solver, &pick.shape, &k->facts, &pick.config);
    verdict->workspace_size = kiln_plan_workspace(&plan, false);
    verdict->chosen =
        kiln_choose(k, &p, &shape, NULL, &chosen) == KILN_OK && chosen.solver == solver;
    return KILN_OK;
}
