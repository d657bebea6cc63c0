/* Sets a run up and keeps its books. */
#include "tune_run.h"

#include "driver/base/pocl_cache.h"

#include "tune_child.h"
#include "tune_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Asks a child for the devices. */
static kiln_status probe(tune_run *run, char *why)
{
    const tune_job job = {.options = run->options};
    tune_child child;
    char how[128];
    tune_message *m = malloc(sizeof *m);
    kiln_status status = KILN_OPENCL;
    snprintf(why, KILN_ERROR_TEXT, "looking for devices failed");
    pocl_cache_prepare(); /* one folder for all processes, which this one removes */
    if (m && tune_child_start(&child, tune_probe_run, (void *)&job, 0)) {
        while (tune_receive(child.fd, m, false) && m->kind == MESSAGE_DEVICE)
            if (run->devices < TUNE_MOST_DEVICES)
                run->device[run->devices++] = m->device;
        if (m->kind == MESSAGE_READY || m->kind == MESSAGE_FAIL) {
            status = m->status;
            snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, m->why);
        }
        tune_child_end(&child, how, sizeof how);
    }
    free(m);
    return status;
}

static bool same_kind(const tune_device *a, const tune_device *b)
{
    return !strcmp(a->device, b->device) && !strcmp(a->driver, b->driver) &&
           !strcmp(a->core, b->core);
}

static kiln_status open_kind(tune_run *run, const tune_device *d, char *why)
{
    tune_kind *k = &run->kind[run->kinds];
    *k = (tune_kind){.device = *d, .devices = 1};
    const size_t room = run->list->count + 1; /* a shard may have no problem */
    k->state = calloc(room, sizeof *k->state);
    k->result = calloc(room, sizeof *k->result);
    k->progress = calloc(room, sizeof *k->progress);
    run->kinds++;
    if (!k->state || !k->result || !k->progress) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the problems");
        return KILN_NO_MEMORY;
    }
    if (!*d->rows_file) {
        snprintf(why, KILN_ERROR_TEXT,
                 "there is no file to keep tuning rows in; name one in KILN_DB");
        return KILN_FILE;
    }
    for (int i = 0; i + 1 < run->kinds; i++)
        if (strcmp(run->kind[i].device.rows_file, d->rows_file) == 0) {
            snprintf(why, KILN_ERROR_TEXT,
                     "KILN_DB names one file, but \"%.60s\" and \"%.60s\" need a file each; unset "
                     "it",
                     run->kind[i].device.device, d->device);
            return KILN_INVALID;
        }
    kiln_status status = tune_part_check(run->options, d->rows_file, why);
    if (status)
        return status;
    if ((status = kiln_rows_make(d->rows_file, d->device))) {
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
        return status;
    }
    if ((status = tune_part_record(run->options, run->list, d->rows_file, why)))
        return status;
    kiln_trials_file(d->rows_file, k->log, sizeof k->log);
    return trial_book_load(&k->book, k->log, NULL, why);
}

kiln_status tune_run_open(tune_run *run, const tune_options *o, const tune_list *list, char *why)
{
    *run = (tune_run){.options = o, .list = list, .began = kiln_run_seconds()};
    tune_options_limits(o, run->limits);
    kiln_status status = probe(run, why);
    for (int i = 0; i < run->devices && !status; i++) {
        int kind = 0;
        tune_part_name(o, run->device[i].rows_file);
        while (kind < run->kinds && !same_kind(&run->kind[kind].device, &run->device[i]))
            kind++;
        run->kind_of[i] = kind;
        if (kind < run->kinds)
            run->kind[kind].devices++;
        else if (kind < TUNE_MOST_KINDS)
            status = open_kind(run, &run->device[i], why);
        else {
            snprintf(why, KILN_ERROR_TEXT,
                     "there are more than %d kinds of devices; name some of them with --device",
                     TUNE_MOST_KINDS);
            status = KILN_INVALID;
        }
    }
    return status;
}

void tune_run_close(tune_run *run)
{
    for (int i = 0; i < run->kinds; i++) {
        trial_book_free(run->kind[i].book);
        free(run->kind[i].state);
        free(run->kind[i].result);
        free(run->kind[i].progress);
    }
}

void tune_run_note_trial(tune_run *run, const kiln_trial_line *line)
{
    run->trials++;
    for (int v = 0; v < KILN_TRIAL_VERDICTS; v++)
        run->refused[v] +=
            strcmp(line->verdict, kiln_trial_verdict_text((kiln_trial_verdict)v)) == 0;
    run->waited += line->build_seconds;
}
