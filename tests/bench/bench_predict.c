/* How good kiln's choice is where no tuning row helps: its solvers' predictions and guesses against
 * the best that a short search finds. The better of the two counts as the best, so that 1 means
 * that nothing faster was found. */
#include "results.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

typedef struct predict {
    layers layers;
    kiln_direction direction;
    rules rules;
    int trials, rounds;
    session session;
    machine machine;
    stats_mean mean;
    int failed, doubtful;
} predict;

/* The same choice is right however noisy its times were. */
static bool is_doubtful(contender *const c[2], const turns_times t[2])
{
    return strcmp(c[0]->detail, c[1]->detail) != 0 && turns_doubtful(&t[0], &t[1]);
}

static void report(predict *p, const work *w, contender *const c[2], const turns_times t[2])
{
    const bool doubtful = is_doubtful(c, t);
    double speed = turns_ratio(&t[0], &t[1]); /* of the choice, over the search's winner */
    double score = speed < 1 ? speed : 1;
    printf("%-32.32s %3lld %10.4f %10.4f %7.3f%c %s | %s\n", w->layer->name,
           (long long)w->problem.batch, t[0].ms, t[1].ms, score, doubtful ? '~' : ' ', c[0]->detail,
           c[1]->detail);
    fflush(stdout);
    if (doubtful)
        p->doubtful++;
    else
        stats_add(&p->mean, score, w->layer->name);
}

static bool compare(predict *p, const work *w, contender *c[2], char *why)
{
    const turns_plan plan = {.rounds = p->rounds, .seconds = 0.03};
    const kiln_choice no_rows = {.ignore_rows = 1};
    turns_times times[2] = {{0}};
    float *result = malloc((size_t)reference_count(&w->problem) * sizeof *result);
    c[0] = contender_kiln(&p->session, w, &p->rules, &no_rows, why);
    c[1] = c[0] ? contender_kiln_tuned(&p->session, w, &p->rules, p->trials, why) : NULL;
    bool fine = result && c[1] && contender_verify(c[0], w, result, why) &&
                contender_verify(c[1], w, result, why);
    free(result);
    if (fine && strcmp(c[0]->detail, c[1]->detail) == 0) /* itself: nothing to time */
        fine = turns_take(c, 1, &plan, times) && (times[1] = times[0], true);
    else if (fine)
        fine = turns_take(c, 2, &plan, times);
    if (fine)
        report(p, w, c, times);
    return fine;
}

static int run(predict *p)
{
    printf("%-32s %3s %10s %10s %7s  chosen | best of %d trials\n", "layer", "N", "chosen ms",
           "best ms", "score", p->trials);
    for (int i = 0; i < p->layers.count; i++) {
        work w;
        contender *c[2] = {NULL};
        char why[KILN_ERROR_TEXT] = "a run failed";
        if (!work_make(&w, &p->layers.at[i], p->direction, KILN_F32) || !compare(p, &w, c, why)) {
            printf("%-32.32s not measured: %s\n", p->layers.at[i].name, why);
            p->failed++;
        }
        contender_release(c[0]);
        contender_release(c[1]);
        work_free(&w);
    }
    if (p->doubtful)
        printf("%d more rows, marked ~, were disturbed by other processes and do not count\n",
               p->doubtful);
    printf("predict %s layers %d geomean %.3f worst %.3f (%s)\n", kiln_direction_name(p->direction),
           p->mean.count, stats_geomean(&p->mean), p->mean.worst, p->mean.worst_name);
    return p->failed ? 1 : 0;
}

/* ---- the command line ---- */

static void help(void)
{
    printf("usage: ./dev bench predict [FILE...] [OPTIONS]     (quick resnet50, N = 1)\n\n"
           "  --direction D   fwd, bwd or wrw  (fwd)\n"
           "  --plain         NCHW in and out; else kiln chooses the layouts\n"
           "  --trials N      of the search, all solvers together  (60)\n"
           "  --rounds N      turns of each of the two  (5)\n");
}

static bool read_number(const char *text, int most, int *value)
{
    *value = atoi(text);
    if (*value >= 1 && *value <= most)
        return true;
    fprintf(stderr, "bench: \"%s\" is not a number from 1 to %d\n", text, most);
    return false;
}

static bool read_direction(predict *p, const char *text)
{
    for (kiln_direction d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++)
        if (strcmp(kiln_direction_name(d), text) == 0) {
            p->direction = d;
            return true;
        }
    fprintf(stderr, "bench: --direction is \"%s\"; give fwd, bwd or wrw\n", text);
    return false;
}

static bool read_options(predict *p, int argc, char **argv)
{
    static const struct option known[] = {{"direction", required_argument, NULL, 'd'},
                                          {"plain", no_argument, NULL, 'p'},
                                          {"trials", required_argument, NULL, 't'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int letter;
    bool fine = true;
    opterr = 0;
    while (fine && (letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (letter == 'h') {
            help();
            exit(0);
        }
        if (letter == '?')
            fprintf(stderr,
                    "bench: \"%s\" is unknown or lacks its value; --help lists the options\n",
                    argv[optind - 1]);
        fine = letter == 'd'   ? read_direction(p, optarg)
               : letter == 't' ? read_number(optarg, 1000000, &p->trials)
               : letter == 'r' ? read_number(optarg, TURNS_ROUNDS, &p->rounds)
                               : letter == 'p';
        p->rules.plain = p->rules.plain || letter == 'p';
    }
    static char *const usual[] = {"quick", "resnet50"};
    const int64_t one = 1;
    char *const *file = optind < argc ? argv + optind : usual;
    int files = optind < argc ? argc - optind : 2;
    for (int i = 0; fine && i < files; i++)
        fine = layers_read(&p->layers, file[i], &one, 1);
    return fine;
}

int main(int argc, char **argv)
{
    static predict p = {.trials = 60, .rounds = 5};
    char why[KILN_ERROR_TEXT];
    if (!read_options(&p, argc, argv))
        return 2;
    setenv("POCL_AFFINITY", "1", 0);
    if (session_open(&p.session, "cpu", why)) {
        fprintf(stderr, "bench: %s\n", why);
        return 1;
    }
    machine_describe(&p.machine, &p.session);
    machine_print(&p.machine, stdout);
    int status = run(&p);
    session_close(&p.session);
    layers_free(&p.layers);
    return status;
}
