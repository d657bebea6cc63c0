/* kiln in one layout beside kiln in others: what a layout of tensors or of filters costs.
 *
 * All pairs of a layout of activations and one of filters take turns; each result is verified by
 * the sampled reference before its times count. A ratio is a pair's time over that of the first
 * pair, the median over rounds: 1 is a layout that costs nothing. Weights are packed before the
 * clock starts; gradients of weights are written in their layout in each run.
 */
#include "driver/conv/interrupt.h"
#include "tests/bench/base/options.h"
#include "tests/bench/base/progress.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"
#include "tests/bench/peers/contender.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 32, PAIRS = 64, MOST_ROUNDS = 64, INTERRUPTED = 130 };

typedef struct words {
    char text[1024];
    const char *at[LIST];
    int count;
} words;

typedef struct bench {
    words data, filters, types, directions;
    int rounds, every, milliseconds;
    int64_t batch[1];
    layers layers;
    session session;
    stats_mean mean[PAIRS];
    int wrong;
} bench;

/* ---- one layer ---- */

/* A pair of layouts. */
typedef struct entrant {
    contender *c;
    int runs; /* in a row */
    double ms[MOST_ROUNDS], ratio[MOST_ROUNDS];
} entrant;

/* The seeds' layouts go with NHWC, TensorRT's first: kHWC8 is NHWC8. */
static const char seeds[] = "NHWC,kHWC8,kHWC16,kDHWC8,kCHW2,kCHW4,kCHW8,kCHW16,kCHW32,kCDHW32,"
                            "INT8x4,INT8x32,DLA_LINEAR,DLA_HWC4,NCHW";

static void name_pair(const bench *b, int pair, char *text, size_t size)
{
    snprintf(text, size, "%s %s", b->data.at[pair / b->filters.count],
             b->filters.at[pair % b->filters.count]);
}

/* Returns the time of one of a row of runs; negative: one failed. */
static double time_row(contender *c, int runs)
{
    const double begin = stats_now();
    for (int i = 0; i < runs; i++)
        if (!c->calls->enqueue(c))
            return -1;
    return c->calls->finish(c) ? (stats_now() - begin) * 1e3 / runs : -1;
}

/* Makes and verifies a contender, and finds how many of its runs fill a row. */
static bool enter(bench *b, int pair, const work *w, entrant *e, char *why)
{
    const rules own = {.layout = RULES_OWN};
    const rules rules = rules_with(&own, b->data.at[pair / b->filters.count],
                                   b->filters.at[pair % b->filters.count]);
    void *result = malloc((size_t)kiln_problem_count(&w->problem, w->to) * sizeof(float));
    e->c = contender_kiln(&b->session, w, &rules, NULL, why);
    if (!e->c || !result) {
        free(result);
        return false;
    }
    const bool right = contender_verify(e->c, w, result, why);
    free(result);
    b->wrong += !right;
    const double first = right ? time_row(e->c, 3) : -1, ms = first > 0 ? time_row(e->c, 5) : -1;
    e->runs = (int)fmax(1, fmin(2000, b->milliseconds / fmax(ms, 1e-4)));
    return ms > 0;
}

/* Adds up the rounds of an entrant beside those of the first one, and prints the row. */
static void tell(bench *b, int pair, const work *w, entrant *e, const entrant *first)
{
    char name[96];
    for (int r = 0; r < b->rounds; r++)
        e->ratio[r] = e->ms[r] / first->ms[r];
    double ratio[MOST_ROUNDS], ms[MOST_ROUNDS];
    memcpy(ratio, e->ratio, sizeof ratio);
    memcpy(ms, e->ms, sizeof ms);
    const double over = stats_median(ratio, b->rounds);
    name_pair(b, pair, name, sizeof name);
    printf("%-24s %-28.28s %3lld %s %-4s %9.4f ms  over %6.3f  %s\n", name, w->layer->name,
           (long long)w->problem.batch, kiln_direction_name(w->problem.direction),
           kiln_type_name(w->problem.x_type), stats_median(ms, b->rounds), over, e->c->detail);
    stats_add(&b->mean[pair], 1 / over, w->layer->name); /* the least is the worst */
}

static bool take_turns(const bench *b, entrant *all, int pairs)
{
    for (int r = 0; r < b->rounds; r++)
        for (int i = 0; i < pairs; i++) {
            entrant *e = &all[(i + r) % pairs];
            if (e->c && (e->ms[r] = time_row(e->c, e->runs)) <= 0)
                return false;
        }
    return true;
}

static void compare(bench *b, const work *w)
{
    static entrant all[PAIRS];
    const int pairs = b->data.count * b->filters.count;
    memset(all, 0, sizeof all);
    for (int i = 0; i < pairs && !interrupt_came(); i++) {
        char why[KILN_ERROR_TEXT] = "out of memory", name[96];
        if (enter(b, i, w, &all[i], why))
            continue;
        name_pair(b, i, name, sizeof name);
        printf("%-24s %-28.28s not measured: %.140s\n", name, w->layer->name, why);
        contender_release(all[i].c);
        all[i].c = NULL;
    }
    if (all[0].c && !interrupt_came() && take_turns(b, all, pairs))
        for (int i = 0; i < pairs; i++)
            if (all[i].c)
                tell(b, i, w, &all[i], &all[0]);
    fflush(stdout);
    for (int i = 0; i < pairs; i++)
        contender_release(all[i].c);
}

/* ---- all layers ---- */

static void compare_layer(bench *b, const layer *l)
{
    for (int t = 0; t < b->types.count; t++)
        for (int d = 0; d < b->directions.count && !interrupt_came(); d++) {
            work w = {0};
            kiln_type type;
            kiln_direction direction;
            if (options_type(b->types.at[t], &type) &&
                options_direction(b->directions.at[d], &direction) &&
                work_make(&w, l, direction, type))
                compare(b, &w);
            work_free(&w);
        }
}

static int run(bench *b)
{
    const progress p = progress_start(b->layers.count);
    printf("%s, layouts of activations and filters; times over those of the first\n",
           b->session.name);
    for (int i = 0; i < b->layers.count && !interrupt_came(); i++) {
        progress_tell(&p, i);
        compare_layer(b, &b->layers.at[i]);
    }
    progress_tell(&p, b->layers.count);
    for (int i = 0; i < b->data.count * b->filters.count; i++) {
        char name[96];
        name_pair(b, i, name, sizeof name);
        if (b->mean[i].count)
            printf("layout %-24s rows %d geomean %.3f worst %.3f (%s)\n", name, b->mean[i].count,
                   1 / stats_geomean(&b->mean[i]), 1 / b->mean[i].worst, b->mean[i].worst_name);
    }
    if (b->wrong)
        printf("%d of kiln's results were wrong; see the rows above\n", b->wrong);
    return interrupt_came() ? INTERRUPTED : b->wrong ? 1 : 0;
}

/* ---- the command line ---- */

static void help(void)
{
    printf("usage: ./dev bench layouts [FILE...] [OPTIONS]\n\n"
           "FILE is a list of layers or the name of one in tests/bench/shapes  (layouts).\n"
           "KILN_DEVICE names the device.\n\n"
           "  --layout A,B,...    layouts of activations; the first is what others are held "
           "against\n"
           "                      (NHWC and layouts of TensorRT, cuDNN and DLA)\n"
           "  --filter-layout A,B,...  layouts of filters  (OIHW)\n"
           "  --type A,B,...      f32, f16, bf16, i8  (f16,i8)\n"
           "  --direction A,B,... fwd, bwd, wrw  (fwd)\n"
           "  --batch N           of all layers; 0: each list's own  (0)\n"
           "  --every N           only one of N layers  (1)\n"
           "  --rounds N          turns of each layout  (7)\n"
           "  --ms N              of one turn  (20)\n");
}

static bool split(words *w, const char *value)
{
    snprintf(w->text, sizeof w->text, "%s", value);
    w->count = 0;
    for (char *at = strtok(w->text, ","); at && w->count < LIST; at = strtok(NULL, ","))
        w->at[w->count++] = at;
    return w->count > 0;
}

static bool split_layouts(words *w, const char *option, const char *value, char tensor)
{
    if (!split(w, value))
        return false;
    for (int i = 0; i < w->count; i++)
        if (!options_layout(option, w->at[i], tensor))
            return false;
    return true;
}

static bool split_types(words *w, const char *value)
{
    kiln_type type;
    bool fine = split(w, value);
    for (int i = 0; i < w->count; i++)
        fine = fine && options_type(w->at[i], &type);
    return fine;
}

static bool split_directions(words *w, const char *value)
{
    kiln_direction direction;
    bool fine = split(w, value);
    for (int i = 0; i < w->count; i++)
        fine = fine && options_direction(w->at[i], &direction);
    return fine;
}

static bool read_option(bench *b, int letter, const char *value)
{
    switch (letter) {
    case 'a':
        return split_layouts(&b->data, "--layout", value, 'x');
    case 'f':
        return split_layouts(&b->filters, "--filter-layout", value, 'w');
    case 't':
        return split_types(&b->types, value);
    case 'd':
        return split_directions(&b->directions, value);
    case 'b':
        return options_batches(value, b->batch, 1) > 0;
    case 'e':
        return options_number("--every", value, 1, 1000, &b->every);
    case 'r':
        return options_number("--rounds", value, 1, MOST_ROUNDS, &b->rounds);
    case 'm':
        return options_number("--ms", value, 1, 10000, &b->milliseconds);
    default:
        return false;
    }
}

static bool read_options(bench *b, int argc, char **argv)
{
    static char *const usual[] = {"layouts", NULL};
    static const struct option known[] = {
        {"layout", required_argument, NULL, 'a'}, {"filter-layout", required_argument, NULL, 'f'},
        {"type", required_argument, NULL, 't'},   {"direction", required_argument, NULL, 'd'},
        {"batch", required_argument, NULL, 'b'},  {"every", required_argument, NULL, 'e'},
        {"rounds", required_argument, NULL, 'r'}, {"ms", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},         {0}};
    b->rounds = 7;
    b->every = 1;
    b->milliseconds = 20;
    split(&b->data, seeds);
    split(&b->filters, "OIHW");
    split(&b->types, "f16,i8");
    split(&b->directions, "fwd");
    for (int letter; (letter = options_next(argc, argv, known, help)) != -1;)
        if (letter == '?' || !read_option(b, letter, optarg))
            return false;
    if (b->data.count * b->filters.count > PAIRS) {
        fprintf(stderr, "bench: %d pairs of layouts are more than %d\n",
                b->data.count * b->filters.count, PAIRS);
        return false;
    }
    if (!layers_read_all(&b->layers, argv + optind, usual, b->batch, 1))
        return false;
    layers_thin(&b->layers, b->every);
    return true;
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
    if (!machine_forgo_profiling(&b.session))
        return 1;
    interrupt watch;
    interrupt_watch(&watch);
    const int status = run(&b);
    session_close(&b.session);
    layers_free(&b.layers);
    return status;
}
