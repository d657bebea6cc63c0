/* The search for the fastest verified config: which candidates are tried, and which get another
 * round. */
#include "runtime/choose/excluded_solvers.h"
#include "runtime/op/op.h"

#include "bench.h"
#include "finalists.h"
#include "tune_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, MOST_RUNS = 100 };

/* A trial is measured properly only within this factor of the best so far. A candidate that needs
 * no search is the only trial of some solvers, and decides how many more they get. */
static const double promising = 1.25, promising_first = 2;

/* How long the final rounds time each of the best, and in how many turns, unless the caller says
 * how often. The rounds before the grids take less time. They are for operations of which all turns
 * fit into that time: the trial of a longer operation is no single moment. */
static const double final_ms = 60, firsts_ms = 20;
enum { TURNS = 6 };

/* How long the best candidate that needs no search is timed again beside each candidate. Where it
 * takes more or less time than in its own trial, beyond noise and half of its spread then, the
 * machine's speed has changed. */
static const double pace_ms = 3, noise = 0.15;

/* How many seconds the final rounds wait until the machine is as fast as it was. A slow machine
 * does not slow all candidates alike: one work-group has no use for a second core. */
static const double patience = 2, rest = 0.05;

typedef struct tuner {
    kiln_bench bench;
    const kiln_tune_options *options;
    kiln_candidates list;
    size_t trials; /* how many candidates of the list may be tried */
    struct timespec start;
    kiln_finalists found;
    size_t paced;    /* the trial of the candidate that measures the pace */
    double paced_ms; /* the least time that it took, luck included */
    bool stopped;
    char failure[KILN_ERROR_TEXT]; /* the first one, for the case that nothing works */
} tuner;

static int turns_of(const tuner *t)
{
    return t->bench.most < TURNS ? t->bench.most : TURNS;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* The final rounds are part of the time that was granted. */
static bool out_of_time(const tuner *t)
{
    double finals = 0;
    for (int i = 0; i < t->found.nfinalists; i++)
        finals += fmax(final_ms, t->found.finalist[i].times.ms * turns_of(t)) * 1e-3;
    return t->options->max_seconds > 0 &&
           seconds_since(&t->start) + finals >= t->options->max_seconds;
}

static void fill_trial(const tuner *t, const kiln_result *r, kiln_trial *trial)
{
    *trial = (kiln_trial){.solver = r->candidate.solver->name,
                          .index = (int64_t)r->index,
                          .count = (int64_t)t->trials,
                          .ms = r->times.ms};
    kiln_config_text(r->candidate.solver, &r->candidate.config, trial->config,
                     sizeof trial->config);
    if (t->found.nfinalists == 0)
        return;
    const kiln_result *best = &t->found.finalist[0];
    trial->best_ms = best->times.ms;
    trial->best_solver = best->candidate.solver->name;
    kiln_config_text(best->candidate.solver, &best->candidate.config, trial->best_config,
                     sizeof trial->best_config);
}

/* Keeps the least time of the best candidate that needs no search, and returns it. */
static double note_pace(tuner *t, const kiln_result *first, double ms)
{
    if (t->paced != first->index || t->paced_ms <= 0)
        t->paced_ms = first->times.ms;
    t->paced = first->index;
    t->paced_ms = fmin(t->paced_ms, ms);
    return t->paced_ms;
}

/* Returns how much slower the machine is than it was: it may be virtual, and slow for seconds. The
 * same operation measures this for the whole grid: with the best so far, each lucky moment would
 * add to the one before. */
static double pace_of(tuner *t)
{
    enum { MOST = 5 };
    const kiln_effort effort = {pace_ms, 1, MOST, 0};
    const kiln_result *first = kiln_finalists_first(&t->found);
    double samples[MOST];
    int n;
    if (!first || kiln_bench_time(&t->bench, first->op, &effort, samples, &n) != KILN_OK)
        return 1;
    const double ms = kiln_times_of(samples, n).ms, pace = ms / first->times.ms;
    note_pace(t, first, ms);
    return isnormal(pace) && fabs(log(pace)) > noise + first->times.spread / 2 ? pace : 1;
}

/* Returns the pace between two moments: a change that is over at the second one was a hitch. */
static double nearer_to_one(double before, double after)
{
    if ((before - 1) * (after - 1) <= 0)
        return 1;
    return fabs(log(before)) < fabs(log(after)) ? before : after;
}

static void try_candidate(tuner *t, size_t index)
{
    kiln_result r = {.candidate = t->list.at[index], .index = index};
    const double before = pace_of(t);
    const double within = index < t->list.firsts ? promising_first : promising;
    double worth = t->found.nfinalists ? within * before * t->found.finalist[0].times.ms : 0;
    int verdict = kiln_bench_measure(&t->bench, r.candidate.solver, &r.candidate.config, worth,
                                     &r.op, &r.times);
    if (verdict == KILN_BENCH_LATE) {
        kiln_op_discard(r.op);
        return;
    }
    bool failed = verdict != KILN_TRIAL_OK && verdict != KILN_TRIAL_SLOW;
    if (before != 1 && !failed)
        r.times.ms /= nearer_to_one(before, pace_of(t));
    t->list.at[index].measured = failed ? 0 : r.times.ms;
    if (failed && !*t->failure)
        snprintf(t->failure, sizeof t->failure, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    if (failed)
        kiln_log(&t->bench.k->logger, "trial %zu failed: %s", index, kiln_last_error());
    if (verdict == KILN_TRIAL_OK)
        kiln_finalists_place(&t->found, &r);
    else
        kiln_op_discard(r.op);
    if (r.candidate.origin == KILN_ORIGIN_USER_ROW && t->found.nclaims < KILN_MOST_CLAIMS)
        t->found.claim[t->found.nclaims++] = r;
    kiln_trial trial;
    fill_trial(t, &r, &trial);
    trial.verdict = verdict;
    if (t->options->progress && t->options->progress(t->options->user, &trial) != 0)
        t->stopped = true;
}

/* Times the best once more in turns, so that a drift of the machine meets all alike. Ends with the
 * turn in which the deadline comes. */
static void rounds(tuner *t, double ms)
{
    kiln_bench *b = &t->bench;
    kiln_finalists *f = &t->found;
    const int turns = turns_of(t);
    const kiln_effort effort = {ms / turns, 1, b->most / turns, 0};
    int runs[KILN_FINALISTS] = {0};
    bool bad[KILN_FINALISTS] = {false};
    for (int turn = 0; turn < turns && !(turn > 0 && kiln_bench_is_late(b)); turn++)
        for (int i = 0; i < f->nfinalists; i++) {
            int n;
            bad[i] = bad[i] || kiln_bench_time(b, f->finalist[i].op, &effort,
                                               &b->samples[i * b->most + runs[i]], &n) != KILN_OK;
            runs[i] += bad[i] ? 0 : n;
        }
    kiln_result before[KILN_FINALISTS];
    int n = f->nfinalists;
    memcpy(before, f->finalist, (size_t)n * sizeof *before);
    f->nfinalists = 0;
    for (int i = 0; i < n; i++) {
        if (bad[i]) {
            kiln_op_discard(before[i].op);
            continue;
        }
        before[i].times = kiln_times_of(&b->samples[i * b->most], runs[i]);
        t->list.at[before[i].index].measured = before[i].times.ms;
        kiln_finalists_place(f, &before[i]);
    }
}

static void first_rounds(tuner *t)
{
    if (t->found.nfinalists > 1 && t->found.finalist[0].times.ms * turns_of(t) <= firsts_ms)
        rounds(t, firsts_ms);
}

/* Returns whether the rounds fell into a slow time. */
static bool was_slow(tuner *t)
{
    const kiln_result *first = kiln_finalists_first(&t->found);
    return first && log(first->times.ms / note_pace(t, first, first->times.ms)) > noise;
}

static void final_rounds(tuner *t)
{
    const double until = seconds_since(&t->start) + patience;
    rounds(t, final_ms);
    while (was_slow(t) && seconds_since(&t->start) < until && !kiln_bench_is_late(&t->bench)) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(rest * 1e9)}, NULL);
        rounds(t, final_ms);
    }
}

static void search(tuner *t)
{
    bool limited = t->trials < t->list.count || t->options->max_seconds > 0;
    for (size_t i = 0; i < t->trials && !t->stopped; i++) {
        if (i == t->list.firsts)
            first_rounds(t);
        if (i == t->list.firsts && limited)
            kiln_candidates_sort(&t->list);
        if (i > 0 && out_of_time(t))
            break;
        try_candidate(t, i);
    }
    if (t->found.nfinalists > 1 && !t->stopped)
        final_rounds(t);
    kiln_finalists_settle(&t->found);
}

static kiln_status start(tuner *t, const kiln_shape *shape)
{
    const kiln_tune_options *o = t->options;
    const kiln_choice choice = {.solver = o->solver, .ignore_rows = 1};
    kiln_pick pick;
    clock_gettime(CLOCK_MONOTONIC, &t->start);
    if (o->max_seconds > 0)
        t->bench.deadline =
            (double)t->start.tv_sec + 1e-9 * (double)t->start.tv_nsec + o->max_seconds;
    kiln_status status = kiln_choose(t->bench.k, t->bench.problem, shape, &choice, &pick);
    if (status)
        return status;
    t->bench.samples =
        malloc((size_t)KILN_FINALISTS * (size_t)t->bench.most * sizeof *t->bench.samples);
    if (!t->bench.samples)
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    bool one = o->solver && *o->solver;
    status = kiln_candidates_list(t->bench.k, t->bench.problem, shape, one ? pick.solver : NULL,
                                  &t->list);
    t->found.firsts = t->list.firsts;
    t->trials = t->list.count;
    if (o->max_trials > 0 && (uint64_t)o->max_trials < t->trials)
        t->trials = (size_t)o->max_trials;
    return status;
}

static void finish(tuner *t)
{
    /* The winner's program goes to the cache; the other programs need not. */
    for (int i = 0; i < t->found.nfinalists; i++)
        (i == 0 ? kiln_op_release : kiln_op_discard)(t->found.finalist[i].op);
    if (t->bench.buffers.workspace.mem)
        clReleaseMemObject(t->bench.buffers.workspace.mem);
    free(t->bench.samples);
    kiln_candidates_free(&t->list);
}

/* Names the solvers that this search could not choose. */
static void name_excluded(tuner *t)
{
    const kiln_solver *tried[KILN_MOST_FIRSTS];
    for (size_t i = 0; i < t->list.firsts; i++)
        tried[i] = t->list.at[i].solver;
    kiln_excluded_solvers(t->bench.k, t->bench.problem, tried, t->list.firsts, t->found.without);
}

kiln_status kiln_tune(kiln *k, const kiln_problem *problem, cl_command_queue queue,
                      const kiln_buffers *buffers, const kiln_tune_options *options,
                      kiln_trial *best)
{
    if (!k || !problem || !best)
        return kiln_fail(KILN_INVALID, "kiln_tune: k, problem and best must not be NULL");
    kiln_problem p = *problem;
    kiln_status status = kiln_tune_check(k, &p, queue, buffers, options);
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
    if (!status && t.found.nfinalists == 0)
        status =
            kiln_fail(KILN_UNSUPPORTED, "none of %zu candidates ran and verified; the first: %s",
                      t.trials, t.failure);
    if (!status)
        fill_trial(&t, &t.found.finalist[0], best);
    if (!status && options->keep) {
        name_excluded(&t);
        status = kiln_finalists_keep(k, &p, &shape, &t.found);
    }
    finish(&t);
    return status;
}
