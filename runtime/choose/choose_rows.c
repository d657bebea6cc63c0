/* Turns tuning rows into picks: which file counts, and which of its rows. */
#include "choose_rows.h"

#include "excluded_solvers.h"
#include "kindred_rows.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SOLVERS = 64 };

/* Returns the row's solver and reads its config, if both are still what was measured; else NULL. */
static const kiln_solver *read_row(const kiln_row *row, kiln_config *config, kiln_why *why)
{
    const kiln_solver *solver = kiln_solver_named(row->solver);
    memset(config, 0, sizeof *config);
    if (!solver)
        kiln_no(why, "it names solver %s, which this version does not have", row->solver);
    else if (solver->version != row->version)
        kiln_no(why, "it is of version %d of solver %s; this is version %d", row->version,
                row->solver, solver->version);
    else if (kiln_config_parse(solver, row->config, config, why) &&
             !kiln_config_unlisted(solver, config, why))
        return solver;
    return NULL;
}

bool kiln_row_usable(const kiln *k, const kiln_row *row, const kiln_shape *shape, kiln_pick *pick,
                     kiln_why *why)
{
    kiln_config config;
    const kiln_solver *solver = read_row(row, &config, why);
    return solver && kiln_consider(k, solver, shape, &config, NULL, pick, why);
}

/* Finds the best usable row of one file: the newest row of each solver counts, and the fastest of
 * these wins. Where any solver may be chosen, one of these rows must come from a search of all
 * solvers. Copies it to `taken` unless that is NULL. */
static bool best_row(const kiln *k, const kiln_rows *rows, const char *key, const char *only,
                     const kiln_shape *shape, kiln_pick *pick, kiln_row *taken)
{
    const kiln_solver *seen[MAX_SOLVERS];
    int nseen = 0;
    bool decides = only != NULL;
    double best = 0;
    const kiln_row *row;
    for (int nth = 0; (row = kiln_rows_find(rows, key, only, nth)); nth++) {
        kiln_pick candidate = *pick;
        kiln_why why;
        if (!kiln_row_usable(k, row, shape, &candidate, &why)) {
            kiln_log(&k->logger, "row skipped: %s: %s", key, why.text);
            continue;
        }
        bool old = false;
        for (int i = 0; i < nseen; i++)
            old = old || seen[i] == candidate.solver;
        if (old || nseen == MAX_SOLVERS)
            continue;
        decides = decides || !kiln_excluded_solvers_matters(k, row->without, shape);
        bool faster = row->ms > 0 && (best == 0 || row->ms < best);
        if (nseen == 0 || faster) {
            *pick = candidate;
            pick->row_ms = best = row->ms;
            pick->row_iqr = row->iqr;
            if (taken)
                *taken = *row;
        }
        seen[nseen++] = candidate.solver;
    }
    return nseen > 0 && decides;
}

static bool pick_from_rows(kiln *k, const char *key, const char *only, const kiln_shape *shape,
                           kiln_pick *pick, kiln_row *row)
{
    pthread_mutex_lock(&k->lock);
    bool found = best_row(k, k->user_rows, key, only, shape, pick, row);
    pick->origin = KILN_ORIGIN_USER_ROW;
    if (!found) {
        pick->origin = KILN_ORIGIN_SHIPPED_ROW;
        found = best_row(k, k->shipped_rows, key, only, shape, pick, row) ||
                (only && best_row(k, k->generic_rows, key, only, shape, pick, row));
    }
    pthread_mutex_unlock(&k->lock);
    return found;
}

bool kiln_pick_from_rows(kiln *k, const char *key, const char *only, const kiln_shape *shape,
                         kiln_pick *pick)
{
    return pick_from_rows(k, key, only, shape, pick, NULL);
}

bool kiln_row_of_pick(kiln *k, const char *key, const kiln_shape *shape, kiln_pick *pick,
                      kiln_row *row)
{
    return pick_from_rows(k, key, NULL, shape, pick, row);
}

bool kiln_pick_from_kindred(kiln *k, int index, const char *key, const kiln_shape *shape,
                            kiln_pick *pick, kiln_row *row, char device[128])
{
    pthread_mutex_lock(&k->lock);
    kiln_kindred_load(k);
    const kiln_rows *rows = index < k->nkindred ? k->kindred[index] : NULL;
    const bool found = rows && best_row(k, rows, key, NULL, shape, pick, row);
    if (found)
        snprintf(device, 128, "%s", kiln_rows_device(rows));
    pick->origin = KILN_ORIGIN_SHIPPED_ROW;
    pthread_mutex_unlock(&k->lock);
    return found;
}

/* What is wrong with the user's rows of a key, copied: warnings are given without the lock. */
typedef struct complaint {
    int64_t line;                   /* of the row; 0: nothing is wrong */
    bool old;                       /* no problem can use it */
    bool narrow;                    /* it is usable, and does not decide */
    kiln_why why;                   /* if not narrow */
    char without[KILN_ROW_WITHOUT]; /* if narrow */
} complaint;

/* Looks at the newest row of the key. */
static complaint look_at_row(kiln *k, const char *key, const char *only, const kiln_shape *shape)
{
    complaint c = {.line = 0};
    kiln_config config;
    kiln_pick pick;
    const kiln_row *row = kiln_rows_find(k->user_rows, key, only, 0);
    if (!row)
        return c;
    if (!kiln_row_usable(k, row, shape, &pick, &c.why)) {
        kiln_why why;
        c.old = !read_row(row, &config, &why);
        c.line = kiln_rows_line(k->user_rows, row);
    } else if (!only && *row->without) {
        c.narrow = true;
        memcpy(c.without, row->without, sizeof c.without);
        c.line = kiln_rows_line(k->user_rows, row);
    }
    return c;
}

static void warn_of_row(const kiln *k, const char *key, const complaint *c)
{
    if (c->narrow)
        kiln_warn(
            &k->logger,
            "%s:%lld: the row of %s does not decide: its search could not choose %s; a search "
            "without -S, --math and limits (kiln conv -s 1) compares all",
            k->rows_file, (long long)c->line, key, c->without);
    else if (c->line)
        kiln_warn(&k->logger,
                  "%s:%lld: the row of %s is not used: %s; a search (kiln conv -s 1) %s",
                  k->rows_file, (long long)c->line, key, c->why.text,
                  c->old ? "measures anew, kiln db prune drops it"
                         : "with the flags of this problem finds a config for it");
}

bool kiln_warn_of_row(kiln *k, const char *key, const char *only, const kiln_shape *shape)
{
    pthread_mutex_lock(&k->lock);
    const complaint c = look_at_row(k, key, only, shape);
    pthread_mutex_unlock(&k->lock);
    warn_of_row(k, key, &c);
    return c.line != 0;
}

void kiln_warn_of_missing_rows(kiln *k)
{
    pthread_mutex_lock(&k->lock);
    const bool missing = k->rows_named_by && kiln_rows_missing(k->user_rows);
    pthread_mutex_unlock(&k->lock);
    if (missing && !atomic_exchange(&k->missing_told, true))
        kiln_warn(&k->logger,
                  "%s names %s, which is not there: no config comes from it; a search (kiln conv "
                  "-s 1) makes it",
                  k->rows_named_by, k->rows_file);
}

bool kiln_has_user_rows(kiln *k)
{
    pthread_mutex_lock(&k->lock);
    const bool any = kiln_rows_count(k->user_rows) > 0;
    pthread_mutex_unlock(&k->lock);
    return any;
}
