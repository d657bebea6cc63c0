/* How good kiln's choice is without tuning rows: the solver that it predicts to be the fastest,
 * with that solver's guess, against the best config of a short search, the config of a tuning row,
 * or the guesses of all solvers. A ratio of 1 means that nothing faster was found. */
#include "tests/bench/base/options.h"
#include "tests/bench/timing/results.h"

#include <stdlib.h>
#include <string.h>

typedef enum against { SEARCH = 0, ROWS, GUESSES } against;

typedef struct predict {
    layers layers;
    kiln_direction direction;
    kiln_type type;
    rules rules;
    int64_t batch; /* 0: each list's own */
    int every;     /* take every so many-th layer */
    against against;
    int trials, rounds;
    bool each; /* print every trial */
    session session;
    machine machine;
    stats_mean mean;
    int failed, doubtful, without;
} predict;

/* The first one is the choice. */
typedef struct rivals {
    contender *c[TURNS_CONTENDERS];
    turns_times times[TURNS_CONTENDERS];
    int count;
} rivals;

static int best_of(const rivals *r)
{
    int best = 0;
    for (int i = 1; i < r->count; i++)
        if (r->times[i].disturbed < r->times[i].rounds && r->times[i].ms < r->times[best].ms)
            best = i;
    return best;
}

static void report(predict *p, const work *w, const rivals *r)
{
    const int best = best_of(r);
    const turns_times *chosen = &r->times[0], *winner = &r->times[best];
    /* A choice that is the only contender is right, however noisy its times were. */
    const bool doubtful = r->count > 1 && turns_doubtful(chosen, winner);
    double speed = turns_ratio(chosen, winner), score = speed < 1 ? speed : 1;
    printf("%-32.32s %3lld %10.4f %10.4f %7.3f%c %s | %s", w->layer->name,
           (long long)w->problem.batch, chosen->ms, winner->ms, score, doubtful ? '~' : ' ',
           r->c[0]->detail, r->c[best]->detail);
    for (int i = 0; p->against == GUESSES && i < r->count; i++)
        printf(" | %.*s %.4f (%.4f)", (int)strcspn(r->c[i]->detail, " "), r->c[i]->detail,
               r->times[i].ms, r->c[i]->predicted_ms);
    if (p->against == ROWS && best == 0 && r->count > 1)
        printf(" | the row's %s %.4f", r->c[1]->detail, r->times[1].ms);
    printf("\n");
    fflush(stdout);
    if (doubtful)
        p->doubtful++;
    else
        stats_add(&p->mean, score, w->layer->name);
}

/* ---- contenders ---- */

/* Adds a contender unless it is the choice itself. */
static bool admit(rivals *r, contender *c, const work *w, void *result, char *why)
{
    if (r->count == TURNS_CONTENDERS || (r->count && strcmp(r->c[0]->detail, c->detail) == 0)) {
        contender_release(c);
        return true;
    }
    r->c[r->count++] = c;
    return contender_verify(c, w, result, why);
}

static bool admit_guesses(predict *p, rivals *r, const work *w, void *result, char *why)
{
    static const double hopeless =
        5; /* times the choice's time: a contender this slow is not timed */
    char refusal[KILN_ERROR_TEXT];
    int solvers = contender_kiln_solvers(&p->session, w);
    for (int i = 0; i < solvers; i++) {
        contender *c = contender_kiln_guess(&p->session, w, &p->rules, i,
                                            hopeless * r->c[0]->predicted_ms, refusal);
        if (c && !admit(r, c, w, result, why))
            return false;
    }
    return true;
}

static bool gather(predict *p, rivals *r, const work *w, void *result, char *why)
{
    const kiln_choice no_rows = {.ignore_rows = 1};
    contender *c = contender_kiln(&p->session, w, &p->rules, &no_rows, why);
    if (!c || !admit(r, c, w, result, why))
        return false;
    if (p->against == GUESSES)
        return admit_guesses(p, r, w, result, why);
    c = p->against == ROWS
            ? contender_kiln_row(&p->session, w, &p->rules, why)
            : contender_kiln_tuned(&p->session, w, &p->rules, p->trials, p->each, why);
    return c && admit(r, c, w, result, why);
}

static void compare(predict *p, const work *w)
{
    const turns_plan plan = {.rounds = p->rounds, .seconds = 0.03};
    char why[KILN_ERROR_TEXT] = "a run failed";
    rivals r = {.count = 0};
    float *result = malloc((size_t)reference_count(&w->problem) * sizeof *result);
    if (result && gather(p, &r, w, result, why) && turns_take(r.c, r.count, &plan, r.times)) {
        report(p, w, &r);
    } else if (!why[0]) {
        p->without++;
    } else {
        printf("%-32.32s not measured: %s\n", w->layer->name, why);
        p->failed++;
    }
    for (int i = 0; i < r.count; i++)
        contender_release(r.c[i]);
    free(result);
}

static int run(predict *p)
{
    printf("%-32s %3s %10s %10s %7s  chosen | best ", "layer", "N", "chosen ms", "best ms",
           "score");
    if (p->against == SEARCH)
        printf("of %d trials\n", p->trials);
    else
        printf("%s\n", p->against == ROWS ? "by row | what is slower"
                                          : "guess | each solver's ms (predicted)");
    for (int i = 0; i < p->layers.count; i += p->every) {
        work w;
        if (!work_make(&w, &p->layers.at[i], p->direction, p->type)) {
            printf("%-32.32s not measured: its tensors were not made\n", p->layers.at[i].name);
            p->failed++;
            continue;
        }
        compare(p, &w);
        work_free(&w);
    }
    if (p->without)
        printf("%d more layers have no row\n", p->without);
    if (p->doubtful)
        printf("%d more rows, marked ~, were disturbed and do not count\n", p->doubtful);
    printf("predict %s layers %d geomean %.3f worst %.3f (%s)\n", kiln_direction_name(p->direction),
           p->mean.count, stats_geomean(&p->mean), p->mean.worst, p->mean.worst_name);
    return p->failed ? 1 : 0;
}

/* ---- the command line ---- */

static void help(void)
{
    printf("usage: ./dev bench predict [FILE...] [OPTIONS]     (quick resnet50)\n\n"
           "  --direction D   fwd, bwd or wrw  (fwd)\n"
           "  --type T        f32, f16, bf16 or i8  (f32)\n"
           "  --plain         NCHW in and out; else kiln chooses the layouts\n"
           "  --batch N       instead of each list's own; 0: its own  (1)\n"
           "  --every N       one of so many layers  (1)\n"
           "  --guesses       no search: what each solver guesses, with its prediction\n"
           "  --rows          no search: what tuning rows say, of layers that have one\n"
           "  --trials N      of the search, all solvers together  (60)\n"
           "  --each          print each trial: measured and predicted ms, solver, config\n"
           "  --rounds N      turns of each  (5)\n\n"
           "On a CPU, or on the device that KILN_DEVICE names.\n");
}

static bool read_option(predict *p, int letter, const char *value)
{
    int number = 0;
    bool fine = true;
    switch (letter) {
    case 'd':
        return options_direction(value, &p->direction);
    case 'T':
        return options_type(value, &p->type);
    case 'p':
        p->rules.layout = RULES_NCHW;
        return true;
    case 'b':
        fine = options_number("--batch", value, 0, 1 << 20, &number);
        p->batch = number;
        return fine;
    case 'e':
        return options_number("--every", value, 1, 1 << 20, &p->every);
    case 'g':
        p->against = GUESSES;
        return true;
    case 'R':
        p->against = ROWS;
        return true;
    case 'E':
        return p->each = true;
    case 't':
        return options_number("--trials", value, 1, 1000000, &p->trials);
    case 'r':
        return options_number("--rounds", value, 1, TURNS_ROUNDS, &p->rounds);
    default:
        return false;
    }
}

static bool read_options(predict *p, int argc, char **argv)
{
    static const struct option known[] = {{"direction", required_argument, NULL, 'd'},
                                          {"type", required_argument, NULL, 'T'},
                                          {"plain", no_argument, NULL, 'p'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"guesses", no_argument, NULL, 'g'},
                                          {"rows", no_argument, NULL, 'R'},
                                          {"trials", required_argument, NULL, 't'},
                                          {"each", no_argument, NULL, 'E'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    for (int letter; (letter = options_next(argc, argv, known, help)) != -1;)
        if (letter == '?' || !read_option(p, letter, optarg))
            return false;
    static char *const usual[] = {"quick", "resnet50", NULL};
    return layers_read_all(&p->layers, argv + optind, usual, &p->batch, 1);
}

int main(int argc, char **argv)
{
    static predict p = {.type = KILN_F32, .batch = 1, .every = 1, .trials = 60, .rounds = 5};
    if (!read_options(&p, argc, argv))
        return 2;
    if (!machine_open(&p.machine, &p.session, getenv("KILN_DEVICE") ? NULL : "cpu"))
        return 1;
    machine_print(&p.machine, stdout);
    int status = run(&p);
    session_close(&p.session);
    layers_free(&p.layers);
    return status;
}
