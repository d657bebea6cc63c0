/* kiln against oneDNN and CLBlast on this CPU, class by class, in one run.
 *
 * For each layer all contenders get the same tensors. A short look at each way in which oneDNN can
 * do the layer finds the ways near the fastest one; these take turns with kiln, and the fastest of
 * them is the rival. Each result is verified before its times count: by the sampled reference, and
 * kiln's whole result, in f32, against the rival's. A ratio is the rival's time over kiln's: above
 * 1, kiln is faster. In classes of other types kiln in f32 runs, too; it is the rival where oneDNN
 * does not have the type. After the turns a second peer, PyTorch with a oneDNN of its own, times
 * the layer, where Python has it; a class has a second line for it. With --bare a class has one
 * more line: the rival's time over that of a kernel that does only what every kernel must, the best
 * ratio to be had.
 */
#include "driver/conv/interrupt.h"
#include "tests/bench/timing/field.h"
#include "tests/bench/base/progress.h"
#include "tests/bench/timing/results.h"

#include "ahead.h"
#include "cpu_options.h"
#include "second_peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INTERRUPTED = 130 }; /* as kiln's exit status */

typedef struct bench {
    const cpu_options *options;
    session session;
    machine machine;
    results results;
    peer second;
    stats_mean mean[CPU_CLASSES];
    stats_mean against_second[CPU_CLASSES];
    stats_mean bare[CPU_CLASSES]; /* the rival's time over that of the bare kernel */
    int doubtful[CPU_CLASSES];    /* rows that do not count */
    int wrong;
} bench;

/* A time without disturbance beats a disturbed one. */
static bool is_faster(const turns_times *a, const turns_times *b)
{
    bool a_quiet = a->disturbed < a->rounds, b_quiet = b->disturbed < b->rounds;
    return a_quiet == b_quiet ? a->ms < b->ms : a_quiet;
}

static bool is_bare(const result *r)
{
    return strcmp(r->name, CONTENDER_BARE) == 0;
}

/* Whether a contender may be the rival. kiln in f32 is one only where no peer has the type. */
static bool may_decide(const field *f, const result *r)
{
    if (strcmp(r->name, CONTENDER_KILN_F32) == 0)
        return f->count == 2;
    return strcmp(r->name, "CLBlast") != 0 && !is_bare(r);
}

static void fill_row(row *row, const field *f, const turns_times *times)
{
    row->count = f->count;
    for (int i = 0; i < f->count; i++) {
        result *to = &row->result[i];
        *to = (result){.times = times[i], .ratio = turns_ratio(&times[0], &times[i])};
        memcpy(to->name, f->c[i]->name, sizeof to->name);
        memcpy(to->detail, f->c[i]->detail, sizeof to->detail);
        if (i > 0 && may_decide(f, to) && (!row->rival || is_faster(&times[i], &times[row->rival])))
            row->rival = i;
    }
}

static void count_row(bench *b, int at, const row *row)
{
    if (!row->rival)
        return;
    const turns_times *rival = &row->result[row->rival].times;
    const char *name = row->work->layer->name;
    if (turns_doubtful(&row->result[0].times, rival))
        b->doubtful[at]++;
    else
        stats_add(&b->mean[at], row->result[row->rival].ratio, name);
    double best = 0;
    for (int i = 1; i < row->count; i++)
        if (is_bare(&row->result[i]) && !turns_doubtful(&row->result[i].times, rival))
            best = fmax(best, turns_ratio(&row->result[i].times, rival));
    if (best > 0)
        stats_add(&b->bare[at], best, name);
}

static rules rules_of(const cpu_options *o, int at)
{
    return rules_with(&cpu_classes[at].rules, o->layout, o->filter);
}

static void add_second(bench *b, int at, double seconds, row *row)
{
    const rules rules = rules_of(b->options, at);
    const double ratio = second_peer_add(&b->second, &cpu_classes[at], &rules, seconds, row);
    const turns_times *own = &row->result[0].times;
    if (ratio > 0 && !turns_doubtful(own, own))
        stats_add(&b->against_second[at], ratio, row->work->layer->name);
}

static void compare(void *user, const session *s, int at, const work *w)
{
    bench *b = user;
    const bench_class *class = &cpu_classes[at];
    const rules rules = rules_of(b->options, at);
    turns_plan plan = {.rounds = b->options->rounds,
                       .seconds = b->options->quick ? 0.01 : 0.05,
                       .latency = class->latency,
                       .hopeless = b->options->quick ? 1.15 : 0};
    char why[KILN_ERROR_TEXT];
    turns_times times[TURNS_CONTENDERS];
    field f;
    row row = {.class_name = class->name, .work = w};
    const field_options options = {.trials = b->options->trials,
                                   .brief = b->options->quick,
                                   .bare = b->options->bare ? b->machine.threads : 0};
    bool fit = field_make(&f, s, w, &rules, &options, why);
    plan.bystanders = f.bare;
    if (fit && turns_take(f.c, f.count, &plan, times)) {
        fill_row(&row, &f, times);
        add_second(b, at, plan.seconds * plan.rounds, &row);
        results_row(&b->results, &row);
        count_row(b, at, &row);
    } else {
        results_skip(&b->results, class->name, w, fit ? "a run failed" : why);
    }
    b->wrong += f.wrong;
    field_clear(&f);
}

/* Calls visit(user, s, i, w) for each class that the options want of a layer. */
static void each_class(const cpu_options *o, const layer *l, const session *s,
                       void (*visit)(void *user, const session *s, int at, const work *w),
                       void *user)
{
    work w = {0};
    bool made = false;
    for (int i = 0; i < CPU_CLASSES && !interrupt_came(); i++) {
        if (!o->wanted[i] || !cpu_classes[i].takes(&l->problem))
            continue;
        const bench_class *class = &cpu_classes[i];
        if (!made || w.problem.direction != class->direction || work_type(&w, 'w') != class->type) {
            work_free(&w);
            made = work_make(&w, l, class->direction, class->type);
        }
        if (made)
            visit(user, s, i, &w);
    }
    work_free(&w);
}

static void run_once(void *user, const session *s, int at, const work *w)
{
    char why[KILN_ERROR_TEXT];
    const rules rules = rules_of(user, at);
    contender *c = contender_kiln(s, w, &rules, NULL, why);
    if (c && c->calls->enqueue(c))
        c->calls->finish(c);
    contender_release(c);
}

static void compile_layer(void *user, const session *s, int i)
{
    const cpu_options *o = user;
    each_class(o, &o->layers.at[i], s, run_once, user);
}

/* A brief comparison is mostly compiling; this compiles on all CPUs. */
static void compile_all(const cpu_options *o)
{
    double start = stats_now();
    ahead_do(o->layers.count, compile_layer, (void *)o);
    printf("compiled in %.1f s\n", stats_now() - start);
    fflush(stdout);
}

/* Returns the number of layers that it has begun. */
static int compare_all(bench *b)
{
    const layers *all = &b->options->layers;
    const progress p = progress_start(all->count);
    int begun = 0;
    while (begun < all->count && !interrupt_came()) {
        progress_tell(&p, begun);
        each_class(b->options, &all->at[begun++], &b->session, compare, b);
    }
    progress_tell(&p, all->count);
    return begun;
}

static void tell_classes(const bench *b)
{
    for (int i = 0; i < CPU_CLASSES; i++) {
        const char *name = cpu_classes[i].name;
        if (b->options->wanted[i])
            results_class(&b->results, name, "", &b->mean[i], b->doubtful[i]);
        if (b->against_second[i].count > 0)
            results_class(&b->results, name, " beside " SECOND_PEER, &b->against_second[i], 0);
        if (b->bare[i].count > 0)
            results_class(&b->results, name, "/bare", &b->bare[i], 0);
    }
}

static int run(bench *b, FILE *json)
{
    const cpu_options *o = b->options;
    if (o->quick)
        compile_all(o);
    if (!machine_open(&b->machine, &b->session, "cpu"))
        return 1;
    machine_measure(&b->machine);
    machine_print(&b->machine, stdout);
    second_peer_start(&b->second);
    results_start(&b->results, &b->machine, json);
    const int begun = compare_all(b);
    results_end(&b->results, begun, o->layers.count, interrupt_came());
    tell_classes(b);
    session_close(&b->session);
    peer_end(&b->second);
    if (b->wrong)
        printf("%d of kiln's results were wrong; see the rows above\n", b->wrong);
    return b->wrong ? 1 : interrupt_came() ? INTERRUPTED : 0;
}

int main(int argc, char **argv)
{
    static cpu_options o;
    static bench b;
    if (!cpu_options_read(&o, argc, argv))
        return 2;
    b.options = &o;
    interrupt watch;
    interrupt_watch(&watch);
    FILE *json = NULL;
    char part[4096];
    if (o.json) {
        snprintf(part, sizeof part, "%s.part", o.json);
        json = fopen(part, "w");
        if (!json) {
            perror(part);
            return 1;
        }
    }
    int status = run(&b, json);
    if (json && (fclose(json) || rename(part, o.json))) {
        perror(o.json);
        status = 1;
    }
    layers_free(&o.layers);
    return status;
}
