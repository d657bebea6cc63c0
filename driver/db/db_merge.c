/* `kiln db` list, merge and diff: words that read files of rows and change none of them. */
#include "db_merge.h"

#include "driver/base/number_text.h"

#include "db_judge.h"
#include "db_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DIFFERENT = 1, INCOMPLETE = 1 };

int db_no_memory(void)
{
    fputs("kiln db: out of memory\n", stderr);
    return KILN_NO_MEMORY;
}

bool db_count_flag(const char *name, const char *value, int *count)
{
    char *end = NULL;
    const long number = value ? strtol(value, &end, 10) : *count;
    if (value && (end == value || *end || number < 0 || number > INT_MAX)) {
        fprintf(stderr, "kiln db: %s is '%.40s'; it must be a whole number from 0 to %d\n", name,
                value, INT_MAX);
        return false;
    }
    *count = (int)number;
    return true;
}

static void warn_bad(const db_file *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (*f->piece[i].why)
            fprintf(stderr, "%s:%lld: %s; left out\n", f->name, (long long)f->piece[i].line,
                    f->piece[i].why);
}

static void print_time(const kiln_row *row)
{
    char iqr[NUMBER_TEXT] = "", won[32] = "-";
    if (row->iqr > 0)
        number_text(row->iqr * 100, 1, iqr);
    if (row->turns > 0)
        snprintf(won, sizeof won, "%d/%d", row->turns_won, row->turns);
    if (row->ms > 0)
        printf("%10.4g  %5s%s", row->ms, *iqr ? iqr : "-", *iqr ? "%" : " ");
    else
        printf("%10s  %6s", "-", "-");
    printf("  %6s", won);
}

/* Prints the row's CPU core, where it has one, and the end of the line. */
static void puts_core(const kiln_row *row)
{
    if (*row->core)
        printf("  (%s)", row->core);
    putchar('\n');
}

/* Takes rows of other versions of their solvers off the list: kiln does not use them. Returns how
 * many there were. */
static size_t leave_out_versions(kiln *k, db_piece **rows, size_t *n)
{
    size_t kept = 0, all = *n;
    for (size_t i = 0; i < all; i++) {
        int version = db_solver_version(k, rows[i]->row);
        if (!version || version == rows[i]->row->version)
            rows[kept++] = rows[i];
    }
    *n = kept;
    return all - kept;
}

int db_list(const db_call *c)
{
    size_t n, others;
    kiln *k;
    kiln_status status = db_judge_open(&k);
    if (status)
        return (int)status;
    db_piece **rows = db_current(c->files, 1, &n);
    if (rows)
        others = leave_out_versions(k, rows, &n);
    kiln_close(k);
    if (!rows)
        return db_no_memory();
    warn_bad(c->files);
    printf("%s: rows of device \"%s\"\n", c->files->name, c->files->device);
    if (n)
        printf("%10s  %6s  %6s  %-10s  PROBLEM  SOLVER  CONFIG\n", "MS", "IQR", "WON", "DATE");
    for (size_t i = 0; i < n; i++) {
        const kiln_row *row = rows[i]->row;
        print_time(row);
        printf("  %-10s  %s  %s/%d  %s", *row->date ? row->date : "-", row->key, row->solver,
               row->version, row->config);
        puts_core(row);
    }
    if (others)
        printf("%zu row%s of other versions of their solvers left out; prune drops them\n", others,
               others == 1 ? "" : "s");
    free(rows);
    return KILN_OK;
}

/* Refuses files of different devices: times of one device say nothing about another. */
static bool one_device(const db_call *c)
{
    for (int i = 1; i < c->nfiles; i++)
        if (strcmp(c->files[i].device, c->files[0].device) != 0) {
            fprintf(
                stderr,
                "kiln db: %s is for the device \"%s\", %s for \"%s\"; rows of different devices "
                "belong in different files\n",
                c->files[0].name, c->files[0].device, c->files[i].name, c->files[i].device);
            return false;
        }
    return true;
}

/* Returns the comment right before a row; NULL: none. */
static db_piece *comment_of(const db_call *c, const db_piece *row)
{
    db_piece *before = &c->files[row->file].piece[row->order - 2];
    return before->kind == KILN_ROWS_NOTE && strchr(before->text, '#') ? before : NULL;
}

int db_put(const db_call *c, db_piece *const *pieces, size_t n)
{
    if (c->out)
        return (int)db_write(c->out, pieces, n);
    for (size_t i = 0; i < n; i++)
        fwrite(pieces[i]->text, 1, pieces[i]->length, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return KILN_OK;
    perror("kiln db: cannot write the rows");
    return KILN_FILE;
}

static bool is_input(const db_call *c)
{
    struct stat out, in;
    if (!c->out || stat(c->out, &out) != 0)
        return false;
    for (int i = 0; i < c->nfiles; i++)
        if (stat(c->files[i].name, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return true;
    return false;
}

/* Returns true and prints why when the files must not be merged. */
static bool cannot_merge(const db_call *c)
{
    if (is_input(c)) {
        fprintf(stderr, "kiln db: %s is one of the files to merge; name a new one\n", c->out);
        return true;
    }
    for (int i = 0; i < c->nfiles; i++)
        if (!c->files[i].count || *c->files[i].piece[0].why) {
            fprintf(stderr, "kiln db: %s is not a file of tuning rows\n", c->files[i].name);
            return true;
        }
    return !one_device(c);
}

/* Whether the row, which another one replaces, says more: they have one config and templates, and
 * only the earlier was timed beside the guess. */
static bool says_more(const kiln_row *row, const kiln_row *later)
{
    return row->turns > 0 && later->turns == 0 && strcmp(row->config, later->config) == 0 &&
           strcmp(row->hash, later->hash) == 0;
}

static int by_row(const void *a, const void *b)
{
    return db_compare_rows((*(db_piece *const *)a)->row, (*(db_piece *const *)b)->row);
}

/* Puts rows with turns into the place of rows without, the latest first. `rows` is sorted. */
static void keep_turns(const db_call *c, db_piece **rows, size_t n)
{
    for (int f = c->nfiles - 1; f >= 0; f--)
        for (size_t i = c->files[f].count; i-- > 0;) {
            db_piece *p = &c->files[f].piece[i];
            if (!p->row || p->row->turns == 0)
                continue;
            db_piece **at = bsearch(&p, rows, n, sizeof *rows, by_row);
            if (at && says_more(p->row, (*at)->row))
                *at = p;
        }
}

static int merge(const db_call *c, const db_parts *parts)
{
    size_t n, used = 0;
    db_piece **rows = db_current(c->files, c->nfiles, &n);
    db_piece **pieces = rows ? malloc((2 * n + 1) * sizeof *pieces) : NULL;
    int status = pieces ? KILN_OK : db_no_memory();
    if (pieces) {
        keep_turns(c, rows, n);
        pieces[used++] = &c->files[0].piece[0];
    }
    for (size_t i = 0; i < n && pieces; i++) {
        db_piece *comment = comment_of(c, rows[i]);
        if (comment)
            pieces[used++] = comment;
        pieces[used++] = rows[i];
    }
    if (pieces)
        status = db_put(c, pieces, used);
    if (pieces && db_parts_lack(parts, rows, n) && !status)
        status = INCOMPLETE;
    free(pieces);
    free(rows);
    return status;
}

int db_merge(const db_call *c)
{
    db_parts parts;
    if (cannot_merge(c))
        return KILN_FILE;
    for (int i = 0; i < c->nfiles; i++)
        warn_bad(&c->files[i]);
    int status = (int)db_parts_open(&parts, c->files, c->nfiles);
    if (!status)
        status = merge(c, &parts);
    db_parts_close(&parts);
    return status;
}

static void print_change(char sign, const kiln_row *row)
{
    printf("%c", sign);
    print_time(row);
    printf("  %s  %s/%d  %s", row->key, row->solver, row->version, row->config);
    puts_core(row);
}

static bool same_content(const kiln_row *a, const kiln_row *b)
{
    return strcmp(a->config, b->config) == 0 && a->ms == b->ms && a->iqr == b->iqr &&
           a->runs == b->runs && a->error == b->error && strcmp(a->guess, b->guess) == 0 &&
           a->guess_ms == b->guess_ms && a->turns == b->turns && a->turns_won == b->turns_won &&
           a->win_iqr == b->win_iqr && strcmp(a->hash, b->hash) == 0 &&
           strcmp(a->driver, b->driver) == 0 && strcmp(a->date, b->date) == 0 &&
           strcmp(a->without, b->without) == 0;
}

/* Compares two sorted lists; prints each difference. */
static int diff_rows(db_piece **a, size_t na, db_piece **b, size_t nb)
{
    int status = KILN_OK;
    for (size_t i = 0, j = 0; i < na || j < nb;) {
        const kiln_row *old = i < na ? a[i]->row : NULL, *new = j < nb ? b[j]->row : NULL;
        bool pair = old && new &&db_same(old, new);
        bool only_old = !pair && (!new || (old && db_compare(a[i], b[j]) < 0));
        i += pair || only_old;
        j += !only_old;
        if (pair && same_content(old, new))
            continue;
        status = DIFFERENT;
        if (pair || only_old)
            print_change('-', old);
        if (!only_old)
            print_change('+', new);
    }
    return status;
}

int db_diff(const db_call *c)
{
    size_t na, nb;
    for (int i = 0; i < 2; i++)
        warn_bad(&c->files[i]);
    db_piece **a = db_current(&c->files[0], 1, &na), **b = db_current(&c->files[1], 1, &nb);
    int status = a && b ? diff_rows(a, na, b, nb) : db_no_memory();
    free(a);
    free(b);
    return status;
}
