/* `kiln db`: reads its flags and calls the word; lint and prune. */
#include "db_command.h"

#include "driver/session.h"

#include "db_judge.h"
#include "db_merge.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: kiln db list [FILE]\n"
    "       kiln db lint [FILE...]\n"
    "       kiln db merge FILE FILE... [-o OUT]\n"
    "       kiln db diff FILE FILE\n"
    "       kiln db prune [FILE]\n"
    "\n"
    "Files of tuning rows say which config was fastest for which problem; `kiln conv -s 1` writes\n"
    "them. Without a FILE, kiln takes the user's file for the device (KILN_DEVICE picks the "
    "device,\n"
    "`kiln env` tells where the file is). With a FILE no device is needed. tuning-db/README.md\n"
    "describes the format.\n"
    "\n"
    "  list     print the rows that count, sorted by problem: time, spread, solver, config\n"
    "  lint     check every row: the row is readable, its key is spelt as kiln spells keys, its\n"
    "           solver is known, its config is legal for the problem. A config that only some\n"
    "           devices allow is a note in a device's file and an error in a file for any device\n"
    "  merge    write the rows of several files, sorted by problem, to standard output or OUT. "
    "For\n"
    "           the same problem, solver and version, a row of a later file replaces a row of an\n"
    "           earlier one. The head is that of the first file; a comment stays before its row\n"
    "  diff     print what merging the second file into the first would change\n"
    "  prune    drop, in place, rows that a later row replaces, and rows of other versions of "
    "their\n"
    "           solver; keep everything else as it is\n"
    "  --help   print this text\n"
    "\n"
    "Exit status: 0 success; 1 diff found differences; 2 the command line makes no sense; 5 a "
    "file\n"
    "could not be read or written, or lint found errors; 6 out of memory.\n";

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
}

static int lint(const db_call *c)
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
        int version = db_solver_version(k, current[i]->row);
        current[i]->dropped = version && version != current[i]->row->version;
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
    db_piece **pieces = malloc(f->count * sizeof *pieces);
    if (!pieces)
        return db_no_memory();
    for (size_t i = 0; i < f->count; i++)
        pieces[i] = &f->piece[i];
    int status = KILN_FILE;
    if (db_changed(f))
        fprintf(stderr, "kiln db: %s was changed meanwhile; prune it when nothing is tuning\n",
                f->name);
    else
        status = (int)db_write(f->name, pieces, f->count);
    if (!status)
        printf("%s: dropped %zu row%s\n", f->name, dropped, dropped == 1 ? "" : "s");
    free(pieces);
    return status;
}

static int prune(const db_call *c)
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

/* Whether the file begins like rows; an empty one has none. Only lint takes all others, to say what
 * is wrong with them. */
static bool is_rows_file(const db_file *f)
{
    if (f->count == 0 || !*f->piece[0].why)
        return true;
    fprintf(stderr, "kiln db: %s is not a file of tuning rows: %s\n", f->name, f->piece[0].why);
    return false;
}

static const struct {
    const char *name;
    int min, max; /* number of files; min 0: where none is named, the user's */
    bool out;
    int (*run)(const db_call *c);
} words[] = {
    {"list", 0, 1, false, db_list},     {"lint", 0, 1000, false, lint},
    {"merge", 2, 1000, true, db_merge}, {"diff", 2, 2, false, db_diff},
    {"prune", 0, 1, false, prune},
};

static int usage(const char *what, const char *word)
{
    fprintf(stderr,
            "kiln db: %s%.200s; say list, lint, merge, diff or prune and files (--help explains)\n",
            what, word);
    return KILN_INVALID;
}

static int run(int (*word)(const db_call *c), int nfiles, char **names, const char *out)
{
    db_call c = {.nfiles = nfiles, .out = out, .files = calloc((size_t)nfiles, sizeof *c.files)};
    int status = c.files ? KILN_OK : db_no_memory();
    for (int i = 0; i < nfiles && !status; i++)
        if ((status = (int)db_load(&c.files[i], names[i], i)) == KILN_OK && word != lint &&
            !is_rows_file(&c.files[i]))
            status = KILN_FILE;
    if (!status)
        status = word(&c);
    for (int i = 0; i < nfiles && c.files; i++)
        db_free(&c.files[i]);
    free(c.files);
    return status;
}

/* Finds the user's file; "" if there is none. A file that KILN_DB names is taken without opening a
 * session, which would refuse a damaged file: such files are what this command is for. */
static int find_own(char **file)
{
    const char *named = getenv("KILN_DB");
    session s;
    char why[KILN_ERROR_TEXT];
    if (named && *named) {
        *file = strdup(strcmp(named, "off") ? named : "");
        return *file ? KILN_OK : db_no_memory();
    }
    kiln_status status = session_open(&s, NULL, why);
    if (status) {
        fprintf(stderr, "kiln db: %s\n", why);
        return (int)status;
    }
    *file = strdup(kiln_rows_file(s.kiln));
    session_close(&s);
    return *file ? KILN_OK : db_no_memory();
}

static int run_on_own(int (*word)(const db_call *c))
{
    char *file = NULL;
    int exit = find_own(&file);
    if (exit)
        return exit;
    if (!*file)
        printf("the user's tuning rows are switched off: KILN_DB=off, or no home directory\n");
    else if (access(file, F_OK) != 0)
        printf("%s: no such file yet; kiln conv -s 1 makes it\n", file);
    else
        exit = run(word, 1, &file, NULL);
    free(file);
    return exit;
}

int db_command(int argc, char **argv)
{
    static const struct option flags[] = {
        {"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, {0}};
    const char *out = NULL;
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "ho:", flags, NULL)) != -1;) {
        if (flag == 'h') {
            fputs(help, stdout);
            return KILN_OK;
        }
        if (flag != 'o')
            return usage("unknown or incomplete flag ", argv[optind - 1]);
        out = optarg;
    }
    if (optind >= argc)
        return usage("what to do is missing", "");
    const char *word = argv[optind++];
    int nfiles = argc - optind;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].name) != 0)
            continue;
        if (nfiles < words[i].min || nfiles > words[i].max)
            return usage("wrong number of files for ", word);
        if (out && !words[i].out)
            return usage("there is no -o for ", word);
        return nfiles ? run(words[i].run, nfiles, argv + optind, out) : run_on_own(words[i].run);
    }
    return usage("unknown word ", word);
}
