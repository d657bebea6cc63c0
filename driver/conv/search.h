/* Searches for the fastest config of one problem: verifies every trial, keeps a log of them. */
#ifndef KILN_SEARCH_H
#define KILN_SEARCH_H

#include "report.h"
#include "tensors.h"
#include "trial_book.h"

typedef struct search_settings {
    double seconds;         /* with those of earlier searches that count; 0: no limit */
    bool alone;             /* the seconds are of this search alone; where it leaves something
                               untried, it ends as "paused" */
    int64_t trials;         /* the same; 0: the whole grid */
    int64_t patience;       /* as in kiln_tune_options */
    const char *solvers;    /* the same */
    const char *limits;     /* all of them in one text, for the log */
    const trial_book *book; /* earlier trials; NULL: those of the problem are read from the log */
    size_t since;           /* a moment of the book: what it had before does not count */
    bool finished;          /* trials of searches that have ended count, too */
    /* Called as kiln_tune_options says; `trial` may return false to stop. The line is the trial's
     * in the log, where it has been written; NULL: the log has it from an earlier search, and the
     * trial was repeated to be compared. */
    size_t (*upcoming)(void *user, const kiln_trial *trials, size_t count);
    bool (*trial)(void *user, const kiln_trial *trial, const kiln_trial_line *line);
    void *user;
} search_settings;

typedef struct search_result {
    kiln_trial best;
    kiln_trial_line end; /* the line of the search's end; without a verdict if it was interrupted */
    int64_t trials, refused[KILN_TRIAL_VERDICTS]; /* of this search */
    double seconds;                               /* that it took */
    bool lost;        /* the device answers nothing any more; the status is KILN_FILE then */
    bool interrupted; /* a signal or `trial` ended it early; the best so far is kept */
} search_result;

/* Searches on the tensors and keeps the winner in the user's rows, and every trial in the log
 * beside them. SIGINT, SIGTERM, SIGHUP and SIGQUIT end the search after the trial. On failure
 * returns the status with a sentence in `why`; where only keeping the winner failed, result->best
 * has it. */
kiln_status search_run(const session *s, const request *r, tensors *t,
                       const search_settings *settings, search_result *result, char *why,
                       size_t why_size);

/* Writes "8,1 of direct", or the solver alone where it has no parameters. Returns text. */
const char *search_config_text(const char *config, const char *solver, char *text, size_t size);

#endif
