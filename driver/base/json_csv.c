/* One result as JSON or CSV. */
#include "json_csv.h"

#include "utf8.h"

#include <math.h>
#include <string.h>

void json_string(FILE *to, const char *s)
{
    fputc('"', to);
    while (*s)
        if (*s == '"' || *s == '\\') {
            fprintf(to, "\\%c", *s++);
        } else if (*s == '\n') {
            fputs("\\n", to);
            s++;
        } else {
            s += utf8_write(to, s); /* what is hidden is written as JSON would have it */
        }
    fputc('"', to);
}

/* A CSV field: quoted where it must be. */
static void csv_string(FILE *to, const char *s)
{
    const char *quote = strpbrk(s, ",\"\n\r") ? "\"" : "";
    fputs(quote, to);
    while (*s)
        if (strchr("\"\n\r\t", *s)) {
            fputs(*s == '"' ? quote : "", to);
            fputc(*s++, to);
        } else {
            s += utf8_write(to, s);
        }
    fputs(quote, to);
}

static json_csv_field *add(json_csv *j, const char *name)
{
    json_csv_field *f = &j->field[j->count < JSON_CSV_FIELDS - 1 ? j->count++ : j->count];
    *f = (json_csv_field){.name = name, .kind = JSON_CSV_NONE};
    return f;
}

void json_csv_words(json_csv *j, const char *name, bool known, const char *words)
{
    json_csv_field *f = add(j, name);
    if (known) {
        f->kind = JSON_CSV_WORDS;
        f->words = words;
    }
}

void json_csv_count(json_csv *j, const char *name, bool known, long long value)
{
    json_csv_field *f = add(j, name);
    if (known) {
        f->kind = JSON_CSV_COUNT;
        f->count = value;
    }
}

void json_csv_real(json_csv *j, const char *name, bool known, double value)
{
    json_csv_field *f = add(j, name);
    if (known && isfinite(value)) {
        f->kind = JSON_CSV_REAL;
        f->real = value;
    }
}

void json_csv_print_csv(const json_csv *j)
{
    static bool headed;
    for (int i = 0; !headed && i < j->count; i++)
        printf("%s%s", j->field[i].name, i + 1 < j->count ? "," : "\n");
    headed = true;
    for (int i = 0; i < j->count; i++) {
        const json_csv_field *f = &j->field[i];
        if (f->kind == JSON_CSV_WORDS)
            csv_string(stdout, f->words);
        else if (f->kind == JSON_CSV_COUNT)
            printf("%lld", f->count);
        else if (f->kind == JSON_CSV_REAL)
            printf("%.9g", f->real);
        putchar(i + 1 < j->count ? ',' : '\n');
    }
}

void json_csv_print_json(const json_csv *j)
{
    for (int i = 0; i < j->count; i++) {
        const json_csv_field *f = &j->field[i];
        printf("%s\"%s\":", i ? "," : "{", f->name);
        if (f->kind == JSON_CSV_WORDS)
            json_string(stdout, f->words);
        else if (f->kind == JSON_CSV_COUNT)
            printf("%lld", f->count);
        else if (f->kind == JSON_CSV_REAL)
            printf("%.9g", f->real);
        else
            fputs("null", stdout);
    }
    puts("}");
}
