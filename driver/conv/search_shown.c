/* Shows the progress of one search on a terminal, or once a minute. */
#include "search_shown.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { WINNER_TEXT = KILN_INFO_TEXT + 64 };

typedef struct shown {
    bool terminal;
    time_t told;
} shown;

static const char *winner_text(const kiln_trial *t, char *text)
{
    return search_config_text(t->best_config, t->best_solver, text, WINNER_TEXT);
}

/* Renews one line on a terminal; elsewhere prints a line per minute from the first good trial on.
 */
static bool tell(void *user, const kiln_trial *trial, const kiln_trial_line *line)
{
    shown *s = user;
    time_t now = time(NULL);
    (void)line;
    if (!s->terminal && (now - s->told < 60 || trial->best_ms <= 0))
        return true;
    s->told = now;
    fprintf(stderr, "%ssearch %lld/%lld, trying %s", s->terminal ? "\r" : "",
            (long long)trial->index + 1, (long long)trial->count, trial->solver);
    char winner[WINNER_TEXT];
    if (trial->best_ms > 0)
        fprintf(stderr, "; best %.4g ms: %s", trial->best_ms, winner_text(trial, winner));
    fputs(s->terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
    return true;
}

static void summarize(const search_result *r, const session *session, FILE *to)
{
    static const struct {
        kiln_trial_verdict verdict;
        const char *text;
    } kinds[] = {{KILN_TRIAL_BUILD, "did not build"},
                 {KILN_TRIAL_RUN, "did not run"},
                 {KILN_TRIAL_WRONG, "gave wrong results"}};
    const char *file = kiln_rows_file(session->kiln);
    fprintf(to, "search: %lld config%s tried in %.0f s", (long long)r->trials,
            r->trials == 1 ? "" : "s", r->seconds);
    if (r->best.index + 1 > r->trials)
        fprintf(to, " after %lld of an earlier search", (long long)(r->best.index + 1 - r->trials));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (r->refused[kinds[i].verdict])
            fprintf(to, ", %lld %s", (long long)r->refused[kinds[i].verdict], kinds[i].text);
    char winner[WINNER_TEXT];
    fprintf(to, "%s; best %.6g ms: %s; %s%s\n", r->interrupted ? ", interrupted" : "",
            r->best.best_ms, winner_text(&r->best, winner),
            *file ? "kept in " : "not kept: tuning rows are off", file);
}

kiln_status search_shown(const session *session, const request *r, tensors *t, bool quiet,
                         kiln_trial *best, bool *interrupted, char *why, size_t why_size)
{
    shown s = {.terminal = isatty(STDERR_FILENO)};
    search_result result;
    char limits[64];
    /* A first search should not take minutes; a longer one is asked for with --limit-ms. */
    const double limit_ms = flags_given(&r->flags, "limit-ms") ? (double)r->flags.limit_ms : 30000;
    snprintf(limits, sizeof limits, "seconds=%g", limit_ms / 1000);
    const search_settings settings = {.seconds = limit_ms / 1000,
                                      .solvers = request_solver(r),
                                      .limits = limits,
                                      .trial = tell,
                                      .user = &s};
    kiln_status status = search_run(session, r, t, &settings, &result, why, why_size);
    *best = result.best;
    *interrupted = result.interrupted;
    if (s.terminal && result.trials)
        fprintf(stderr, "\r\033[K");
    if (!status && (!quiet || result.interrupted))
        summarize(&result, session, quiet ? stderr : stdout);
    return status;
}
