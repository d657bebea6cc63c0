/* Runs workers, hears what they say, and goes on without workers that crash or hang. */
#include "driver/base/means.h"
#include "driver/conv/interrupt.h"

#include "tune_pool.h"
#include "tune_rounds.h"
#include "tune_show.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A worker that dies so often outside of trials, with one problem, gives that problem up. */
enum { MOST_DEATHS = 3 };

/* Outside of trials, a worker makes tensors, computes the reference and times finalists. */
static const double quiet_limit = 900;

static void start_worker(pool *p, pool_worker *w)
{
    const tune_job job = {.options = p->run->options,
                          .list = p->run->list,
                          .book = w->kind->book,
                          .device = w->device,
                          .limits = p->run->limits,
                          .workers = p->workers};
    w->ready = w->in_trial = w->waiting = false;
    w->heard = p->now;
    w->gone = !tune_child_start(&w->child, tune_worker_run, (void *)&job, p->memory);
}

static bool out_of_time(const tune_run *run)
{
    return run->options->total_time > 0 &&
           kiln_run_seconds() - run->began >= run->options->total_time;
}

/* Gives an idle worker its item again, after a crash, or the next one. */
static void assign(pool *p, pool_worker *w)
{
    if (!w->ready || w->waiting || w->in_trial || p->stopping)
        return;
    if (w->item < 0) {
        w->item = out_of_time(p->run) ? -1 : pool_claim_next(p, w);
        if (w->item < 0)
            return;
        pool_end_claim(w);
        w->item_since = kiln_run_seconds();
        w->deaths = 0;
        w->killer = (tune_next){.solver = ""};
        w->kind->state[w->item] = TUNE_RUNNING;
        pool_forget_built(w);
    }
    p->m.kind = MESSAGE_TUNE;
    p->m.item = w->item;
    p->m.slice = tune_rounds_slice(p->run, w->kind, w->item);
    w->heard = p->now;
    w->ready = !tune_send(w->child.fd, &p->m);
}

static void end_item(pool *p, pool_worker *w, const tune_result *result)
{
    p->run->busy += kiln_run_seconds() - w->item_since;
    tune_rounds_note(p->run, w->kind, w->item, result);
    tune_show_item(p->run, w->kind, w->item);
    w->item = -1;
}

/* Records a trial that ended its process. */
static void record(pool *p, pool_worker *w, kiln_trial_verdict verdict, const char *how)
{
    kiln_trial_line *line = &w->trial;
    snprintf(line->verdict, sizeof line->verdict, "%s", kiln_trial_verdict_text(verdict));
    snprintf(line->why, sizeof line->why, "%s", how);
    line->seconds = p->now - w->trial_since;
    if (kiln_trials_append(w->kind->log, line))
        fprintf(stderr, "kiln tune: %s\n", kiln_last_error());
    trial_book_add(w->kind->book, line);
    tune_run_note_trial(p->run, line);
    tune_show_trial(p->run, w->kind, w->item, line, 0, 0);
}

/* Returns whether the config of the worker's trial has ended its process once before. The book of
 * trials keeps a new process from trying it again, unless its key has changed: someone edits a
 * template, say. */
static bool killed_again(pool_worker *w)
{
    const kiln_trial_line *t = &w->trial;
    const bool again =
        strcmp(w->killer.solver, t->solver) == 0 && strcmp(w->killer.config, t->config) == 0;
    snprintf(w->killer.solver, sizeof w->killer.solver, "%s", t->solver);
    snprintf(w->killer.config, sizeof w->killer.config, "%s", t->config);
    return again;
}

/* Gives the worker's problem up. */
static void lose_item(pool *p, pool_worker *w, const char *why)
{
    tune_result lost = {.status = KILN_OPENCL};
    snprintf(lost.why, sizeof lost.why, "%s", why);
    end_item(p, w, &lost);
}

/* Waits for a child's first message, and no minute longer. */
static bool first_message(const tune_child *c, tune_message *m)
{
    const int patience_ms = 60000;
    struct pollfd at = {.fd = c->fd, .events = POLLIN};
    return poll(&at, 1, patience_ms) == 1 && tune_receive(c->fd, m, false);
}

/* Returns whether the worker's device can be opened. */
static bool device_is_there(pool *p, const pool_worker *w, char *why, size_t size)
{
    const tune_job job = {.options = p->run->options, .device = w->device};
    tune_child child;
    char how[128];
    tune_message *m = calloc(1, sizeof *m);
    bool there = true; /* without a process to find out, nobody knows */
    if (m && tune_child_start(&child, tune_reopen_run, (void *)&job, p->memory)) {
        const bool said = first_message(&child, m);
        there = said && m->kind == MESSAGE_READY;
        snprintf(why, size, "%.*s", KILN_ERROR_TEXT, said ? m->why : "opening it does not end");
        tune_child_end(&child, how, sizeof how);
    }
    free(m);
    return there;
}

/* Leaves a device alone. Its item waits for another one. */
static void leave(pool *p, pool_worker *w)
{
    p->run->lost = p->run->lost || w->served;
    w->gone = true;
    pool_end_claim(w);
    if (w->item >= 0)
        w->kind->state[w->item] = TUNE_WAITING;
    w->item = -1;
}

/* Goes on after a worker has ended, or ends it. */
static void replace(pool *p, pool_worker *w, bool late)
{
    char how[sizeof w->trial.why], why[512];
    const bool in_trial = w->in_trial, opened = w->ready || w->item >= 0;
    tune_child_end(&w->child, how, sizeof how);
    if (late)
        snprintf(how, sizeof how, "it took longer than %g s",
                 in_trial ? p->run->options->trial_limit : quiet_limit);
    else if (!*how)
        snprintf(how, sizeof how, "its process ended");
    if (in_trial && !late && !means_are_there(why)) {
        tune_result stuck = {.status = KILN_FILE};
        snprintf(stuck.why, sizeof stuck.why, "%s", why);
        end_item(p, w, &stuck);
    } else if (in_trial && !late && !device_is_there(p, w, why, sizeof why)) {
        fprintf(stderr, "kiln tune: %s: the device is lost: %s\n", w->device->name, why);
        leave(p, w);
        return;
    } else if (in_trial) {
        record(p, w, late ? KILN_TRIAL_TIMEOUT : KILN_TRIAL_CRASHED, how);
        if (killed_again(w)) {
            snprintf(why, sizeof why,
                     "config \"%s\" of %s ended its process twice (%.200s); do templates change?",
                     w->killer.config, w->killer.solver, how);
            lose_item(p, w, why);
        }
    } else if (w->item >= 0 && ++w->deaths >= MOST_DEATHS) {
        snprintf(why, sizeof why,
                 "the process that tuned it ended %d times outside of trials: %.400s", MOST_DEATHS,
                 how);
        lose_item(p, w, why);
    } else if (w->item >= 0) {
        tune_show_death(w->device->name, "searched", how);
    }
    if (!opened || p->stopping) {
        if (p->stopping)
            w->served = false; /* nobody asks for it */
        leave(p, w);
        return;
    }
    start_worker(p, w);
}

static void hear(pool *p, pool_worker *w)
{
    if (!tune_receive(w->child.fd, &p->m, false)) {
        replace(p, w, false);
        return;
    }
    const tune_message *m = &p->m;
    w->heard = p->now;
    switch (m->kind) {
    case MESSAGE_READY:
        w->ready = w->served = true;
        /* Processes open NVIDIA's driver one after the other: the one that searches comes first. */
        pool_start_helpers(p, w);
        break;
    case MESSAGE_FAIL:
        fprintf(stderr, "kiln tune: %s: %s%s\n", w->device->name, m->why,
                p->run->options->memory > 0 ? "; or --memory is too small for its driver" : "");
        break; /* it ends by itself */
    case MESSAGE_UPCOMING:
        w->trial = m->line;
        w->nexts = m->count;
        memcpy(w->next, m->next, sizeof w->next);
        w->waiting = true;
        w->trial_since = w->heard;
        break;
    case MESSAGE_BEGIN:
        w->trial = m->line;
        break;
    case MESSAGE_TRIAL:
        w->in_trial = false;
        trial_book_add(w->kind->book, &m->line);
        tune_run_note_trial(p->run, &m->line);
        tune_show_trial(p->run, w->kind, w->item, &m->line, m->best_ms, m->guess_ms);
        break;
    case MESSAGE_REPEATED:
        w->in_trial = false;
        break;
    case MESSAGE_RESULT:
        w->ready = true;
        w->in_trial = w->waiting = false;
        end_item(p, w, &m->result);
        break;
    default:
        break;
    }
    pool_feed(p, w);
}

/* Listens to all children for up to a second. */
static void listen(pool *p)
{
    struct pollfd at[TUNE_MOST_DEVICES * (POOL_MOST_HELPERS + 1)];
    struct {
        pool_worker *worker;
        pool_helper *helper;
    } who[sizeof at / sizeof *at];
    nfds_t n = 0;
    for (int i = 0; i < p->workers; i++) {
        pool_worker *w = &p->worker[i];
        if (w->child.pid > 0) {
            who[n].worker = w;
            who[n].helper = NULL;
            at[n++] = (struct pollfd){.fd = w->child.fd, .events = POLLIN};
        }
        for (int j = 0; j < w->helpers; j++)
            if (w->helper[j].child.pid > 0) {
                who[n].worker = w;
                who[n].helper = &w->helper[j];
                at[n++] = (struct pollfd){.fd = w->helper[j].child.fd, .events = POLLIN};
            }
    }
    if (poll(at, n, 1000) <= 0)
        return;
    for (nfds_t i = 0; i < n; i++) {
        if (!at[i].revents)
            continue;
        if (who[i].helper)
            pool_hear_helper(p, who[i].worker, who[i].helper);
        else
            hear(p, who[i].worker);
    }
}

static void check_times(pool *p, pool_worker *w)
{
    const double now = p->now;
    pool_check_helpers(p, w);
    if (w->child.pid <= 0)
        return;
    if (pool_is_stopped(&w->child)) {
        w->trial_since += now - w->checked;
        w->heard += now - w->checked;
    }
    w->checked = now;
    if (w->in_trial && pool_is_too_long(p, now - w->trial_since))
        replace(p, w, true);
    else if (w->item >= 0 && !w->in_trial && !w->waiting && now - w->heard > quiet_limit)
        replace(p, w, true);
}

/* Every worker ends its trial and keeps what it has. */
static void stop(pool *p)
{
    p->stopping = true;
    p->m.kind = MESSAGE_STOP;
    for (int i = 0; i < p->workers; i++) {
        pool_worker *w = &p->worker[i];
        if (w->child.pid > 0)
            tune_send(w->child.fd, &p->m);
        if (w->waiting) {
            w->waiting = false;
            w->in_trial = true;
            w->trial_since = p->now;
        }
    }
}

static bool is_working(const pool *p)
{
    for (int i = 0; i < p->workers; i++)
        if (!p->worker[i].gone && (p->worker[i].item >= 0 || (!p->stopping && !p->worker[i].ready)))
            return true;
    return false;
}

static void work(pool *p)
{
    p->now = kiln_run_seconds();
    for (int i = 0; i < p->workers; i++)
        start_worker(p, &p->worker[i]);
    do {
        listen(p);
        p->now = kiln_run_seconds(); /* each second or sooner, however busy the machine is */
        p->run->interrupted = p->run->interrupted || interrupt_came();
        if ((p->run->interrupted || p->run->unkept) && !p->stopping)
            stop(p);
        for (int i = 0; i < p->workers; i++) {
            check_times(p, &p->worker[i]);
            assign(p, &p->worker[i]);
        }
        tune_show_tick(p->run);
    } while (is_working(p));
}

static int64_t memory_limit(const tune_options *o)
{
    const int64_t mib = 1 << 20;
    if (o->memory > 0)
        return o->memory * mib;
    return pool_memory_of_machine() / 4 * 3;
}

kiln_status tune_pool(tune_run *run, char *why)
{
    pool *p = calloc(1, sizeof *p);
    interrupt watch;
    if (p)
        *p = (pool){.run = run,
                    .memory = memory_limit(run->options),
                    .worker = calloc((size_t)run->devices, sizeof *p->worker),
                    .workers = run->devices};
    if (!p || !p->worker) {
        free(p);
        snprintf(why, KILN_ERROR_TEXT, "out of memory for processes");
        return KILN_NO_MEMORY;
    }
    for (int i = 0; i < run->devices; i++)
        p->worker[i] = (pool_worker){.kind = &run->kind[run->kind_of[i]],
                                     .device = &run->device[i],
                                     .item = -1,
                                     .ahead = -1};
    interrupt_watch(&watch);
    work(p);
    interrupt_leave(&watch);
    bool any = false;
    /* Nobody waits for their ends: a GPU's driver takes seconds to clean up after 30 processes. */
    for (int i = 0; i < p->workers; i++) {
        any = any || !p->worker[i].gone;
        pool_kill_helpers(&p->worker[i]);
        tune_child_kill(&p->worker[i].child);
        free(p->worker[i].table);
    }
    free(p->worker);
    free(p);
    if (any || run->interrupted || run->unkept || run->lost)
        return KILN_OK;
    snprintf(why, KILN_ERROR_TEXT, "no device could be used");
    return KILN_OPENCL;
}
