/* From a problem of a list to its row. */
#include "tune_problem.h"

#include "driver/base/trace.h"

#include <stdio.h>
#include <string.h>

static bool is_open(const kiln_problem *p)
{
    return !strcmp(p->x_layout, "any") || !strcmp(p->w_layout, "any") ||
           !strcmp(p->y_layout, "any") || !strcmp(p->bias_layout, "any");
}

kiln_status tune_problem_settle(const session *s, const tune_item *item, kiln_problem *p, char *why)
{
    const kiln_choice choice = {.ignore_rows = !is_open(&item->problem)}; /* all that they settle */
    kiln_op_info info;
    kiln_status status = kiln_conv_plan(s->kiln, &item->problem, &choice, &info);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    else
        *p = info.problem;
    return status;
}

/* Returns when --fresh began the item anew, which its name in the list tells. */
static size_t restarted(const session *s, const tune_item *item, const trial_book *book)
{
    kiln_trial_line of;
    kiln_trial_line_fill(&of, s->kiln, &item->problem, NULL);
    return book ? trial_book_restart_of(book, &of) : 0;
}

/* Returns whether the last search for the problem ended, with these limits. */
static bool was_tuned(const session *s, const kiln_problem *p, const search_settings *settings,
                      kiln_trial_line *end)
{
    kiln_trial_line of;
    kiln_trial_line_fill(&of, s->kiln, p, NULL);
    const kiln_trial_line *last =
        settings->book ? trial_book_end_of(settings->book, &of, settings->since) : NULL;
    if (!last || strcmp(last->limits, settings->limits) != 0 ||
        strcmp(last->verdict, "paused") == 0)
        return false;
    *end = *last;
    return true;
}

/* Returns whether the log's search for the problem is of use: its winner has a usable row, or gets
 * one. A winner of another version, or of other templates, is none. */
static bool is_known(const session *s, const kiln_problem *p, const search_settings *settings,
                     tune_result *result)
{
    int restored;
    if (!was_tuned(s, p, settings, &result->end))
        return false;
    result->status = kiln_tune_restore(s->kiln, p, settings->solvers, &result->end, &restored);
    if (result->status == KILN_UNSUPPORTED) {
        result->status = KILN_OK;
        result->end = (kiln_trial_line){.time = ""};
        return false;
    }
    if (result->status)
        snprintf(result->why, sizeof result->why, "%s", kiln_last_error());
    result->known = true;
    result->restored = !result->status && restored;
    return true;
}

static kiln_status search(const session *s, const tune_item *item, const kiln_problem *p,
                          const search_settings *settings, tune_result *result)
{
    tensors t;
    search_result found;
    char why[KILN_ERROR_TEXT];
    const int64_t began = trace_begin();
    kiln_status status = tensors_make(&t, s, &item->request, p, why);
    trace_end(began, "tensors", "made and filled");
    if (status) {
        snprintf(result->why, sizeof result->why, "%s", why);
        result->lost = status == KILN_OPENCL && clFinish(s->queue) != CL_SUCCESS;
        return result->lost ? KILN_FILE : status;
    }
    status = search_run(s, &item->request, &t, settings, &found, result->why, sizeof result->why);
    result->interrupted = found.interrupted;
    result->lost = found.lost;
    result->end = found.end;
    result->trials = found.trials;
    result->ended_late = settings->seconds > 0 && found.seconds > 0.9 * settings->seconds;
    memcpy(result->refused, found.refused, sizeof result->refused);
    tensors_free(&t);
    return status;
}

void tune_problem(const session *s, const tune_item *item, const search_settings *asked,
                  tune_result *result)
{
    search_settings own = *asked, *settings = &own;
    kiln_problem p;
    own.since = restarted(s, item, asked->book);
    char why[KILN_ERROR_TEXT];
    const int64_t began = trace_begin();
    *result = (tune_result){.status = tune_problem_settle(s, item, &p, why)};
    if (result->status)
        snprintf(result->why, sizeof result->why, "%s", why);
    else if (!is_known(s, &p, settings, result))
        result->status = search(s, item, &p, settings, result);
    trace_end(began, "problem", item->name);
}
