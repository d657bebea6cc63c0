/* `kiln db` lint and prune: words that judge each row as this version of kiln does. */
#include "db_lint.h"

#include "db_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts of what lint found. */
typedef struct findings {
    int rows, errors, notes;
} findings;

static void find(findings *found, const db_file *f, const db_piece *p, db_verdict verdict,
                 const char *why)
{
    found->errors += verdict == DB_ERROR;
    found->notes += verdict == DB_NOTE;
    printf("%s:%lld: %s: %s\n", f->name, (long long)p->line, verdict == DB_ERROR ? "error" : "note",
           why);
}

/* Who gets a shipped row cannot tell a win from a lucky moment. A row for any device decides
 * nothing: it stands in for its solver's guess. */
static void lint_win(const db_file *f, const db_piece *p, findings *found)
{
    char reason[KILN_ERROR_TEXT], why[KILN_KEY_TEXT + 2 * KILN_ERROR_TEXT];
    if (!f->shipped || strcmp(f->device, "any") == 0 || kiln_row_wins(p->row, reason))
        return;
    snprintf(why, sizeof why,
             "%s: not believed: %s; measure it again on its device (kiln db prove) or delete it",
             p->row->key, reason);
    find(found, f, p, DB_ERROR, why);
}

static void lint_piece(kiln *k, const db_file *f, const db_piece *p, findings *found)
{
    char why[KILN_ERROR_TEXT];
    if (*p->why)
        find(found, f, p, DB_ERROR, p->why);
    if (p->kind == KILN_ROWS_HEAD && !*p->why && !*f->device)
        find(found, f, p, DB_ERROR, "the head names no device (write \"any\" for all devices)");
    if (!p->row)
        return;
    found->rows++;
    db_verdict verdict = db_judge(k, p->row, f->device, why);
    if (verdict)
        find(found, f, p, verdict, why);
    if (verdict != DB_ERROR)
        lint_win(f, p, found);
}

int db_lint(const db_call *c)
{
    kiln *k;
    findings found = {0};
    kiln_status status = db_judge_open(&k);
    if (status)
        return (int)status;
    for (int i = 0; i < c->nfiles; i++)
        for (size_t j = 0; j < c->files[i].count; j++)
            lint_piece(k, &c->files[i], &c->files[i].piece[j], &found);
    kiln_close(k);
    printf("%d row%s, %d error%s, %d note%s\n", found.rows, found.rows == 1 ? "" : "s",
           found.errors, found.errors == 1 ? "" : "s", found.notes, found.notes == 1 ? "" : "s");
    return found.errors ? KILN_FILE : KILN_OK;
}

/* Marks the pieces to drop. Returns how many rows these are. */
static size_t mark_dropped(kiln *k, db_file *f, db_piece *const *current, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < f->count; i++) {
        f->piece[i].dropped = f->piece[i].row != NULL;
        all += f->piece[i].dropped;
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        current[i]->dropped = db_is_useless(k, current[i]->row);
        kept += !current[i]->dropped;
    }
    return all - kept;
}

static int prune_marked(db_file *f, size_t dropped)
{
    if (dropped == 0) {
        printf("%s: nothing to drop\n", f->name);
        return KILN_OK;
    }
    const kiln_status status = db_rewrite(f);
    if (!status)
        printf("%s: dropped %zu row%s\n", f->name, dropped, dropped == 1 ? "" : "s");
    return (int)status;
}

int db_prune(const db_call *c)
{
    size_t n;
    kiln *k;
    db_piece **current = db_current(c->files, 1, &n);
    if (!current)
        return db_no_memory();
    kiln_status status = db_judge_open(&k);
    if (!status)
        status = (kiln_status)prune_marked(c->files, mark_dropped(k, c->files, current, n));
    kiln_close(k);
    free(current);
    return (int)status;
}
