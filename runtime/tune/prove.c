/* Times the config of a row beside the guess, so that the row says why it is believed. */
#include "runtime/kiln/probes.h"
#include "runtime/op/op.h"

#include "finalists.h"
#include "tune_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Turns of a sure win agree; the spread of their ratios has to be known well. A turn is long enough
 * that a single hitch does not decide it. */
enum { TURNS = 16, SAMPLES = 50 };
static const double turn_ms = 25;

typedef struct side {
    kiln_pick pick;
    kiln_op *op;
    double error;
    double ms[TURNS]; /* the median of each turn */
    double *samples;
    int count;
} side;

typedef struct proof {
    kiln_bench bench;
    const kiln_tune_options *options;
    side own, guess;
} proof;

/* Returns whether the row's search was not to choose the solver. */
static bool is_excluded(const kiln_row *row, const char *solver)
{
    const size_t length = strlen(solver);
    for (const char *at = row->without; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, solver, length) == 0)
            return true;
        at += word;
    }
    return false;
}

kiln_status kiln_row_guess(kiln *k, const kiln_row *row, kiln_problem *problem, kiln_op_info *guess)
{
    char why[KILN_ERROR_TEXT];
    if (!k || !row || !problem || !guess)
        return kiln_fail(KILN_INVALID,
                         "kiln_row_guess: k, row, problem and guess must not be NULL");
    if (kiln_problem_parse(problem, row->key, why))
        return kiln_fail(KILN_INVALID, "the key %.60s: %.300s", row->key, why);
    const kiln_choice free = {.ignore_rows = 1}, own = {.solver = row->solver, .ignore_rows = 1};
    kiln_status status = kiln_conv_plan(k, problem, &free, guess);
    if (status || !is_excluded(row, guess->solver))
        return status;
    const kiln_problem plain = *problem;
    problem->math = KILN_MATH_EXACT;
    if (kiln_conv_plan(k, problem, &free, guess) == KILN_OK && !is_excluded(row, guess->solver))
        return KILN_OK;
    *problem = plain;
    return kiln_conv_plan(k, problem, &own, guess);
}

static kiln_status choose(proof *p, const kiln_shape *shape, const char *solver, const char *config,
                          side *to)
{
    const kiln_choice choice = {.solver = solver, .config = config, .ignore_rows = 1};
    return kiln_choose(p->bench.k, p->bench.problem, shape, &choice, &to->pick);
}

/* Builds, runs and verifies. A failure with the means is tried once more, as in a search. */
static int run(proof *p, side *s)
{
    const kiln_tune_options *o = p->options;
    kiln_times times;
    int verdict = KILN_TRIAL_OK;
    for (int i = 0; i < 2; i++) {
        kiln_op_release(s->op);
        s->op = NULL;
        verdict = kiln_bench_measure(&p->bench, s->pick.solver, &s->pick.config, 0, &s->op, &times);
        if (verdict != KILN_TRIAL_BUILD && verdict != KILN_TRIAL_RUN)
            break;
        if (o->lacks_means && o->lacks_means(o->user) != 0)
            break;
    }
    s->error = p->bench.error;
    return verdict;
}

static kiln_status take_turn(proof *p, side *s, int turn)
{
    const int most = p->options->runs ? p->options->runs : SAMPLES;
    const kiln_effort effort = {turn_ms, p->options->runs ? most : 1, most, 0};
    double *samples = &s->samples[s->count];
    int n;
    const kiln_status status = kiln_bench_time(&p->bench, s->op, &effort, samples, &n);
    if (!status) {
        s->ms[turn] = kiln_times_of(samples, n).ms;
        s->count += n;
    }
    return status;
}

/* Each of the two begins every second turn: what a launch leaves in the caches helps the next. */
static kiln_status take_turns(proof *p)
{
    kiln_status status = KILN_OK;
    for (int turn = 0; turn < TURNS && !status; turn++) {
        side *first = turn % 2 ? &p->guess : &p->own, *second = turn % 2 ? &p->own : &p->guess;
        status = take_turn(p, first, turn);
        if (!status)
            status = take_turn(p, second, turn);
    }
    return status;
}

static void name_guess(const proof *p, kiln_row *row)
{
    char config[KILN_CONFIG_TEXT];
    const kiln_pick *pick = &p->guess.pick;
    kiln_config_text(pick->solver, &pick->config, config, sizeof config);
    snprintf(row->guess, sizeof row->guess, "%s%s%s", config, *config ? " of " : "",
             pick->solver->name);
}

/* Writes what was measured. */
static void fill(proof *p, const kiln_shape *shape, kiln_row *row)
{
    const kiln_device_facts *facts = &p->bench.k->facts;
    const kiln_candidate c = {.solver = p->own.pick.solver, .config = p->own.pick.config};
    const kiln_times times = kiln_times_of(p->own.samples, p->own.count);
    const kiln_win win = kiln_win_of(p->own.ms, p->guess.ms, TURNS);
    const time_t now = time(NULL);
    struct tm utc;
    row->ms = times.ms;
    row->iqr = times.iqr;
    row->runs = times.runs;
    row->error = p->own.error;
    row->guess_ms = kiln_times_of(p->guess.samples, p->guess.count).ms;
    row->turns = win.turns;
    row->turns_won = win.won;
    row->win_iqr = win.iqr;
    row->second[0] = '\0';
    row->second_ms = 0;
    kiln_candidate_hash(p->bench.k, shape, &c, row->hash);
    snprintf(row->driver, sizeof row->driver, "%s", facts->driver);
    snprintf(row->core, sizeof row->core, "%s", facts->core);
    strftime(row->date, sizeof row->date, "%Y-%m-%d", gmtime_r(&now, &utc));
}

static kiln_status measure(proof *p, const kiln_shape *shape, kiln_row *row,
                           kiln_trial_verdict *verdict)
{
    char reason[KILN_ERROR_TEXT];
    const int most = p->options->runs ? p->options->runs : SAMPLES;
    p->own.samples = malloc(2 * TURNS * (size_t)most * sizeof(double));
    if (!p->own.samples)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    p->guess.samples = p->own.samples + TURNS * (size_t)most;
    p->bench.samples = p->own.samples;
    *verdict = (kiln_trial_verdict)run(p, &p->own);
    if (*verdict != KILN_TRIAL_OK)
        return KILN_OK;
    if (run(p, &p->guess) != KILN_TRIAL_OK) {
        snprintf(reason, sizeof reason, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
        return kiln_fail(KILN_UNSUPPORTED, "the guess is no measure: %.400s", reason);
    }
    const kiln_status status = take_turns(p);
    if (!status)
        fill(p, shape, row);
    return status;
}

static bool is_same(const kiln_pick *a, const kiln_pick *b)
{
    return a->solver == b->solver &&
           memcmp(a->config.v, b->config.v, (size_t)a->solver->nparams * sizeof a->config.v[0]) ==
               0;
}

/* Finds both configs and compares them, unless they are one. */
static kiln_status prove(proof *p, const kiln_op_info *guess, kiln_row *row,
                         kiln_trial_verdict *verdict)
{
    const kiln_shape shape = kiln_shape_of(p->bench.problem);
    kiln_probe_for(p->bench.k, &shape);
    kiln_status status = choose(p, &shape, row->solver, row->config, &p->own);
    if (!status && p->own.pick.solver->version != row->version)
        status =
            kiln_fail(KILN_UNSUPPORTED,
                      "the row is of version %d of solver %s; this is %d (kiln db prune drops it)",
                      row->version, row->solver, p->own.pick.solver->version);
    if (!status)
        status = choose(p, &shape, guess->solver, guess->config, &p->guess);
    if (status)
        return status;
    if (is_same(&p->own.pick, &p->guess.pick)) {
        row->turns = row->turns_won = 0;
        row->guess_ms = row->win_iqr = 0;
    } else {
        status = measure(p, &shape, row, verdict);
    }
    if (!status && *verdict == KILN_TRIAL_OK)
        name_guess(p, row);
    return status;
}

kiln_status kiln_tune_row(kiln *k, kiln_row *row, cl_command_queue queue,
                          const kiln_buffers *buffers, const kiln_tune_options *options,
                          kiln_trial_verdict *verdict)
{
    kiln_problem problem;
    kiln_op_info guess;
    if (!k || !row || !verdict)
        return kiln_fail(KILN_INVALID, "kiln_tune_row: k, row and verdict must not be NULL");
    *verdict = KILN_TRIAL_OK;
    kiln_status status = kiln_row_guess(k, row, &problem, &guess);
    if (status)
        return status;
    kiln_tune_options checked = options ? *options : (kiln_tune_options){0};
    checked.keep = 0;
    status =
        kiln_tune_check("kiln_tune_row", k, &problem, queue, buffers, options ? &checked : NULL);
    if (status)
        return status;
    proof p = {.options = &checked,
               .bench = {.k = k,
                         .problem = &problem,
                         .queue = queue,
                         .buffers = *buffers,
                         .runs = 1,
                         .most = 1,
                         .verify = checked.verify,
                         .user = checked.user}};
    p.bench.buffers.workspace = p.bench.buffers.packed = (kiln_buffer){0};
    status = prove(&p, &guess, row, verdict);
    kiln_op_release(p.own.op);
    kiln_op_release(p.guess.op);
    if (p.bench.buffers.workspace.mem)
        clReleaseMemObject(p.bench.buffers.workspace.mem);
    free(p.own.samples);
    return status;
}
