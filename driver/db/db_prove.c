/* Each row's result is in the file before the next row is measured, so a kill loses one row's
 * measurement, and the next run passes over the rows that have been proven.
 */
#include "db_prove.h"

#include "driver/base/clock.h"
#include "driver/base/number_text.h"
#include "driver/conv/conv.h"
#include "driver/conv/interrupt.h"
#include "driver/conv/search.h"

#include "db_ahead.h"
#include "db_device.h"
#include "db_judge.h"
#include "db_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows whose programs are compiled together, before they are measured. */
enum { BATCH = 32, ROW_TEXT = 8192 };

/* Where other programs ran in between, turns scatter and say nothing: a row is timed so often. */
enum { TRIES = 3, DISTURBED = 1 };
static const double scattered = 0.1;

typedef struct prove {
    session session;
    db_device device;
    db_file *file;
    db_piece **rows; /* that count, in the order of the file */
    size_t n, *due, ndue;
    size_t kept, dropped, before, elsewhere, failed, disturbed, replaced;
    double began;
    bool terminal, lacks_means;
    int worst;
} prove;

static void clear_line(const prove *p)
{
    if (p->terminal)
        fputs("\r\033[K", stderr);
}

/* Shows how far the command is on a terminal; each row has a line of its own besides. */
static void show(const prove *p, size_t done, const char *what)
{
    if (!p->terminal)
        return;
    const double spent = clock_seconds() - p->began;
    fprintf(stderr, "\r\033[Kprove %zu/%zu%s", done, p->ndue, what);
    if (done > 0)
        fprintf(stderr, ", %.0f s left", spent / (double)done * (double)(p->ndue - done));
    fflush(stderr);
}

/* Returns whether the turns neither show a win nor that there is none: where they scatter, they
 * must agree. */
static bool is_disturbed(const kiln_row *row)
{
    const bool sure = row->turns_won == row->turns && kiln_row_wins(row, NULL);
    return row->win_iqr > scattered && 4LL * row->turns_won > row->turns && !sure;
}

static void print_result(const kiln_row *row, const char *what, const char *why)
{
    char gain[NUMBER_TEXT], spread[NUMBER_TEXT];
    printf("%s  %s: ", row->key, row->solver);
    if (row->turns > 0)
        printf("row %.4g ms, guess %.4g ms, %s times, won %d/%d, spread %s %%; ", row->ms,
               row->guess_ms, number_text(row->guess_ms / row->ms, 3, gain), row->turns_won,
               row->turns, number_text(row->win_iqr * 100, 1, spread));
    printf("%s%s%s\n", what, *why ? ": " : "", why);
    fflush(stdout);
}

/* Notes what came of a row in the file. Returns false where that cannot be written. */
static bool note(prove *p, db_piece *piece, const kiln_row *row, bool kept)
{
    char text[ROW_TEXT];
    kiln_status status = KILN_OK;
    if (kept && kiln_row_text(row, text, sizeof text))
        piece->instead = strdup(text);
    if (kept && !piece->instead)
        status = (kiln_status)db_no_memory();
    else if (kept)
        *piece->row = *row;
    piece->dropped = !kept;
    if (!status)
        status = db_rewrite(p->file);
    p->kept += kept && !status;
    p->dropped += !kept && !status;
    if (status) /* nothing else that is told matters as much */
        p->worst = (int)status;
    return !status;
}

/* A row that does not build or run on this machine now is left as it is, and told of. */
static bool fail(prove *p, const kiln_row *row, kiln_status status, const char *why)
{
    fprintf(stderr, "kiln db: %s: not measured: %s\n", row->key, why);
    p->failed++;
    p->worst = worse_exit(p->worst, (int)(status ? status : KILN_OPENCL));
    return !p->lacks_means;
}

/* Returns false where the command is to end. */
static bool prove_row(prove *p, size_t at)
{
    db_piece *piece = p->rows[p->due[at]];
    kiln_row row = *piece->row;
    kiln_trial_verdict verdict;
    char why[KILN_ERROR_TEXT] = "";
    kiln_status status = db_time_row(&p->session, &row, &verdict, &p->lacks_means, why);
    for (int i = 1; i < TRIES && !status && verdict == KILN_TRIAL_OK && is_disturbed(&row); i++)
        status = db_time_row(&p->session, &row, &verdict, &p->lacks_means, why);
    clear_line(p);
    if (status || verdict == KILN_TRIAL_BUILD || verdict == KILN_TRIAL_RUN)
        return fail(p, &row, status, why);
    if (verdict == KILN_TRIAL_OK && is_disturbed(&row)) {
        print_result(&row, "left as it is", "its turns were disturbed");
        p->disturbed++;
        p->worst = worse_exit(p->worst, DISTURBED);
        return true;
    }
    const bool wrong = verdict == KILN_TRIAL_WRONG, kept = !wrong && kiln_row_wins(&row, why);
    if (wrong)
        row.turns = 0; /* what it says is of another time */
    print_result(&row, kept ? "kept" : "dropped", why);
    return note(p, piece, &row, kept);
}

static void prove_due(prove *p, db_ahead *ahead)
{
    bool lost[BATCH];
    p->began = clock_seconds();
    for (size_t at = 0; at < p->ndue; at += BATCH) {
        const size_t n = p->ndue - at < BATCH ? p->ndue - at : BATCH;
        show(p, at, ", compiling");
        db_ahead_compile(ahead, p->due + at, n, lost);
        for (size_t i = 0; i < n; i++) {
            if (interrupt_came())
                return;
            show(p, at + i, "");
            if (lost[i])
                fail(p, p->rows[p->due[at + i]]->row, KILN_OPENCL,
                     "the process that compiled it has ended");
            else if (!prove_row(p, at + i))
                return;
        }
    }
}

/* Returns whether the guess is another than the row names. */
static bool has_other_guess(kiln *k, const kiln_row *row)
{
    kiln_problem problem;
    kiln_op_info guess;
    char text[sizeof row->guess];
    if (kiln_row_guess(k, row, &problem, &guess))
        return true;
    search_config_text(guess.config, guess.solver, text, sizeof text);
    return strcmp(text, row->guess) != 0;
}

/* Lists the rows of this CPU that are to be measured. */
static void list_due(prove *p)
{
    char why[KILN_ERROR_TEXT];
    for (size_t i = 0; i < p->n; i++) {
        const kiln_row *row = p->rows[i]->row;
        if (!db_device_has(&p->device, row))
            p->elsewhere++;
        else if (kiln_row_wins(row, NULL) &&
                 !db_is_stale(p->session.kiln, p->device.driver, row, why) &&
                 !has_other_guess(p->session.kiln, row))
            p->before++;
        else
            p->due[p->ndue++] = i;
    }
}

static void print_sum(const prove *p, bool interrupted)
{
    printf("%zu row%s kept, %zu dropped, %zu proven before, %zu not measured", p->kept,
           p->kept == 1 ? "" : "s", p->dropped, p->before, p->failed);
    const size_t left = p->ndue - p->kept - p->dropped - p->failed - p->disturbed;
    if (p->disturbed)
        printf(", %zu disturbed: run it again while the machine does nothing else", p->disturbed);
    if (left)
        printf(", %zu left: the same command goes on", left);
    puts(interrupted ? " (interrupted)" : "");
    if (p->replaced)
        printf("%zu replaced by later rows, and dropped\n", p->replaced);
    if (p->elsewhere)
        printf("%zu of another CPU left as they are\n", p->elsewhere);
}

static int by_place(const void *a, const void *b)
{
    const db_piece *x = *(db_piece *const *)a, *y = *(db_piece *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Lists the rows that count, and drops the others: without the row that replaced it, an older row
 * would count again. */
static bool list_rows(prove *p)
{
    p->rows = db_current(p->file, 1, &p->n);
    p->due = p->rows ? malloc((p->n + 1) * sizeof *p->due) : NULL;
    if (!p->due)
        return false;
    for (size_t i = 0; i < p->file->count; i++) {
        p->file->piece[i].dropped = p->file->piece[i].row != NULL;
        p->replaced += p->file->piece[i].dropped;
    }
    for (size_t i = 0; i < p->n; i++)
        p->rows[i]->dropped = false;
    p->replaced -= p->n;
    qsort(p->rows, p->n, sizeof *p->rows, by_place);
    return true;
}

static int run(prove *p, db_ahead *ahead)
{
    char why[KILN_ERROR_TEXT];
    interrupt watch;
    const kiln_status status = session_open(&p->session, NULL, why);
    if (status) {
        fprintf(stderr, "kiln db: %s\n", why);
        return (int)status;
    }
    int exit = db_device_of(&p->device, p->session.kiln, p->file) ? KILN_OK : KILN_FILE;
    if (!exit) {
        interrupt_watch(&watch);
        list_due(p);
        prove_due(p, ahead);
        interrupt_leave(&watch);
        clear_line(p);
        if (p->replaced && !p->kept && !p->dropped && !p->worst)
            p->worst = (int)db_rewrite(p->file);
        print_sum(p, interrupt_came());
        exit = interrupt_came() ? CONV_INTERRUPTED : p->worst;
    }
    session_close(&p->session);
    return exit;
}

int db_prove(const db_call *c)
{
    prove p = {.file = &c->files[0], .terminal = isatty(STDERR_FILENO)};
    db_ahead ahead;
    int jobs = 0;
    if (!db_count_flag("--jobs", c->jobs, &jobs))
        return KILN_INVALID;
    int exit = list_rows(&p) ? KILN_OK : db_no_memory();
    if (!exit) {
        db_ahead_start(&ahead, p.rows, jobs);
        exit = run(&p, &ahead);
        db_ahead_end(&ahead);
    }
    free(p.due);
    free(p.rows);
    return exit;
}
