/* The search for the fastest verified config: in which order candidates are tried, and when it
 * ends.
 */
#include "runtime/base/run_clock.h"
#include "runtime/choose/excluded_solvers.h"
#include "runtime/kiln/probes.h"
#include "runtime/op/op.h"

#include "tune_check.h"
#include "tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, MOST_RUNS = 100 };

/* A config is faster than the best so far, for the search's patience, if it is so by this factor.
 */
static const double faster = 0.99;

/* Where other processes compile what comes next, the neighbours of a new best config go behind the
 * trials whose programs are being made. */
enum { BEING_MADE = 4 };

/* The final rounds are part of the time that was granted, and so are the trials that are repeated
 * for them: these get half of it at most. */
static bool out_of_time(const kiln_tuner *t)
{
    const double granted = t->options->max_seconds;
    double finals = 0, repeats = 0;
    for (int i = 0; i < t->found.nfinalists; i++) {
        const kiln_result *r = &t->found.finalist[i];
        finals += fmax(kiln_final_ms, r->times.ms * kiln_rounds_turns(t)) * 1e-3;
        repeats += r->op ? 0 : r->candidate.known->seconds;
    }
    return granted > 0 &&
           kiln_run_seconds() - t->start + finals + fmin(repeats, granted / 2) >= granted;
}

/* Notes whether the trial of a grid was an improvement; tries its neighbours next if it was. */
static void note_progress(kiln_tuner *t, size_t index)
{
    const kiln_result *best = &t->found.finalist[0];
    if (t->found.nfinalists == 0)
        return;
    const bool improved = t->improved_ms == 0 || best->times.ms < faster * t->improved_ms;
    t->since = improved || index < t->list.firsts ? 0 : t->since + 1;
    if (improved)
        t->improved_ms = best->times.ms;
    if (best->index != index || index < t->list.firsts)
        return;
    const size_t to = index + 1 + (t->options->upcoming ? BEING_MADE : 0);
    if (to < t->list.count)
        kiln_candidates_promote(&t->list, index, to);
}

/* Orders the grids by what is known: the neighbours of `best` come first, where that has been
 * tried; else nobody's do. */
static void order_grids(kiln_tuner *t, size_t best)
{
    const size_t from = kiln_candidates_untried(&t->list);
    const bool limited = t->trials < t->list.count || t->options->max_seconds > 0 ||
                         t->options->patience > 0 || t->options->nknown > 0;
    if (limited)
        kiln_candidates_sort(&t->list);
    if (best < from && from < t->list.count)
        kiln_candidates_promote(&t->list, best, from);
    if (limited)
        kiln_candidates_seed(t->bench.k, t->bench.problem, t->shape, &t->list);
}

/* Begins the grids. */
static void start_grids(kiln_tuner *t)
{
    kiln_rounds_first(t);
    order_grids(t, t->found.nfinalists > 0 ? t->found.finalist[0].index : t->list.count);
}

/* Where other processes compile what comes next, they need the grids' begin before it is certain:
 * it follows the best of the firsts. */
static void foresee_grids(kiln_tuner *t, size_t best)
{
    if (t->options->upcoming)
        order_grids(t, best);
}

static bool is_over(const kiln_tuner *t)
{
    return t->stopped || t->tried >= t->trials ||
           (t->ran > 0 && t->found.nfinalists > 0 && out_of_time(t)) ||
           (t->options->patience > 0 && t->since >= t->options->patience);
}

static void search(kiln_tuner *t)
{
    for (size_t i = 0; i < t->list.count; i++)
        t->tried += t->list.at[i].known != NULL;
    kiln_recall(t);
    foresee_grids(t, t->found.nfinalists > 0 ? t->found.finalist[0].index : t->list.guess);
    for (size_t i = 0; i < t->list.count; i++) {
        if (i == kiln_candidates_untried(&t->list))
            start_grids(t);
        if (!kiln_trial_is_due(t, i))
            continue;
        if (is_over(t))
            break;
        const bool begins = t->ran == 0;
        kiln_trial_run(t, i);
        note_progress(t, i);
        if (begins)
            kiln_recall_pace(t);
        if (i < t->list.firsts && t->found.nfinalists > 0 && t->found.finalist[0].index == i)
            foresee_grids(t, i);
    }
    kiln_recall_rest(t);
    if (t->stopped)
        kiln_recall_times(t);
    else if (t->found.nfinalists > 1)
        kiln_rounds_final(t);
    kiln_finalists_settle(&t->found);
}

/* Checks that the solvers of the caller's list are there, and that one of them takes the problem.
 * An empty name is the library's choice only where it is the whole list. */
static kiln_status check_solvers(kiln_tuner *t)
{
    const char *names = t->options->solver ? t->options->solver : "";
    kiln_status status = KILN_OK;
    bool taken = false;
    do {
        char name[64];
        const size_t length = strcspn(names, ",");
        if (length == 0 && *names)
            return kiln_fail(KILN_INVALID, "kiln_tune: the list of solvers \"%s\" lacks a name",
                             t->options->solver);
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        const kiln_choice choice = {.solver = name, .ignore_rows = 1};
        kiln_pick pick;
        kiln_status one = kiln_choose(t->bench.k, t->bench.problem, t->shape, &choice, &pick);
        if (one && one != KILN_UNSUPPORTED)
            return one;
        taken = taken || one == KILN_OK;
        status = one;
        names += length + (names[length] == ',');
    } while (*names);
    return taken ? KILN_OK : status;
}

static kiln_status start(kiln_tuner *t)
{
    const kiln_tune_options *o = t->options;
    t->start = kiln_run_seconds();
    if (o->max_seconds > 0)
        t->bench.deadline = t->start + o->max_seconds;
    kiln_status status = check_solvers(t);
    if (status)
        return status;
    t->bench.samples =
        malloc((size_t)KILN_FINALISTS * (size_t)t->bench.most * sizeof *t->bench.samples);
    t->upcoming = o->upcoming ? malloc(KILN_UPCOMING * sizeof *t->upcoming) : NULL;
    if (!t->bench.samples || (o->upcoming && !t->upcoming))
        return kiln_fail(KILN_NO_MEMORY, "out of memory");
    status = kiln_candidates_list(t->bench.k, t->bench.problem, t->shape,
                                  o->solver && *o->solver ? o->solver : NULL, &t->list);
    if (!status)
        status = kiln_candidates_know(t->bench.k, t->shape, o->known, o->nknown, &t->list);
    t->found.firsts = t->list.firsts;
    t->found.guess = t->list.guess;
    t->trials = t->list.count;
    if (o->max_trials > 0 && (uint64_t)o->max_trials < t->trials)
        t->trials = (size_t)o->max_trials;
    return status;
}

static void finish(kiln_tuner *t)
{
    /* The winner's program goes to the cache; the other programs need not. */
    if (t->found.nfinalists > 0 && t->found.finalist[0].op)
        kiln_op_keep(t->found.finalist[0].op);
    for (int i = 0; i < t->found.nfinalists; i++)
        kiln_op_release(t->found.finalist[i].op);
    if (t->bench.buffers.workspace.mem)
        clReleaseMemObject(t->bench.buffers.workspace.mem);
    free(t->bench.samples);
    free(t->upcoming);
    kiln_candidates_free(&t->list);
}

/* Names the solvers that this search could not choose. */
static void name_excluded(kiln_tuner *t)
{
    const kiln_solver *tried[KILN_MOST_FIRSTS];
    for (size_t i = 0; i < t->list.firsts; i++)
        tried[i] = t->list.at[i].solver;
    kiln_excluded_solvers(t->bench.k, t->bench.problem, tried, t->list.firsts, t->found.without);
}

kiln_status kiln_device_measure(kiln *k)
{
    if (!k)
        return kiln_fail(KILN_INVALID, "kiln_device_measure: k must not be NULL");
    const kiln_status status = kiln_process_check(k);
    if (!status)
        kiln_probe_speed(k);
    return status;
}

static kiln_status fail_without_means(const kiln_tuner *t)
{
    if (t->lost)
        return kiln_fail(KILN_OPENCL, "the search cannot go on: the device is lost: %s",
                         t->lacking);
    return kiln_fail(KILN_FILE, "the search cannot go on: the machine lacks the means: %s",
                     t->lacking);
}

/* Searches, and keeps the winner. */
static kiln_status run(kiln_tuner *t, kiln_trial *best)
{
    kiln_run_clock_hold();
    kiln_status status = start(t);
    if (!status)
        search(t);
    kiln_run_clock_release();
    if (!status && t->found.nfinalists == 0 && t->lacks_means)
        status = fail_without_means(t);
    if (!status && t->found.nfinalists == 0)
        status =
            kiln_fail(KILN_UNSUPPORTED, "none of %zu candidates ran and verified; the first: %s",
                      t->tried, *t->failure ? t->failure : "an earlier search tried it");
    if (!status)
        kiln_trial_fill(t, &t->found.finalist[0], best);
    if (!status && t->options->keep) {
        name_excluded(t);
        status = kiln_finalists_keep(t->bench.k, t->bench.problem, t->shape, &t->found);
    }
    if (!status && t->lacks_means)
        status = fail_without_means(t);
    finish(t);
    return status;
}

kiln_status kiln_tune(kiln *k, const kiln_problem *problem, cl_command_queue queue,
                      const kiln_buffers *buffers, const kiln_tune_options *options,
                      kiln_trial *best)
{
    if (!k || !problem || !best)
        return kiln_fail(KILN_INVALID, "kiln_tune: k, problem and best must not be NULL");
    kiln_problem p = *problem;
    kiln_status status = kiln_tune_check("kiln_tune", k, &p, queue, buffers, options);
    if (status)
        return status;
    kiln_shape shape = kiln_shape_of(&p);
    kiln_probe_for(k, &shape);
    kiln_probe_speed(k);
    *best = (kiln_trial){0};
    kiln_tuner *t = calloc(1, sizeof *t); /* too large for a small stack */
    if (!t)
        return kiln_fail(KILN_NO_MEMORY, "kiln_tune: out of memory");
    t->options = options;
    t->shape = &shape;
    t->bench = (kiln_bench){.k = k,
                            .problem = &p,
                            .queue = queue,
                            .buffers = *buffers,
                            .runs = options->runs ? options->runs : RUNS,
                            .most = options->runs ? options->runs : MOST_RUNS,
                            .verify = options->verify,
                            .user = options->user};
    t->bench.buffers.workspace = t->bench.buffers.packed = (kiln_buffer){0};
    status = run(t, best);
    free(t);
    return status;
}
