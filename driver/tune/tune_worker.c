/* A process that tunes items on one device. */
#include "tune_worker.h"

#include "driver/base/trace.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct worker {
    int fd;
    const tune_job *job;
    session session;
    int item;
    bool stopped;     /* the parent wants no more trials, or is gone */
    tune_message out; /* in one place: it is large */
} worker;

static void say(worker *w, tune_message_kind kind)
{
    w->out.kind = kind;
    w->out.item = w->item;
    w->stopped = !tune_send(w->fd, &w->out) || w->stopped;
}

/* Tells which programs will be needed, and waits until those of a trial may be used. Returns which
 * trial that is. */
static size_t announce(void *user, const kiln_trial *trials, size_t count)
{
    worker *w = user;
    tune_message in;
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    if (tune_problem_settle(&w->session, &w->job->list->item[w->item], &p, why))
        p = w->job->list->item[w->item].problem;
    kiln_trial_line_fill(&w->out.line, w->session.kiln, &p, &trials[0]);
    w->out.best_ms = trials[0].best_ms;
    w->out.guess_ms = trials[0].guess_ms;
    w->out.count = 0;
    for (size_t i = 0; i < count && i < TUNE_AHEAD; i++) {
        tune_next *n = &w->out.next[w->out.count++];
        snprintf(n->solver, sizeof n->solver, "%s", trials[i].solver);
        snprintf(n->config, sizeof n->config, "%s", trials[i].config);
    }
    const int64_t began = trace_begin();
    say(w, MESSAGE_UPCOMING);
    size_t now = 0;
    in.kind = MESSAGE_STOP;
    while (!w->stopped && tune_receive(w->fd, &in, false) && in.kind != MESSAGE_GO)
        w->stopped = w->stopped || in.kind == MESSAGE_STOP;
    if (in.kind == MESSAGE_GO && in.count > 0 && (size_t)in.count < count) {
        now = (size_t)in.count;
        kiln_trial_line_fill(&w->out.line, w->session.kiln, &p, &trials[now]);
        say(w, MESSAGE_BEGIN);
    }
    trace_end(began, "wait", "for compilers");
    return now;
}

static bool ended(void *user, const kiln_trial *trial, const kiln_trial_line *line)
{
    worker *w = user;
    tune_message in;
    w->out.best_ms = trial->best_ms;
    w->out.guess_ms = trial->guess_ms;
    if (line) {
        w->out.line = *line;
        trial_book_add(w->job->book, line); /* for the next round; the parent has its own book */
    }
    say(w, line ? MESSAGE_TRIAL : MESSAGE_REPEATED);
    while (tune_receive(w->fd, &in, true))
        w->stopped = w->stopped || in.kind == MESSAGE_STOP;
    return !w->stopped;
}

search_settings tune_settings(const tune_job *job, const tune_slice *slice)
{
    const tune_options *o = job->options;
    return (search_settings){.seconds = slice->seconds,
                             .alone = slice->alone,
                             .trials = o->trials,
                             .patience = slice->patience,
                             .solvers = *o->solvers ? o->solvers : NULL,
                             .limits = job->limits,
                             .book = job->book,
                             .finished = true};
}

static void tune(worker *w, const tune_message *in)
{
    search_settings settings = tune_settings(w->job, &in->slice);
    settings.upcoming = announce;
    settings.trial = ended;
    settings.user = w;
    w->item = in->item;
    tune_problem(&w->session, &w->job->list->item[in->item], &settings, &w->out.result);
    /* This process can do nothing more then. Whether a config did that, the parent finds out, which
     * has the device opened anew. */
    if (w->out.result.lost)
        _exit(KILN_OPENCL);
    if (*w->out.result.end.verdict && !w->out.result.known)
        trial_book_add(w->job->book, &w->out.result.end);
    say(w, MESSAGE_RESULT);
}

static void name_process(const char *does, const tune_job *job)
{
    char name[300];
    snprintf(name, sizeof name, "%s %s", does, job->device->name);
    trace_name_process(name);
}

static bool open_device(const tune_job *job, session *s, tune_message *out)
{
    const tune_device *device = job->device;
    if (job->options->shard_count > 1)
        setenv("KILN_DB", device->rows_file, 1);
    out->status = session_open(s, device->spec, out->why);
    return out->status == KILN_OK;
}

/* Each worker's references get their share of the cores. */
static void share_cores(int workers)
{
    const int cores = omp_get_num_procs();
    if (workers > 1 && !getenv("OMP_NUM_THREADS"))
        omp_set_num_threads(cores > workers ? cores / workers : 1);
}

int tune_worker_run(int fd, void *user)
{
    worker *w = calloc(1, sizeof *w);
    tune_message in;
    if (!w)
        return KILN_NO_MEMORY;
    w->fd = fd;
    w->job = user;
    name_process("kiln tune: searches on", w->job);
    share_cores(w->job->workers);
    const bool open = open_device(w->job, &w->session, &w->out);
    say(w, open ? MESSAGE_READY : MESSAGE_FAIL);
    while (open && !w->stopped && tune_receive(fd, &in, false))
        if (in.kind == MESSAGE_TUNE)
            tune(w, &in);
        else
            w->stopped = in.kind == MESSAGE_STOP;
    if (open)
        session_close(&w->session);
    free(w);
    return 0;
}

/* Writes the config that solver number `index` would try first. Returns false past the last solver;
 * *ms is 0 where the solver does not take the problem. */
static bool first_of(session *s, const kiln_problem *p, int index, tune_next *n, double *ms)
{
    kiln_verdict v;
    if (kiln_explain(s->kiln, p, index, &v))
        return false;
    *ms = v.accepted ? v.predicted_ms : 0;
    if (v.accepted) {
        snprintf(n->solver, sizeof n->solver, "%s", v.solver);
        snprintf(n->config, sizeof n->config, "%s", v.config);
    }
    return true;
}

/* Finds the config that comes m->count-th by prediction. */
static bool find_first(session *s, const tune_job *job, tune_message *m)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    double before = 0;
    if (tune_problem_settle(s, &job->list->item[m->item], &p, why))
        return false;
    for (int rank = 0; rank <= m->count; rank++) {
        double least = 0, ms;
        tune_next n;
        for (int i = 0; first_of(s, &p, i, &n, &ms); i++)
            if (ms > before && (least == 0 || ms < least)) {
                least = ms;
                m->next[0] = n;
            }
        if (least == 0)
            return false;
        before = least;
    }
    kiln_problem_text(&p, m->line.problem, sizeof m->line.problem);
    return true;
}

/* Compiles the programs of a config. PoCL compiles when an operation is launched, so it is launched
 * once; the parent sees to it that nothing is measured on a CPU meanwhile. */
static void build_config(session *s, const tune_message *in)
{
    kiln_problem p;
    char why[KILN_ERROR_TEXT];
    kiln_op *op = NULL;
    const tune_next *n = &in->next[0];
    const kiln_choice choice = {
        .solver = n->solver, .config = *n->config ? n->config : NULL, .ignore_rows = 1};
    if (kiln_problem_parse(&p, in->line.problem, why) ||
        kiln_conv_create(s->kiln, &p, &choice, &op))
        return;
    if (s->cpu)
        kiln_op_warm(op);
    kiln_op_release(op);
}

static void build(session *s, const tune_message *in)
{
    char config[KILN_INFO_TEXT + 64];
    const int64_t began = trace_begin();
    build_config(s, in);
    trace_end(began, "build",
              search_config_text(in->next[0].config, in->next[0].solver, config, sizeof config));
}

int tune_helper_run(int fd, void *user)
{
    const tune_job *job = user;
    tune_message *m = calloc(1, sizeof *m);
    session s;
    if (!m)
        return KILN_NO_MEMORY;
    name_process("kiln tune: compiles for", job);
    session_quiet();
    /* To store a program, PoCL compiles it once more; it has a cache of its own, which is enough.
     */
    if (job->device->cpu)
        setenv("KILN_CACHE", "off", 1);
    const bool open = open_device(job, &s, m);
    m->kind = open ? MESSAGE_READY : MESSAGE_FAIL;
    bool going = tune_send(fd, m) && open;
    while (going && tune_receive(fd, m, false)) {
        if (m->kind == MESSAGE_BUILD || (m->kind == MESSAGE_BUILD_FIRST && find_first(&s, job, m)))
            build(&s, m);
        m->kind = MESSAGE_BUILT;
        going = tune_send(fd, m);
    }
    if (open)
        session_close(&s);
    free(m);
    return 0;
}
