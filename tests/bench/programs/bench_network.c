/* The time of a run through a network: its different layers one after the other, each with kernels,
 * weights and activations of its own. kiln has them in one queue, oneDNN runs its best way of each.
 *
 * Benches of single layers repeat a layer with everything in the caches. Here most data come from
 * memory, as they do when a network is used.
 */
#include "tests/bench/base/options.h"
#include "tests/bench/timing/field.h"
#include "tests/bench/timing/results.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 256, KILN = 0, ONEDNN, SIDES };

typedef struct network network;

/* A contender of contenders: one side of each layer. */
typedef struct chain {
    contender base;
    const network *of;
    int side;
} chain;

struct network {
    char name[WORK_NAME];
    work work[MOST_LAYERS];
    field field[MOST_LAYERS]; /* one contender for each side */
    int count;
    chain chain[SIDES];
};

typedef struct options {
    layers layers;
    rules rules;
    int64_t batch;
    int rounds;
} options;

/* ---- chains ---- */

static contender *at(const chain *all, int layer)
{
    return all->of->field[layer].c[all->side];
}

static bool enqueue(contender *c)
{
    const chain *all = (const chain *)c;
    bool fine = true;
    for (int i = 0; i < all->of->count && fine; i++)
        fine = at(all, i)->calls->enqueue(at(all, i));
    return fine;
}

static bool finish(contender *c)
{
    const chain *all = (const chain *)c;
    contender *last = at(all, all->of->count - 1);
    return last->calls->finish(last);
}

static const contender_calls calls = {.enqueue = enqueue, .finish = finish};

/* ---- one network ---- */

/* Keeps kiln and the fastest of the others. */
static void keep_best(field *f)
{
    int best = 0;
    double best_ms = 0;
    for (int i = 1; i < f->count; i++) {
        bool calm;
        const double ms = turns_glance(f->c[i], best_ms, &calm);
        if (ms >= 0 && (!best || ms < best_ms)) {
            best = i;
            best_ms = ms;
        }
    }
    for (int i = 1; i < f->count; i++)
        if (i != best)
            contender_release(f->c[i]);
    f->c[ONEDNN] = f->c[best];
    f->count = best ? SIDES : 1;
}

static bool make_layer(network *n, const session *s, const layer *l, const rules *r, char *why)
{
    const field_options brief = {.brief = true};
    work *w = &n->work[n->count];
    field *f = &n->field[n->count];
    snprintf(why, KILN_ERROR_TEXT, "out of memory");
    if (!work_make(w, l, KILN_FORWARD, KILN_F32) || !field_make(f, s, w, r, &brief, why))
        return false;
    keep_best(f);
    snprintf(why, KILN_ERROR_TEXT, "oneDNN does not do it");
    return f->count == SIDES;
}

static void add(network *n, const session *s, const layer *l, const rules *r)
{
    char why[KILN_ERROR_TEXT];
    if (n->count == MOST_LAYERS) {
        printf("%-20.20s without %s: it has %d layers\n", n->name, l->name, MOST_LAYERS);
    } else if (make_layer(n, s, l, r, why)) {
        n->count++;
    } else {
        printf("%-20.20s without %s: %s\n", n->name, l->name, why);
        field_clear(&n->field[n->count]);
        work_free(&n->work[n->count]);
        n->field[n->count] = (field){0};
    }
}

static void clear(network *n)
{
    for (int i = 0; i < n->count; i++) {
        field_clear(&n->field[i]);
        work_free(&n->work[i]);
    }
    memset(n, 0, sizeof *n);
}

static void run_network(network *n, const options *o, stats_mean *mean)
{
    const turns_plan plan = {.rounds = o->rounds, .seconds = 0.1, .latency = true};
    contender *both[SIDES];
    turns_times times[SIDES];
    for (int i = 0; i < SIDES; i++) {
        n->chain[i] = (chain){.base = {.calls = &calls}, .of = n, .side = i};
        both[i] = &n->chain[i].base;
    }
    if (n->count == 0 || !turns_take(both, SIDES, &plan, times)) {
        printf("%-20.20s not measured\n", n->name);
        return;
    }
    const double ratio = turns_ratio(&times[KILN], &times[ONEDNN]);
    const bool doubtful = turns_doubtful(&times[KILN], &times[ONEDNN]);
    printf("%-20.20s %6d %10.4f %10.4f %7.3f%s\n", n->name, n->count, times[KILN].ms,
           times[ONEDNN].ms, ratio, doubtful ? " ~" : "");
    fflush(stdout);
    if (!doubtful)
        stats_add(mean, ratio, n->name);
}

/* Cuts "resnet_50/conv1" to "resnet_50" and "ssd_mobilenet:3" to "ssd_mobilenet". */
static void name_of(const layer *l, char name[WORK_NAME])
{
    snprintf(name, WORK_NAME, "%.*s", (int)strcspn(l->name, "/: "), l->name);
}

static void run(const options *o, const session *s, stats_mean *mean)
{
    static network n;
    char name[WORK_NAME];
    for (int i = 0; i < o->layers.count; i++) {
        name_of(&o->layers.at[i], name);
        if (strcmp(name, n.name) != 0) {
            if (i > 0)
                run_network(&n, o, mean);
            clear(&n);
            strcpy(n.name, name);
        }
        add(&n, s, &o->layers.at[i], &o->rules);
    }
    if (o->layers.count > 0)
        run_network(&n, o, mean);
    clear(&n);
}

/* ---- the command ---- */

static void help(void)
{
    printf(
        "usage: ./dev bench network [FILE...] [OPTIONS]     (resnet50 mobilenet)\n"
        "\n"
        "A network is what the names of neighbouring layers begin with; a layer that an earlier\n"
        "one has is left out.\n"
        "\n"
        "  --plain         NCHW in and out of each layer; else each side's choice of layouts\n"
        "  --batch N       instead of each list's own; 0: its own  (1)\n"
        "  --rounds N      turns of each  (9)\n");
}

static bool read_options(options *o, int argc, char **argv)
{
    static const struct option known[] = {{"plain", no_argument, NULL, 'p'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int batch = 1, c;
    bool fine = true;
    while (fine && (c = options_next(argc, argv, known, help)) != -1) {
        if (c == 'p')
            o->rules.layout = RULES_NCHW;
        else if (c == 'b')
            fine = options_number("--batch", optarg, 0, 65536, &batch);
        else if (c == 'r')
            fine = options_number("--rounds", optarg, 1, TURNS_ROUNDS, &o->rounds);
        else
            fine = false;
    }
    o->batch = batch;
    static char *const usual[] = {"resnet50", "mobilenet", NULL};
    return fine && layers_read_all(&o->layers, argv + optind, usual, &o->batch, 1);
}

int main(int argc, char **argv)
{
    static options o = {.rounds = 9};
    static machine m;
    session s;
    stats_mean mean = {0};
    if (!read_options(&o, argc, argv))
        return 2;
    if (contender_onednn_ways() == 0) {
        fprintf(stderr, "bench: oneDNN, which kiln is compared with here, was not found when this "
                        "was built\n");
        return 1;
    }
    if (!machine_open(&m, &s, "cpu"))
        return 1;
    machine_print(&m, stdout);
    printf("%-20s %6s %10s %10s %7s\n", "network", "layers", "kiln ms", "oneDNN ms", "ratio");
    run(&o, &s, &mean);
    if (mean.count > 0)
        printf("networks %d geomean %.3f worst %.3f (%s)\n", mean.count, stats_geomean(&mean),
               mean.worst, mean.worst_name);
    session_close(&s);
    layers_free(&o.layers);
    return mean.count > 0 ? 0 : 1;
}
