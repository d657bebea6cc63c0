/* Which rows speak of a problem, and why each is taken or not. */

#include "choose.h"
#include "choose_rows.h"
#include "excluded_solvers.h"
#include "kiln_layout.h"
#include "near_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 16, MOST_ROWS = 256, MOST_SOLVERS = 64 };

typedef struct explaining {
    kiln *k;
    const kiln_problem *problem;
    const kiln_shape *shape;
    kiln_pick chosen;
    char chosen_key[KILN_KEY_TEXT], chosen_config[KILN_CONFIG_TEXT];
    char key[MOST_KEYS][KILN_KEY_TEXT];
    int keys;
    kiln_row_verdict *verdict; /* of MOST_ROWS */
    size_t count;
} explaining;

/* A file of rows, and what has been said of a key's rows in it. */
typedef struct source {
    const kiln_rows *rows;
    kiln_origin origin;
    bool any_device;
    const char *seen[MOST_SOLVERS]; /* solvers of rows that are usable */
    int nseen;
    const kiln_row *fastest; /* of the newest row of each solver */
} source;

static void note_key(explaining *e, const char *key)
{
    for (int i = 0; i < e->keys; i++)
        if (strcmp(e->key[i], key) == 0)
            return;
    if (e->keys < MOST_KEYS)
        snprintf(e->key[e->keys++], KILN_KEY_TEXT, "%s", key);
}

static void key_of(const kiln_problem *problem, const kiln_shape *settled, char *key)
{
    kiln_problem p = *problem;
    kiln_shape_give_layouts(settled, &p);
    kiln_problem_row_key(&p, key, KILN_KEY_TEXT);
}

/* Rows are kept by decided layouts: where some are open, each solver decides them in its way. */
static void list_keys(explaining *e)
{
    const kiln_solver *solver;
    char key[KILN_KEY_TEXT];
    for (int i = 0; (solver = kiln_solver_at(i)); i++) {
        kiln_pick pick;
        kiln_why why;
        if (!kiln_consider(e->k, solver, e->shape, NULL, NULL, &pick, &why))
            continue;
        key_of(e->problem, &pick.shape, key);
        note_key(e, key);
    }
}

static bool was_seen(const source *s, const char *solver)
{
    for (int i = 0; i < s->nseen; i++)
        if (strcmp(s->seen[i], solver) == 0)
            return true;
    return false;
}

/* Finds the fastest of the rows that count. */
static void look_over(const explaining *e, const char *key, source *s)
{
    const kiln_row *row;
    for (int nth = 0; (row = kiln_rows_find(s->rows, key, NULL, nth)); nth++) {
        kiln_pick pick;
        kiln_why why;
        if (!kiln_row_usable(e->k, row, e->shape, &pick, &why) || was_seen(s, row->solver) ||
            s->nseen == MOST_SOLVERS)
            continue;
        s->seen[s->nseen++] = row->solver;
        if (row->ms > 0 && (!s->fastest || row->ms < s->fastest->ms))
            s->fastest = row;
    }
    s->nseen = 0;
}

static bool is_chosen(const explaining *e, const char *key, const source *s, const kiln_row *row)
{
    return e->chosen.solver && e->chosen.origin == s->origin &&
           strcmp(e->chosen.solver->name, row->solver) == 0 &&
           strcmp(e->chosen_config, row->config) == 0 && strcmp(e->chosen_key, key) == 0;
}

/* Says why a usable row is not what runs. */
static void say_why_not(const explaining *e, const source *s, const kiln_row *row,
                        kiln_row_verdict *v)
{
    const bool users = e->chosen.origin == KILN_ORIGIN_USER_ROW;
    if (s->any_device)
        snprintf(v->why, sizeof v->why,
                 "it was measured on other devices: it tells the config of %s, not which solver is "
                 "fastest here",
                 row->solver);
    else if (*row->without && kiln_excluded_solvers_matters(e->k, row->without, e->shape))
        snprintf(v->why, sizeof v->why,
                 "it does not decide: its search could not choose %.160s, which stand beside it by "
                 "their predictions",
                 row->without);
    else if (s->origin == KILN_ORIGIN_SHIPPED_ROW && users)
        snprintf(v->why, sizeof v->why, "a row of the user's decides");
    else if (s->fastest && row != s->fastest)
        snprintf(v->why, sizeof v->why, "the row of %s is faster, %.4g ms", s->fastest->solver,
                 s->fastest->ms);
    else if (e->chosen.origin == KILN_ORIGIN_GUESS)
        snprintf(v->why, sizeof v->why,
                 "a guess for other layouts, or of a solver that the row's "
                 "search could not choose, is predicted to be clearly "
                 "faster");
    else
        snprintf(v->why, sizeof v->why, "a row of other layouts is faster");
}

static void judge(explaining *e, const char *key, source *s, const kiln_row *row)
{
    kiln_row_verdict *v = &e->verdict[e->count];
    kiln_pick pick;
    kiln_why why;
    *v = (kiln_row_verdict){.row = *row, .origin = s->origin, .any_device = s->any_device};
    if (!kiln_row_usable(e->k, row, e->shape, &pick, &why))
        snprintf(v->why, sizeof v->why, "%s", why.text);
    else if (was_seen(s, row->solver))
        snprintf(v->why, sizeof v->why, "a newer row of %s replaces it", row->solver);
    else if (is_chosen(e, key, s, row))
        v->taken = 1;
    else
        say_why_not(e, s, row, v);
    const bool counts = v->taken || !was_seen(s, row->solver);
    if (counts && s->nseen < MOST_SOLVERS && kiln_row_usable(e->k, row, e->shape, &pick, &why))
        s->seen[s->nseen++] = row->solver;
    e->count++;
}

static void judge_file(explaining *e, const char *key, const kiln_rows *rows, kiln_origin origin,
                       bool any_device)
{
    source s = {.rows = rows, .origin = origin, .any_device = any_device};
    const kiln_row *row;
    look_over(e, key, &s);
    for (int nth = 0; (row = kiln_rows_find(rows, key, NULL, nth)) && e->count < MOST_ROWS; nth++)
        judge(e, key, &s, row);
}

static void judge_all(explaining *e)
{
    pthread_mutex_lock(&e->k->lock);
    for (int i = 0; i < e->keys; i++) {
        judge_file(e, e->key[i], e->k->user_rows, KILN_ORIGIN_USER_ROW, false);
        judge_file(e, e->key[i], e->k->shipped_rows, KILN_ORIGIN_SHIPPED_ROW, false);
        judge_file(e, e->key[i], e->k->generic_rows, KILN_ORIGIN_SHIPPED_ROW, true);
    }
    pthread_mutex_unlock(&e->k->lock);
}

/* No row decides: lists the rows that a search begins with. */
static void list_near(explaining *e)
{
    enum { MOST = 8 };
    kiln_near near[MOST];
    kiln_problem p = *e->problem;
    if (!e->chosen.solver || e->chosen.origin != KILN_ORIGIN_GUESS)
        return;
    kiln_shape_give_layouts(&e->chosen.shape, &p);
    const kiln_shape settled = kiln_shape_of(&p);
    const int n = kiln_near_rows(e->k, &p, &settled, near, MOST);
    for (int i = 0; i < n && e->count < MOST_ROWS; i++) {
        kiln_row_verdict *v = &e->verdict[e->count++];
        *v = (kiln_row_verdict){.row = near[i].row, .origin = near[i].pick.origin};
        memcpy(v->device, near[i].device, sizeof v->device);
        if (*v->device)
            snprintf(v->why, sizeof v->why,
                     "it was measured on another device with the same core, %s: a search begins "
                     "with it",
                     e->k->facts.core);
        else
            snprintf(v->why, sizeof v->why, "it is of another batch: a search begins with it");
    }
}

kiln_status kiln_explain_rows(kiln *k, const kiln_problem *problem,
                              void (*row)(void *user, const kiln_row_verdict *verdict), void *user)
{
    if (!k || !problem || !row)
        return kiln_fail(KILN_INVALID, "kiln_explain_rows: k, problem and row must not be NULL");
    if (kiln_process_check(k))
        return KILN_INVALID;
    kiln_problem p = *problem;
    char why[KILN_ERROR_TEXT];
    if (kiln_problem_check(&p, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    const kiln_shape shape = kiln_shape_of(&p);
    explaining *e = calloc(1, sizeof *e);
    kiln_row_verdict *verdict = malloc(MOST_ROWS * sizeof *verdict);
    if (!e || !verdict) {
        free(e);
        free(verdict);
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    }
    *e = (explaining){.k = k, .problem = &p, .shape = &shape, .verdict = verdict};
    list_keys(e);
    if (kiln_choose(k, &p, &shape, NULL, &e->chosen) == KILN_OK) {
        key_of(&p, &e->chosen.shape, e->chosen_key);
        kiln_config_text(e->chosen.solver, &e->chosen.config, e->chosen_config,
                         sizeof e->chosen_config);
    }
    judge_all(e);
    list_near(e);
    for (size_t i = 0; i < e->count; i++)
        row(user, &verdict[i]);
    free(verdict);
    free(e);
    return KILN_OK;
}
