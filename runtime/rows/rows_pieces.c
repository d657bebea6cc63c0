/* Takes a file of rows apart without trusting it: one damaged row costs that row and no other. */
#include "rows.h"

#include "runtime/base/plain_file.h"

#include "rows_plain.h"
#include "rows_yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCHEMA = 1, MAX_ROW = 16 << 10 };

static const int64_t max_file = (int64_t)1 << 30;

typedef struct head {
    int schema, shipped;
    char device[128];
} head;

#define FIELD(kind, type, name, required)                                                          \
#name, KILN_FIELD_##kind, required, offsetof(type, name), sizeof(((type *)0)->name)

static const kiln_field head_fields[] = {
    {FIELD(COUNT, head, schema, true)},
    {FIELD(TEXT, head, device, false)},
    {FIELD(COUNT, head, shipped, false)},
};

static const kiln_field row_fields[] = {
    {FIELD(TEXT, kiln_row, key, true)},          {FIELD(TEXT, kiln_row, solver, true)},
    {FIELD(COUNT, kiln_row, version, true)},     {FIELD(TEXT, kiln_row, config, true)},
    {FIELD(NUMBER, kiln_row, ms, false)},        {FIELD(NUMBER, kiln_row, iqr, false)},
    {FIELD(COUNT, kiln_row, runs, false)},       {FIELD(NUMBER, kiln_row, error, false)},
    {FIELD(TEXT, kiln_row, guess, false)},       {FIELD(NUMBER, kiln_row, guess_ms, false)},
    {FIELD(COUNT, kiln_row, turns, false)},      {FIELD(COUNT, kiln_row, turns_won, false)},
    {FIELD(NUMBER, kiln_row, win_iqr, false)},   {FIELD(TEXT, kiln_row, second, false)},
    {FIELD(NUMBER, kiln_row, second_ms, false)}, {FIELD(TEXT, kiln_row, hash, false)},
    {FIELD(TEXT, kiln_row, driver, false)},      {FIELD(TEXT, kiln_row, date, false)},
    {FIELD(TEXT, kiln_row, without, false)},     {FIELD(TEXT, kiln_row, core, false)},
};

enum {
    HEAD_FIELDS = sizeof head_fields / sizeof *head_fields,
    ROW_FIELDS = sizeof row_fields / sizeof *row_fields
};

/* The rest of the text, and where its pieces go. */
typedef struct cutter {
    const char *at, *end;
    int64_t line;
    kiln_rows_visit *visit;
    void *user;
} cutter;

/* Returns the place behind the line that starts at `at`. */
static const char *after_line(const char *at, const char *end)
{
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return newline ? newline + 1 : end;
}

static size_t indent(const char *at, const char *end)
{
    size_t n = 0;
    while (at + n < end && at[n] == ' ')
        n++;
    return n;
}

/* Whether a line holds a comment or nothing. */
static bool is_note(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == end || *at == '\n' || *at == '#';
}

/* Hands out the text up to `stop` and moves on. */
static void cut(cutter *c, const char *stop, kiln_rows_piece piece)
{
    piece.line = c->line;
    piece.text = c->at;
    piece.length = (size_t)(stop - c->at);
    if (piece.length)
        c->visit(c->user, &piece);
    for (const char *at = c->at; at < stop; at = after_line(at, stop))
        c->line++;
    c->at = stop;
}

static void cut_bad(cutter *c, const char *stop, const char *why)
{
    cut(c, stop, (kiln_rows_piece){.kind = KILN_ROWS_BAD, .why = why});
}

/* Returns the place behind what other systems' editors put before the first line of a file in
 * UTF-8. */
static const char *after_mark(const char *at, const char *end)
{
    static const char mark[] = "\xef\xbb\xbf";
    enum { MARK = sizeof mark - 1 };
    return end - at >= MARK && memcmp(at, mark, MARK) == 0 ? at + MARK : at;
}

/* Returns the place behind the line "rows:", or NULL. */
static const char *after_head(const char *at, const char *end, bool *inline_rows)
{
    static const char key[] = "rows:";
    enum { KEY = sizeof key - 1 };
    for (; at < end; at = after_line(at, end)) {
        if (end - at < KEY || memcmp(at, key, KEY) != 0)
            continue;
        const char *value = at + KEY, *stop = after_line(at, end);
        value += indent(value, stop);
        *inline_rows =
            !is_note(value, stop) &&
            !(stop - value >= 2 && memcmp(value, "[]", 2) == 0 && is_note(value + 2, stop));
        return stop;
    }
    return NULL;
}

/* Returns false when the rows behind the head cannot be understood. */
static bool cut_head(cutter *c)
{
    head h = {0};
    char why[KILN_FIELD_WHY] = "";
    bool inline_rows = false;
    const char *start = after_mark(c->at, c->end);
    const char *stop = after_head(start, c->end, &inline_rows);
    if (!stop)
        strcpy(why, "no line \"rows:\" here: not a file of tuning rows");
    else if (inline_rows)
        strcpy(why, "rows must follow below \"rows:\", one a line");
    else if (stop - c->at > KILN_ROWS_MAX_HEAD)
        strcpy(why, "the head is longer than 64 KiB");
    else if (kiln_yaml_read(start, (size_t)(stop - start), false, head_fields, HEAD_FIELDS, &h,
                            why) &&
             h.schema != SCHEMA)
        strcpy(why, "its schema is not 1, the one this version of kiln reads");
    cut(c, stop ? stop : c->end,
        (kiln_rows_piece){.kind = KILN_ROWS_HEAD,
                          .device = h.device,
                          .shipped = h.shipped != 0,
                          .why = *why ? why : NULL});
    if (!*why)
        return true;
    cut_bad(c, c->end, "the head of the file is not understood");
    return false;
}

/* A row takes the lines from its "-" up to the next line that is indented no deeper. */
static const char *after_row(const char *at, const char *end)
{
    size_t depth = indent(at, end);
    const char *stop = after_line(at, end);
    for (const char *line = stop; line < end; line = after_line(line, end)) {
        if (is_note(line, end))
            continue;
        if (indent(line, end) <= depth)
            break;
        stop = after_line(line, end);
    }
    return stop;
}

/* Rows as kiln writes them need no YAML parser, which takes several times as long. */
static bool read_row(const char *text, size_t length, kiln_row *row, char why[KILN_FIELD_WHY])
{
    *row = (kiln_row){0};
    if (kiln_plain_read(text, length, row_fields, ROW_FIELDS, row))
        return true;
    *row = (kiln_row){0};
    return kiln_yaml_read(text, length, true, row_fields, ROW_FIELDS, row, why);
}

static void cut_row(cutter *c)
{
    const char *stop = after_row(c->at, c->end);
    const char *dash = c->at + indent(c->at, stop);
    char why[KILN_FIELD_WHY];
    kiln_row row;
    if (stop - dash < 2 || dash[0] != '-' || dash[1] != ' ')
        cut_bad(c, stop, "a row begins with \"- {\"");
    else if (stop - c->at > MAX_ROW)
        cut_bad(c, stop, "a row is at most 16 KiB long");
    else if (!read_row(c->at, (size_t)(stop - c->at), &row, why))
        cut_bad(c, stop, why);
    else if (!*row.key || !*row.solver)
        cut_bad(c, stop, "its key or solver is empty");
    else
        cut(c, stop, (kiln_rows_piece){.kind = KILN_ROWS_ROW, .row = &row});
}

void kiln_rows_pieces(const char *text, size_t length, kiln_rows_visit *visit, void *user)
{
    const char *newline = length ? memrchr(text, '\n', length) : NULL;
    const char *whole = newline ? newline + 1 : text; /* a kill cut the rest off */
    cutter c = {.at = text, .end = whole, .line = 1, .visit = visit, .user = user};
    if (c.at < c.end && cut_head(&c))
        while (c.at < c.end) {
            const char *stop = c.at;
            while (stop < c.end && is_note(stop, c.end))
                stop = after_line(stop, c.end);
            cut(&c, stop, (kiln_rows_piece){.kind = KILN_ROWS_NOTE});
            if (c.at < c.end)
                cut_row(&c);
        }
    cut_bad(&c, text + length, "the line is cut short");
}

static char *read_all(int fd, size_t size, size_t *length)
{
    char *text = malloc(size + 1);
    *length = 0;
    while (text && *length < size) {
        ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(text);
            return NULL;
        }
        if (got == 0)
            break;
        *length += (size_t)got;
    }
    return text;
}

kiln_status kiln_rows_read(const char *file, kiln_rows_visit *visit, void *user)
{
    off_t size = 0;
    size_t length;
    if (!file || !visit)
        return kiln_fail(KILN_INVALID, "kiln_rows_read: file and piece must not be NULL");
    int fd = kiln_plain_file_open(file, &size);
    if (fd < 0 && errno != EINVAL)
        return kiln_fail(KILN_FILE, "cannot read tuning rows from %s: %s", file, strerror(errno));
    if (fd < 0 || size > max_file) {
        if (fd >= 0)
            close(fd);
        return kiln_fail(KILN_FILE,
                         "%s is not a file of tuning rows (not a plain file, or over 1 GiB)", file);
    }
    char *text = read_all(fd, (size_t)size, &length);
    int code = errno;
    close(fd);
    if (!text)
        return kiln_fail(code == ENOMEM ? KILN_NO_MEMORY : KILN_FILE,
                         "cannot read tuning rows from %s: %s", file, strerror(code));
    kiln_rows_pieces(text, length, visit, user);
    free(text);
    return KILN_OK;
}
