/* One trial of a search: a candidate is measured, and the caller is told. */
#include "runtime/op/op.h"

#include "tuner.h"

#include <stdio.h>
#include <string.h>

/* A trial is measured properly only within this factor of the best so far. A candidate that needs
 * no search is the only trial of some solvers, and decides how many more they get. */
static const double promising = 1.25, promising_first = 2;

/* Tells what is known of a candidate before it is tried. */
static void introduce(const kiln_tuner *t, const kiln_candidate *c, kiln_trial *trial)
{
    *trial = (kiln_trial){.solver = c->solver->name,
                          .version = c->solver->version,
                          .origin = c->origin,
                          .expected_ms = c->expected,
                          .repeated = c->known != NULL,
                          .count = (int64_t)t->trials};
    kiln_config_text(c->solver, &c->config, trial->config, sizeof trial->config);
    kiln_candidate_hash(t->bench.k, t->shape, c, trial->hash);
}

static void fill_best(const kiln_tuner *t, kiln_trial *trial)
{
    const kiln_result *best = &t->found.finalist[0], *second = best + 1;
    const kiln_candidate *guess = &t->list.at[t->list.guess];
    if (t->found.nfinalists > 0) {
        trial->best_ms = best->times.ms;
        trial->turns = best->win.turns;
        trial->turns_won = best->win.won;
        trial->win_iqr = best->win.iqr;
        trial->best_solver = best->candidate.solver->name;
        kiln_config_text(best->candidate.solver, &best->candidate.config, trial->best_config,
                         sizeof trial->best_config);
    }
    if (t->found.nfinalists > 1) {
        trial->second_ms = second->times.ms;
        trial->second_solver = second->candidate.solver->name;
        kiln_config_text(second->candidate.solver, &second->candidate.config, trial->second_config,
                         sizeof trial->second_config);
    }
    trial->guess_ms = guess->measured;
    trial->guess_solver = guess->solver->name;
    kiln_config_text(guess->solver, &guess->config, trial->guess_config,
                     sizeof trial->guess_config);
}

void kiln_trial_fill(const kiln_tuner *t, const kiln_result *r, kiln_trial *trial)
{
    introduce(t, &r->candidate, trial);
    trial->index = (int64_t)t->tried - 1;
    trial->ms = r->times.ms;
    trial->iqr = r->times.iqr;
    trial->runs = r->times.runs;
    trial->error = r->error;
    fill_best(t, trial);
}

/* A guess that is predicted to take this many times as long as the fastest one. */
static const double hopeless = 10;

bool kiln_trial_is_due(const kiln_tuner *t, size_t index)
{
    const kiln_candidate *c = &t->list.at[index];
    const kiln_tune_options *o = t->options;
    const bool limited = o->max_seconds > 0 || o->patience > 0,
               guessed = index < t->list.firsts && c->origin == KILN_ORIGIN_GUESS;
    if (c->known)
        return false;
    return !limited || !guessed || t->found.nfinalists == 0 ||
           c->expected <= hopeless * t->list.at[t->list.guess].expected;
}

/* Tells the caller which trials come next, this one first. The order of the grids is certain when
 * the others have been tried. Moves the one that the caller wants to the place `index`: the firsts
 * are all tried before the grids. */
static void announce(kiln_tuner *t, size_t index)
{
    kiln_trial *next = t->upcoming;
    size_t place[KILN_UPCOMING], n = 0;
    if (!t->options->upcoming)
        return;
    const bool repeated = t->list.at[index].known;
    for (size_t i = index; i < t->list.count && n < KILN_UPCOMING; i++) {
        if (i > index && (repeated || !kiln_trial_is_due(t, i) || t->tried + n >= t->trials))
            continue;
        introduce(t, &t->list.at[i], &next[n]);
        next[n].index = (int64_t)(t->tried + n) - repeated;
        place[n++] = i;
    }
    fill_best(t, &next[0]);
    const size_t wanted = t->options->upcoming(t->options->user, next, n);
    if (wanted == 0 || wanted >= n || (index < t->list.firsts && place[wanted] >= t->list.firsts))
        return;
    kiln_candidates_advance(&t->list, place[wanted], index);
    kiln_finalists_follow(&t->found, place[wanted], index);
}

static void tell(kiln_tuner *t, const kiln_result *r, int verdict, double seconds)
{
    kiln_trial trial;
    kiln_trial_fill(t, r, &trial);
    trial.verdict = (kiln_trial_verdict)verdict;
    trial.build_seconds = t->bench.build_seconds;
    trial.seconds = seconds;
    if (t->options->progress && t->options->progress(t->options->user, &trial) != 0)
        t->stopped = true;
}

/* Whether the machine lacks what the failed candidate needs. */
static bool lacks_means(kiln_tuner *t, int verdict, bool again)
{
    const kiln_tune_options *o = t->options;
    t->lost = verdict == KILN_BENCH_LOST;
    return t->lost || (o->lacks_means && o->lacks_means(o->user) != 0) ||
           (again && verdict == KILN_BENCH_NO_MEMORY);
}

/* Ends the search without a word on the candidate. */
static void give_up(kiln_tuner *t)
{
    const char *why = kiln_last_error();
    snprintf(t->lacking, sizeof t->lacking, "%.*s", (int)strcspn(why, "\n"), why);
    t->stopped = t->lacks_means = true;
}

/* Measures a candidate. One that does not build or run may have met a full disk or a killed
 * compiler: only a second failure, with the means, is its own. */
static int measure(kiln_tuner *t, kiln_result *r, double worth)
{
    int verdict = KILN_TRIAL_OK;
    for (int i = 0; i < 2; i++) {
        verdict = kiln_bench_measure(&t->bench, r->candidate.solver, &r->candidate.config, worth,
                                     &r->op, &r->times);
        const bool failed = verdict == KILN_TRIAL_BUILD || verdict == KILN_TRIAL_RUN;
        const bool lacking = verdict == KILN_BENCH_NO_MEMORY || verdict == KILN_BENCH_LOST;
        if (!lacking && (!failed || !t->options->lacks_means))
            break;
        if (lacks_means(t, verdict, i > 0)) {
            give_up(t);
            break;
        }
        if (i == 0) {
            kiln_op_release(r->op);
            r->op = NULL;
        }
    }
    return verdict;
}

bool kiln_trial_run(kiln_tuner *t, size_t index)
{
    t->ran++;
    announce(t, index);
    kiln_result r = {.candidate = t->list.at[index], .index = index};
    const double began = kiln_run_seconds();
    const double before = kiln_pace_of(t);
    const double within = index < t->list.firsts ? promising_first : promising;
    const bool compared = t->found.nfinalists > 0 && index != t->list.guess;
    double worth = compared ? within * before * t->found.finalist[0].times.ms : 0;
    int verdict = measure(t, &r, worth);
    if (verdict == KILN_BENCH_LATE || t->lacks_means) {
        kiln_op_release(r.op);
        return false;
    }
    t->tried += !r.candidate.known;
    r.error = t->bench.error;
    bool failed = verdict != KILN_TRIAL_OK && verdict != KILN_TRIAL_SLOW;
    if (before != 1 && !failed)
        r.times.ms /= kiln_pace_between(before, kiln_pace_of(t));
    t->list.at[index].measured = failed ? 0 : r.times.ms;
    if (failed && !*t->failure)
        snprintf(t->failure, sizeof t->failure, "%.*s", KILN_ERROR_TEXT - 1, kiln_last_error());
    if (failed)
        kiln_log(&t->bench.k->logger, "trial %zu failed: %s", index, kiln_last_error());
    if (verdict == KILN_TRIAL_OK)
        kiln_finalists_place(&t->found, &r);
    else
        kiln_op_release(r.op);
    if (r.candidate.origin == KILN_ORIGIN_USER_ROW && t->found.nclaims < KILN_MOST_CLAIMS)
        t->found.claim[t->found.nclaims++] = r;
    tell(t, &r, verdict, kiln_run_seconds() - began);
    return true;
}
