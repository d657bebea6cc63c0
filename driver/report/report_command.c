/* `kiln report`: reads its files, finds the device's limits, writes the page. */
#include "report_command.h"

#include "driver/base/replaced_file.h"

#include "page.h"
#include "report_before.h"
#include "report_filter.h"
#include "report_limits.h"
#include "report_options.h"
#include "report_predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files, and those beside them. */
typedef struct files {
    report_file *at;
    char (*beside)[4096]; /* names of logs */
    int count;
} files;

static int fail(kiln_status status, const char *why)
{
    fprintf(stderr, "kiln report: %s\n", why);
    return (int)status;
}

/* Whether a file has been read: all files of a folder have logs beside rows. */
static bool is_read(const files *f, const char *name)
{
    struct stat this, other;
    for (int i = 0; i < f->count; i++)
        if (stat(name, &this) == 0 && stat(f->at[i].name, &other) == 0 &&
            this.st_dev == other.st_dev && this.st_ino == other.st_ino)
            return true;
    return false;
}

static kiln_status read_one(report_data *d, files *f, const char *name, const report_filter *filter,
                            char *why)
{
    if (is_read(f, name))
        return KILN_OK;
    kiln_status status = report_read(d, name, filter, &f->at[f->count], why);
    f->count += status == KILN_OK;
    return status;
}

/* Reads a file, after the log beside it if it has rows: the log tells more. */
static kiln_status read_with_log(report_data *d, files *f, const char *name,
                                 const report_filter *filter, char *why)
{
    char *log = f->beside[f->count];
    const size_t length = strlen(name);
    kiln_status status = KILN_OK;
    kiln_trials_file(name, log, sizeof *f->beside);
    const bool yaml = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    if (yaml && *log && access(log, F_OK) == 0)
        status = read_one(d, f, log, filter, why);
    return status ? status : read_one(d, f, name, filter, why);
}

static kiln_status read_all(report_data *d, files *f, char *const *names, int n,
                            const report_filter *filter, char *why)
{
    const size_t room = 2 * (size_t)n + 1;
    *f = (files){.at = calloc(room, sizeof *f->at), .beside = calloc(room, sizeof *f->beside)};
    if (!f->at || !f->beside) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the report");
        return KILN_NO_MEMORY;
    }
    kiln_status status = KILN_OK;
    for (int i = 0; i < n && !status; i++)
        status = read_with_log(d, f, names[i], filter, why);
    if (!status && d->too_many_devices)
        fprintf(stderr, "kiln report: warning: only the first %d devices are shown\n",
                REPORT_DEVICES);
    report_data_finish(d);
    return status;
}

static kiln_status write_page(const report_data *d, const files *f, const files *before,
                              const char *name, char *why)
{
    replaced_file file;
    kiln_status status = replaced_file_open(&file, name, why);
    if (status)
        return status;
    const page p = {.to = file.to,
                    .data = d,
                    .file = f->at,
                    .files = f->count,
                    .before = before->at,
                    .befores = before->count};
    page_write(&p);
    return replaced_file_close(&file, why);
}

static void warn_of_doubts(const report_data *d)
{
    for (int i = 0; i < d->devices; i++)
        if (*d->device[i].doubt)
            fprintf(stderr, "kiln report: warning: %s; make the page again when it is idle\n",
                    d->device[i].doubt);
}

static void print_sums(const report_data *d, const char *name)
{
    size_t trials = 0;
    for (size_t i = 0; i < d->layers; i++)
        trials += d->layer[i].trials;
    fprintf(stderr, "%s: %d device%s, %zu layer%s, %zu trial%s\n", name, d->devices,
            d->devices == 1 ? "" : "s", d->layers, d->layers == 1 ? "" : "s", trials,
            trials == 1 ? "" : "s");
}

static void free_files(const files *f)
{
    free(f->at);
    free(f->beside);
}

static kiln_status compare(report_data *d, report_data *older, files *f, const report_options *o,
                           const report_filter *filter, char *why)
{
    if (o->befores == 0)
        return KILN_OK;
    kiln_status status = read_all(older, f, o->before, o->befores, filter, why);
    if (!status && report_before_find(d, older) == 0)
        fprintf(
            stderr,
            "kiln report: warning: no layer is both in the files and in those of --before, on the "
            "same device\n");
    if (!status && d->no_memory) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the report");
        status = KILN_NO_MEMORY;
    }
    return status;
}

static int report(const report_options *o, const report_filter *filter, const session *s,
                  char *const *names, int n)
{
    report_data d = {.devices = 0}, older = {.devices = 0};
    char why[KILN_ERROR_TEXT];
    files f = {.count = 0}, before = {.count = 0};
    kiln_status status = read_all(&d, &f, names, n, filter, why);
    if (!status)
        status = compare(&d, &older, &before, o, filter, why);
    if (!status) {
        report_limits_give(&d, o->peak, o->bandwidth);
        if (s->kiln && o->limits != LIMITS_NONE) {
            report_limits_find(&d, s, o->limits == LIMITS_COUNT);
            report_predict(&d, s);
        }
        warn_of_doubts(&d);
        status = write_page(&d, &f, &before, o->output, why);
    }
    if (!status && strcmp(o->output, "-") != 0)
        print_sums(&d, o->output);
    report_data_free(&d);
    report_data_free(&older);
    free_files(&f);
    free_files(&before);
    return status ? fail(status, why) : 0;
}

/* Names the user's file of rows; where there is none, `why` says how to get one. */
static kiln_status find_own(const session *s, char rows[4096], char *why)
{
    snprintf(rows, 4096, "%s", kiln_rows_file(s->kiln));
    if (!*rows)
        snprintf(why, KILN_ERROR_TEXT,
                 "the user's tuning rows are switched off: KILN_DB=off, or no home directory; "
                 "name a file");
    else if (access(rows, F_OK) != 0)
        snprintf(why, KILN_ERROR_TEXT, "%.150s: no such file yet; kiln conv -s 1 makes it", rows);
    else
        return KILN_OK;
    return KILN_FILE;
}

/* Runs with the session, which is opened where it may be needed. */
static int run(const report_options *o, const report_filter *filter, char **names, int n, char *why)
{
    char rows[4096] = "";
    session s = {0};
    kiln_status status = KILN_OK;
    char *own[] = {rows};
    /* Limits are a help, not a need: a page can be made where the device is not. */
    if (o->limits != LIMITS_NONE || n == 0)
        status = session_open(&s, o->device, why);
    if (status && (n == 0 || *o->device))
        return fail(status, why);
    status = n == 0 ? find_own(&s, rows, why) : KILN_OK;
    if (n == 0) {
        names = own;
        n = 1;
    }
    const int exit = status ? fail(status, why) : report(o, filter, &s, names, n);
    session_close(&s);
    return exit;
}

/* Takes the models out of the names: they tell which problems are shown. */
static kiln_status take_models(const report_options *o, report_filter *filter, char **names, int *n,
                               char *why)
{
    int rest = 0;
    for (int i = 0; i < *n; i++) {
        if (!onnx_is_name(names[i])) {
            names[rest++] = names[i];
            continue;
        }
        const kiln_status status = report_filter_model(filter, names[i], &o->given, why);
        if (status)
            return status;
    }
    *n = rest;
    return KILN_OK;
}

static int run_filtered(const report_options *o, char **names, int n, char *why)
{
    report_filter filter = {.match = o->match};
    const kiln_status status = take_models(o, &filter, names, &n, why);
    const int exit = status ? fail(status, why) : run(o, &filter, names, n, why);
    report_filter_free(&filter);
    return exit;
}

int report_command(int argc, char **argv)
{
    report_options o;
    char why[KILN_ERROR_TEXT] = "";
    const kiln_status status = report_options_parse(&o, argc, argv, why);
    int exit = 0;
    if (status)
        exit = fail(status, why);
    else if (o.help)
        fputs(report_help, stdout);
    else
        exit = run_filtered(&o, argv + optind, argc - optind, why);
    report_options_free(&o);
    return exit;
}
