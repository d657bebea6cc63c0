/* What a run through a network takes: its different layers one after the other, each with kernels,
 * weights and activations of its own, kiln's in one queue against oneDNN's best way of each.
 *
 * Benches of single layers repeat them, with all they need in the caches; here most comes from
 * memory, as where a network is used.
 */
#include "options.h"
#include "results.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 256 };

/* A contender of contenders. */
typedef struct chain {
    contender base;
    contender *c[MOST_LAYERS];
    int count;
} chain;

typedef struct network {
    char name[WORK_NAME];
    work work[MOST_LAYERS];
    chain side[2]; /* kiln, oneDNN */
} network;

typedef struct options {
    layers layers;
    rules rules;
    int64_t batch;
    int rounds;
} options;

/* ---- chains ---- */

static bool enqueue(contender *c)
{
    const chain *all = (const chain *)c;
    bool fine = true;
    for (int i = 0; i < all->count && fine; i++)
        fine = all->c[i]->calls->enqueue(all->c[i]);
    return fine;
}

static bool finish(contender *c)
{
    const chain *all = (const chain *)c;
    contender *last = all->c[all->count - 1];
    return last->calls->finish(last);
}

static const contender_calls calls = {.enqueue = enqueue, .finish = finish};

/* ---- one network ---- */

static contender *verified(contender *c, const work *w, float *result, char *why)
{
    if (c && contender_verify(c, w, result, why))
        return c;
    contender_release(c);
    return NULL;
}

static contender *best_of_onednn(const work *w, const rules *r, float *result, char *why)
{
    contender *best = NULL;
    double best_ms = 0;
    for (int i = 0; i < contender_onednn_ways(); i++) {
        bool calm;
        contender *c = verified(contender_onednn(w, r, i, why), w, result, why);
        const double ms = c ? turns_glance(c, best_ms, &calm) : -1;
        const bool wins = ms >= 0 && (!best || ms < best_ms);
        contender_release(wins ? best : c);
        if (wins) {
            best = c;
            best_ms = ms;
        }
    }
    return best;
}

/* False, with the reason, where one side cannot do it. */
static bool add(network *n, const session *s, const layer *l, const rules *r, char *why)
{
    const int at = n->side[0].count;
    work *w = &n->work[at];
    contender *c[2] = {NULL};
    float *result = NULL;
    snprintf(why, KILN_ERROR_TEXT, "out of memory");
    if (at < MOST_LAYERS && work_make(w, l, KILN_FORWARD, KILN_F32))
        result = malloc((size_t)reference_count(&w->problem) * sizeof *result);
    if (result)
        c[0] = verified(contender_kiln(s, w, r, NULL, why), w, result, why);
    if (c[0])
        c[1] = best_of_onednn(w, r, result, why);
    free(result);
    for (int i = 0; c[1] && i < 2; i++)
        n->side[i].c[n->side[i].count++] = c[i];
    if (c[1])
        return true;
    contender_release(c[0]);
    work_free(w);
    return false;
}

static void clear(network *n)
{
    for (int i = 0; i < n->side[0].count; i++) {
        contender_release(n->side[0].c[i]);
        contender_release(n->side[1].c[i]);
        work_free(&n->work[i]);
    }
}

static void run_network(network *n, const options *o, stats_mean *mean)
{
    const turns_plan plan = {.rounds = o->rounds, .seconds = 0.1, .latency = true};
    contender *const both[2] = {&n->side[0].base, &n->side[1].base};
    turns_times times[2];
    n->side[0].base.calls = n->side[1].base.calls = &calls;
    if (n->side[0].count == 0 || !turns_take(both, 2, &plan, times)) {
        printf("%-20.20s not measured\n", n->name);
        return;
    }
    const double ratio = turns_ratio(&times[0], &times[1]);
    const bool doubtful = turns_doubtful(&times[0], &times[1]);
    printf("%-20.20s %6d %10.4f %10.4f %7.3f%s\n", n->name, n->side[0].count, times[0].ms,
           times[1].ms, ratio, doubtful ? " ~" : "");
    fflush(stdout);
    if (!doubtful)
        stats_add(mean, ratio, n->name);
}

/* "resnet_50" of "resnet_50/conv1" and "ssd_mobilenet" of "ssd_mobilenet:3". */
static void name_of(const layer *l, char name[WORK_NAME])
{
    snprintf(name, WORK_NAME, "%.*s", (int)strcspn(l->name, "/: "), l->name);
}

static void run(const options *o, const session *s, stats_mean *mean)
{
    static network n;
    char why[KILN_ERROR_TEXT], name[WORK_NAME];
    for (int i = 0; i < o->layers.count; i++) {
        name_of(&o->layers.at[i], name);
        if (strcmp(name, n.name) != 0) {
            if (*n.name)
                run_network(&n, o, mean);
            clear(&n);
            memset(&n, 0, sizeof n);
            strcpy(n.name, name);
        }
        if (!add(&n, s, &o->layers.at[i], &o->rules, why))
            printf("%-20.20s without %s: %s\n", n.name, o->layers.at[i].name, why);
    }
    if (*n.name)
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
                                          {0}};
    int batch = 1, c;
    bool fine = true;
    while (fine && (c = options_next(argc, argv, known, help)) != -1) {
        if (c == 'p')
            o->rules.plain = true;
        else if (c == 'b')
            fine = options_number("--batch", optarg, 0, 65536, &batch);
        else if (c == 'r')
            fine = options_number("--rounds", optarg, 1, TURNS_ROUNDS, &o->rounds);
        else
            fine = false;
    }
    o->batch = batch;
    static const char *const usual[] = {"resnet50", "mobilenet"};
    for (int i = optind; fine && i < argc; i++)
        fine = layers_read(&o->layers, argv[i], &o->batch, 1);
    for (int i = 0; fine && optind == argc && i < 2; i++)
        fine = layers_read(&o->layers, usual[i], &o->batch, 1);
    return fine;
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
    if (!machine_open(&m, &s))
        return 1;
    machine_print(&m, stdout);
    printf("%-20s %6s %10s %10s %7s\n", "network", "layers", "kiln ms", "oneDNN ms", "ratio");
    run(&o, &s, &mean);
    printf("networks %d geomean %.3f worst %.3f (%s)\n", mean.count, stats_geomean(&mean),
           mean.worst, mean.worst_name);
    session_close(&s);
    layers_free(&o.layers);
    return 0;
}
