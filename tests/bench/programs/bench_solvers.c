/* Two of kiln's solvers against each other in all three directions, NCHW or NHWC. */
#include "tests/bench/timing/results.h"

#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 3 };

typedef struct duel {
    const char *solver[2];
    rules_layout layout;
    session session;
    machine machine;
    stats_mean mean[DIRECTIONS + 1]; /* the last is of all directions */
    int failed, doubtful;
} duel;

static contender *make(const duel *d, int side, const work *w, float *result, char *why)
{
    const rules given = {.layout = d->layout};
    const kiln_choice choice = {.solver = d->solver[side]};
    contender *c = contender_kiln(&d->session, w, &given, &choice, why);
    if (c && contender_verify(c, w, result, why))
        return c;
    contender_release(c);
    return NULL;
}

static void report(duel *d, const work *w, const turns_times *t)
{
    const double ratio = turns_ratio(&t[0], &t[1]);
    printf("%-32.32s %s %10.3f %8.1f %10.3f %8.1f %8.2f%s\n", w->layer->name,
           kiln_direction_name(w->problem.direction), t[0].ms, w->flops / t[0].ms / 1e6, t[1].ms,
           w->flops / t[1].ms / 1e6, ratio, turns_doubtful(&t[0], &t[1]) ? " ~" : "");
    fflush(stdout);
    if (turns_doubtful(&t[0], &t[1])) {
        d->doubtful++;
        return;
    }
    stats_add(&d->mean[w->problem.direction], ratio, w->layer->name);
    stats_add(&d->mean[DIRECTIONS], ratio, w->layer->name);
}

static void fight(duel *d, const work *w)
{
    const turns_plan plan = {.rounds = 3, .seconds = 0.02};
    char why[KILN_ERROR_TEXT] = "out of memory";
    turns_times times[2];
    contender *c[2] = {NULL};
    float *result = malloc((size_t)reference_count(&w->problem) * sizeof *result);
    bool fine = result != NULL;
    for (int i = 0; i < 2 && fine; i++)
        fine = (c[i] = make(d, i, w, result, why)) != NULL;
    if (fine && turns_take(c, 2, &plan, times)) {
        report(d, w, times);
    } else {
        d->failed++;
        printf("%-32.32s %s not measured: %s\n", w->layer->name,
               kiln_direction_name(w->problem.direction), why);
    }
    free(result);
    contender_release(c[0]);
    contender_release(c[1]);
}

static int run(duel *d, const layers *l)
{
    if (!machine_open(&d->machine, &d->session, "cpu"))
        return 1;
    machine_print(&d->machine, stdout);
    printf("%-32s %s %10.10s %8s %10.10s %8s %8s\n", "layer", "dir", d->solver[0], "GFLOP/s",
           d->solver[1], "GFLOP/s", "ratio");
    for (int i = 0; i < l->count; i++)
        for (kiln_direction to = KILN_FORWARD; to <= KILN_BACKWARD_WEIGHTS; to++) {
            work w;
            if (work_make(&w, &l->at[i], to, KILN_F32))
                fight(d, &w);
            work_free(&w);
        }
    for (int i = 0; i <= DIRECTIONS; i++)
        printf("%s %s over %s layers %d geomean %.2f worst %.2f (%s)\n",
               i < DIRECTIONS ? kiln_direction_name((kiln_direction)i) : "all", d->solver[0],
               d->solver[1], d->mean[i].count, stats_geomean(&d->mean[i]), d->mean[i].worst,
               d->mean[i].worst_name);
    if (d->doubtful)
        printf("%d more rows, marked ~, were disturbed and do not count\n", d->doubtful);
    session_close(&d->session);
    return d->failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    static duel d = {.solver = {"direct", "naive"}, .layout = RULES_NCHW};
    const int64_t own_batch = 0;
    layers l = {0};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("usage: ./dev bench solvers [FILE [SOLVER [OTHER [LAYOUT]]]]"
               "   (quick direct naive NCHW; or NHWC)\n");
        return 0;
    }
    if (argc > 5) {
        fprintf(stderr, "bench: \"%s\" is one argument too many; --help has the usage\n", argv[5]);
        return 2;
    }
    for (int i = 2; i < argc && i < 4; i++)
        d.solver[i - 2] = argv[i];
    if (argc > 4 && strcmp(argv[4], "NHWC") == 0)
        d.layout = RULES_NHWC;
    else if (argc > 4 && strcmp(argv[4], "NCHW") != 0) {
        fprintf(stderr, "bench: layout \"%s\" is neither NCHW nor NHWC\n", argv[4]);
        return 2;
    }
    if (!layers_read(&l, argc > 1 ? argv[1] : "quick", &own_batch, 1))
        return 2;
    int status = run(&d, &l);
    layers_free(&l);
    return status;
}
