/* Picks solver and config: the caller's choice, a tuning row, or the best prediction. */
#include "choose.h"

#include "generator/problem/problem_layout.h"
#include "runtime/kiln/probes.h"

#include "choose_rows.h"
#include "kiln_layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the problem with the layouts that a solver has settled, and writes its key. */
static kiln_problem settle(const kiln_problem *problem, const kiln_shape *settled,
                           char key[KILN_KEY_TEXT])
{
    kiln_problem p = *problem;
    kiln_shape_give_layouts(settled, &p);
    kiln_problem_row_key(&p, key, KILN_KEY_TEXT);
    return p;
}

bool kiln_solver_config(kiln *k, const kiln_solver *solver, const kiln_problem *problem,
                        const kiln_shape *shape, kiln_plan *plan, kiln_pick *pick, kiln_why *why)
{
    char key[KILN_KEY_TEXT];
    if (!kiln_solver_takes(solver, shape, &k->facts, &pick->shape, why))
        return false;
    settle(problem, &pick->shape, key);
    const bool row = kiln_pick_from_rows(k, key, solver->name, shape, pick);
    if (row && !plan)
        return true;
    return kiln_consider(k, solver, shape, row ? &pick->config : NULL, plan, pick, why);
}

static kiln_status unsupported_by_all(const kiln *k, const kiln_shape *shape)
{
    char text[2048] = "";
    size_t used = 0;
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)) && used < sizeof text; i++) {
        kiln_pick pick;
        kiln_why why = {.text = ""};
        kiln_consider(k, solver, shape, NULL, NULL, &pick, &why);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s", i ? "; " : "",
                                 solver->name, why.text);
    }
    return kiln_fail(KILN_UNSUPPORTED, "no solver takes the problem (%s)", text);
}

/* A guess beats a measurement only if it is predicted to be faster than the fastest tenth of that
 * by more than predictions err between solvers. Where times scatter alike to both sides, a tenth of
 * them is about the distance of the quartiles below the median; half of it is the most that the
 * noise of a slow moment excuses. */
static double row_beaten_below(const kiln_pick *row)
{
    const double fastest = row->row_ms * (1 - fmin(0.5, row->row_iqr));
    return 0.8 * fastest;
}

/* The result of a pass over all solvers: the best measured pick and the best guessed one. */
typedef struct field {
    kiln_pick measured, guessed; /* guessed: without the time of a row */
    double predicted_ms;         /* of the best guess */
    bool decided;                /* the layouts predicted best have a row of a search */
    const kiln_solver *limited;  /* the fastest that only a limit on workspaces excludes */
    double limited_ms;
} field;

/* Finds the row that speaks for the layouts that the solver makes of open ones, else the row of the
 * solver itself. */
static bool find_row(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                     const kiln_pick *guess, kiln_pick *row, bool *decides)
{
    char key[KILN_KEY_TEXT];
    const kiln_problem settled = settle(problem, &guess->shape, key);
    const kiln_shape closed = kiln_shape_of(&settled);
    *decides = kiln_pick_from_rows(k, key, NULL, &closed, row);
    return *decides || kiln_pick_from_rows(k, key, guess->solver->name, shape, row);
}

static void enter(kiln *k, const kiln_problem *problem, const kiln_shape *shape, bool ignore_rows,
                  const kiln_pick *guess, field *f)
{
    bool decides = false;
    kiln_pick own = {0};
    if (ignore_rows || !find_row(k, problem, shape, guess, &own, &decides))
        own = *guess;
    if (f->predicted_ms == 0 || guess->predicted_ms < f->predicted_ms) {
        f->predicted_ms = guess->predicted_ms;
        f->decided = decides;
    }
    if (own.row_ms > 0) {
        if (!f->measured.solver || own.row_ms < f->measured.row_ms)
            f->measured = own;
        return;
    }
    if (!f->guessed.solver || own.predicted_ms < f->guessed.predicted_ms)
        f->guessed = own;
}

static void note_limited(const kiln *k, const kiln_solver *solver, const kiln_shape *shape,
                         const kiln_why *why, field *f)
{
    const double ms = kiln_unlimited_ms(k, solver, shape, why);
    if (ms <= 0 || (f->limited && ms >= f->limited_ms))
        return;
    f->limited = solver;
    f->limited_ms = ms;
}

/* Where layouts are open, a search covers the layouts that predictions choose. Its result is not
 * put aside for a guess of other layouts, even if it was measured while the machine was slow. */
static kiln_status pick_fastest(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                bool ignore_rows, kiln_pick *pick)
{
    field f = {.decided = false};
    const kiln_solver *solver;
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_pick guess;
        kiln_why why = {.limit = false};
        if (kiln_consider(k, solver, shape, NULL, NULL, &guess, &why))
            enter(k, problem, shape, ignore_rows, &guess, &f);
        else
            note_limited(k, solver, shape, &why, &f);
    }
    if (!f.measured.solver && !f.guessed.solver)
        return unsupported_by_all(k, shape);
    const bool measured =
        f.measured.solver &&
        (f.decided || !f.guessed.solver || f.guessed.predicted_ms >= row_beaten_below(&f.measured));
    *pick = measured ? f.measured : f.guessed;
    if (f.limited && f.limited_ms < pick->predicted_ms) {
        pick->limited = f.limited;
        pick->limited_ms = f.limited_ms;
    }
    return KILN_OK;
}

static bool has_open_layout(const kiln_problem *p)
{
    return kiln_layout_is_any(p->x_layout) || kiln_layout_is_any(p->w_layout) ||
           kiln_layout_is_any(p->y_layout) || kiln_layout_is_any(p->bias_layout);
}

/* Picks where the caller forces nothing. A row of the problem decides. Where there is none, or
 * layouts are open, rows of the solvers' layouts stand beside predictions. */
static kiln_status pick_naturally(kiln *k, const kiln_problem *problem, const kiln_shape *shape,
                                  bool ignore_rows, kiln_pick *pick)
{
    char key[KILN_KEY_TEXT];
    kiln_problem_row_key(problem, key, sizeof key);
    if (!ignore_rows && !has_open_layout(problem) && kiln_pick_from_rows(k, key, NULL, shape, pick))
        return KILN_OK;
    return pick_fastest(k, problem, shape, ignore_rows, pick);
}

/* Takes the config that the caller insists on, for one solver. Values that the text does not name
 * are the guess's. */
static kiln_status force_config(kiln *k, const kiln_solver *solver, const char *text,
                                const kiln_shape *shape, kiln_pick *pick)
{
    kiln_why why;
    kiln_config config = {0};
    kiln_shape asked = *shape;
    if (!kiln_config_parse(solver, text, &config, &why) ||
        (!strchr(text, '=') && kiln_config_unlisted(solver, &config, &why)))
        return kiln_fail(KILN_INVALID, "%s", why.text); /* of no problem, on no device */
    if (!kiln_solver_takes(solver, shape, &k->facts, &pick->shape, &why))
        return kiln_fail(KILN_UNSUPPORTED, "solver %s: %s", solver->name, why.text);
    memset(&config, 0, sizeof config);
    solver->guess(solver, &pick->shape, &k->facts, &config);
    if (!kiln_config_parse(solver, text, &config, &why) ||
        kiln_config_unlisted(solver, &config, &why))
        return kiln_fail(KILN_INVALID, "%s", why.text);
    if (asked.determinism == KILN_DETERMINISM_DEFAULT)
        asked.determinism = KILN_NONDETERMINISTIC;
    if (!kiln_consider(k, solver, &asked, &config, NULL, pick, &why))
        return kiln_fail(KILN_UNSUPPORTED, "config %s of solver %s: %s", text, solver->name,
                         why.text);
    pick->shape.determinism = shape->determinism;
    pick->origin = KILN_ORIGIN_CHOICE;
    pick->row_ms = pick->row_iqr = 0;
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

/* Refuses an image that is larger than the device's largest. */
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

kiln_status kiln_sizes_check(const kiln *k, const kiln_problem *p)
{
    kiln_problem closed = *p; /* an open layout takes at least the bytes of the plain one */
    kiln_problem_close(&closed);
    for (const char *t = p->epilogue.bias ? "xwyb" : "xwy"; *t; t++) {
        kiln_status status = check_image(k, &closed, *t);
        if (status)
            return status;
        int64_t bytes = kiln_problem_bytes(&closed, *t, NULL);
        if (bytes > k->facts.max_alloc)
            return kiln_fail(KILN_UNSUPPORTED,
                             "tensor %c needs %lld bytes, but the device's largest buffer is %lld",
                             *t, (long long)bytes, (long long)k->facts.max_alloc);
    }
    return KILN_OK;
}

/* Warns of the row for the layouts that a solver has settled. Returns whether there is a reason. */
static bool warn_of_settled(kiln *k, const kiln_problem *problem, const kiln_shape *settled,
                            const char *only)
{
    char key[KILN_KEY_TEXT];
    const kiln_problem closed = settle(problem, settled, key);
    const kiln_shape shape = kiln_shape_of(&closed);
    return kiln_warn_of_row(k, key, only, &shape);
}

void kiln_warn_of_choice(kiln *k, const kiln_problem *problem, const kiln_choice *choice,
                         const kiln_pick *pick)
{
    const bool named = choice && choice->solver && *choice->solver;
    if ((choice && choice->ignore_rows) || pick->origin == KILN_ORIGIN_USER_ROW ||
        pick->origin == KILN_ORIGIN_CHOICE)
        return;
    kiln_warn_of_missing_rows(k);
    if (!kiln_has_user_rows(k) ||
        warn_of_settled(k, problem, &pick->shape, named ? pick->solver->name : NULL))
        return;
    const kiln_shape shape = kiln_shape_of(problem);
    const kiln_solver *solver;
    for (int i = 0; has_open_layout(problem) && !named && (solver = kiln_solver_at(i)); i++) {
        kiln_pick guess;
        kiln_why why;
        if (kiln_consider(k, solver, &shape, NULL, NULL, &guess, &why) &&
            warn_of_settled(k, problem, &guess.shape, NULL))
            return;
    }
}

kiln_status kiln_choose(kiln *k, const kiln_problem *problem, const kiln_shape *asked,
                        const kiln_choice *choice, kiln_pick *pick)
{
    static const kiln_choice free_choice;
    const kiln_choice *c = choice ? choice : &free_choice;
    kiln_shape own = *asked;
    own.native_layout = c->native_layout != 0;
    const kiln_shape *shape = &own;
    kiln_probe_for(k, shape);
    bool named = c->solver && *c->solver, forced = c->config && *c->config;
    kiln_status status = kiln_sizes_check(k, problem);
    if (status)
        return status;
    const kiln_solver *solver = named ? kiln_solver_named(c->solver) : NULL;
    if (named && !solver)
        return kiln_fail(KILN_INVALID,
                         "there is no solver \"%.60s\"; kiln explain, or kiln_explain(), "
                         "lists all",
                         c->solver);
    if (forced)
        return solver ? force_config(k, solver, c->config, shape, pick)
                      : force_config_anywhere(k, c->config, problem, shape, pick);
    if (!solver)
        return pick_naturally(k, problem, shape, c->ignore_rows != 0, pick);
    kiln_why why;
    const bool able = c->ignore_rows
                          ? kiln_consider(k, solver, shape, NULL, NULL, pick, &why)
                          : kiln_solver_config(k, solver, problem, shape, NULL, pick, &why);
    return able ? KILN_OK : kiln_fail(KILN_UNSUPPORTED, "solver %s: %s", solver->name, why.text);
}
