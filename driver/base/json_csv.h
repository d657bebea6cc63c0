/* Results that programs read: one JSON object per line, or CSV.
 *
 * Both formats print the same list of named values. Numbers do not depend on the locale, because
 * the driver never sets one.
 */
#ifndef KILN_JSON_CSV_H
#define KILN_JSON_CSV_H

#include <stdbool.h>
#include <stdio.h>

enum { JSON_CSV_FIELDS = 48 };

typedef struct json_csv_field {
    const char *name;
    enum { JSON_CSV_NONE, JSON_CSV_WORDS, JSON_CSV_COUNT, JSON_CSV_REAL } kind;
    const char *words;
    long long count;
    double real;
} json_csv_field;

/* Start with all zero. */
typedef struct json_csv {
    json_csv_field field[JSON_CSV_FIELDS];
    int count;
} json_csv;

/* Append a value to the list; a value that is not known is null in JSON and empty in CSV, as is a
 * real number that is not finite. Texts are not copied. */
void json_csv_words(json_csv *j, const char *name, bool known, const char *words);
void json_csv_count(json_csv *j, const char *name, bool known, long long value);
void json_csv_real(json_csv *j, const char *name, bool known, double value);

/* Print the list as one line on standard output. */
void json_csv_print_json(const json_csv *j);
/* The first call in a process prints a line with the names first. */
void json_csv_print_csv(const json_csv *j);

/* Writes `s` as a JSON string, with its quotes. */
void json_string(FILE *to, const char *s);

#endif
