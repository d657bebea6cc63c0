/* Writes and reads the record of a part. */
#include "rows_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char begin[] = "# part ", name_begin[] = "# - ";

bool rows_part_same_division(const rows_part *a, const rows_part *b)
{
    return a->count == b->count && a->all == b->all && strcmp(a->by, b->by) == 0 &&
           strcmp(a->list, b->list) == 0;
}

void rows_part_free(rows_part *part)
{
    for (long long i = 0; part->problem && i < part->own; i++)
        free(part->problem[i]);
    free(part->problem);
    *part = (rows_part){.count = 0};
}

/* Returns the start of the next line, or NULL. */
static const char *next_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline && newline + 1 < end ? newline + 1 : NULL;
}

static bool read_first(const char *line, size_t length, rows_part *part)
{
    char text[256];
    int end = 0;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
             line);
    return sscanf(text,
                  "# part %9lld of %9lld: %9lld of %9lld problems, dealt by %7[a-z], list "
                  "%19[0-9a-f]%n",
                  &part->index, &part->count, &part->own, &part->all, part->by, part->list,
                  &end) == 6 &&
           end > 0 && part->index >= 1 && part->index <= part->count && part->own >= 0 &&
           part->own <= part->all;
}

/* Reads the names below the first line. Returns how many there are, up to part->own. */
static long long read_names(const char *at, const char *end, rows_part *part)
{
    long long n = 0;
    const size_t skipped = sizeof name_begin - 1;
    while (n < part->own && (at = next_line(at, end)) && (size_t)(end - at) > skipped &&
           memcmp(at, name_begin, skipped) == 0) {
        const char *name = at + skipped, *newline = memchr(name, '\n', (size_t)(end - name));
        part->problem[n] = strndup(name, (size_t)((newline ? newline : end) - name));
        if (!part->problem[n])
            return -1;
        n++;
    }
    return n;
}

/* Reads the record that begins at `line`; what a full disk cut short is none. */
static bool read_record(rows_part *into, const char *line, const char *end)
{
    rows_part part = {.count = 0};
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    if (!read_first(line, (size_t)((newline ? newline : end) - line), &part) ||
        part.own > (end - line) / (long long)sizeof name_begin)
        return true;
    part.problem = calloc((size_t)part.own + 1, sizeof *part.problem);
    const long long n = part.problem ? read_names(line, end, &part) : -1;
    if (n == part.own) {
        rows_part_free(into);
        *into = part;
        return true;
    }
    rows_part_free(&part);
    return n >= 0;
}

bool rows_part_take(rows_part *part, const kiln_rows_piece *piece)
{
    const char *end = piece->text + piece->length;
    if (piece->kind != KILN_ROWS_NOTE)
        return true;
    for (const char *line = piece->text; line && line < end; line = next_line(line, end))
        if ((size_t)(end - line) >= sizeof begin && memcmp(line, begin, sizeof begin - 1) == 0 &&
            !read_record(part, line, end))
            return false;
    return true;
}

const char *rows_part_behind(const char *text)
{
    const char *end = text + strlen(text), *rest = text;
    bool inside = false;
    for (const char *line = text; line && line < end; line = next_line(line, end)) {
        inside = strncmp(line, begin, sizeof begin - 1) == 0 ||
                 (inside && strncmp(line, name_begin, sizeof name_begin - 1) == 0);
        if (!inside)
            continue;
        rest = next_line(line, end);
        rest = rest ? rest : end;
    }
    return rest;
}

/* The last record of a file, while it is read. */
typedef struct reading {
    rows_part part;
    bool no_memory;
} reading;

static void take(void *user, const kiln_rows_piece *piece)
{
    reading *r = user;
    r->no_memory = !rows_part_take(&r->part, piece) || r->no_memory;
}

static bool says_the_same(const rows_part *a, const rows_part *b)
{
    bool same = rows_part_same_division(a, b) && a->index == b->index && a->own == b->own;
    for (long long i = 0; same && i < a->own; i++)
        same = strcmp(a->problem[i], b->problem[i]) == 0;
    return same;
}

static kiln_status fail_write(const char *file, int code, char *why)
{
    snprintf(why, KILN_ERROR_TEXT,
             "cannot write the part's problems to %.150s: %s; name another file in KILN_DB", file,
             strerror(code));
    return KILN_FILE;
}

/* A line that a kill cut short must not swallow the record. */
static bool is_cut_short(int fd)
{
    char last = '\n';
    const off_t size = lseek(fd, 0, SEEK_END);
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

static kiln_status append(const char *file, const char *text, size_t length, char *why)
{
    const int fd = open(file, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return fail_write(file, errno, why);
    const size_t skipped = is_cut_short(fd) ? 0 : 1; /* the text begins with a newline */
    const ssize_t done = write(fd, text + skipped, length - skipped);
    const int code = done < 0 ? errno : (size_t)done < length - skipped ? ENOSPC : 0;
    close(fd);
    return code ? fail_write(file, code, why) : KILN_OK;
}

kiln_status rows_part_append(const char *file, const rows_part *part, char *why)
{
    reading r = {.no_memory = false};
    char *text = NULL;
    size_t length = 0;
    const kiln_status status = kiln_rows_read(file, take, &r);
    const bool there = !status && !r.no_memory && says_the_same(&r.part, part);
    rows_part_free(&r.part);
    snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, status ? kiln_last_error() : "");
    if (status || there)
        return status;
    FILE *to = open_memstream(&text, &length);
    if (to) {
        fprintf(to, "\n%s%lld of %lld: %lld of %lld problems, dealt by %s, list %s\n", begin,
                part->index, part->count, part->own, part->all, part->by, part->list);
        for (long long i = 0; i < part->own; i++)
            fprintf(to, "%s%s\n", name_begin, part->problem[i]);
    }
    kiln_status written = KILN_NO_MEMORY;
    snprintf(why, KILN_ERROR_TEXT, "out of memory for the part's problems");
    if (to && fclose(to) == 0)
        written = append(file, text, length, why);
    free(text);
    return written;
}
