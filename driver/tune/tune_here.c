/* Tunes in this process: what crashes ends the run. */
#include "driver/conv/interrupt.h"

#include "tune_rounds.h"
#include "tune_show.h"

#include <stdio.h>
#include <stdlib.h>

/* The run, and the item that is being tuned. */
typedef struct here {
    tune_run *run;
    int item;
} here;

static bool ended(void *user, const kiln_trial *trial, const kiln_trial_line *line)
{
    here *h = user;
    if (!line)
        return true;
    trial_book_add(h->run->kind[0].book, line);
    tune_run_note_trial(h->run, line);
    tune_show_trial(h->run, &h->run->kind[0], h->item, line, trial->best_ms, trial->guess_ms);
    return true;
}

kiln_status tune_here(tune_run *run, char *why)
{
    tune_kind *kind = &run->kind[0];
    session s;
    here h = {.run = run};
    const tune_options *o = run->options;
    const tune_job job = {.options = o,
                          .list = run->list,
                          .book = kind->book,
                          .device = &run->device[0],
                          .limits = run->limits};
    if (run->devices > 1) {
        snprintf(why, KILN_ERROR_TEXT, "--no-isolate takes one device; --device names several");
        return KILN_INVALID;
    }
    if (o->shard_count > 1)
        setenv("KILN_DB", kind->device.rows_file, 1);
    kiln_status status = session_open(&s, kind->device.spec, why);
    if (status)
        return status;
    while (!run->interrupted && !run->unkept && (h.item = tune_rounds_next(run, kind)) >= 0 &&
           (o->total_time <= 0 || kiln_run_seconds() - run->began < o->total_time)) {
        tune_result result;
        const double began = kiln_run_seconds();
        const tune_slice slice = tune_rounds_slice(run, kind, h.item);
        search_settings settings = tune_settings(&job, &slice);
        settings.trial = ended;
        settings.user = &h;
        tune_problem(&s, &run->list->item[h.item], &settings, &result);
        run->busy += kiln_run_seconds() - began;
        tune_rounds_note(run, kind, h.item, &result);
        tune_show_item(run, kind, h.item);
    }
    session_close(&s);
    return KILN_OK;
}
