/* Reads files of problems line by line. */
#include "request_list.h"

#include "request_layouts.h"
#include "request_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A file that is being read. */
typedef struct reading {
    const char *name; /* of the file, for messages */
    const request *defaults;
    long long line;
    list_reader reader;
    bool (*visit)(void *user, request_list_item *item);
    void *user;
    request_list_skipped *skipped;
} reading;

/* Counts a line that names no problem. */
static void skip_line(const reading *b, list_kind kind, const char *word)
{
    request_list_skipped *s = b->skipped;
    int last = sizeof s->foreign / sizeof *s->foreign - 1, i = 0;
    if (kind == LIST_LOG) {
        if (s->log_lines++ == 0)
            snprintf(s->first_log_line, sizeof s->first_log_line, "line %lld", b->line);
        return;
    }
    while (i < last && s->foreign[i].count && strcmp(s->foreign[i].name, word) != 0)
        i++;
    snprintf(s->foreign[i].name, LIST_NAME, "%s", i == last ? "of other words" : word);
    s->foreign[i].count++;
}

void request_list_print_skipped(const request_list_skipped *s, FILE *to)
{
    const int room = sizeof s->foreign / sizeof *s->foreign;
    for (int i = 0; i < room && s->foreign[i].count; i++)
        fprintf(to, "%s%d %s", i ? ", " : "skipped, no convolutions: ", s->foreign[i].count,
                s->foreign[i].name);
    if (s->foreign[0].count)
        fprintf(to, "\n");
    if (s->log_lines)
        fprintf(to, "skipped, lines of a log that name no problem: %d, the first is %s\n",
                s->log_lines, s->first_log_line);
}

void request_list_none(const request *defaults, char *why)
{
    const flags *f = &defaults->flags;
    int n = snprintf(why, KILN_ERROR_TEXT, "no convolution was found");
    if (*f->match)
        n += snprintf(why + n, KILN_ERROR_TEXT - (size_t)n, ": --match is '%.100s'", f->match);
    if (f->start > 1)
        snprintf(why + n, KILN_ERROR_TEXT - (size_t)n, "%s --start is %lld",
                 *f->match ? " and" : ":", (long long)f->start);
}

/* Skips the byte order mark that some editors put before the first line of a file in UTF-8. */
static void skip_mark(char *line, ssize_t *length)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t size = sizeof mark - 1;
    if (strncmp(line, mark, size) != 0)
        return;
    *length -= (ssize_t)size;
    memmove(line, line + size, (size_t)*length + 1);
}

/* list_read() takes a text, which ends at its first zero byte; the rest of such a line must not be
 * lost in silence. */
static list_kind read_line(reading *b, const char *line, ssize_t length, list_entry *entry)
{
    if (strlen(line) == (size_t)length)
        return list_read(&b->reader, line, entry);
    *entry = (list_entry){.repeat = 1};
    snprintf(entry->why, sizeof entry->why,
             "the line has a zero byte; is the file UTF-16? It must be UTF-8");
    return LIST_BAD;
}

/* Takes the quotes off a line that is one quoted text, with or without a comma behind it, as in a
 * program's list. */
static void unquote(char *line, ssize_t *length)
{
    size_t from = strspn(line, " \t"), to = (size_t)*length;
    to -= to > 0 && line[to - 1] == ',';
    if (to < from + 2 || !strchr("\"'`", line[from]) || line[to - 1] != line[from] ||
        memchr(line + from + 1, line[from], to - from - 2))
        return;
    line[from] = ' ';
    line[to - 1] = '\0';
    *length = (ssize_t)to - 1;
}

/* Hands out one problem. Returns false where nothing more is wanted, or memory ran out. */
static bool take_entry(reading *b, list_kind kind, const list_entry *entry, const char *line)
{
    const char *match = b->defaults->flags.match;
    request_list_item item = {.file = b->name, .number = b->line, .line = line, .entry = entry};
    item.text = kind == LIST_COMMAND ? strndup(line + entry->begin, entry->end - entry->begin)
                                     : strdup(entry->flags);
    bool going = item.text != NULL;
    if (going)
        item.status =
            request_line_parse(b->defaults, kind, entry, item.text, &item.request, item.why);
    if (going && (item.status ? !*match || strstr(line, match)
                              : request_line_matches(&item.request, line, match)))
        going = b->visit(b->user, &item);
    free(item.text);
    return going;
}

/* Takes what stands in a line: one problem, or several commands. Returns as take_entry(). */
static bool take_line(reading *b, const char *line, ssize_t length)
{
    list_entry entry;
    bool going = true;
    do {
        list_kind kind = read_line(b, line, length, &entry);
        /* Lines before --start are read too: they may be headers that later lines need. */
        if (b->line < b->defaults->flags.start)
            return true;
        if (kind == LIST_NOTHING)
            going = true;
        else if (kind == LIST_FOREIGN || kind == LIST_LOG)
            skip_line(b, kind, entry.name);
        else
            going = take_entry(b, kind, &entry, line);
        line += entry.rest;
        length -= (ssize_t)entry.rest;
    } while (going && entry.rest > 0);
    return going;
}

enum { LONGEST = 1 << 20 }; /* bytes of a line: /dev/zero has no end of one */

/* Reads a line with its end into LONGEST + 1 bytes and returns its length; -1 at the end of the
 * file, and with errno where reading fails or the line is longer. */
static ssize_t next_line(char *line, FILE *file)
{
    size_t n = 0;
    for (int c = 0; c != '\n' && (c = getc_unlocked(file)) != EOF;) {
        if (n == LONGEST) {
            errno = EMSGSIZE;
            return -1;
        }
        line[n++] = (char)c;
    }
    line[n] = '\0';
    return n == 0 || ferror(file) ? -1 : (ssize_t)n;
}

static void tell_failure(const reading *b, const char *flag)
{
    if (errno == EMSGSIZE)
        fprintf(stderr,
                "kiln: %s%s: line %lld has more than %d bytes; is this a list of problems?\n", flag,
                b->name, b->line + 1, LONGEST);
    else if (b->line == 0)
        fprintf(stderr, "kiln: %s%s: %s\n", flag, b->name, strerror(errno));
    else
        fprintf(stderr, "kiln: %s%s, after line %lld: %s\n", flag, b->name, b->line,
                strerror(errno));
}

static kiln_status read_file(reading *b, const char *flag, FILE *file, bool *whole)
{
    char *line = malloc(LONGEST + 1);
    ssize_t length;
    *whole = true;
    if (!line) {
        fprintf(stderr, "kiln: %s%s: out of memory\n", flag, b->name);
        return KILN_NO_MEMORY;
    }
    while (*whole && (length = next_line(line, file)) >= 0) {
        if (b->line++ == 0)
            skip_mark(line, &length);
        while (length && isspace((unsigned char)line[length - 1]))
            line[--length] = '\0';
        unquote(line, &length);
        *whole = take_line(b, line, length);
    }
    const bool failed = *whole && !feof(file);
    if (failed)
        tell_failure(b, flag);
    free(line);
    return failed ? KILN_FILE : KILN_OK;
}

void request_list_given(const request *defaults, onnx_given *given)
{
    const flags *f = &defaults->flags;
    *given = (onnx_given){.inputs = f->input.count,
                          .dims = f->dim.count,
                          .batch = flags_given(f, "batchsize") ? f->batch : 0};
    memcpy(given->input, f->input.text, sizeof given->input);
    memcpy(given->dim, f->dim.text, sizeof given->dim);
}

kiln_status request_list_layer(const request *defaults, const onnx_layer *l, kiln_problem *p,
                               char *why)
{
    *p = l->problem;
    kiln_status status = request_layouts(&defaults->flags, p, why);
    if (!status && (status = kiln_problem_check(p, why)))
        request_layouts_blame(&defaults->flags, p, why);
    return status;
}

/* Hands out one convolution of a model as a line of its problem's name. */
static bool take_layer(reading *b, const onnx_layer *l)
{
    char line[KILN_KEY_TEXT];
    list_entry entry = {.repeat = l->times < 1           ? 1
                                  : l->times < INT32_MAX ? (int)l->times
                                                         : INT32_MAX};
    b->line++;
    if (b->line < b->defaults->flags.start)
        return true;
    snprintf(line, sizeof line, "%s", l->name);
    snprintf(entry.name, sizeof entry.name, "%.*s", LIST_NAME - 1, l->name);
    const bool usable = l->sized && !request_list_layer(b->defaults, l, &entry.problem, entry.why);
    if (usable) {
        kiln_problem_text(&entry.problem, line, sizeof line);
    } else if (!l->sized) {
        entry.unsupported = true;
        snprintf(entry.why, sizeof entry.why, "%.80s has no size: %.150s", l->name, l->why);
    }
    return take_entry(b, usable ? LIST_PROBLEM : LIST_BAD, &entry, line);
}

static kiln_status read_model(reading *b, const char *flag, bool *whole)
{
    onnx_model *m;
    onnx_given given;
    char why[ONNX_WHY];
    request_list_given(b->defaults, &given);
    const kiln_status status = onnx_open(&m, b->name, &given, why);
    if (status) {
        fprintf(stderr, "kiln: %s%s: %s\n", flag, b->name, why);
        return status;
    }
    for (size_t i = 0; i < m->layers && *whole; i++)
        *whole = take_layer(b, &m->layer[i]);
    onnx_close(m);
    return KILN_OK;
}

kiln_status request_list_read(const char *flag, const char *name, const request *defaults,
                              bool (*visit)(void *user, request_list_item *item), void *user,
                              request_list_skipped *skipped, bool *whole)
{
    const bool standard = strcmp(name, "-") == 0;
    reading b = {.name = standard ? "standard input" : name,
                 .defaults = defaults,
                 .visit = visit,
                 .user = user,
                 .skipped = skipped};
    *whole = true;
    if (!standard && onnx_is_name(name))
        return read_model(&b, flag, whole);
    FILE *file = standard ? stdin : fopen(name, "r");
    if (!file) {
        fprintf(stderr, "kiln: %s%s: %s\n", flag, name, strerror(errno));
        return KILN_FILE;
    }
    kiln_status status = read_file(&b, flag, file, whole);
    if (!standard)
        fclose(file);
    return status;
}
