/* kiln against oneDNN and CLBlast on this CPU, class by class, in one run.
 *
 * For each layer all contenders get the same tensors. The ways in which oneDNN can do the layer are
 * glanced at; those near the fastest take turns with kiln, and the fastest of them is the rival.
 * Each result is verified before its times count: by the sampled reference, and kiln's against the
 * rival's everywhere. A ratio is the rival's time over kiln's: above 1, kiln is faster.
 */
#include "results.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_dense(const kiln_problem *p)
{
    return !work_is_depthwise(p);
}

static bool is_single(const kiln_problem *p)
{
    return p->batch == 1;
}

static bool is_anything(const kiln_problem *p)
{
    (void)p;
    return true;
}

typedef struct bench_class {
    const char *name;
    kiln_direction direction;
    rules rules;
    bool latency;
    bool (*takes)(const kiln_problem *p);
} bench_class;

/* Blocked to blocked, except for -plain; the last forward one is a single enqueue and its end. */
static const bench_class classes[] = {
    {"forward-any", KILN_FORWARD, {false, RULES_ANY}, false, is_dense},
    {"forward-direct", KILN_FORWARD, {false, RULES_DIRECT}, false, is_dense},
    {"forward-winograd", KILN_FORWARD, {false, RULES_WINOGRAD}, false, work_is_winograd},
    {"forward-plain", KILN_FORWARD, {true, RULES_ANY}, false, is_dense},
    {"depthwise", KILN_FORWARD, {false, RULES_ANY}, false, work_is_depthwise},
    {"forward-latency", KILN_FORWARD, {false, RULES_ANY}, true, is_single},
    {"backward-data", KILN_BACKWARD_DATA, {false, RULES_ANY}, false, is_anything},
    {"backward-weights", KILN_BACKWARD_WEIGHTS, {false, RULES_ANY}, false, is_anything},
};
enum { CLASSES = sizeof classes / sizeof *classes, MAX_BATCHES = 8 };

typedef struct options {
    layers layers;
    bool quick;
    const char *json;
    bool wanted[CLASSES];
    int rounds, trials; /* 0: no search */
    int64_t batch[MAX_BATCHES];
    int batches;
} options;

typedef struct bench {
    const options *options;
    session session;
    machine machine;
    results results;
    stats_mean mean[CLASSES];
    int doubtful[CLASSES]; /* rows that do not count */
    int wrong;
} bench;

/* ---- one row ---- */

typedef struct field {
    contender *c[TURNS_CONTENDERS];
    float *result[2]; /* kiln's, and the peer's at hand */
    int count;
} field;

static void clear_field(field *f)
{
    for (int i = 0; i < f->count; i++)
        contender_release(f->c[i]);
    for (int i = 0; i < 2; i++)
        free(f->result[i]);
}

/* Joins the field if its result is right. */
static void admit_peer(field *f, const work *w, contender *c)
{
    char why[KILN_ERROR_TEXT];
    if (contender_verify(c, w, f->result[1], why) &&
        contender_agree(w, f->c[0], f->result[0], c, f->result[1], why)) {
        f->c[f->count++] = c;
        return;
    }
    printf("# %s: peer left out: %s\n", w->layer->name, why);
    contender_release(c);
}

typedef struct glimpse {
    contender *c;
    double ms;
    bool calm;
} glimpse;

static bool is_known(const glimpse *g, int n, const contender *c)
{
    for (int i = 0; i < n; i++)
        if (strcmp(g[i].c->detail, c->detail) == 0)
            return true;
    return false;
}

/* Those of oneDNN's ways that may turn out the fastest. Ways that come to the same are one. */
static void admit_onednn(field *f, const work *w, const rules *r)
{
    enum { WAYS = TURNS_CONTENDERS - 2 };
    static const double near = 1.4; /* a calm glance is off by less than this */
    glimpse g[WAYS];
    double best = HUGE_VAL;
    int n = 0;
    char why[KILN_ERROR_TEXT];
    for (int i = 0; i < contender_onednn_ways() && n < WAYS; i++) {
        contender *c = contender_onednn(w, r, i, why);
        if (!c)
            continue;
        g[n] = (glimpse){.c = c};
        g[n].ms = is_known(g, n, c) ? -1 : turns_glance(c, &g[n].calm);
        if (g[n].ms < 0) {
            contender_release(c);
            continue;
        }
        if (g[n].calm)
            best = fmin(best, g[n].ms);
        n++;
    }
    for (int i = 0; i < n; i++)
        if (!g[i].calm || g[i].ms <= near * best)
            admit_peer(f, w, g[i].c);
        else
            contender_release(g[i].c);
}

static bool make_field(bench *b, field *f, const work *w, const rules *r, char *why)
{
    const size_t bytes = (size_t)reference_count(&w->problem) * sizeof(float);
    *f = (field){.result = {malloc(bytes), malloc(bytes)}};
    if (!f->result[0] || !f->result[1])
        return false;
    f->c[0] = b->options->trials > 0
                  ? contender_kiln_tuned(&b->session, w, r, b->options->trials, why)
                  : contender_kiln(&b->session, w, r, NULL, why);
    if (!f->c[0])
        return false;
    f->count = 1;
    if (!contender_verify(f->c[0], w, f->result[0], why)) {
        b->wrong++;
        return false;
    }
    admit_onednn(f, w, r);
    contender *c = r->plain ? contender_clblast(&b->session, w, why) : NULL;
    if (c)
        admit_peer(f, w, c);
    return true;
}

/* A time that was taken in peace beats one that was not. */
static bool is_faster(const turns_times *a, const turns_times *b)
{
    bool a_quiet = a->disturbed < a->rounds, b_quiet = b->disturbed < b->rounds;
    return a_quiet == b_quiet ? a->ms < b->ms : a_quiet;
}

static void fill_row(row *row, const field *f, const turns_times *times)
{
    row->count = f->count;
    for (int i = 0; i < f->count; i++) {
        result *to = &row->result[i];
        *to = (result){.times = times[i], .ratio = turns_ratio(&times[0], &times[i])};
        memcpy(to->name, f->c[i]->name, sizeof to->name);
        memcpy(to->detail, f->c[i]->detail, sizeof to->detail);
        bool decides = i > 0 && strcmp(to->name, "oneDNN") == 0;
        if (decides && (!row->rival || is_faster(&times[i], &times[row->rival])))
            row->rival = i;
    }
}

static void compare(bench *b, int at, const work *w)
{
    const bench_class *class = &classes[at];
    const turns_plan plan = {.rounds = b->options->rounds,
                             .seconds = b->options->quick ? 0.01 : 0.05,
                             .latency = class->latency};
    char why[KILN_ERROR_TEXT] = "out of memory";
    turns_times times[TURNS_CONTENDERS];
    field f;
    row row = {.class_name = class->name, .work = w};
    if (make_field(b, &f, w, &class->rules, why) && turns_take(f.c, f.count, &plan, times)) {
        fill_row(&row, &f, times);
        results_row(&b->results, &row);
        if (row.rival && turns_doubtful(&times[0], &times[row.rival]))
            b->doubtful[at]++;
        else if (row.rival)
            stats_add(&b->mean[at], row.result[row.rival].ratio, w->layer->name);
    } else {
        results_skip(&b->results, class->name, w, why);
    }
    clear_field(&f);
}

static void run_layer(bench *b, const layer *l)
{
    work w = {0};
    bool made = false;
    for (int i = 0; i < CLASSES; i++) {
        if (!b->options->wanted[i] || !classes[i].takes(&l->problem))
            continue;
        if (!made || w.problem.direction != classes[i].direction) {
            work_free(&w);
            made = work_make(&w, l, classes[i].direction);
        }
        if (made)
            compare(b, i, &w);
    }
    work_free(&w);
}

static int run(bench *b, FILE *json)
{
    char why[KILN_ERROR_TEXT];
    setenv("POCL_AFFINITY", "1", 0);
    if (session_open(&b->session, "cpu", why)) {
        fprintf(stderr, "bench: %s\n", why);
        return 1;
    }
    machine_describe(&b->machine, &b->session);
    machine_measure(&b->machine);
    machine_print(&b->machine, stdout);
    results_start(&b->results, &b->machine, json);
    for (int i = 0; i < b->options->layers.count; i++)
        run_layer(b, &b->options->layers.at[i]);
    results_end(&b->results);
    for (int i = 0; i < CLASSES; i++)
        if (b->options->wanted[i])
            results_class(&b->results, classes[i].name, &b->mean[i], b->doubtful[i]);
    session_close(&b->session);
    if (b->wrong)
        printf("%d of kiln's results were wrong; see the rows above\n", b->wrong);
    return b->wrong ? 1 : 0;
}

/* ---- the command line ---- */

static int usage(FILE *to)
{
    fprintf(to, "usage: ./dev bench cpu [FILE...] [OPTIONS]\n\n"
                "FILE is a list of layers or the name of one in tests/bench/shapes\n"
                "(resnet50 vgg mobilenet inception resnext).\n\n"
                "  --quick         the layers of quick.txt, short turns: about a minute\n"
                "  --batch N,...   instead of each list's own batch; 0: its own  (1,16)\n"
                "  --class NAME    only this class; may be repeated. One of:\n");
    for (int i = 0; i < CLASSES; i++)
        fprintf(to, "                    %s\n", classes[i].name);
    fprintf(to, "  --rounds N      turns of each contender  (5; 3 with --quick)\n"
                "  --tuned[=N]     let kiln search first, N trials a layer  (24)\n"
                "  --json FILE     also write one object a row to FILE\n");
    return to == stderr ? 2 : 0;
}

static bool want_class(options *o, const char *name)
{
    for (int i = 0; i < CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0)
            return o->wanted[i] = true;
    fprintf(stderr, "bench: there is no class \"%s\"; --help lists them\n", name);
    return false;
}

static bool read_number(const char *option, const char *text, int most, int *value)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > most) {
        fprintf(stderr, "bench: %s is \"%s\"; give a number from 1 to %d\n", option, text, most);
        return false;
    }
    *value = (int)n;
    return true;
}

static bool read_batches(options *o, const char *text)
{
    for (o->batches = 0; o->batches < MAX_BATCHES; text++) {
        char *end;
        long long n = strtoll(text, &end, 10);
        if (end == text || n < 0)
            break;
        o->batch[o->batches++] = n;
        if (!*end)
            return true;
        text = end;
        if (*text != ',')
            break;
    }
    fprintf(stderr, "bench: --batch wants up to %d numbers with commas between them\n",
            MAX_BATCHES);
    return false;
}

static bool read_option(options *o, int letter, const char *value)
{
    switch (letter) {
    case 'q':
        return o->quick = true;
    case 'j':
        o->json = value;
        return true;
    case 'c':
        return want_class(o, value);
    case 'r':
        return read_number("--rounds", value, TURNS_ROUNDS, &o->rounds);
    case 't':
        o->trials = 24;
        return !value || read_number("--tuned", value, 1000000, &o->trials);
    case 'b':
        return read_batches(o, value);
    default:
        return false;
    }
}

static bool read_lists(options *o, char **file, int files)
{
    static char *const networks[] = {"resnet50", "vgg", "mobilenet", "inception", "resnext"};
    static char *const quick[] = {"quick"};
    if (o->batches == 0) {
        const int64_t usual[] = {1, 16};
        o->batches = o->quick ? 1 : 2;
        memcpy(o->batch, usual, sizeof usual);
        if (o->quick)
            o->batch[0] = 0;
    }
    if (files == 0) {
        file = (char **)(o->quick ? quick : networks);
        files = o->quick ? 1 : (int)(sizeof networks / sizeof *networks);
    }
    for (int i = 0; i < files; i++)
        if (!layers_read(&o->layers, file[i], o->batch, o->batches))
            return false;
    return true;
}

static bool read_options(options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},       {"json", required_argument, NULL, 'j'},
        {"class", required_argument, NULL, 'c'}, {"rounds", required_argument, NULL, 'r'},
        {"tuned", optional_argument, NULL, 't'}, {"batch", required_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},        {0}};
    int letter;
    bool some = false;
    while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (letter == 'h')
            exit(usage(stdout));
        if (!read_option(o, letter, optarg))
            return letter == '?' ? usage(stderr), false : false;
    }
    for (int i = 0; i < CLASSES; i++)
        some = some || o->wanted[i];
    for (int i = 0; i < CLASSES; i++)
        o->wanted[i] = o->wanted[i] || !some;
    if (!o->rounds)
        o->rounds = o->quick ? 3 : 5;
    return read_lists(o, argv + optind, argc - optind);
}

int main(int argc, char **argv)
{
    static options o;
    static bench b;
    if (!read_options(&o, argc, argv))
        return 2;
    b.options = &o;
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
