/* Reads and appends the log of trials, in which a damaged line costs that line and no other. */
#include "append_line.h"

#include "runtime/base/plain_file.h"

#include "rows.h"
#include "rows_yaml.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA = 1 };

/* A line as the file has it: the kind is a word there. */
typedef struct read_line {
    int schema;
    char kind[16];
    kiln_trial_line line;
} read_line;

static const char *const kinds[] = {[KILN_LINE_TRIAL] = "trial", [KILN_LINE_SEARCH] = "search"};

#define AT(kind, name, required)                                                                   \
    {                                                                                              \
#name, KILN_FIELD_##kind, required, offsetof(read_line, line.name),                        \
            sizeof(((kiln_trial_line *)0)->name)                                                   \
    }

/* In the order in which they are written. */
static const kiln_field fields[] = {
    {"schema", KILN_FIELD_COUNT, true, offsetof(read_line, schema), sizeof(int)},
    {"kind", KILN_FIELD_TEXT, true, offsetof(read_line, kind), sizeof(((read_line *)0)->kind)},
    AT(TEXT, time, false),
    AT(TEXT, problem, true),
    AT(TEXT, key, true),
    AT(COUNT, index, false),
    AT(COUNT, count, false),
    AT(TEXT, solver, true),
    AT(COUNT, version, true),
    AT(TEXT, config, true),
    AT(TEXT, params, false),
    AT(TEXT, origin, false),
    AT(TEXT, verdict, true),
    AT(NUMBER, ms, false),
    AT(NUMBER, iqr, false),
    AT(COUNT, runs, false),
    AT(NUMBER, error, false),
    AT(NUMBER, expected_ms, false),
    AT(NUMBER, build_seconds, false),
    AT(NUMBER, seconds, false),
    AT(TEXT, guess, false),
    AT(NUMBER, guess_ms, false),
    AT(COUNT, turns, false),
    AT(COUNT, turns_won, false),
    AT(NUMBER, win_iqr, false),
    AT(TEXT, second, false),
    AT(NUMBER, second_ms, false),
    AT(TEXT, limits, false),
    AT(TEXT, why, false),
    AT(TEXT, hash, false),
    AT(TEXT, device, false),
    AT(TEXT, driver, false),
    AT(TEXT, core, false),
};

enum { FIELDS = sizeof fields / sizeof *fields };

void kiln_trials_file(const char *rows_file, char *file, size_t size)
{
    static const char ending[] = ".yaml";
    size_t length = rows_file ? strlen(rows_file) : 0, cut = sizeof ending - 1;
    if (length > cut && strcmp(rows_file + length - cut, ending) == 0)
        length -= cut;
    if (!file || size == 0)
        return;
    if (length == 0 ||
        snprintf(file, size, "%.*s.trials.jsonl", (int)length, rows_file) >= (int)size)
        file[0] = '\0';
}

/* Appends ", "name": value" unless the value is "", 0 or not finite and may be left out. Ends a
 * text that fills its field. */
static void put_field(kiln_line *l, const kiln_field *f, read_line *from)
{
    char *at = (char *)from + f->offset;
    double number = 0;
    if (f->kind == KILN_FIELD_COUNT)
        number = *(const int *)at;
    else if (f->kind == KILN_FIELD_NUMBER)
        number = *(const double *)at;
    else
        at[f->size - 1] = '\0';
    if (!f->required && (f->kind == KILN_FIELD_TEXT ? !*at : number == 0 || !isfinite(number)))
        return;
    kiln_line_put(l, l->text[l->used - 1] == '{' ? "" : ", ");
    kiln_line_put_quoted(l, f->name);
    kiln_line_put(l, ": ");
    if (f->kind == KILN_FIELD_TEXT)
        kiln_line_put_quoted(l, at);
    else
        kiln_line_put_number(l, number);
}

/* A search may end without a winner. */
static bool is_complete(const kiln_trial_line *l)
{
    return *l->problem && *l->key && *l->verdict && (*l->solver || l->kind == KILN_LINE_SEARCH);
}

static kiln_status fail(const char *file, const char *why)
{
    return kiln_fail(KILN_FILE, "cannot write the log of trials %s: %s; name another file of rows",
                     file, why);
}

kiln_status kiln_trials_append(const char *file, const kiln_trial_line *line)
{
    if (!file || !line)
        return kiln_fail(KILN_INVALID, "kiln_trials_append: file and line must not be NULL");
    if ((unsigned)line->kind >= sizeof kinds / sizeof *kinds)
        return kiln_fail(KILN_INVALID, "kiln_trials_append: there is no kind of line %d",
                         (int)line->kind);
    if (!is_complete(line))
        return kiln_fail(KILN_INVALID, "kiln_trials_append: problem, key, verdict and the solver "
                                       "of a trial must not be empty");
    read_line whole = {.schema = SCHEMA, .line = *line};
    snprintf(whole.kind, sizeof whole.kind, "%s", kinds[line->kind]);
    if (!kiln_make_folders(file))
        return fail(file, strerror(errno));
    int fd = kiln_append_open(file);
    char reason[128];
    if (fd < 0)
        return fail(file, kiln_plain_file_reason(errno, reason));
    kiln_line l = {.used = 0};
    if (kiln_append_cut_short(fd))
        kiln_line_put(&l, "\n");
    kiln_line_put(&l, "{");
    for (int i = 0; i < FIELDS; i++)
        put_field(&l, &fields[i], &whole);
    kiln_line_put(&l, "}\n");
    if (l.full)
        errno = EMSGSIZE;
    const bool done = !l.full && kiln_append_write(fd, &l);
    const int code = errno;
    close(fd);
    return done ? KILN_OK : fail(file, strerror(code));
}

static bool read_one(const char *text, size_t length, kiln_trial_line *line)
{
    char why[KILN_FIELD_WHY];
    read_line whole = {.schema = 0};
    if (!kiln_yaml_read(text, length, false, fields, FIELDS, &whole, why) || whole.schema != SCHEMA)
        return false;
    *line = whole.line;
    for (int kind = KILN_LINE_TRIAL; kind <= KILN_LINE_SEARCH; kind++)
        if (strcmp(whole.kind, kinds[kind]) == 0) {
            line->kind = (kiln_line_kind)kind;
            return is_complete(line);
        }
    return false;
}

kiln_status kiln_trials_read(const char *file, const char *problem,
                             void (*visit)(void *user, const kiln_trial_line *line), void *user,
                             int64_t *skipped)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    kiln_trial_line line;
    char reason[128];
    int64_t bad = 0;
    if (!file || !visit)
        return kiln_fail(KILN_INVALID, "kiln_trials_read: file and visit must not be NULL");
    FILE *from = kiln_plain_file_stream(file);
    if (!from && errno != ENOENT)
        return kiln_fail(KILN_FILE, "cannot read the log of trials %s: %s", file,
                         kiln_plain_file_reason(errno, reason));
    while (from && (length = getline(&text, &room, from)) > 0) {
        /* The text of a problem stands in a line as it is: parsing the others would take long. */
        if (problem && !strstr(text, problem))
            continue;
        if (text[length - 1] == '\n' && read_one(text, (size_t)length, &line)) {
            if (!problem || strcmp(line.problem, problem) == 0)
                visit(user, &line);
        } else if (length > 1)
            bad++;
    }
    const int code = errno;
    const bool whole = !from || feof(from);
    free(text);
    if (from)
        fclose(from);
    if (skipped)
        *skipped = bad;
    return whole
               ? KILN_OK
               : kiln_fail(KILN_FILE, "cannot read the log of trials %s: %s", file, strerror(code));
}
