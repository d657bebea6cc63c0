/* The search for the fastest verified config: who is tried, who gets another round, what is kept.
 */
#include "bench.h"
#include "candidates.h"
#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, MOST_RUNS = 100, MAX_RUNS = 10000, FINALISTS = 4, MAX_CLAIMS = 64 };

/* A trial is measured properly only while it is within this factor of the best so far. */
static const double promising = 1.25;

/* The final rounds time each of the best for so long, unless the caller says how often. */
static const double final_ms = 60;

/* What was measured of one candidate. */
typedef struct result {
    kiln_candidate candidate;
    size_t index; /* of its trial */
    kiln_times times;
    kiln_op *op; /* of a finalist; NULL elsewhere */
} result;

typedef struct tuner {
    kiln_bench bench;
    const kiln_tune_options *options;
    kiln_candidates list;
    size_t trials; /* how many of the list may be tried */
    struct timespec start;
    result finalist[FINALISTS]; /* the best, fastest first */
    int nfinalists;
    result claim[MAX_CLAIMS]; /* the user's rows, measured again; no time: it failed */
    int nclaims;
    bool stopped;
    char failure[KILN_ERROR_TEXT]; /* the first one, for the case that nothing works */
} tuner;

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* As many for all. */
static int rounds_of(const tuner *t)
{
    return kiln_bench_rounds(&t->bench, t->nfinalists ? t->finalist[0].times.ms : 0, final_ms);
}

/* The final rounds are part of the time that was granted. */
static bool out_of_time(const tuner *t)
{
    double final_rounds = 0;
    for (int i = 0; i < t->nfinalists; i++)
        final_rounds += t->finalist[i].times.ms * rounds_of(t) * 1e-3;
    return t->options->max_seconds > 0 &&
           seconds_since(&t->start) + final_rounds >= t->options->max_seconds;
}

/* Among the best, or out. */
static void place(tuner *t, const result *r)
{
    int at = t->nfinalists;
    while (at > 0 && t->finalist[at - 1].times.ms > r->times.ms)
        at--;
    if (at == FINALISTS) {
        kiln_op_discard(r->op);
        return;
    }
    if (t->nfinalists == FINALISTS)
        kiln_op_discard(t->finalist[--t->nfinalists].op);
    memmove(&t->finalist[at + 1], &t->finalist[at],
            (size_t)(t->nfinalists - at) * sizeof *t->finalist);
    t->finalist[at] = *r;
    t->nfinalists++;
}

static void fill_trial(const tuner *t, const result *r, kiln_trial *trial)
{
    *trial = (kiln_trial){.solver = r->candidate.solver->name,
                          .index = (int64_t)r->index,
                          .count = (int64_t)t->trials,
                          .ms = r->times.ms};
    kiln_config_text(r->candidate.solver, &r->candidate.config, trial->config,
                     sizeof trial->config);
    if (t->nfinalists == 0)
        return;
    const result *best = &t->finalist[0];
    trial->best_ms = best->times.ms;
    trial->best_solver = best->candidate.solver->name;
    kiln_config_text(best->candidate.solver, &best->candidate.config, trial->best_config,
                     sizeof trial->best_config);
}

static void try_candidate(tuner *t, size_t index)
{
    result r = {.candidate = t->list.at[index], .index = index};
    double worth = t->nfinalists ? promising * t->finalist[0].times.ms : 0;
    int verdict = kiln_bench_measure(&t->bench, r.candidate.solver, &r.candidate.config, worth,
                                     &r.op, &r.times);
    bool failed = verdict != KILN_TRIAL_OK && verdict != KILN_TRIAL_SLOW;
    t->list.at[index].measured = failed ? 0 : r.times.ms;
    if (failed && !*t->failure)
        snprintf(t->failure, sizeof t->failure, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    if (failed)
        kiln_log(&t->bench.k->logger, "trial %zu failed: %s", index, kiln_last_error());
    if (verdict == KILN_TRIAL_OK)
        place(t, &r);
    else
        kiln_op_discard(r.op);
    if (r.candidate.origin == KILN_ORIGIN_USER_ROW && t->nclaims < MAX_CLAIMS)
        t->claim[t->nclaims++] = r;
    kiln_trial trial;
    fill_trial(t, &r, &trial);
    trial.verdict = verdict;
    if (t->options->progress && t->options->progress(t->options->user, &trial) != 0)
        t->stopped = true;
}

/* Times the best once more, taking turns, so that a drift of the machine meets all alike. */
static void final_rounds(tuner *t)
{
    kiln_bench *b = &t->bench;
    bool bad[FINALISTS] = {false};
    const int rounds = rounds_of(t);
    for (int run = 0; run < rounds; run++)
        for (int i = 0; i < t->nfinalists; i++)
            bad[i] = bad[i] || kiln_op_time(t->finalist[i].op, b->queue, &b->buffers,
                                            &b->samples[i * rounds + run], NULL) != KILN_OK;
    result before[FINALISTS];
    int n = t->nfinalists;
    memcpy(before, t->finalist, sizeof before);
    t->nfinalists = 0;
    for (int i = 0; i < n; i++) {
        if (bad[i]) {
            kiln_op_discard(before[i].op);
            continue;
        }
        before[i].times = kiln_times_of(&b->samples[i * rounds], rounds);
        place(t, &before[i]);
    }
}

static void search(tuner *t)
{
    bool limited = t->trials < t->list.count || t->options->max_seconds > 0;
    for (size_t i = 0; i < t->trials && !t->stopped; i++) {
        if (i == t->list.firsts && limited)
            kiln_candidates_sort(&t->list);
        if (i > 0 && out_of_time(t))
            break;
        try_candidate(t, i);
    }
    if (t->nfinalists > 1 && !t->stopped)
        final_rounds(t);
}

/* Under the layouts that the solver makes of open ones: those it will be asked for again. */
static kiln_status record(tuner *t, const result *r, const kiln_shape *shape)
{
    kiln *k = t->bench.k;
    kiln_problem settled = *t->bench.problem;
    kiln_row row = {.version = r->candidate.solver->version,
                    .ms = r->times.ms,
                    .spread = r->times.spread,
                    .runs = r->times.runs};
    snprintf(row.solver, sizeof row.solver, "%s", r->candidate.solver->name);
    snprintf(row.driver, sizeof row.driver, "%s", k->facts.driver);
    kiln_config_text(r->candidate.solver, &r->candidate.config, row.config, sizeof row.config);
    kiln_plan plan;
    kiln_why why;
    kiln_shape own;
    if (kiln_solver_takes(r->candidate.solver, shape, &k->facts, &own, &why)) {
        kiln_shape_give_layouts(&own, &settled);
        if (kiln_solver_plan(r->candidate.solver, &own, &k->facts, &r->candidate.config, &plan,
                             &why))
            kiln_plan_template_hash(k, &plan, row.hash);
    }
    kiln_problem_row_key(&settled, row.key, sizeof row.key);
    time_t now = time(NULL);
    struct tm utc;
    strftime(row.date, sizeof row.date, "%Y-%m-%d", gmtime_r(&now, &utc));
    return kiln_rows_append(k->rows_file, k->facts.name, &row);
}

/* Replaces what a row of another solver says of the problem, lest a time that no longer holds beat
 * the winner's. A config that failed gives way to the guess, without a time. */
static kiln_status renew(tuner *t, const result *claim, const kiln_shape *shape)
{
    const kiln_device_facts *facts = &t->bench.k->facts;
    result now = *claim;
    kiln_shape own;
    kiln_why why;
    for (int i = 1; i < t->nfinalists; i++)
        if (t->finalist[i].index == claim->index)
            now = t->finalist[i];
    if (now.times.runs == 0 && kiln_solver_takes(now.candidate.solver, shape, facts, &own, &why))
        now.candidate.solver->guess(&own, facts, &now.candidate.config);
    return record(t, &now, shape);
}

/* The winner's row goes last: among rows without a time the newest counts. */
static kiln_status keep(tuner *t, const kiln_shape *shape)
{
    const result *winner = &t->finalist[0];
    kiln_status status = KILN_OK;
    for (int i = 0; i < t->nclaims && !status; i++)
        if (t->claim[i].candidate.solver != winner->candidate.solver)
            status = renew(t, &t->claim[i], shape);
    if (!status)
        status = record(t, winner, shape);
    kiln_reload_rows(t->bench.k);
    return status;
}

static kiln_status check_queue(cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    cl_int code =
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return kiln_fail_cl(code, "clGetCommandQueueInfo");
    if (!(properties & CL_QUEUE_PROFILING_ENABLE))
        return kiln_fail(KILN_INVALID, "kiln_tune: the queue has no CL_QUEUE_PROFILING_ENABLE");
    return KILN_OK;
}

/* Everything that can be known before hours are spent, the place of the row included. */
static kiln_status check_call(const kiln *k, kiln_problem *problem, cl_command_queue queue,
                              const kiln_buffers *buffers, const kiln_tune_options *options)
{
    char why[KILN_ERROR_TEXT];
    if (!queue || !buffers || !options || !options->verify)
        return kiln_fail(KILN_INVALID,
                         "kiln_tune: queue, buffers, options and options->verify must "
                         "not be NULL");
    if (!k->context)
        return kiln_fail(KILN_INVALID, "this kiln was opened without a device: it can only plan");
    if (options->runs < 0 || options->runs > MAX_RUNS)
        return kiln_fail(KILN_INVALID, "kiln_tune: %d runs; give 1 to %d", options->runs, MAX_RUNS);
    if (kiln_problem_check(problem, why))
        return kiln_fail(KILN_INVALID, "%s", why);
    if (problem->epilogue.beta != 0 && buffers->residual.mem == buffers->y.mem)
        return kiln_fail(KILN_INVALID,
                         "kiln_tune: the residual must have a buffer of its own, since "
                         "every trial overwrites y");
    if (options->keep && !*k->rows_file)
        return kiln_fail(KILN_FILE, "there is no file to keep tuning rows in; set KILN_DB");
    if (options->keep && kiln_rows_append(k->rows_file, k->facts.name, NULL))
        return KILN_FILE;
    return check_queue(queue);
}

static kiln_status start(tuner *t, const kiln_shape *shape)
{
    const kiln_tune_options *o = t->options;
    const kiln_choice choice = {.solver = o->solver, .ignore_rows = 1};
    kiln_pick pick;
    clock_gettime(CLOCK_MONOTONIC, &t->start);
    kiln_status status = kiln_choose(t->bench.k, t->bench.problem, shape, &choice, &pick);
    if (status)
        return status;
    t->bench.samples = malloc((size_t)FINALISTS * (size_t)t->bench.most * sizeof *t->bench.samples);
    if (!t->bench.samples)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    bool one = o->solver && *o->solver;
    status = kiln_candidates_list(t->bench.k, t->bench.problem, shape, one ? pick.solver : NULL,
                                  &t->list);
    t->trials = t->list.count;
    if (o->max_trials > 0 && (uint64_t)o->max_trials < t->trials)
        t->trials = (size_t)o->max_trials;
    return status;
}

static void finish(tuner *t)
{
    /* The winner's program goes to the cache, the others' need not. */
    for (int i = 0; i < t->nfinalists; i++)
        (i == 0 ? kiln_op_release : kiln_op_discard)(t->finalist[i].op);
    if (t->bench.buffers.workspace.mem)
        clReleaseMemObject(t->bench.buffers.workspace.mem);
    free(t->bench.samples);
    kiln_candidates_free(&t->list);
}

kiln_status kiln_tune(kiln *k, const kiln_problem *problem, cl_command_queue queue,
                      const kiln_buffers *buffers, const kiln_tune_options *options,
                      kiln_trial *best)
{
    if (!k || !problem || !best)
        return kiln_fail(KILN_INVALID, "kiln_tune: k, problem and best must not be NULL");
    kiln_problem p = *problem;
    kiln_status status = check_call(k, &p, queue, buffers, options);
    if (status)
        return status;
    kiln_shape shape = kiln_shape_of(&p);
    tuner t = {.options = options,
               .bench = {.k = k,
                         .problem = &p,
                         .queue = queue,
                         .buffers = *buffers,
                         .runs = options->runs ? options->runs : RUNS,
                         .most = options->runs ? options->runs : MOST_RUNS,
                         .verify = options->verify,
                         .user = options->user}};
    t.bench.buffers.workspace = t.bench.buffers.packed = (kiln_buffer){0};
    *best = (kiln_trial){0};
    status = start(&t, &shape);
    if (!status)
        search(&t);
    if (!status && t.nfinalists == 0)
        status =
            kiln_fail(KILN_UNSUPPORTED, "none of %zu candidates ran and verified; the first: %s",
                      t.trials, t.failure);
    if (!status)
        fill_trial(&t, &t.finalist[0], best);
    if (!status && options->keep)
        status = keep(&t, &shape);
    finish(&t);
    return status;
}
