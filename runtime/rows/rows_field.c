/* Turns texts into values of fields; every limit on values of untrusted rows is here. */
#include "rows_field.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUOTED = 40 };

/* The decimal point is a point whatever the program's locale says. */
static double number_read(const char *text, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c ? uselocale(c) : (locale_t)0;
    double value = strtod(text, end);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    return value;
}

/* Neither ASCII's control characters nor the ones that UTF-8 spells C2 80 to C2 9F. */
static bool printable(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    for (size_t i = 0; i < length; i++)
        if (at[i] < 0x20 || at[i] == 0x7f || (at[i] == 0xc2 && i + 1 < length && at[i + 1] < 0xa0))
            return false;
    return true;
}

int kiln_field_named(const kiln_field *fields, int nfields, const char *name, size_t length)
{
    for (int i = 0; i < nfields; i++)
        if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0)
            return i;
    return -1;
}

static bool store_text(const kiln_field *f, const char *text, size_t length, char *at, char *why)
{
    if (length < f->size) {
        memcpy(at, text, length + 1);
        return true;
    }
    snprintf(why, KILN_FIELD_WHY, "%s is longer than %zu bytes", f->name, f->size - 1);
    return false;
}

static bool store_count(const kiln_field *f, const char *text, char *at, char *why)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end != text && !*end && !errno && value >= 0 && value <= INT_MAX) {
        memcpy(at, &(int){(int)value}, sizeof(int));
        return true;
    }
    snprintf(why, KILN_FIELD_WHY, "%s is \"%.*s\", not a count", f->name, QUOTED, text);
    return false;
}

static bool store_number(const kiln_field *f, const char *text, char *at, char *why)
{
    char *end;
    const double value = number_read(text, &end);
    if (end != text && !*end && isfinite(value) && value >= 0) {
        memcpy(at, &value, sizeof value);
        return true;
    }
    snprintf(why, KILN_FIELD_WHY, "%s is \"%.*s\", not a number from 0 up", f->name, QUOTED, text);
    return false;
}

bool kiln_field_store(const kiln_field *f, const char *text, size_t length, void *out,
                      char why[KILN_FIELD_WHY])
{
    char *at = (char *)out + f->offset;
    if (!printable(text, length)) {
        snprintf(why, KILN_FIELD_WHY, "%s has a control character", f->name);
        return false;
    }
    switch (f->kind) {
    case KILN_FIELD_TEXT:
        return store_text(f, text, length, at, why);
    case KILN_FIELD_COUNT:
        return store_count(f, text, at, why);
    default:
        return store_number(f, text, at, why);
    }
}
