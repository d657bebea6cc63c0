/* Results for programs to read: JSON, one object a line, and CSV. Numbers never depend on the
 * locale, because the driver never sets one. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void json_string(FILE *to, const char *s)
{
    fputc('"', to);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", to);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* A CSV field: quoted where it must be. */
static void csv_string(FILE *to, const char *s)
{
    if (!strpbrk(s, ",\"\n\r")) {
        fputs(s, to);
        return;
    }
    fputc('"', to);
    for (; *s; s++)
        fprintf(to, *s == '"' ? "\"%c" : "%c", *s);
    fputc('"', to);
}

/* One named value. Both formats are printed from the same list, so they cannot differ. */
typedef struct field {
    const char *name;
    enum { NONE, WORDS, COUNT, REAL } kind;
    const char *words;
    long long count;
    double real;
} field;

enum { MAX_FIELDS = 48, RECORD_TEXT = KILN_KEY_TEXT };

typedef struct record {
    field field[MAX_FIELDS];
    int count;
} record;

static field *add(record *r, const char *name)
{
    field *f = &r->field[r->count < MAX_FIELDS - 1 ? r->count++ : r->count];
    *f = (field){.name = name, .kind = NONE};
    return f;
}

static void add_words(record *r, const char *name, bool known, const char *words)
{
    field *f = add(r, name);
    if (known) {
        f->kind = WORDS;
        f->words = words;
    }
}

static void add_count(record *r, const char *name, bool known, long long value)
{
    field *f = add(r, name);
    if (known) {
        f->kind = COUNT;
        f->count = value;
    }
}

static void add_real(record *r, const char *name, bool known, double value)
{
    field *f = add(r, name);
    if (known && isfinite(value)) {
        f->kind = REAL;
        f->real = value;
    }
}

static void add_times(record *r, const outcome *o)
{
    const timing *t = &o->time;
    bool timed = t->runs > 0;
    double work = timed ? problem_flops(&o->problem) / t->median / 1e6 : 0;
    double bytes = timed ? (problem_bytes(&o->problem, false) + problem_bytes(&o->problem, true)) /
                               t->median / 1e6
                         : 0;
    add_real(r, "create_ms", o->planned, t->create);
    add_count(r, "runs", true, t->runs);
    add_real(r, "average_ms", timed, t->average);
    add_real(r, "median_ms", timed, t->median);
    add_real(r, "min_ms", timed, t->min);
    add_real(r, "p95_ms", timed, t->p95);
    add_real(r, "wall_ms", timed, t->wall);
    add_real(r, "gflops", timed, work);
    add_real(r, "gbs", timed, bytes);
    add_real(r, "pack_ms", timed, t->pack);
}

static void add_verdict(record *r, const outcome *o)
{
    const verify_result *v = &o->result;
    bool known = o->verified;
    bool ok = v->ok && (!o->has_bias || o->bias.ok);
    add_words(r, "verify", true, !known ? "none" : ok ? "ok" : "failed");
    add_count(r, "checked", known, v->checked);
    add_count(r, "elements", known, v->total);
    add_count(r, "wrong", known, v->bad);
    add_real(r, "max_abs", known, v->max_abs);
    add_count(r, "max_abs_at", known, v->max_abs_at);
    add_real(r, "got", known, v->got);
    add_real(r, "expected", known, v->expected);
    add_real(r, "max_ulp", known, v->max_ulp);
    add_real(r, "rms", known, v->rms);
    add_real(r, "tolerance", known, v->tolerance);
    add_real(r, "bound", known, v->bound);
    add_real(r, "worst", known, v->worst);
    add_words(r, "bias_verify", o->has_bias, o->bias.ok ? "ok" : "failed");
    add_real(r, "bias_max_abs", o->has_bias, o->bias.max_abs);
}

static void fill(record *r, const outcome *o, char *key, char *miopen)
{
    const kiln_op_info *i = &o->info;
    *key = *miopen = '\0';
    if (o->has_problem) {
        kiln_problem_text(&o->problem, key, RECORD_TEXT);
        kiln_problem_miopen_key(&o->problem, miopen, RECORD_TEXT);
    }
    add_count(r, "schema", true, REPORT_SCHEMA);
    add_words(r, "problem", o->has_problem, key);
    add_words(r, "miopen_key", *miopen, miopen);
    add_words(r, "device", true, o->device ? o->device : "none");
    add_words(r, "solver", o->planned, i->solver);
    add_count(r, "solver_id", o->planned, i->solver_id);
    add_count(r, "algorithm", o->planned, i->algorithm);
    add_words(r, "config", o->planned, i->config);
    add_words(r, "origin", o->planned, o->planned ? origin_name(o) : "");
    add_count(r, "workspace", o->planned, i->workspace_size);
    add_real(r, "predicted_ms", o->planned, i->predicted_ms);
    add_times(r, o);
    add_verdict(r, o);
    add_count(r, "status", true, outcome_exit(o));
    add_words(r, "error", o->status != KILN_OK, o->error);
    add_words(r, "repro", *o->repro, o->repro);
}

static void print_csv(const record *r)
{
    static bool headed;
    for (int i = 0; !headed && i < r->count; i++)
        printf("%s%s", r->field[i].name, i + 1 < r->count ? "," : "\n");
    headed = true;
    for (int i = 0; i < r->count; i++) {
        const field *f = &r->field[i];
        if (f->kind == WORDS)
            csv_string(stdout, f->words);
        else if (f->kind == COUNT)
            printf("%lld", f->count);
        else if (f->kind == REAL)
            printf("%.9g", f->real);
        putchar(i + 1 < r->count ? ',' : '\n');
    }
}

static void print_json(const record *r)
{
    for (int i = 0; i < r->count; i++) {
        const field *f = &r->field[i];
        printf("%s\"%s\":", i ? "," : "{", f->name);
        if (f->kind == WORDS)
            json_string(stdout, f->words);
        else if (f->kind == COUNT)
            printf("%lld", f->count);
        else if (f->kind == REAL)
            printf("%.9g", f->real);
        else
            fputs("null", stdout);
    }
    puts("}");
}

void report_record(report_format format, const outcome *o)
{
    record r = {.count = 0};
    char key[RECORD_TEXT], miopen[RECORD_TEXT];
    fill(&r, o, key, miopen);
    if (format == REPORT_JSON)
        print_json(&r);
    else
        print_csv(&r);
    fflush(stdout);
}
