/* Runs kiln_tune() with verification and a progress line, until a signal ends it early. */
#include "search.h"

#include "interrupt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Keeps results that were verified in full: a trial with the same bits is right, too, without
 * another pass over the reference. Many configs only distribute the work and differ in no bit. */
enum { KNOWN_GOOD = 4 };

enum { WINNER_TEXT = KILN_INFO_TEXT + 64 };

typedef struct good_result {
    void *result;
    double error;
} good_result;

typedef struct search {
    const session *session;
    tensors *tensors;
    const request *request;
    good_result good[KNOWN_GOOD];
    int ngood;
    bool terminal;
    time_t started, told;
    int64_t trials, refused[KILN_TRIAL_VERDICTS];
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

/* The verify function of kiln_tune(): non-zero means wrong. */
static int judge(void *user, const kiln_op *op, double *error)
{
    search *s = user;
    tensors *t = s->tensors;
    char why[KILN_ERROR_TEXT];
    if (tensors_read(t, s->session, why) || t->dirty)
        return 1;
    kiln_op_info info;
    kiln_op_describe(op, &info);
    reference_tensors sources = tensors_sources(t);
    const verify_options options = verify_options_for(s->request, &info, t->from_files);
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

/* Writes "8,1 of direct", or the solver alone where it has no parameters. Returns text. */
static const char *winner_text(const kiln_trial *trial, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", trial->best_config, *trial->best_config ? " of " : "",
             trial->best_solver);
    return text;
}

/* Renews one line on a terminal; elsewhere prints a line per minute from the first good trial on.
 */
static void tell(search *s, const kiln_trial *trial)
{
    time_t now = time(NULL);
    if (!s->terminal && (now - s->told < 60 || trial->best_ms <= 0))
        return;
    s->told = now;
    fprintf(stderr, "%ssearch %lld/%lld, trying %s", s->terminal ? "\r" : "",
            (long long)trial->index + 1, (long long)trial->count, trial->solver);
    char winner[WINNER_TEXT];
    if (trial->best_ms > 0)
        fprintf(stderr, "; best %.4g ms: %s", trial->best_ms,
                winner_text(trial, winner, sizeof winner));
    fputs(s->terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

/* The progress function of kiln_tune(): non-zero stops the search. */
static int progress(void *user, const kiln_trial *trial)
{
    search *s = user;
    char why[KILN_ERROR_TEXT];
    s->trials++;
    s->refused[trial->verdict]++;
    tell(s, trial);
    /* The next trial must not pass with the result of this one. */
    return tensors_poison(s->tensors, s->session, why) != KILN_OK || interrupt_came();
}

static void summarize(const search *s, const session *session, const kiln_trial *best)
{
    static const struct {
        int verdict;
        const char *text;
    } kinds[] = {{KILN_TRIAL_BUILD, "did not build"},
                 {KILN_TRIAL_RUN, "did not run"},
                 {KILN_TRIAL_WRONG, "gave wrong results"}};
    const char *file = kiln_rows_file(session->kiln);
    printf("search: %lld config%s tried in %.0f s", (long long)s->trials, s->trials == 1 ? "" : "s",
           difftime(time(NULL), s->started));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (s->refused[kinds[i].verdict])
            printf(", %lld %s", (long long)s->refused[kinds[i].verdict], kinds[i].text);
    char winner[WINNER_TEXT];
    printf("%s; best %.6g ms: %s; %s%s\n", interrupt_came() ? ", interrupted" : "", best->best_ms,
           winner_text(best, winner, sizeof winner),
           *file ? "kept in " : "not kept: tuning rows are off", file);
}

kiln_status search_run(const session *session, const request *r, tensors *t, bool quiet,
                       kiln_trial *best, bool *interrupted, char *why, size_t why_size)
{
    search s = {.session = session,
                .tensors = t,
                .request = r,
                .terminal = isatty(STDERR_FILENO),
                .started = time(NULL)};
    /* A first search should not take minutes; a longer one is asked for with --limit-ms. */
    double limit_ms = flags_given(&r->flags, "limit-ms") ? (double)r->flags.limit_ms : 30000;
    const kiln_tune_options options = {.solver = request_solver(r),
                                       .max_seconds = limit_ms / 1000,
                                       .keep = *kiln_rows_file(session->kiln) != '\0',
                                       .progress = progress,
                                       .verify = judge,
                                       .user = &s};
    interrupt watch;
    *best = (kiln_trial){0};
    interrupt_watch(&watch);
    kiln_status status =
        kiln_tune(session->kiln, &t->problem, session->queue, &t->buffers, &options, best);
    interrupt_leave(&watch);
    *interrupted = interrupt_came();
    char winner[WINNER_TEXT];
    if (s.terminal && s.trials)
        fprintf(stderr, "\r\033[K");
    if (status && best->best_ms > 0) /* the row could not be kept: tell at least what it says */
        snprintf(why, why_size, "%s; the best was %.6g ms: %s", kiln_last_error(), best->best_ms,
                 winner_text(best, winner, sizeof winner));
    else if (status)
        snprintf(why, why_size, "%s", kiln_last_error());
    else if (!quiet)
        summarize(&s, session, best);
    for (int i = 0; i < s.ngood; i++)
        free(s.good[i].result);
    return status;
}
