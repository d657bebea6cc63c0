/* `kiln db show | lint`. */
#include "db_command.h"

#include "session.h"

#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: kiln db show | lint [FILE...]\n"
    "\n"
    "Tuning rows say which config of which solver was fastest for a problem. Without a FILE it is\n"
    "the user's, the one that kiln conv -s 1 writes (kiln env names it).\n"
    "\n"
    "  show     list the rows: solver, config, median time in ms, date, problem\n"
    "  lint     name every line that kiln passes over, with the reason; status 5 if there are any\n"
    "  --help   print this text\n";

/* One file on its way. */
typedef struct reading {
    kiln *kiln;
    const char *file;
    int64_t rows, bad;
} reading;

/* Rows come from files: nothing in them may reach the terminal as a control character. Pads to
 * `width`, 0 is as long as it is. */
static void print_clean(const char *text, int width)
{
    int n = 0;
    for (; *text; text++, n++)
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
    if (width)
        printf("%*s", n < width ? width - n + 2 : 2, "");
}

static void show_piece(void *user, const kiln_rows_piece *p)
{
    reading *r = user;
    if (p->kind == KILN_ROWS_HEAD && p->device)
        printf("%s: rows of device \"%s\"\n", r->file, p->device);
    r->bad += p->why != NULL;
    if (p->kind != KILN_ROWS_ROW)
        return;
    r->rows++;
    print_clean(p->row->solver, 20);
    print_clean(p->row->config, 26);
    if (p->row->ms > 0)
        printf("%10.4g  ", p->row->ms);
    else
        printf("%10s  ", "-");
    print_clean(*p->row->date ? p->row->date : "-", 10);
    print_clean(p->row->key, 0);
    putchar('\n');
}

/* What keeps a row that can be read from ever being used, whatever the device; false when nothing
 * does. */
static bool find_fault(kiln *k, const kiln_row *row, char *why)
{
    kiln_problem p;
    char key[KILN_KEY_TEXT];
    if (kiln_problem_parse(&p, row->key, why))
        return true;
    kiln_problem_row_key(&p, key, sizeof key);
    if (strcmp(key, row->key) != 0) {
        snprintf(why, KILN_ERROR_TEXT, "its key is never looked up; kiln spells it %.200s", key);
        return true;
    }
    const kiln_choice choice = {.solver = row->solver, .config = row->config};
    kiln_op_info info = {.solver_version = row->version};
    kiln_op *op = NULL;
    kiln_status status = kiln_conv_create(k, &p, &choice, &op);
    if (op)
        kiln_op_describe(op, &info);
    kiln_op_release(op);
    if (status == KILN_INVALID)
        snprintf(why, KILN_ERROR_TEXT, "%.255s", kiln_last_error());
    else if (info.solver_version != row->version)
        snprintf(why, KILN_ERROR_TEXT, "it is of version %d of solver %s, which is at %d",
                 row->version, row->solver, info.solver_version);
    return status == KILN_INVALID || info.solver_version != row->version;
}

static void lint_piece(void *user, const kiln_rows_piece *p)
{
    reading *r = user;
    char text[KILN_ERROR_TEXT];
    const char *why = p->why;
    if (p->kind == KILN_ROWS_ROW) {
        r->rows++;
        if (find_fault(r->kiln, p->row, text))
            why = text;
    }
    if (!why)
        return;
    r->bad++;
    printf("%s:%lld: ", r->file, (long long)p->line);
    print_clean(why, 0);
    putchar('\n');
}

static const struct {
    const char *name;
    void (*piece)(void *user, const kiln_rows_piece *p);
    bool judges; /* what is wrong counts for the exit status */
} words[] = {{"show", show_piece, false}, {"lint", lint_piece, true}};

static int read_file(kiln *k, int word, const char *file)
{
    reading r = {.kiln = k, .file = file};
    kiln_status status = kiln_rows_read(file, words[word].piece, &r);
    if (status) {
        fprintf(stderr, "kiln db: %s\n", kiln_last_error());
        return (int)status;
    }
    printf("%s: %lld row%s", file, (long long)r.rows, r.rows == 1 ? "" : "s");
    if (r.bad)
        printf(", %lld place%s passed over%s", (long long)r.bad, r.bad == 1 ? "" : "s",
               words[word].judges ? "" : " (kiln db lint names them)");
    printf("\n");
    return r.bad && words[word].judges ? KILN_FILE : 0;
}

static int read_own(kiln *k, int word)
{
    const char *file = kiln_rows_file(k);
    if (!*file)
        printf("the user's tuning rows are switched off: KILN_DB=off, or no home directory\n");
    else if (access(file, F_OK) != 0)
        printf("%s: not there yet; kiln conv -s 1 makes it\n", file);
    else
        return read_file(k, word, file);
    return 0;
}

static int run(int word, int count, char **files)
{
    session s;
    char why[KILN_ERROR_TEXT];
    int worst = 0;
    /* Only the user's own file depends on the device. */
    kiln_status status = count ? session_open_dry(&s, why) : session_open(&s, NULL, why);
    if (status) {
        fprintf(stderr, "kiln db: %s\n", why);
        return (int)status;
    }
    for (int i = 0; i < count; i++) {
        int exit = read_file(s.kiln, word, files[i]);
        worst = exit > worst ? exit : worst;
    }
    if (!count)
        worst = read_own(s.kiln, word);
    session_close(&s);
    return worst;
}

int db_command(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < sizeof words / sizeof *words; i++)
        if (strcmp(argv[1], words[i].name) == 0)
            return run((int)i, argc - 2, argv + 2);
    fprintf(stderr, "kiln db: %s%.60s; say show or lint (--help explains)\n",
            argc > 1 ? "unknown word " : "what to do is missing", argc > 1 ? argv[1] : "");
    return KILN_INVALID;
}
