/* Reads golden files: flat JSON objects, one per line. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char *golden_field(const char *line, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static inline bool golden_text(const char *line, const char *name, char *out, size_t size)
{
    const char *at = golden_field(line, name);
    if (!at || *at != '"')
        return false;
    size_t n = strcspn(++at, "\"");
    snprintf(out, size, "%.*s", (int)n, at);
    return true;
}

/* Returns the number of values, at most `most`. */
static inline int golden_numbers(const char *line, const char *name, int64_t *out, int most)
{
    const char *at = golden_field(line, name);
    if (!at || *at != '[')
        return 0;
    int n = 0;
    for (at++; *at && *at != ']' && n < most; n++) {
        char *end;
        out[n] = strtoll(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* Returns NULL where the file cannot be opened. */
static inline FILE *golden_open(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("KILN_TEST_GOLDEN"), name);
    return fopen(path, "r");
}

#endif
