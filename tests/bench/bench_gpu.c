/* kiln against cuDNN on an NVIDIA GPU, class by class, in one run.
 *
 * For each layer kiln and the peer (cudnn.py, a process of its own) take turns on the same card,
 * and the medians are compared: kiln's time of one run in a row of runs that only the last one is
 * waited for, the peer's in a replayed graph. "events" is the time of a run that is waited for, by
 * the device's clock. kiln's result is verified by the sampled reference before its times count. A
 * ratio is the peer's time over kiln's: above 1, kiln is faster. "peak" and "copy" say what share
 * of the card's multiply-adds and of its copy bandwidth, both measured in the same run, kiln
 * reaches.
 */
#include "driver/conv/interrupt.h"
#include "driver/device_limits.h"

#include "contender_kiln.h"
#include "machine.h"
#include "options.h"
#include "peer.h"
#include "progress.h"
#include "stats.h"
#include "work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INTERRUPTED = 130,
    MOST_ROUNDS = 15,
    MOST_BATCHES = 8,
    ROW_MS = 20,
    ROWS = 7,
    MOST_RUNS = 1400
};

static bool is_dense(const kiln_problem *p)
{
    return !work_is_depthwise(p);
}

typedef struct gpu_class {
    const char *name;
    kiln_direction direction;
    bool (*takes)(const kiln_problem *p);
    kiln_type type;
    rules_layout layout; /* tensor cores take channels that are neighbours */
    bool reduced;        /* products may be rounded to a shorter type */
    bool bytes;          /* results are i8, too */
} gpu_class;

static const gpu_class classes[] = {
    {"forward", KILN_FORWARD, is_dense, KILN_F32, RULES_NCHW, false, false},
    {"backward-data", KILN_BACKWARD_DATA, is_dense, KILN_F32, RULES_NCHW, false, false},
    {"backward-weights", KILN_BACKWARD_WEIGHTS, is_dense, KILN_F32, RULES_NCHW, false, false},
    {"depthwise", KILN_FORWARD, work_is_depthwise, KILN_F32, RULES_NCHW, false, false},
    {"depthwise-data", KILN_BACKWARD_DATA, work_is_depthwise, KILN_F32, RULES_NCHW, false, false},
    {"depthwise-weights", KILN_BACKWARD_WEIGHTS, work_is_depthwise, KILN_F32, RULES_NCHW, false,
     false},
    {"f16", KILN_FORWARD, is_dense, KILN_F16, RULES_NHWC, false, false},
    {"f16-data", KILN_BACKWARD_DATA, is_dense, KILN_F16, RULES_NHWC, false, false},
    {"f16-weights", KILN_BACKWARD_WEIGHTS, is_dense, KILN_F16, RULES_NHWC, false, false},
    {"bf16", KILN_FORWARD, is_dense, KILN_BF16, RULES_NHWC, false, false},
    {"bf16-data", KILN_BACKWARD_DATA, is_dense, KILN_BF16, RULES_NHWC, false, false},
    {"bf16-weights", KILN_BACKWARD_WEIGHTS, is_dense, KILN_BF16, RULES_NHWC, false, false},
    {"tf32", KILN_FORWARD, is_dense, KILN_F32, RULES_NHWC, true, false},
    {"i8", KILN_FORWARD, is_dense, KILN_I8, RULES_NHWC, false, false},
    {"i8-to-i8", KILN_FORWARD, is_dense, KILN_I8, RULES_NHWC, false, true},
    {"f16-depthwise", KILN_FORWARD, work_is_depthwise, KILN_F16, RULES_NHWC, false, false},
    {"f16-depthwise-data", KILN_BACKWARD_DATA, work_is_depthwise, KILN_F16, RULES_NHWC, false,
     false},
    {"f16-depthwise-weights", KILN_BACKWARD_WEIGHTS, work_is_depthwise, KILN_F16, RULES_NHWC, false,
     false},
};

/* PyTorch has no convolution of bytes on a GPU: the peer is kiln in f16. */
static bool is_own_peer(const gpu_class *class)
{
    return class->type == KILN_I8;
}

enum { CLASSES = sizeof classes / sizeof *classes };

typedef struct bench {
    layers layers;
    int64_t batch[MOST_BATCHES];
    int batches, rounds, every;
    bool quick, wanted[CLASSES];
    const char *json_file, *solver;
    FILE *json;
    session session;
    cl_command_queue profiled; /* the session's queue is not */
    device_limits limits;
    peer peer;
    stats_mean mean[CLASSES];
    int wrong, failed;
} bench;

/* ---- one layer ---- */

typedef struct measured {
    double kiln_ms, peer_ms; /* medians; peer_ms negative: the peer does not do it */
    double event_ms;         /* of one run of kiln's that is waited for, by the device's clock */
    char format[200];        /* the peer's, or why it does not do the layer */
} measured;

/* The time of one of so many runs in a row. Negative: a run failed. */
static double time_row(contender *c, int runs)
{
    const double begin = stats_now();
    for (int i = 0; i < runs; i++)
        if (!c->calls->enqueue(c))
            return -1;
    return c->calls->finish(c) ? (stats_now() - begin) * 1e3 / runs : -1;
}

/* The median of rows that take ROW_MS together: the host may be late once. */
static double time_turn(contender *c, int runs)
{
    double row[ROWS];
    for (int i = 0; i < ROWS; i++)
        if ((row[i] = time_row(c, runs / ROWS > 3 ? runs / ROWS : 3)) <= 0)
            return -1;
    return stats_median(row, ROWS);
}

/* The median of as many single runs as a turn has rows. */
static double time_events(const bench *b, contender *c)
{
    double run[ROWS];
    for (int i = 0; i < ROWS; i++)
        if ((run[i] = contender_kiln_event_ms(c, b->profiled)) <= 0)
            return -1;
    return stats_median(run, ROWS);
}

/* The time of kiln's other contender, or of the peer. */
static double time_peer(bench *b, contender *other, int runs, const char *problem, measured *m)
{
    if (!other)
        return peer_time(&b->peer, problem, m->format, sizeof m->format);
    snprintf(m->format, sizeof m->format, "%.180s", other->detail);
    return time_turn(other, runs);
}

static bool take_turns(bench *b, contender *c, contender *other, const char *problem, measured *m)
{
    double own[MOST_ROUNDS], peer[MOST_ROUNDS];
    const double first = time_row(c, 3), again = first > 0 ? time_row(c, 10) : -1;
    if (again <= 0)
        return false;
    const double fit = ROW_MS / again;
    const int runs = fit < 3 ? 3 : fit > MOST_RUNS ? MOST_RUNS : (int)fit;
    int n = 0, peers = 0;
    for (; n < b->rounds; n++) {
        own[n] = time_turn(c, runs);
        if (own[n] <= 0)
            return false;
        if (peers == n && (peer[n] = time_peer(b, other, runs, problem, m)) > 0)
            peers++;
    }
    m->kiln_ms = stats_median(own, n);
    m->event_ms = time_events(b, c);
    m->peer_ms = peers ? stats_median(peer, peers) : -1;
    return m->event_ms > 0;
}

static void print_json(const bench *b, const gpu_class *class, const char *problem,
                       const measured *m, const contender *c)
{
    if (!b->json)
        return;
    fprintf(b->json,
            "{\"kind\":\"row\",\"class\":\"%s\",\"problem\":\"%s\",\"kiln_ms\":%.6f,"
            "\"event_ms\":%.6f,",
            class->name, problem, m->kiln_ms, m->event_ms);
    if (m->peer_ms > 0)
        fprintf(b->json, "\"peer_ms\":%.6f,\"format\":\"%s\",\"ratio\":%.4f,", m->peer_ms,
                m->format, m->peer_ms / m->kiln_ms);
    fprintf(b->json, "\"kiln\":\"%s\"}\n", c->detail);
}

static void print_row(bench *b, int at, const work *w, const char *problem, const measured *m,
                      const contender *c)
{
    const double seconds = m->kiln_ms * 1e-3;
    printf("%-21s %-32.32s %3lld %9.4f ms (events %.4f)  peak %3.0f%% copy %3.0f%%",
           classes[at].name, w->layer->name, (long long)w->problem.batch, m->kiln_ms, m->event_ms,
           100e-9 * w->flops / seconds / fmax(b->limits.gflops, 1),
           100e-9 * w->bytes / seconds / fmax(b->limits.gbs, 1));
    if (m->peer_ms > 0) {
        printf("  %s %9.4f ms (%s)  ratio %.3f", is_own_peer(&classes[at]) ? "kiln" : "cuDNN",
               m->peer_ms, m->format, m->peer_ms / m->kiln_ms);
        stats_add(&b->mean[at], m->peer_ms / m->kiln_ms, w->layer->name);
    } else if (b->peer.process) {
        printf("  cuDNN: %s", m->format);
    }
    printf("  %s\n", c->detail);
    fflush(stdout);
    print_json(b, &classes[at], problem, m, c);
}

static void compare_with(bench *b, int at, const work *w, contender *c, contender *other)
{
    char why[KILN_ERROR_TEXT], problem[KILN_KEY_TEXT];
    measured m;
    kiln_problem named = w->problem;
    if (classes[at].reduced)
        named.math = KILN_MATH_REDUCED;
    kiln_problem_text(&named, problem, sizeof problem);
    void *result = malloc((size_t)kiln_problem_count(&w->problem, w->to) * sizeof(float));
    if (!result || !contender_verify(c, w, result, why)) {
        printf("%-21s %-32.32s WRONG: %s (%s)\n", classes[at].name, w->layer->name,
               result ? why : "out of memory", c->detail);
        b->wrong++;
    } else if (take_turns(b, c, other, problem, &m)) {
        print_row(b, at, w, problem, &m, c);
    } else {
        printf("%-21s %-32.32s a run failed\n", classes[at].name, w->layer->name);
        b->failed++;
    }
    free(result);
}

static void compare(bench *b, int at, const work *w)
{
    const gpu_class *class = &classes[at];
    const rules rules = {class->layout, class->reduced ? RULES_REDUCED : RULES_ANY};
    const kiln_choice choice = {.solver = b->solver};
    char why[KILN_ERROR_TEXT];
    work half = {0};
    contender *other = NULL;
    contender *c = contender_kiln(&b->session, w, &rules, b->solver ? &choice : NULL, why);
    if (is_own_peer(class) && work_make(&half, w->layer, class->direction, KILN_F16))
        other = contender_kiln(&b->session, &half, &rules, NULL, why);
    if (c) {
        compare_with(b, at, w, c, other);
    } else {
        printf("%-21s %-32.32s not measured: %s\n", class->name, w->layer->name, why);
        b->failed += b->solver == NULL;
    }
    contender_release(c);
    contender_release(other);
    work_free(&half);
}

/* ---- the command line ---- */

static void help(void)
{
    printf("usage: ./dev bench gpu [FILE...] [OPTIONS]\n\n"
           "FILE is a list of layers or the name of one in tests/bench/shapes\n"
           "(resnet50 vgg mobilenet inception resnext quick); all of them by default.\n"
           "KILN_DEVICE names the device (NVIDIA). Without PyTorch there is no peer: kiln's times "
           "and\n"
           "shares of the limits are printed alone.\n\n"
           "  --quick        the layers of quick.txt\n"
           "  --batch N,...  batches to run; 0: each list's own  (64,1)\n"
           "  --every N      only one of N layers  (1)\n"
           "  --class NAME   only this class; may be repeated. One of:\n");
    for (int i = 0; i < CLASSES; i++)
        printf("                   %s\n", classes[i].name);
    printf("  --solver NAME  this solver instead of kiln's choice\n"
           "  --rounds N     turns of each side  (3)\n"
           "  --json FILE    also write one JSON object per row to FILE\n");
}

static bool want_class(bench *b, const char *name)
{
    for (int i = 0; i < CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0)
            return b->wanted[i] = true;
    fprintf(stderr, "bench: there is no class \"%s\"; --help lists them\n", name);
    return false;
}

static bool read_batches(bench *b, const char *text)
{
    const char *at = text;
    for (b->batches = 0; b->batches < MOST_BATCHES; at++) {
        char *end;
        const long long n = strtoll(at, &end, 10);
        if (end == at || n < 0)
            break;
        b->batch[b->batches++] = n;
        if (!*end)
            return true;
        at = end;
    }
    fprintf(stderr, "bench: --batch is \"%s\"; give up to %d numbers with commas between\n", text,
            MOST_BATCHES);
    return false;
}

static bool read_option(bench *b, int letter, const char *value)
{
    switch (letter) {
    case 'q':
        return b->quick = true;
    case 'b':
        return read_batches(b, value);
    case 'e':
        return options_number("--every", value, 1, 1000, &b->every);
    case 'c':
        return want_class(b, value);
    case 's':
        b->solver = value;
        return true;
    case 'r':
        return options_number("--rounds", value, 1, MOST_ROUNDS, &b->rounds);
    case 'j':
        b->json_file = value;
        return true;
    default:
        return false;
    }
}

static bool read_options(bench *b, int argc, char **argv)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"class", required_argument, NULL, 'c'},
                                          {"solver", required_argument, NULL, 's'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    static char *const lists[] = {"resnet50", "vgg", "mobilenet", "inception", "resnext", "quick"};
    bool some = false;
    *b = (bench){.rounds = 3, .every = 1, .batches = 2, .batch = {64, 1}};
    for (int letter; (letter = options_next(argc, argv, known, help)) != -1;)
        if (letter == '?' || !read_option(b, letter, optarg))
            return false;
    for (int i = 0; i < CLASSES; i++)
        some = some || b->wanted[i];
    for (int i = 0; i < CLASSES; i++)
        b->wanted[i] = b->wanted[i] || !some;
    char *const *file = optind < argc ? argv + optind : b->quick ? lists + 5 : lists;
    const int files = optind < argc ? argc - optind : b->quick ? 1 : 6;
    for (int i = 0; i < files; i++)
        if (!layers_read(&b->layers, file[i], b->batch, b->batches))
            return false;
    return true;
}

/* ---- all layers ---- */

static void compare_layer(bench *b, const layer *l)
{
    for (int i = 0; i < CLASSES && !interrupt_came(); i++) {
        work w = {0};
        if (!b->wanted[i] || !classes[i].takes(&l->problem))
            continue;
        if (classes[i].bytes ? work_make_bytes(&w, l)
                             : work_make(&w, l, classes[i].direction, classes[i].type))
            compare(b, i, &w);
        work_free(&w);
    }
}

static int run(bench *b)
{
    const char *script = getenv("BENCH_PEER");
    if (peer_start(&b->peer, script ? script : "tests/bench/cudnn.py"))
        printf("peer: %s\n", b->peer.what);
    else
        printf("no peer: %s\n", b->peer.what);
    b->limits = device_limits_measure(&b->session);
    printf("%s: %.0f GFLOP/s multiply-add, %.0f GB/s copy\n", b->session.name, b->limits.gflops,
           b->limits.gbs);
    const progress p = progress_start(b->layers.count);
    for (int i = 0; i < b->layers.count && !interrupt_came(); i += b->every) {
        progress_tell(&p, i);
        compare_layer(b, &b->layers.at[i]);
    }
    progress_tell(&p, b->layers.count);
    for (int i = 0; i < CLASSES; i++)
        if (b->mean[i].count)
            printf("class %s layers %d geomean %.3f worst %.3f (%s)\n", classes[i].name,
                   b->mean[i].count, stats_geomean(&b->mean[i]), b->mean[i].worst,
                   b->mean[i].worst_name);
    if (b->wrong)
        printf("%d of kiln's results were wrong; see the rows above\n", b->wrong);
    peer_end(&b->peer);
    return interrupt_came() ? INTERRUPTED : b->wrong || b->failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    static bench b;
    char why[KILN_ERROR_TEXT];
    if (!read_options(&b, argc, argv))
        return 2;
    if (session_open(&b.session, NULL, why)) {
        fprintf(stderr, "bench: %s\n", why);
        return 1;
    }
    cl_int code;
    b.profiled =
        clCreateCommandQueue(b.session.context, b.session.device, CL_QUEUE_PROFILING_ENABLE, &code);
    if (!b.profiled || !machine_forgo_profiling(&b.session))
        return 1;
    interrupt watch;
    interrupt_watch(&watch);
    if (b.json_file && !(b.json = fopen(b.json_file, "w"))) {
        perror(b.json_file);
        return 1;
    }
    int status = run(&b);
    if (b.json && fclose(b.json)) {
        perror(b.json_file);
        status = 1;
    }
    clReleaseCommandQueue(b.profiled);
    session_close(&b.session);
    layers_free(&b.layers);
    return status;
}
