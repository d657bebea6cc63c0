/* A walk over one line of names and values. */
#include "rows_plain.h"

#include <stdint.h>
#include <string.h>

enum { NAME = 32, VALUE = 1024 };

typedef struct walk {
    const char *at, *end;
} walk;

static bool skip(walk *w, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(w->end - w->at) < length || memcmp(w->at, text, length) != 0)
        return false;
    w->at += length;
    return true;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '+' || c == '-';
}

/* What stands between quotes; a backslash would begin an escape. */
static bool is_quoted(char c)
{
    return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';
}

/* Takes the characters that `is` takes. Returns their number. */
static size_t take(walk *w, bool (*is)(char c))
{
    const char *start = w->at;
    while (w->at < w->end && is(*w->at))
        w->at++;
    return (size_t)(w->at - start);
}

/* A word begins with a letter or a digit: in YAML, "-" and "." may have a meaning there. */
static bool read_value(walk *w, char value[VALUE], size_t *length)
{
    const bool quoted = skip(w, "\"");
    const char *start = w->at;
    *length = take(w, quoted ? is_quoted : is_word);
    if (*length >= VALUE || (!quoted && (*length == 0 || strchr("+-.", *start))))
        return false;
    memcpy(value, start, *length);
    value[*length] = '\0';
    return !quoted || skip(w, "\"");
}

/* Reads "name: value". */
static bool read_field(walk *w, const kiln_field *fields, int nfields, uint64_t *seen, void *out)
{
    char value[VALUE], why[KILN_FIELD_WHY];
    size_t length;
    const char *name = w->at;
    const size_t named = take(w, is_name);
    if (named == 0 || named > NAME || !skip(w, ": ") || !read_value(w, value, &length))
        return false;
    const int which = kiln_field_named(fields, nfields, name, named);
    if (which < 0)
        return true;
    if (*seen >> which & 1)
        return false;
    *seen |= UINT64_C(1) << which;
    return kiln_field_store(&fields[which], value, length, out, why);
}

bool kiln_plain_read(const char *text, size_t length, const kiln_field *fields, int nfields,
                     void *out)
{
    walk w = {text, text + length};
    uint64_t seen = 0;
    if (!skip(&w, "- {"))
        return false;
    do
        if (!read_field(&w, fields, nfields, &seen, out))
            return false;
    while (skip(&w, ", "));
    if (!skip(&w, "}\n") || w.at != w.end)
        return false;
    for (int i = 0; i < nfields; i++)
        if (fields[i].required && !(seen >> i & 1))
            return false;
    return true;
}
