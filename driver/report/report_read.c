/* Finds out what a file is and adds what it says. The files may come from anywhere. */
#include "report_read.h"

#include "driver/base/open_file.h"

#include "flat_json.h"
#include "report_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct reading {
    report_data *data;
    const report_filter *filter;
    report_file *file;
} reading;

static kiln_trial_verdict verdict_named(const char *text)
{
    for (int v = 0; v < KILN_TRIAL_VERDICTS; v++)
        if (strcmp(text, kiln_trial_verdict_text((kiln_trial_verdict)v)) == 0)
            return (kiln_trial_verdict)v;
    return KILN_TRIAL_RUN;
}

/* The end of a search. */
static void take_end(report_layer *l, const kiln_trial_line *line)
{
    if (strcmp(line->verdict, "restarted") == 0) {
        report_data_forget(l);
        return;
    }
    report_best best = {.ms = line->ms,
                        .iqr = line->iqr,
                        .guess_ms = line->guess_ms,
                        .turns = line->turns,
                        .turns_won = line->turns_won,
                        .win_iqr = line->win_iqr,
                        .predicted_ms = line->expected_ms,
                        .version = line->version};
    snprintf(best.date, sizeof best.date, "%.10s", line->time);
    snprintf(best.driver, sizeof best.driver, "%.63s", line->driver);
    snprintf(best.solver, sizeof best.solver, "%s", line->solver);
    snprintf(best.config, sizeof best.config, "%s", line->config);
    report_data_best(l, FROM_SEARCH, &best);
    l->seconds = line->seconds;
    l->ended = l->run_ended = true;
}

/* Reads "2026-01-31T12:59:59Z"; returns 0 where it is none. */
static double seconds_of(const char *time)
{
    struct tm utc = {.tm_mday = 1};
    const char *end = strptime(time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return end && !*end ? (double)timegm(&utc) : 0;
}

static void take_trial_line(void *user, const kiln_trial_line *line)
{
    const reading *r = user;
    if (!report_filter_takes(r->filter, line->problem))
        return;
    report_layer *l = report_data_layer(
        r->data, report_data_device(r->data, line->device, line->core), line->problem);
    if (!l)
        return;
    if (line->kind == KILN_LINE_SEARCH) {
        take_end(l, line);
        return;
    }
    const report_trial trial = {.solver = (char *)line->solver,
                                .config = (char *)line->config,
                                .params = (char *)line->params,
                                .ms = line->ms,
                                .seconds = line->seconds,
                                .at = seconds_of(line->time),
                                .verdict = verdict_named(line->verdict),
                                .guessed = strcmp(line->origin, "guess") == 0,
                                .why = (char *)line->why};
    report_data_trial(r->data, l, &trial);
    r->file->count++;
}

/* Whether a single run says more than the best that is known: it is faster, or newer and of the
 * same solver. */
static bool is_news(const report_layer *l, double ms, const char *solver)
{
    return l->source != FROM_RESULT || ms <= l->best.ms || strcmp(solver, l->best.solver) == 0;
}

static int count_of(double number)
{
    const double most = 1e6;
    return number > 0 && number < most ? (int)number : 0;
}

/* A line of --json, of conv or of tune. */
static bool take_result(const reading *r, const char *text)
{
    char problem[KILN_KEY_TEXT] = "", device[200] = "", verify[16] = "";
    double schema = 0, median = 0, searched = 0, seconds = 0, turns = 0, turns_won = 0;
    report_best best = {.ms = 0};
    const flat_json_field fields[] = {
        {"schema", NULL, 0, &schema},
        {"problem", problem, sizeof problem, NULL},
        {"device", device, sizeof device, NULL},
        {"solver", best.solver, sizeof best.solver, NULL},
        {"config", best.config, sizeof best.config, NULL},
        {"verify", verify, sizeof verify, NULL},
        {"median_ms", NULL, 0, &median},
        {"best_ms", NULL, 0, &searched},
        {"iqr", NULL, 0, &best.iqr},
        {"guess_ms", NULL, 0, &best.guess_ms},
        {"turns", NULL, 0, &turns},
        {"win_iqr", NULL, 0, &best.win_iqr},
        {"turns_won", NULL, 0, &turns_won},
        {"seconds", NULL, 0, &seconds},
    };
    if (!flat_json_read(text, fields, sizeof fields / sizeof *fields) || schema != 1)
        return false;
    best.ms = searched > 0 ? searched : median;
    best.turns = count_of(turns);
    best.turns_won = count_of(turns_won);
    if (!*problem || report_time(best.ms) == 0 || strcmp(verify, "failed") == 0 ||
        !report_filter_takes(r->filter, problem))
        return true; /* a result without a time */
    report_layer *l = report_data_layer(r->data, report_data_device(r->data, device, ""), problem);
    if (!l)
        return true;
    if (searched > 0)
        report_data_best(l, FROM_SEARCH, &best);
    else if (is_news(l, best.ms, best.solver))
        report_data_best(l, FROM_RESULT, &best);
    l->seconds = seconds > 0 ? seconds : l->seconds;
    r->file->count++;
    return true;
}

static kiln_status read_results(const reading *r, FILE *from, char *why)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, from)) > 0)
        if (strspn(line, " \t\r\n") < (size_t)length && !take_result(r, line))
            r->file->skipped++;
    const int code = errno;
    free(line);
    if (feof(from))
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "%s", strerror(code));
    return KILN_FILE;
}

/* Returns "log of trials", "results" or "tuning rows", by the first line that says something; NULL,
 * with errno: the file cannot be read. */
static const char *kind_of(FILE *from)
{
    char *line = NULL;
    size_t room = 0;
    const char *found = NULL;
    while (!found && getline(&line, &room, from) > 0) {
        char kind[16] = "";
        const flat_json_field field = {"kind", kind, sizeof kind, NULL};
        const char *text = line + strspn(line, " \t\r\n");
        if (*text && *text != '{')
            found = "tuning rows";
        else if (flat_json_read(text, &field, 1)) /* a kill may leave half a line */
            found = *kind ? "log of trials" : "results";
    }
    if (!found && feof(from))
        found = "tuning rows";
    const int code = errno;
    free(line);
    rewind(from);
    errno = code;
    return found;
}

kiln_status report_read(report_data *d, const char *name, const report_filter *filter,
                        report_file *file, char *why)
{
    struct stat st;
    char reason[KILN_ERROR_TEXT] = "";
    kiln_status status = KILN_FILE;
    *file = (report_file){.name = name};
    const reading r = {d, filter, file};
    FILE *from = open_file_to_read(name);
    if (!from || fstat(fileno(from), &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(why, KILN_ERROR_TEXT, "%.150s: %s", name,
                 from ? "it is not a plain file" : strerror(errno));
        if (from)
            fclose(from);
        return KILN_FILE;
    }
    file->kind = kind_of(from);
    if (!file->kind)
        snprintf(reason, sizeof reason, "%s", strerror(errno));
    else if (strcmp(file->kind, "results") == 0)
        status = read_results(&r, from, reason);
    else if (strcmp(file->kind, "log of trials") != 0)
        status = report_rows_read(d, name, filter, &file->count, &file->skipped, reason);
    else if ((status = kiln_trials_read(name, NULL, take_trial_line, (void *)&r, &file->skipped)))
        snprintf(reason, sizeof reason, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    fclose(from);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%.150s: %.90s", name, reason);
    if (!status && d->no_memory) {
        status = KILN_NO_MEMORY;
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the report");
    }
    return status;
}
