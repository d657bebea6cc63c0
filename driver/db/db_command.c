/* `kiln db`: reads its flags and calls the word. */
#include "db_command.h"

#include "driver/base/session.h"

#include "db_check.h"
#include "db_export.h"
#include "db_import.h"
#include "db_lint.h"
#include "db_merge.h"
#include "db_prove.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: kiln db list [FILE]\n"
    "       kiln db lint [FILE...]\n"
    "       kiln db merge FILE FILE... [-o OUT]\n"
    "       kiln db diff FILE FILE\n"
    "       kiln db prune [FILE]\n"
    "       kiln db check [FILE] [--sample N]\n"
    "       kiln db prove [FILE] [--jobs N]\n"
    "       kiln db import PERF-DB [--device NAME] [-o OUT]\n"
    "       kiln db export [FILE] [--format t4|csv]\n"
    "\n"
    "Files of tuning rows say which config was fastest for which problem; `kiln conv -s 1` writes\n"
    "them. Without a FILE, kiln takes the user's file for the device (KILN_DEVICE picks the "
    "device,\n"
    "`kiln env` tells where the file is). With a FILE only check and prove need a\n"
    "device.\n"
    "tuning-db/README.md describes the format.\n"
    "\n"
    "  list     print the rows that count, sorted by problem: time, spread, turns won, date,\n"
    "           solver, config\n"
    "  lint     check every row: the row is readable, its key is spelt as kiln spells keys, its\n"
    "           solver is known, its config is legal for the problem. A config that only some\n"
    "           devices allow is a note in a device's file and an error in a file for any device.\n"
    "           Where the head of a device's file says \"shipped: 1\", a row whose win over the\n"
    "           guess is not beyond its spread is an error, too (tuning-db/README.md)\n"
    "  merge    write the rows of several files, sorted by problem, to standard output or OUT. "
    "For\n"
    "           the same problem, solver and version, a row of a later file replaces a row of an\n"
    "           earlier one. The head is that of the first file; a comment stays before its row.\n"
    "           Of files that kiln tune --shard wrote it tells which parts and which problems are\n"
    "           missing, and refuses parts of two divisions\n"
    "  diff     print the rows in which two files differ: - of the first, + of the second, which\n"
    "           a merge would take\n"
    "  prune    drop, in place, rows that a later row replaces, rows of other versions of their\n"
    "           solver or of solvers that there are not, and rows whose config their solver does\n"
    "           not have; keep everything else as it is\n"
    "  check    tell which rows are stale: their solver's version, their templates or the driver\n"
    "           have changed, or the guess is faster; for the last, N of the rows (10) are timed\n"
    "           in turns with the guess\n"
    "  prove    time each row of the CPU at hand in turns with its guess, both verified, write\n"
    "           what came of it into the row, and drop, in place, the rows whose win is not\n"
    "           beyond its spread or whose result is wrong. N processes (one a CPU) compile 32\n"
    "           rows ahead and rest while these are measured. Leave the machine alone meanwhile:\n"
    "           a row whose turns scatter by more than a tenth is timed three times, then left.\n"
    "           Ctrl-C keeps what is done; the same command goes on with the rest\n"
    "  import   make rows of the configs of ConvOclDirectFwd1x1 in a perf-db of MIOpen's that is\n"
    "           text (*.cd.pdb.txt), and say what was skipped and why. They have no times and\n"
    "           stand for any device unless --device names one\n"
    "  export   print the rows that count, or the trials of a log (*.trials.jsonl), as JSON by\n"
    "           the T4 schema, which Kernel Tuner reads, or as CSV\n"
    "  --help   print this text\n"
    "\n"
    "Exit status: 0 success; 1 diff found differences, check stale rows, merge missing parts,\n"
    "or prove rows that were disturbed; 130 Ctrl-C; 2 the command line makes no sense; 4 OpenCL "
    "failed; 5 a file could not be "
    "read or "
    "written, or lint found\n"
    "errors; 6 out of memory.\n";

/* Whether the file begins like rows; an empty one has none. Only lint takes all others, to say what
 * is wrong with them. */
static bool is_rows_file(const db_file *f)
{
    if (f->count == 0 || !*f->piece[0].why)
        return true;
    fprintf(stderr, "kiln db: %s: %s\n", f->name, f->piece[0].why);
    return false;
}

typedef struct db_word {
    const char *name;
    int min, max;      /* number of files; min 0: where none is named, the user's */
    const char *flags; /* the flags that it takes */
    bool unread;       /* it reads its files itself */
    int (*run)(const db_call *c);
} db_word;

static const db_word words[] = {
    {"list", 0, 1, "", false, db_list},       {"lint", 0, 1000, "", false, db_lint},
    {"merge", 2, 1000, "o", false, db_merge}, {"diff", 2, 2, "", false, db_diff},
    {"prune", 0, 1, "", false, db_prune},     {"import", 1, 1, "od", true, db_import},
    {"export", 0, 1, "f", true, db_export},   {"check", 0, 1, "s", false, db_check},
    {"prove", 0, 1, "j", false, db_prove},
};

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "kiln db: %s%.200s; say", what, word);
    const size_t n = sizeof words / sizeof *words;
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %s", i == 0 ? "" : i + 1 < n ? "," : " or", words[i].name);
    fputs(" and files (--help explains)\n", stderr);
    return KILN_INVALID;
}

static int wrong_count(const db_word *word, int count)
{
    fprintf(stderr, "kiln db: %s takes %d", word->name, word->min);
    if (word->max > word->min)
        fprintf(stderr, " to %d", word->max);
    fprintf(stderr, " file%s, not %d (--help explains)\n", word->max == 1 && word->min ? "" : "s",
            count);
    return KILN_INVALID;
}

static int run(const db_word *word, db_call *c)
{
    c->files = calloc((size_t)c->nfiles, sizeof *c->files);
    int status = c->files ? KILN_OK : db_no_memory();
    for (int i = 0; i < c->nfiles && !status && !word->unread; i++)
        if ((status = (int)db_load(&c->files[i], c->name[i], i)) == KILN_OK &&
            word->run != db_lint && !is_rows_file(&c->files[i]))
            status = KILN_FILE;
    if (!status)
        status = word->run(c);
    for (int i = 0; i < c->nfiles && c->files; i++)
        db_free(&c->files[i]);
    free(c->files);
    return status;
}

/* Writes the file's name to `to`. Returns an exit status. */
static int tell_own(int to)
{
    session s;
    char why[KILN_ERROR_TEXT];
    const kiln_status status = session_open(&s, NULL, why);
    if (status) {
        fprintf(stderr, "kiln db: %s\n", why);
        return (int)status;
    }
    const char *name = kiln_rows_file(s.kiln);
    return write(to, name, strlen(name)) < 0 ? KILN_FILE : KILN_OK;
}

/* Asks a process for the file of the device: whoever has opened a device cannot start processes
 * that open one, as prove does. */
static int ask_own(char *name, size_t size)
{
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        return db_no_memory();
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(tell_own(ends[1]));
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < size && (got = read(ends[0], name + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    name[used] = '\0';
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return db_no_memory();
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILN_OPENCL;
}

/* Finds the user's file; "" if there is none. A file that KILN_DB names is taken without opening a
 * session, which would refuse a damaged file: such files are what this command is for. */
static int find_own(char **file)
{
    const char *named = getenv("KILN_DB");
    char name[PATH_MAX] = "";
    if (named && *named)
        snprintf(name, sizeof name, "%s", strcmp(named, "off") ? named : "");
    else {
        const int exit = ask_own(name, sizeof name);
        if (exit)
            return exit;
    }
    *file = strdup(name);
    return *file ? KILN_OK : db_no_memory();
}

static int run_on_own(const db_word *word, db_call *c)
{
    char *file = NULL;
    int exit = find_own(&file);
    if (exit)
        return exit;
    c->name = &file;
    c->nfiles = 1;
    if (!*file)
        printf("the user's tuning rows are switched off: KILN_DB=off, or no home directory\n");
    else if (access(file, F_OK) != 0)
        printf("%s: no such file yet; kiln conv -s 1 makes it\n", file);
    else
        exit = run(word, c);
    free(file);
    return exit;
}

/* Puts a flag's value into its place. Returns false for a flag that there is not. */
static bool take_flag(db_call *c, int flag, const char *value)
{
    const char **place = flag == 'o'   ? &c->out
                         : flag == 'd' ? &c->device
                         : flag == 'f' ? &c->format
                         : flag == 's' ? &c->sample
                         : flag == 'j' ? &c->jobs
                                       : NULL;
    if (place)
        *place = value;
    return place != NULL;
}

int db_command(int argc, char **argv)
{
    static const struct option flags[] = {{"help", no_argument, NULL, 'h'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"format", required_argument, NULL, 'f'},
                                          {"sample", required_argument, NULL, 's'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {0}};
    db_call c = {0};
    char given[8] = "";
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    for (int flag; (flag = getopt_long(argc, argv, "ho:", flags, NULL)) != -1;) {
        if (flag == 'h') {
            fputs(help, stdout);
            return KILN_OK;
        }
        if (!take_flag(&c, flag, optarg))
            return usage("unknown or incomplete flag ", argv[optind - 1]);
        if (!strchr(given, flag))
            given[strlen(given)] = (char)flag;
    }
    if (optind >= argc)
        return usage("what to do is missing", "");
    const char *name = argv[optind++];
    const db_word *word = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words && !word; i++)
        word = strcmp(name, words[i].name) == 0 ? &words[i] : NULL;
    if (!word)
        return usage("unknown word ", name);
    c.name = argv + optind;
    c.nfiles = argc - optind;
    if (c.nfiles < word->min || c.nfiles > word->max)
        return wrong_count(word, c.nfiles);
    for (const char *f = given; *f; f++)
        if (!strchr(word->flags, *f))
            return usage(*f == 'o' ? "there is no -o for " : "a flag is not one of ", name);
    return c.nfiles ? run(word, &c) : run_on_own(word, &c);
}
