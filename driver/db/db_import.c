/* MIOpen's text perf-db has lines "KEY=SOLVER:VALUES;SOLVER:VALUES". The values of
 * ConvOclDirectFwd1x1 are those of kiln's solver of that name, in the same order; no other solver
 * of MIOpen's is one of kiln's. The file does not say which device was measured, nor the times.
 */
#include "db_import.h"

#include "driver/base/clock.h"
#include "driver/base/json_csv.h"
#include "driver/base/open_file.h"

#include "db_judge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char solver_name[] = "ConvOclDirectFwd1x1";

enum { MOST_REASONS = 64, MOST_SOLVERS = 128 };

/* Why rows were left out, or what there is to say of the rows that were taken. */
typedef struct reason {
    char text[KILN_ERROR_TEXT + 32];
    int64_t rows, line; /* how many, and the line of the first */
} reason;

typedef struct import {
    kiln *k;
    FILE *to;
    int64_t line, taken, skipped;
    reason why[MOST_REASONS + 1]; /* the last one: all that did not fit */
    int reasons;
    const char *other[MOST_SOLVERS]; /* solvers but the imported one */
    int others;
    double told; /* when the progress was told last, by clock_seconds() */
} import;

static void count(import *im, const char *format, const char *text)
{
    char sentence[sizeof im->why[0].text];
    int i = 0;
    snprintf(sentence, sizeof sentence, format, text);
    while (i < im->reasons && strcmp(im->why[i].text, sentence) != 0)
        i++;
    if (i == MOST_REASONS)
        strcpy(sentence, "other reasons");
    if (i == im->reasons || im->why[i].rows == 0) {
        im->why[i] = (reason){.line = im->line};
        snprintf(im->why[i].text, sizeof im->why[i].text, "%s", sentence);
        im->reasons = i < MOST_REASONS ? i + 1 : i;
    }
    im->why[i].rows++;
}

static void skip(import *im, const char *format, const char *text)
{
    im->skipped++;
    count(im, format, text);
}

/* Lists the solvers but the imported one. kiln_explain() compares all solvers at each call: once is
 * enough for their names. */
static void list_others(import *im)
{
    const kiln_problem tiny = {
        .batch = 1, .in_channels = 1, .out_channels = 1, .input = {1, 1}, .filter = {1, 1}};
    kiln_verdict v;
    for (int i = 0; im->others < MOST_SOLVERS && !kiln_explain(im->k, &tiny, i, &v); i++)
        if (strcmp(v.solver, solver_name) != 0)
            im->other[im->others++] = v.solver;
}

/* MIOpen searched each solver by itself: the row says nothing of the others that take the problem.
 */
static void name_others(const import *im, const kiln_problem *p, char without[KILN_ROW_WITHOUT])
{
    size_t used = 0;
    without[0] = '\0';
    for (int i = 0; i < im->others; i++) {
        kiln_op_info info;
        const size_t length = strlen(im->other[i]);
        const kiln_choice choice = {.solver = im->other[i], .ignore_rows = 1};
        if (used + length + 2 > KILN_ROW_WITHOUT || kiln_conv_plan(im->k, p, &choice, &info))
            continue;
        used += (size_t)sprintf(without + used, "%s%s", used ? " " : "", im->other[i]);
    }
}

static void take(import *im, const kiln_problem *p, const char *config)
{
    char why[KILN_ERROR_TEXT];
    kiln_row row = {0};
    kiln_problem_row_key(p, row.key, sizeof row.key);
    strcpy(row.solver, solver_name);
    if (snprintf(row.config, sizeof row.config, "%s", config) >= (int)sizeof row.config) {
        skip(im, "%s: more values than a config has", solver_name);
        return;
    }
    row.version = db_solver_version(im->k, &row);
    const bool taken = db_solver_takes(im->k, &row, why);
    const db_verdict verdict = taken ? db_judge(im->k, &row, "a device", why) : DB_ERROR;
    if (!row.version || verdict == DB_ERROR) {
        skip(im, "%s", why);
        return;
    }
    if (verdict == DB_NOTE)
        count(im, "taken, though: %s", why);
    name_others(im, p, row.without);
    fprintf(im->to, "- {key: \"%s\", solver: \"%s\", version: %d, config: \"%s\"%s%s%s}\n", row.key,
            row.solver, row.version, row.config, *row.without ? ", without: \"" : "", row.without,
            *row.without ? "\"" : "");
    im->taken++;
}

/* Takes one "SOLVER:VALUES" of a line. */
static void read_record(import *im, const char *key, char *record)
{
    char why[KILN_ERROR_TEXT];
    kiln_problem p;
    char *colon = strchr(record, ':');
    if (!colon) {
        skip(im, "no \"SOLVER:VALUES\"%s", "");
        return;
    }
    *colon = '\0';
    if (strcmp(record, solver_name) != 0)
        skip(im, "of MIOpen's solver %.60s, which kiln does not have", record);
    else if (kiln_problem_parse(&p, key, why))
        skip(im, "the key is not one of a convolution: %s", why);
    else
        take(im, &p, colon + 1);
}

static void read_line(import *im, char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
    char *equals = strchr(text, '=');
    if (!*text || *text == '#')
        return;
    if (!equals) {
        const bool old = strstr(text, "xNCHWxFP");
        skip(im,
             old ? "of MIOpen 1.0 or 1.1, whose keys do not tell the stride%s"
                 : "no \"KEY=SOLVER:VALUES\"%s",
             "");
        return;
    }
    *equals = '\0';
    for (char *at = equals + 1; at;) {
        char *next = strchr(at, ';');
        if (next)
            *next++ = '\0';
        if (*at)
            read_record(im, text, at);
        at = next;
    }
}

static void print_report(const import *im, const char *file)
{
    fprintf(stderr, "%s: %lld row%s taken, %lld skipped\n", file, (long long)im->taken,
            im->taken == 1 ? "" : "s", (long long)im->skipped);
    for (int i = 0; i <= MOST_REASONS; i++)
        if (im->why[i].rows)
            fprintf(stderr, "%8lld  %s (line %lld)\n", (long long)im->why[i].rows, im->why[i].text,
                    (long long)im->why[i].line);
}

/* A file of some megabytes takes seconds. */
static void tell_progress(import *im, const char *file)
{
    const double now = clock_seconds(), pause = isatty(STDERR_FILENO) ? 1 : 10;
    if (now - im->told < pause)
        return;
    im->told = now;
    fprintf(stderr, "%s: line %lld, %lld row%s taken so far\n", file, (long long)im->line,
            (long long)im->taken, im->taken == 1 ? "" : "s");
}

static bool is_device(FILE *file)
{
    struct stat st;
    return fstat(fileno(file), &st) != 0 || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode);
}

static int read_file(import *im, const db_call *c)
{
    char *text = NULL;
    size_t room = 0;
    FILE *from = open_file_to_read(c->name[0]);
    if (!from) {
        fprintf(stderr, "kiln db: cannot read %s: %s\n", c->name[0], strerror(errno));
        return KILN_FILE;
    }
    if (is_device(from)) { /* which may have no end */
        fprintf(stderr, "kiln db: cannot read %s: it is a device\n", c->name[0]);
        fclose(from);
        return KILN_FILE;
    }
    fputs("# configs of MIOpen's perf-db, without times\nschema: 1\ndevice: ", im->to);
    json_string(im->to, c->device ? c->device : "any"); /* YAML reads it, too */
    fputs("\nrows:\n", im->to);
    while (getline(&text, &room, from) >= 0) {
        im->line++;
        read_line(im, text);
        tell_progress(im, c->name[0]);
    }
    const int code = errno;
    const bool failed = ferror(from);
    free(text);
    fclose(from);
    if (!failed)
        return KILN_OK;
    fprintf(stderr, "kiln db: cannot read %s: %s\n", c->name[0], strerror(code));
    return KILN_FILE;
}

int db_import(const db_call *c)
{
    char *rows = NULL;
    size_t length = 0;
    import *im = calloc(1, sizeof *im);
    if (!im)
        return db_no_memory();
    im->to = open_memstream(&rows, &length);
    int status = im->to ? (int)db_judge_open(&im->k) : db_no_memory();
    im->told = clock_seconds();
    if (!status) {
        list_others(im);
        status = read_file(im, c);
    }
    if (im->to && fclose(im->to) != 0)
        status = db_no_memory();
    if (!status) {
        db_piece whole = {.text = rows, .length = length};
        db_piece *pieces[] = {&whole};
        print_report(im, c->name[0]);
        if (im->taken > 0) {
            status = db_put(c, pieces, 1);
        } else {
            fprintf(stderr, "kiln db: %s has no row for kiln; nothing is written\n", c->name[0]);
            status = KILN_FILE;
        }
    }
    kiln_close(im->k);
    free(rows);
    free(im);
    return status;
}
