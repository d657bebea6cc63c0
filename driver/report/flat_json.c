/* Reads one line of JSON without trust. libyaml, which could, takes seven times as long: 2.0 s of
 * the CPU for 100,000 lines. */
#include "flat_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *past_blanks(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

static void put(char *to, size_t size, size_t *used, unsigned char byte)
{
    if (to && *used + 1 < size)
        to[(*used)++] = (char)byte;
}

static void put_character(char *to, size_t size, size_t *used, unsigned value)
{
    if (value < 0x80) {
        put(to, size, used, (unsigned char)value);
    } else if (value < 0x800) {
        put(to, size, used, (unsigned char)(0xc0 | value >> 6));
        put(to, size, used, (unsigned char)(0x80 | (value & 0x3f)));
    } else { /* halves of pairs stay halves: whoever prints them sees no character */
        put(to, size, used, (unsigned char)(0xe0 | value >> 12));
        put(to, size, used, (unsigned char)(0x80 | (value >> 6 & 0x3f)));
        put(to, size, used, (unsigned char)(0x80 | (value & 0x3f)));
    }
}

/* Reads the four digits behind "\u". Returns false where there are none. */
static bool read_hex(const char *s, unsigned *value)
{
    static const char digits[] = "0123456789abcdef";
    *value = 0;
    for (int i = 0; i < 4; i++) {
        const char lower = s[i] >= 'A' && s[i] <= 'F' ? (char)(s[i] - 'A' + 'a') : s[i];
        const char *digit = lower ? strchr(digits, lower) : NULL;
        if (!digit)
            return false;
        *value = *value * 16 + (unsigned)(digit - digits);
    }
    return true;
}

/* Reads a text from its first quote on into `to`, which may be NULL. Returns what is behind it;
 * NULL: it is none. */
static const char *read_text(const char *s, char *to, size_t size)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t used = 0;
    if (*s++ != '"')
        return NULL;
    for (; *s && *s != '"'; s++) {
        unsigned value;
        if (*s != '\\') {
            put(to, size, &used, (unsigned char)*s);
            continue;
        }
        const char *escape = s[1] ? strchr(escapes, *++s) : NULL;
        if (escape) {
            put(to, size, &used, (unsigned char)meant[escape - escapes]);
        } else if (*s == 'u' && read_hex(s + 1, &value)) {
            if (value != 0)
                put_character(to, size, &used, value);
            s += 4;
        } else {
            return NULL;
        }
    }
    if (to && size > 0)
        to[used] = '\0';
    return *s == '"' ? s + 1 : NULL;
}

/* Reads a number, true, false or null. */
static const char *read_word(const char *s, double *number)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    if (!strchr("-0123456789", *s) || !*s)
        return NULL;
    char *end;
    const double value = strtod(s, &end);
    if (end == s || strspn(s, "+-.eE0123456789") != (size_t)(end - s))
        return NULL;
    if (number && isfinite(value))
        *number = value;
    return end;
}

static const flat_json_field *find(const flat_json_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

bool flat_json_read(const char *text, const flat_json_field *fields, size_t count)
{
    const char *s = past_blanks(text);
    if (*s++ != '{')
        return false;
    s = past_blanks(s);
    for (bool first = true; *s != '}'; first = false) {
        char name[64];
        if (!first && *s++ != ',')
            return false;
        s = read_text(past_blanks(s), name, sizeof name);
        if (!s)
            return false;
        s = past_blanks(s);
        if (*s++ != ':')
            return false;
        const flat_json_field *f = find(fields, count, name);
        s = past_blanks(s);
        s = *s == '"' ? read_text(s, f ? f->text : NULL, f ? f->size : 0)
                      : read_word(s, f ? f->number : NULL);
        if (!s)
            return false;
        s = past_blanks(s);
    }
    return *past_blanks(s + 1) == '\0';
}
