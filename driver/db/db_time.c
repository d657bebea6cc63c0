/* Gives the library what it needs to time a row: tensors, and the judge of results. */
#include "db_time.h"

#include "driver/base/means.h"
#include "driver/conv/judge.h"
#include "driver/conv/search.h"

#include <stdio.h>
#include <string.h>

/* The search that found the row has verified its config in full; a sample of so many ms will do. */
enum { VERIFY_MS = 100 };

/* What kiln_tune_row() calls. */
typedef struct user {
    judge judge;
    bool *lacks_means;
    char why[KILN_ERROR_TEXT];
} user;

static int verify(void *data, const kiln_op *op, double *error)
{
    return judge_result(&((user *)data)->judge, op, error);
}

static int lacks_means(void *data)
{
    user *u = data;
    *u->lacks_means = !means_are_there(u->why);
    return *u->lacks_means;
}

static kiln_status time_row(const session *s, const kiln_problem *problem, kiln_row *row,
                            kiln_trial_verdict *verdict, bool *lacking, char *why)
{
    tensors t;
    request r = {.word = "conv", .type = problem->x_type};
    flags_init(&r.flags);
    r.flags.verify = 1;
    r.flags.verify_ms = VERIFY_MS;
    kiln_status status = tensors_make(&t, s, &r, problem, why);
    if (status)
        return status;
    user u = {.judge = {.session = s, .tensors = &t, .request = &r}, .lacks_means = lacking};
    const kiln_tune_options options = {.verify = verify, .lacks_means = lacks_means, .user = &u};
    status = kiln_tune_row(s->kiln, row, s->queue, &t.buffers, &options, verdict);
    if (*lacking)
        snprintf(why, KILN_ERROR_TEXT, "%s", u.why);
    else if (status || *verdict != KILN_TRIAL_OK)
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    judge_free(&u.judge);
    tensors_free(&t);
    return *lacking ? KILN_FILE : status;
}

kiln_status db_time_row(const session *s, kiln_row *row, kiln_trial_verdict *verdict, bool *lacking,
                        char why[KILN_ERROR_TEXT])
{
    kiln_problem problem;
    kiln_op_info guess;
    *verdict = KILN_TRIAL_OK;
    const kiln_status status = kiln_row_guess(s->kiln, row, &problem, &guess);
    if (status)
        snprintf(why, KILN_ERROR_TEXT, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    else if (strcmp(guess.solver, row->solver) != 0 || strcmp(guess.config, row->config) != 0)
        return time_row(s, &problem, row, verdict, lacking, why);
    else
        search_config_text(guess.config, guess.solver, row->guess, sizeof row->guess);
    row->turns = row->turns_won = 0;
    return status;
}
