/* Runs kiln_tune() with verification and a log, until a signal ends it early. */
#include "search.h"

#include "driver/base/means.h"
#include "driver/base/trace.h"

#include "interrupt.h"
#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const session *session;
    tensors *tensors;
    const search_settings *settings;
    search_result *result;
    judge judge;
    char log[4096]; /* "": none is kept */
    char failure[KILN_ERROR_TEXT];
} search;

/* The verify function of kiln_tune(): non-zero means wrong. */
static int verify(void *user, const kiln_op *op, double *error)
{
    return judge_result(&((search *)user)->judge, op, error);
}

const char *search_config_text(const char *config, const char *solver, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", config ? config : "", config && *config ? " of " : "",
             solver ? solver : "");
    return text;
}

/* A log that cannot be written ends the search: hours must not pass without leaving anything. */
static bool log_line(search *s, const kiln_trial_line *line)
{
    if (!*s->log || kiln_trials_append(s->log, line) == KILN_OK)
        return true;
    snprintf(s->failure, sizeof s->failure, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    return false;
}

/* A trial ends now. */
static void trace_trial(const kiln_trial *trial)
{
    char what[KILN_INFO_TEXT + 96], config[KILN_INFO_TEXT + 64];
    const int64_t now = trace_begin();
    if (!now)
        return;
    snprintf(what, sizeof what, "%s: %s",
             search_config_text(trial->config, trial->solver, config, sizeof config),
             kiln_trial_verdict_text(trial->verdict));
    trace_end(now - (int64_t)(trial->seconds * 1e9), "trial", what);
}

/* Counts a trial, and writes it into the log. */
static bool note_trial(search *s, const kiln_trial *trial, bool good, kiln_trial_line *line)
{
    s->result->trials++;
    s->result->refused[trial->verdict]++;
    kiln_trial_line_fill(line, s->session->kiln, &s->tensors->problem, trial);
    if (!good)
        snprintf(line->why, sizeof line->why, "%.*s", (int)sizeof line->why - 1, kiln_last_error());
    return log_line(s, line);
}

/* The progress function of kiln_tune(): non-zero stops the search. */
static int progress(void *user, const kiln_trial *trial)
{
    search *s = user;
    const search_settings *o = s->settings;
    kiln_trial_line line;
    const bool good = trial->verdict == KILN_TRIAL_OK || trial->verdict == KILN_TRIAL_SLOW;
    const bool noted = trial->repeated && good;
    const bool logged = noted || note_trial(s, trial, good, &line);
    trace_trial(trial);
    const bool going = !o->trial || o->trial(o->user, trial, noted ? NULL : &line);
    s->result->interrupted = s->result->interrupted || !going || interrupt_came();
    return !logged || s->result->interrupted;
}

/* Tells kiln_tune() whether a config that failed may have failed for lack of space. */
static int lacks_means(void *user)
{
    search *s = user;
    char why[KILN_ERROR_TEXT];
    if (means_are_there(why))
        return 0;
    snprintf(s->failure, sizeof s->failure, "%s", why);
    return 1;
}

static size_t announce(void *user, const kiln_trial *trials, size_t count)
{
    const search *s = user;
    return s->settings->upcoming(s->settings->user, trials, count);
}

/* Fills the line of the search's end. */
static void fill_end(search *s, double known_seconds)
{
    const kiln_trial *best = &s->result->best;
    kiln_trial_line *end = &s->result->end;
    kiln_trial_line_fill(end, s->session->kiln, &s->tensors->problem, best);
    end->kind = KILN_LINE_SEARCH;
    end->index = (int)best->index + 1;
    end->seconds = s->result->seconds + known_seconds;
    end->verdict[0] = '\0';
    end->guess_ms = best->guess_ms;
    if (best->guess_ms > 0)
        search_config_text(best->guess_config, best->guess_solver, end->guess, sizeof end->guess);
    end->turns = best->turns;
    end->turns_won = best->turns_won;
    end->win_iqr = best->win_iqr;
    end->second_ms = best->second_ms;
    if (best->second_ms > 0)
        search_config_text(best->second_config, best->second_solver, end->second,
                           sizeof end->second);
    if (s->settings->limits)
        snprintf(end->limits, sizeof end->limits, "%s", s->settings->limits);
}

/* Lists what earlier searches tried. */
static kiln_status find_known(search *s, trial_book_known *known, trial_book **own, char *why)
{
    const search_settings *o = s->settings;
    kiln_trial_line of;
    kiln_trial_line_fill(&of, s->session->kiln, &s->tensors->problem, NULL);
    kiln_status status = o->book ? KILN_OK : trial_book_load(own, s->log, of.problem, why);
    if (!status &&
        !trial_book_known_of(o->book ? o->book : *own, &of, o->since, o->finished, known)) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the log of trials");
        status = KILN_NO_MEMORY;
    }
    return status;
}

static kiln_status tune(search *s, const trial_book_known *known)
{
    const search_settings *o = s->settings;
    const double left = o->seconds - (o->alone ? 0 : known->seconds), least = 1;
    kiln_tune_options options = {.solver = o->solvers,
                                 .max_trials = o->trials,
                                 .patience = o->patience,
                                 .max_seconds = o->seconds > 0 ? fmax(left, least) : 0,
                                 .keep = *s->log != '\0',
                                 .known = known->trial,
                                 .nknown = known->count,
                                 .upcoming = o->upcoming ? announce : NULL,
                                 .progress = progress,
                                 .lacks_means = lacks_means,
                                 .verify = verify,
                                 .user = s};
    interrupt watch;
    interrupt_watch(&watch);
    kiln_status status = kiln_tune(s->session->kiln, &s->tensors->problem, s->session->queue,
                                   &s->tensors->buffers, &options, &s->result->best);
    interrupt_leave(&watch);
    return status;
}

kiln_status search_run(const session *session, const request *r, tensors *t,
                       const search_settings *settings, search_result *result, char *why,
                       size_t why_size)
{
    search s = {.session = session,
                .tensors = t,
                .settings = settings,
                .result = result,
                .judge = {.session = session, .tensors = t, .request = r}};
    trial_book_known known = {0};
    trial_book *own = NULL;
    char reason[KILN_ERROR_TEXT], winner[KILN_INFO_TEXT + 64];
    *result = (search_result){.trials = 0};
    kiln_trials_file(kiln_rows_file(session->kiln), s.log, sizeof s.log);
    kiln_status status = find_known(&s, &known, &own, reason);
    const bool searches = !status;
    const double began = kiln_run_seconds();
    if (searches && (status = tune(&s, &known)))
        snprintf(reason, sizeof reason, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    result->lost = searches && status == KILN_OPENCL;
    status = result->lost ? KILN_FILE : status;
    result->seconds = kiln_run_seconds() - began;
    if (!status && *s.failure)
        status = KILN_FILE;
    if (*s.failure)
        snprintf(reason, sizeof reason, "%s", s.failure);
    if (!status) {
        fill_end(&s, known.seconds);
        if (!result->interrupted) {
            const bool paused = settings->alone && result->end.index < result->end.count;
            snprintf(result->end.verdict, sizeof result->end.verdict, paused ? "paused" : "done");
            log_line(&s, &result->end);
        }
    }
    if (status && result->best.best_ms > 0) /* the row could not be kept: tell what it says */
        snprintf(why, why_size, "%s; the best was %.6g ms: %s",
                 *s.failure || !searches ? reason : kiln_last_error(), result->best.best_ms,
                 search_config_text(result->best.best_config, result->best.best_solver, winner,
                                    sizeof winner));
    else if (status)
        snprintf(why, why_size, "%s", *s.failure || !searches ? reason : kiln_last_error());
    judge_free(&s.judge);
    free(known.trial);
    trial_book_free(own);
    return status;
}
