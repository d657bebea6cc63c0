/* A row is stale when its solver has another version, its templates or the device's driver have
 * changed since, or its config is now slower than the one that kiln would guess. The first three
 * are looked up for each row; a sample of the rows is timed for the last one.
 */
#include "db_check.h"

#include "driver/conv/measure.h"
#include "driver/conv/tensors.h"

#include "db_device.h"
#include "db_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STALE = 1, SAMPLE = 10, TURNS = 5, RUNS = 20, TURN_MS = 200 };

/* Below it the guess is as good as the row, as measurements go. */
static const double slower = 1.05;

typedef struct check {
    session session;
    db_device device;
    size_t rows, stale, timed, beaten, elsewhere;
} check;

typedef struct contender {
    kiln_op *op;
    kiln_op_info info;
    double ms; /* least of the medians of its turns */
} contender;

static kiln_status make(check *c, const kiln_problem *p, const kiln_row *row, contender *to)
{
    const kiln_choice choice = {.solver = row ? row->solver : NULL,
                                .config = row && *row->config ? row->config : NULL,
                                .ignore_rows = 1};
    kiln_status status = kiln_conv_create(c->session.kiln, p, &choice, &to->op);
    if (!status)
        kiln_op_describe(to->op, &to->info);
    return status;
}

static kiln_status time_once(const check *c, const request *r, tensors *t, contender *of, char *why)
{
    timing timed = {0};
    const double before = of->ms;
    kiln_status status = tensors_workspace(t, &c->session, of->info.workspace_size, why);
    if (!status)
        status = measure_op(of->op, &c->session, &t->buffers, &r->flags, &timed, why);
    if (!status && (before == 0 || timed.median < before))
        of->ms = timed.median;
    return status;
}

/* Times both in turns: what slows the machine down for a while slows both. */
static kiln_status time_both(check *c, const kiln_problem *p, contender *a, contender *b, char *why)
{
    request r = {.word = "conv", .type = p->x_type};
    tensors t;
    flags_init(&r.flags);
    r.flags.iter = RUNS;
    r.flags.limit_ms = TURN_MS;
    r.flags.verify = 0;
    kiln_status status = tensors_make(&t, &c->session, &r, p, why);
    if (status)
        return status;
    for (int i = 0; i < TURNS && !status; i++) {
        status = time_once(c, &r, &t, a, why);
        if (!status)
            status = time_once(c, &r, &t, b, why);
    }
    tensors_free(&t);
    return status;
}

static bool is_same(const contender *a, const contender *b)
{
    return strcmp(a->info.solver, b->info.solver) == 0 &&
           strcmp(a->info.config, b->info.config) == 0;
}

/* Prints what the clock says of the row. Returns whether the guess beats it. */
static bool time_row(check *c, const kiln_row *row)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT] = "";
    contender own = {0}, guess = {0};
    bool beaten = false;
    kiln_status status = kiln_problem_parse(&p, row->key, why);
    if (!status && ((status = make(c, &p, row, &own)) || (status = make(c, &p, NULL, &guess))))
        snprintf(why, sizeof why, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    const bool same = !status && is_same(&own, &guess);
    if (!status)
        status = time_both(c, &p, &own, &guess, why);
    if (status) {
        printf("%s  not timed: %s\n", row->key, why);
    } else {
        beaten = !same && own.ms > slower * guess.ms;
        c->timed++;
        printf("%s  row %.4g ms, now %.4g ms, guess %.4g ms", row->key, row->ms, own.ms, guess.ms);
        if (beaten)
            printf(": stale: the guess %s%s%s is faster\n", guess.info.config,
                   *guess.info.config ? " of " : "", guess.info.solver);
        else
            puts(same ? ": the guess is the same" : ": good");
    }
    kiln_op_release(own.op);
    kiln_op_release(guess.op);
    return beaten;
}

static void check_rows(check *c, db_piece **rows, size_t n, size_t sample)
{
    const size_t step = sample ? (n + sample - 1) / sample : 0;
    for (size_t i = 0; i < n; i++) {
        const kiln_row *row = rows[i]->row;
        char why[KILN_ERROR_TEXT];
        if (!db_device_has(&c->device, row)) {
            c->elsewhere++;
            continue;
        }
        c->rows++;
        if (db_is_stale(c->session.kiln, c->device.driver, row, why)) {
            c->stale++;
            printf("%s  %s: stale: %s\n", row->key, row->solver, why);
        } else if (step && i % step == 0 && time_row(c, row)) {
            c->stale++;
            c->beaten++;
        }
        fflush(stdout);
    }
}

int db_check(const db_call *call)
{
    check c = {0};
    char why[KILN_ERROR_TEXT];
    size_t n = 0;
    int sample = SAMPLE;
    if (!db_count_flag("--sample", call->sample, &sample))
        return KILN_INVALID;
    kiln_status status = session_open(&c.session, NULL, why);
    if (status) {
        fprintf(stderr, "kiln db: %s\n", why);
        return (int)status;
    }
    int exit = db_device_of(&c.device, c.session.kiln, &call->files[0]) ? KILN_OK : KILN_FILE;
    db_piece **rows = exit ? NULL : db_current(call->files, 1, &n);
    if (!exit && !rows)
        exit = db_no_memory();
    if (!exit) {
        check_rows(&c, rows, n, (size_t)sample);
        printf("%zu row%s, %zu stale; %zu timed, %zu of them slower than the guess\n", c.rows,
               c.rows == 1 ? "" : "s", c.stale, c.timed, c.beaten);
        if (c.elsewhere)
            printf("%zu of another CPU left out\n", c.elsewhere);
        exit = c.stale ? STALE : KILN_OK;
    }
    free(rows);
    session_close(&c.session);
    return exit;
}
