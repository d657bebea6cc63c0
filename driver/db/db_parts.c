/* Compares what the parts of a list were to tune with the rows that are there. */
#include "db_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_part(const rows_part *p)
{
    fprintf(stderr, "part %lld of %lld (%lld problems by %s, list %s)", p->index, p->count, p->all,
            p->by, p->list);
}

static const rows_part *first_part(const db_parts *p)
{
    for (int i = 0; i < p->nfiles; i++)
        if (p->part[i].count)
            return &p->part[i];
    return NULL;
}

static bool same_division(const db_parts *p)
{
    const rows_part *first = first_part(p);
    for (int i = 0; i < p->nfiles; i++) {
        if (!p->part[i].count || rows_part_same_division(first, &p->part[i]))
            continue;
        fprintf(stderr, "kiln db: %s is ", p->files[first - p->part].name);
        print_part(first);
        fprintf(stderr, ", %s is ", p->files[i].name);
        print_part(&p->part[i]);
        fputs("; merge the parts of one division at a time\n", stderr);
        return false;
    }
    return true;
}

kiln_status db_parts_open(db_parts *p, db_file *files, int nfiles)
{
    *p = (db_parts){files, nfiles, calloc((size_t)nfiles, sizeof *p->part)};
    bool ok = p->part != NULL;
    for (int i = 0; i < nfiles && ok; i++)
        for (size_t j = 0; j < files[i].count && ok; j++) {
            db_piece *at = &files[i].piece[j];
            const kiln_rows_piece piece = {
                .kind = (kiln_rows_kind)at->kind, .text = at->text, .length = at->length};
            ok = rows_part_take(&p->part[i], &piece);
            if (at->kind != KILN_ROWS_NOTE)
                continue;
            const char *rest = rows_part_behind(at->text);
            at->length = strlen(rest);
            memmove(at->text, rest, at->length + 1);
        }
    if (!ok)
        fputs("kiln db: out of memory\n", stderr);
    return !ok ? KILN_NO_MEMORY : same_division(p) ? KILN_OK : KILN_INVALID;
}

void db_parts_close(db_parts *p)
{
    for (int i = 0; i < p->nfiles && p->part; i++)
        rows_part_free(&p->part[i]);
    free(p->part);
}

static bool has_part(const db_parts *p, long long index)
{
    for (int i = 0; i < p->nfiles; i++)
        if (p->part[i].count && p->part[i].index == index)
            return true;
    return false;
}

/* Returns the first part from `index` on that is among the files, or is not. */
static long long find_part(const db_parts *p, long long index, bool there)
{
    const long long count = first_part(p)->count;
    if (!there) {
        while (index <= count && has_part(p, index))
            index++;
        return index;
    }
    long long least = count + 1;
    for (int i = 0; i < p->nfiles; i++)
        if (p->part[i].count && p->part[i].index >= index && p->part[i].index < least)
            least = p->part[i].index;
    return least;
}

static bool lack_parts(const db_parts *p)
{
    const rows_part *first = first_part(p);
    bool any = false;
    for (long long from = 1; (from = find_part(p, from, false)) <= first->count;) {
        const long long to = find_part(p, from, true) - 1;
        fprintf(stderr, "%s %lld", any ? "," : "kiln db: missing: part", from);
        if (to > from)
            fprintf(stderr, " to %lld", to);
        any = true;
        from = to + 1;
    }
    if (any)
        fprintf(stderr, " of %lld\n", first->count);
    return any;
}

/* The layouts that a list may leave open; a row has the chosen ones. */
enum { OPEN = 4 };

static char *layout_of(kiln_problem *p, int which)
{
    char *const layouts[OPEN] = {p->x_layout, p->w_layout, p->y_layout, p->bias_layout};
    return layouts[which];
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Makes the sorted keys that the rows answer for: their own, and the keys that leave some of
 * their layouts open. Returns NULL when out of memory. */
static char **answered(db_piece *const *rows, size_t n, size_t *nkeys)
{
    char **keys = calloc((n << OPEN) + 1, sizeof *keys);
    char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    *nkeys = 0;
    for (size_t i = 0; i < n && keys; i++)
        for (int open = 0; open < 1 << OPEN; open++) {
            kiln_problem p;
            if (kiln_problem_parse(&p, rows[i]->row->key, why))
                break;
            for (int l = 0; l < OPEN; l++)
                if (open >> l & 1)
                    strcpy(layout_of(&p, l), "any");
            kiln_problem_row_key(&p, text, sizeof text);
            if (!(keys[(*nkeys)++] = strdup(text)))
                return NULL;
        }
    if (keys)
        qsort(keys, *nkeys, sizeof *keys, compare_keys);
    return keys;
}

/* Prints the problem where no row answers for it. Returns whether it did. */
static bool lacks_problem(const char *name, char **keys, size_t nkeys)
{
    char text[KILN_KEY_TEXT], why[KILN_ERROR_TEXT], *key = text;
    kiln_problem p;
    if (!kiln_problem_parse(&p, name, why)) {
        kiln_problem_row_key(&p, text, sizeof text);
        if (bsearch(&key, keys, nkeys, sizeof *keys, compare_keys))
            return false;
    }
    fprintf(stderr, "kiln db: missing: %s has no row\n", name);
    return true;
}

static bool lack_problems(const db_parts *p, db_piece *const *rows, size_t n)
{
    size_t nkeys;
    char **keys = answered(rows, n, &nkeys);
    bool any = false;
    if (!keys)
        fputs("kiln db: out of memory for the problems of the parts\n", stderr);
    for (int i = 0; i < p->nfiles && keys; i++)
        for (long long j = 0; p->part[i].count && j < p->part[i].own; j++)
            any = lacks_problem(p->part[i].problem[j], keys, nkeys) || any;
    for (size_t i = 0; i < nkeys && keys; i++)
        free(keys[i]);
    free(keys);
    return any || !keys;
}

/* Counts the problems of the parts, each part once. */
static long long count_problems(const db_parts *p)
{
    long long sum = 0;
    for (int i = 0; i < p->nfiles; i++) {
        bool again = false;
        for (int j = 0; j < i; j++)
            again = again || p->part[j].index == p->part[i].index;
        sum += again ? 0 : p->part[i].own;
    }
    return sum;
}

bool db_parts_lack(const db_parts *p, db_piece *const *rows, size_t n)
{
    const rows_part *first = first_part(p);
    if (!first)
        return false;
    const bool parts = lack_parts(p), problems = lack_problems(p, rows, n);
    const long long dealt = parts ? first->all : count_problems(p);
    if (dealt != first->all)
        fprintf(stderr,
                "kiln db: missing: the parts have %lld of the list's %lld problems: they were not "
                "dealt by one version of kiln\n",
                dealt, first->all);
    return parts || problems || dealt != first->all;
}
