/* Prints rows and trials as CSV, or as T4: the JSON by which auto-tuners exchange results (Kernel
 * Tuner's kernel_tuner/schema/T4/1.0.0/results-schema.json). Times are in ms.
 */
#include "db_export.h"

#include "driver/base/json_csv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What T4 calls the outcome of a trial. */
static const struct {
    const char *verdict, *invalidity;
    bool correct;
} outcomes[] = {
    {"ok", "correct", true},          {"slow", "correct", true},
    {"wrong", "correctness", false},  {"build failed", "compile", false},
    {"run failed", "runtime", false}, {"crashed", "runtime", false},
    {"timeout", "timeout", false},
};

enum { OUTCOMES = sizeof outcomes / sizeof *outcomes };

typedef struct printer {
    bool t4;
    long long printed, untried; /* untried: T4 has no word for what nobody ran */
} printer;

static void print_text(const char *before, const char *text)
{
    fputs(before, stdout);
    json_string(stdout, text);
}

/* Cuts the text up to the next comma off a list. */
static const char *cut(char **list)
{
    char *word = *list;
    *list += strcspn(word, ",");
    if (**list)
        *(*list)++ = '\0';
    return word;
}

static bool is_integer(const char *word)
{
    char *end;
    errno = 0;
    const long value = strtol(word, &end, 10);
    return *word && !*end && !errno && value >= INT_MIN && value <= INT_MAX;
}

/* Prints the config's values with their names. A solver that this version does not have has none. A
 * log may come from anywhere: what is no number is printed as a text. */
static void print_params(const kiln_trial_line *l)
{
    char names[sizeof l->params], values[sizeof l->config], *name = names, *value = values;
    memcpy(names, l->params, sizeof names);
    memcpy(values, l->config, sizeof values);
    while (*name && *value) {
        const char *word;
        print_text(",", cut(&name));
        word = cut(&value);
        if (is_integer(word))
            printf(":%ld", strtol(word, NULL, 10));
        else
            print_text(":", word);
    }
}

/* Returns the place of the verdict among the outcomes; OUTCOMES: it is none of them. */
static size_t outcome_of(const char *verdict)
{
    size_t which = 0;
    while (which < OUTCOMES && strcmp(outcomes[which].verdict, verdict) != 0)
        which++;
    return which;
}

static void print_t4(const kiln_trial_line *l, size_t which, bool first)
{
    print_text(first ? "\n{\"timestamp\":" : ",\n{\"timestamp\":", l->time);
    print_text(",\"configuration\":{\"problem\":", *l->problem ? l->problem : l->key);
    print_text(",\"solver\":", l->solver);
    printf(",\"version\":%d", l->version);
    print_params(l);
    printf("},\"times\":{\"compilation_time\":%.9g,\"runtimes\":[", l->build_seconds * 1e3);
    if (l->ms > 0)
        printf("%.9g", l->ms);
    printf("]},\"invalidity\":\"%s\",\"correctness\":%d,\"measurements\":[",
           outcomes[which].invalidity, outcomes[which].correct);
    if (l->ms > 0)
        printf("{\"name\":\"time\",\"value\":%.9g,\"unit\":\"ms\"}", l->ms);
    if (l->ms > 0 && l->iqr > 0) /* older rows and logs have none */
        printf(",{\"name\":\"iqr\",\"value\":%.9g,\"unit\":\"\"}", l->iqr);
    fputs("],\"objectives\":[\"time\"]}", stdout);
}

static void print_csv(const kiln_trial_line *l)
{
    json_csv j = {.count = 0};
    json_csv_words(&j, "problem", true, *l->problem ? l->problem : l->key);
    json_csv_words(&j, "solver", true, l->solver);
    json_csv_count(&j, "version", true, l->version);
    json_csv_words(&j, "config", true, l->config);
    json_csv_words(&j, "params", true, l->params);
    json_csv_words(&j, "verdict", true, l->verdict);
    json_csv_real(&j, "ms", l->ms > 0, l->ms);
    json_csv_real(&j, "iqr", l->iqr > 0, l->iqr);
    json_csv_count(&j, "runs", l->runs > 0, l->runs);
    json_csv_real(&j, "error", l->error > 0, l->error);
    json_csv_words(&j, "guess", *l->guess, l->guess);
    json_csv_real(&j, "guess_ms", l->guess_ms > 0, l->guess_ms);
    json_csv_count(&j, "turns", l->turns > 0, l->turns);
    json_csv_count(&j, "turns_won", l->turns > 0, l->turns_won);
    json_csv_real(&j, "win_iqr", l->turns > 0, l->win_iqr);
    json_csv_words(&j, "second", true, l->second);
    json_csv_real(&j, "second_ms", l->second_ms > 0, l->second_ms);
    json_csv_real(&j, "build_seconds", l->build_seconds > 0, l->build_seconds);
    json_csv_words(&j, "time", true, l->time);
    json_csv_words(&j, "hash", true, l->hash);
    json_csv_words(&j, "driver", true, l->driver);
    json_csv_words(&j, "core", true, l->core);
    json_csv_print_csv(&j);
}

static void print_line(void *user, const kiln_trial_line *l)
{
    printer *e = user;
    const size_t which = outcome_of(l->verdict);
    if (l->kind != KILN_LINE_TRIAL)
        return;
    if (e->t4 && which == OUTCOMES) {
        e->untried++;
        return;
    }
    if (e->t4)
        print_t4(l, which, e->printed == 0);
    else
        print_csv(l);
    e->printed++;
}

/* A row says what the last of its search's trials would. One without time and runs is of no search:
 * it was imported, or stands for a config that failed. */
static void print_row(printer *e, const kiln_row *row)
{
    kiln_trial_line l;
    kiln_trial trial = {.solver = row->solver, .version = row->version};
    memcpy(trial.config, row->config, sizeof trial.config);
    memcpy(trial.hash, row->hash, sizeof trial.hash);
    trial.ms = row->ms;
    trial.iqr = row->iqr;
    trial.runs = row->runs;
    trial.error = row->error;
    kiln_trial_line_fill(&l, NULL, NULL, &trial);
    if (row->ms <= 0 && row->runs == 0)
        l.verdict[0] = '\0';
    memcpy(l.key, row->key, sizeof l.key);
    memcpy(l.second, row->second, sizeof l.second);
    l.second_ms = row->second_ms;
    memcpy(l.guess, row->guess, sizeof l.guess);
    l.guess_ms = row->guess_ms;
    l.turns = row->turns;
    l.turns_won = row->turns_won;
    l.win_iqr = row->win_iqr;
    memcpy(l.driver, row->driver, sizeof l.driver);
    memcpy(l.core, row->core, sizeof l.core);
    snprintf(l.time, sizeof l.time, "%s", row->date);
    print_line(e, &l);
}

static int print_rows(printer *e, const char *name)
{
    db_file f;
    size_t n = 0;
    int status = (int)db_load(&f, name, 0);
    db_piece **rows = status ? NULL : db_current(&f, 1, &n);
    if (!status && f.count && *f.piece[0].why) {
        fprintf(stderr, "kiln db: %s: %s\n", name, f.piece[0].why);
        status = KILN_FILE;
    } else if (!status && !rows) {
        status = db_no_memory();
    }
    for (size_t i = 0; i < n && !status; i++)
        print_row(e, rows[i]->row);
    free(rows);
    db_free(&f);
    return status;
}

static int print_trials(printer *e, const char *name)
{
    int64_t skipped;
    const kiln_status status = kiln_trials_read(name, NULL, print_line, e, &skipped);
    if (status)
        fprintf(stderr, "kiln db: %s\n", kiln_last_error());
    else if (skipped)
        fprintf(stderr, "kiln db: %s: %lld damaged lines skipped\n", name, (long long)skipped);
    return (int)status;
}

int db_export(const db_call *c)
{
    const char *name = c->name[0], *dot = strrchr(name, '.');
    const bool log = dot && strcmp(dot, ".jsonl") == 0;
    printer e = {.t4 = !c->format || strcmp(c->format, "t4") == 0};
    if (!e.t4 && strcmp(c->format, "csv") != 0) {
        fprintf(stderr, "kiln db: there is no format %.60s; say t4 or csv\n", c->format);
        return KILN_INVALID;
    }
    if (access(name, R_OK) != 0) {
        fprintf(stderr, "kiln db: cannot read %s: %s\n", name, strerror(errno));
        return KILN_FILE;
    }
    if (e.t4)
        fputs("{\"schema_version\":\"1.0.0\",\"results\":[", stdout);
    const int status = log ? print_trials(&e, name) : print_rows(&e, name);
    if (e.t4)
        fputs("\n]}\n", stdout);
    if (e.untried)
        fprintf(stderr, "kiln db: %s: %lld %s that nobody ran, as far as is known, left out\n",
                name, e.untried, e.untried == 1 ? "config" : "configs");
    return status;
}
