/* Runs files of problems: a bad line is named and the rest goes on. */
#include "batch.h"

#include "driver/problem_list/problem_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct batch {
    const session *session;
    const request *defaults;
    const char *name; /* of the file */
    long long line;
    list_reader reader;
    struct {
        char name[LIST_NAME];
        int count;
    } foreign[16]; /* words that are no convolution; the last takes all further ones */
    int log_lines; /* that name no problem */
    long long first_log_line;
    int worst, ok, failed, unsupported, errors;
} batch;

enum { MAX_WORDS = 256 };

/* Splits a line in place at blanks; quotes and backslashes work as in a shell. Returns the number
 * of words; -1: a quote is left open or there are too many words. */
static int split(char *line, char **words)
{
    int count = 0;
    char *from = line, *to = line;
    while (*(from += strspn(from, " \t\r\n"))) {
        if (count == MAX_WORDS)
            return -1;
        words[count++] = to;
        char quote = 0;
        for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
            if (*from == quote)
                quote = 0;
            else if (!quote && (*from == '\'' || *from == '"'))
                quote = *from;
            else if (*from == '\\' && quote != '\'' && from[1])
                *to++ = *++from;
            else
                *to++ = *from;
        }
        if (quote)
            return -1;
        from += *from != '\0';
        *to++ = '\0';
    }
    return count;
}

/* Parses a driver line, from its word or first flag on. */
static kiln_status parse_driver_line(request *r, int count, char **words, char *why)
{
    static char implied[] = "conv";
    char *first[MAX_WORDS + 2];
    int n = 0;
    if (*words[0] == '-')
        first[n++] = implied;
    for (int i = 0; i < count; i++)
        first[n++] = words[i];
    first[n] = NULL;
    if (*words[0] != '-') {
        r->word = words[0];
        request_word(words[0], &r->type);
    }
    const char *device = r->flags.device; /* given beside --batch */
    kiln_status status = flags_parse(&r->flags, n, first, why);
    if (!status && (r->flags.help || r->flags.list_devices || *r->flags.batch_file)) {
        snprintf(why, KILN_ERROR_TEXT,
                 "--help, --list-devices and --batch do not belong in a file of problems");
        status = KILN_INVALID;
    }
    if (!status && r->flags.device != device) {
        snprintf(why, KILN_ERROR_TEXT, "--device is for the whole file; give it beside --batch");
        status = KILN_INVALID;
    }
    return status;
}

/* Parses a line of flags. Changes `text`, which the request then points into. */
static kiln_status parse_command(char *text, request *r, char *why)
{
    char *words[MAX_WORDS];
    kiln_type type;
    int count = split(text, words);
    if (count > 0 && (*words[0] == '-' || request_word(words[0], &type)))
        return parse_driver_line(r, count, words, why);
    bool eight_bits = count > 0 && (!strcmp(words[0], "convfp8") || !strcmp(words[0], "convbfp8"));
    snprintf(why, KILN_ERROR_TEXT, "%s",
             count < 0 ? "a quote is left open, or the line has more than 256 words"
             : eight_bits
                 ? "convfp8 and convbfp8 have 8-bit floats, which kiln lacks"
                 : "a command in a file is conv, convfp16, convbfp16 or convint8 with flags");
    return eight_bits ? KILN_UNSUPPORTED : KILN_INVALID;
}

/* Changes `text`, which has room for the command of LIST_COMMAND or entry->flags. */
static kiln_status parse_line(const batch *b, list_kind kind, const list_entry *entry, char *text,
                              request *r, char *why)
{
    kiln_status status = KILN_OK;
    *r = *b->defaults;
    r->flags.batch_file = "";
    if (kind == LIST_COMMAND) {
        status = parse_command(text, r, why);
    } else if (kind == LIST_BAD) {
        snprintf(why, KILN_ERROR_TEXT, "%s", entry->why);
        status = entry->unsupported ? KILN_UNSUPPORTED : KILN_INVALID;
    } else {
        if (*entry->flags)
            status = parse_command(text, r, why);
        r->source = kind == LIST_SHAPE ? REQUEST_SHAPE : REQUEST_KEY;
        r->base = entry->problem;
    }
    return status ? status : conv_check(r, why);
}

static bool matches(const request *r, const char *line, const char *match)
{
    char key[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln_problem p;
    if (!*match || strstr(line, match))
        return true;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++)
        if (request_wants(r, (kiln_direction)d) &&
            !request_problem(r, (kiln_direction)d, &p, why)) {
            kiln_problem_text(&p, key, sizeof key);
            if (strstr(key, match))
                return true;
        }
    return false;
}

static void count(batch *b, int exit)
{
    int *const counters[] = {&b->ok, &b->failed, &b->errors, &b->unsupported};
    ++*(exit >= 0 && exit <= 3 ? counters[exit] : &b->errors);
    b->worst = worse_exit(b->worst, exit);
}

static void refuse(batch *b, const request *r, kiln_status status, const char *why)
{
    char text[KILN_ERROR_TEXT + 320];
    snprintf(text, sizeof text, "%.255s line %lld: %s", b->name, b->line, why);
    count(b, conv_refuse(r, status, text));
}

/* Returns false after Ctrl-C. */
static bool run_line(batch *b, list_kind kind, const list_entry *entry, const char *line,
                     char *text)
{
    request r;
    char why[KILN_ERROR_TEXT], repro[REQUEST_REPRO_TEXT];
    const char *match = b->defaults->flags.match;
    kiln_status status = parse_line(b, kind, entry, text, &r, why);
    if (status && *match && !strstr(line, match))
        return true;
    if (status) {
        refuse(b, &r, status, why);
        return true;
    }
    if (!matches(&r, line, match))
        return true;
    if (*entry->note)
        fprintf(stderr, "kiln: %.255s line %lld: not followed: %s\n", b->name, b->line,
                entry->note);
    if (report_format_of(&r.flags) == REPORT_LINES) {
        request_line(&r, repro, sizeof repro);
        printf("%s%s%s\n", repro, *entry->name ? "  # " : "", entry->name);
        fflush(stdout);
    }
    int exit = conv_run(b->session, &r);
    if (exit == CONV_INTERRUPTED)
        return false;
    count(b, exit);
    return true;
}

/* Counts a line that names no problem. */
static void skip_line(batch *b, list_kind kind, const char *word)
{
    int last = sizeof b->foreign / sizeof *b->foreign - 1, i = 0;
    if (kind == LIST_LOG) {
        if (b->log_lines++ == 0)
            b->first_log_line = b->line;
        return;
    }
    while (i < last && b->foreign[i].count && strcmp(b->foreign[i].name, word) != 0)
        i++;
    snprintf(b->foreign[i].name, LIST_NAME, "%s", i == last ? "of other words" : word);
    b->foreign[i].count++;
}

/* Tells what was left out, on one line each. */
static void print_skipped(const batch *b, FILE *to)
{
    const int room = sizeof b->foreign / sizeof *b->foreign;
    for (int i = 0; i < room && b->foreign[i].count; i++)
        fprintf(to, "%s%d %s", i ? ", " : "skipped, no convolutions: ", b->foreign[i].count,
                b->foreign[i].name);
    if (b->foreign[0].count)
        fprintf(to, "\n");
    if (b->log_lines)
        fprintf(to, "skipped, lines of a log that name no problem: %d, the first is line %lld\n",
                b->log_lines, b->first_log_line);
}

static int summarize(const batch *b, bool whole)
{
    int total = b->ok + b->failed + b->unsupported + b->errors;
    FILE *to = report_format_of(&b->defaults->flags) == REPORT_LINES ? stdout : stderr;
    fflush(stdout);
    print_skipped(b, to);
    fprintf(to, "%d problem%s: %d ok, %d failed, %d unsupported, %d error%s%s\n", total,
            total == 1 ? "" : "s", b->ok, b->failed, b->unsupported, b->errors,
            b->errors == 1 ? "" : "s", whole ? "" : " (interrupted)");
    return whole ? b->worst : CONV_INTERRUPTED;
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
static list_kind read_line(batch *b, const char *line, ssize_t length, list_entry *entry)
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

/* Runs one problem. Returns false after Ctrl-C and where memory ran out. */
static bool run_entry(batch *b, list_kind kind, const list_entry *entry, const char *line)
{
    char *text = kind == LIST_COMMAND ? strndup(line + entry->begin, entry->end - entry->begin)
                                      : strdup(entry->flags);
    bool going = text && run_line(b, kind, entry, line, text);
    free(text);
    return going;
}

/* Runs what stands in a line: one problem, or several commands. Returns false as run_entry(). */
static bool run_text(batch *b, const char *line, ssize_t length)
{
    list_entry entry;
    bool going = true;
    do {
        list_kind kind = read_line(b, line, length, &entry);
        /* Lines before --start are read too: they may be headers that later lines need. */
        if (kind == LIST_NOTHING || b->line < b->defaults->flags.start)
            return true;
        if (kind == LIST_FOREIGN || kind == LIST_LOG)
            skip_line(b, kind, entry.name);
        else
            going = run_entry(b, kind, &entry, line);
        line += entry.rest;
        length -= (ssize_t)entry.rest;
    } while (going && entry.rest > 0);
    return going;
}

static bool run_file(batch *b, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    bool going = true;
    ssize_t length;
    while (going && (length = getline(&line, &room, file)) >= 0) {
        if (b->line++ == 0)
            skip_mark(line, &length);
        while (length && isspace((unsigned char)line[length - 1]))
            line[--length] = '\0';
        unquote(line, &length);
        going = run_text(b, line, length);
    }
    if (going && !feof(file)) {
        fprintf(stderr, "kiln: --batch %s, after line %lld: %s\n", b->name, b->line,
                strerror(errno));
        b->worst = worse_exit(b->worst, KILN_FILE);
    }
    free(line);
    return going;
}

int batch_run(const session *s, const request *defaults)
{
    const char *name = defaults->flags.batch_file;
    bool standard = strcmp(name, "-") == 0;
    batch b = {.session = s, .defaults = defaults, .name = standard ? "standard input" : name};
    FILE *file = standard ? stdin : fopen(name, "r");
    if (!file) {
        fprintf(stderr, "kiln: --batch %s: %s\n", name, strerror(errno));
        return KILN_FILE;
    }
    bool whole = run_file(&b, file);
    if (!standard)
        fclose(file);
    return summarize(&b, whole);
}
