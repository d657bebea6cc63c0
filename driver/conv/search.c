/* Runs kiln_tune() with verification and a log, until a signal ends it early. */
#include "search.h"

#include "driver/base/clock.h"
#include "driver/base/means.h"
#include "driver/base/trace.h"

#include "interrupt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps results that were verified in full: a trial with the same bits is right, too, without
 * another pass over the reference. Many configs only distribute the work and differ in no bit. */
enum { KNOWN_GOOD = 4 };

typedef struct good_result {
    void *result;
    double error;
} good_result;

typedef struct search {
    const session *session;
    tensors *tensors;
    const request *request;
    const search_settings *settings;
    search_result *result;
    good_result good[KNOWN_GOOD];
    int ngood;
    struct verify_kept kept; /* the reference, which all trials share */
    char log[4096];          /* "": none is kept */
    char failure[KILN_ERROR_TEXT];
} search;

static size_t result_bytes(const tensors *t)
{
    return (size_t)kiln_problem_count(&t->problem, t->to) *
           kiln_type_size(reference_type(&t->problem));
}

static void remember(search *s, const void *result, size_t bytes, double error)
{
    if (s->ngood == KNOWN_GOOD)
        return;
    void *copy = malloc(bytes);
    if (copy)
        s->good[s->ngood++] = (good_result){memcpy(copy, result, bytes), error};
}

/* Returns non-zero where the result is wrong. */
static int compare(search *s, const kiln_op *op, double *error)
{
    tensors *t = s->tensors;
    char why[KILN_ERROR_TEXT];
    if (tensors_read(t, s->session, why) || t->dirty)
        return 1;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    reference_tensors sources = tensors_sources(t);
    verify_options options = verify_options_for(s->request, &info, t->from_files);
    options.kept = &s->kept;
    bool gradient = t->bias && t->problem.direction == KILN_BACKWARD_WEIGHTS;
    if (gradient && !verify_bias_gradient(&t->problem, t->y, t->bias, &options).ok)
        return 1;
    size_t bytes = result_bytes(t);
    const void *result = tensors_destination(t);
    for (int i = 0; i < s->ngood; i++)
        if (memcmp(s->good[i].result, result, bytes) == 0) {
            *error = s->good[i].error;
            return 0;
        }
    const verify_result verdict = verify_destination(&t->problem, &sources, result, &options);
    *error = isfinite(verdict.worst) ? verdict.worst : 0;
    if (!verdict.ok)
        return 1;
    remember(s, result, bytes, *error);
    return 0;
}

/* The verify function of kiln_tune(): non-zero means wrong. */
static int judge(void *user, const kiln_op *op, double *error)
{
    const int64_t began = trace_begin();
    const int wrong = compare(user, op, error);
    trace_end(began, "verify", wrong ? "wrong" : "");
    return wrong;
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
                                 .verify = judge,
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
    search s = {
        .session = session, .tensors = t, .request = r, .settings = settings, .result = result};
    trial_book_known known = {0};
    trial_book *own = NULL;
    char reason[KILN_ERROR_TEXT], winner[KILN_INFO_TEXT + 64];
    *result = (search_result){.trials = 0};
    kiln_trials_file(kiln_rows_file(session->kiln), s.log, sizeof s.log);
    kiln_status status = find_known(&s, &known, &own, reason);
    const bool searches = !status;
    const double began = clock_seconds();
    if (searches && (status = tune(&s, &known)))
        snprintf(reason, sizeof reason, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    result->seconds = clock_seconds() - began;
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
    for (int i = 0; i < s.ngood; i++)
        free(s.good[i].result);
    kept_sums_free(&s.kept.whole);
    kept_sums_free(&s.kept.sample);
    free(known.trial);
    trial_book_free(own);
    return status;
}
