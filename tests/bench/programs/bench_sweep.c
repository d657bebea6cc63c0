/* What a short sweep found against what a long one did: the configs of two files of tuning rows,
 * and the guess of none, timed in turns, layer by layer. A share of 1 means that nothing faster was
 * found; a layer for which both files have the same config has a share of 1.
 *
 * With a part of the layers, "2/13", it only compiles and verifies them, so that PoCL's cache has
 * what a later run times. */
#include "tests/bench/timing/results.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 0, LONG, GUESS, SIDES };

typedef struct sweep {
    session session[SIDES]; /* of one context: they differ in their rows */
    machine machine;
    rules rules;
    stats_mean found, guessed; /* speed of the short sweep's, of the guess, over the long one's */
    int failed, doubtful, same;
    int part, parts; /* compile only these layers; parts 0: time all */
} sweep;

static bool open_side(sweep *s, int side, const char *rows)
{
    const kiln_settings settings = {.rows_file = rows,
                                    .shipped_dir = "off",
                                    .buffers_stay = 1,
                                    .queues_flushed = 1,
                                    .place_threads = 1};
    session *own = &s->session[side];
    *own = s->session[GUESS];
    if (kiln_open(&own->kiln, own->context, own->device, &settings) == KILN_OK)
        return true;
    fprintf(stderr, "bench: %s: %s\n", rows, kiln_last_error());
    return false;
}

static contender *make(const sweep *s, int side, const work *w, void *result, char *why)
{
    const kiln_choice choice = {.ignore_rows = side == GUESS};
    contender *c = contender_kiln(&s->session[side], w, &s->rules, &choice, why);
    if (c && contender_verify(c, w, result, why))
        return c;
    contender_release(c);
    return NULL;
}

/* Where two sides run the same config, there is nothing to compare. */
static double share_of(contender *const *c, const turns_times *t, int side, bool *doubtful)
{
    if (strcmp(c[side]->detail, c[LONG]->detail) == 0)
        return 1;
    *doubtful = *doubtful || turns_doubtful(&t[side], &t[LONG]);
    return turns_ratio(&t[side], &t[LONG]);
}

static void report(sweep *s, const work *w, contender *const *c, const turns_times *t)
{
    bool doubtful = false;
    const double found = share_of(c, t, SHORT, &doubtful);
    const double guessed = share_of(c, t, GUESS, &doubtful);
    s->same += strcmp(c[SHORT]->detail, c[LONG]->detail) == 0;
    printf("%-32.32s %10.4f %10.4f %10.4f %7.3f %7.3f%c %s | %s\n", w->layer->name, t[GUESS].ms,
           t[SHORT].ms, t[LONG].ms, found, guessed, doubtful ? '~' : ' ', c[SHORT]->detail,
           c[LONG]->detail);
    fflush(stdout);
    if (doubtful) {
        s->doubtful++;
        return;
    }
    stats_add(&s->found, found, w->layer->name);
    stats_add(&s->guessed, guessed, w->layer->name);
}

static void compare(sweep *s, const work *w)
{
    const turns_plan plan = {.rounds = 7, .seconds = 0.03};
    char why[KILN_ERROR_TEXT] = "out of memory";
    turns_times times[SIDES];
    contender *c[SIDES] = {NULL};
    void *result = malloc((size_t)reference_count(&w->problem) * sizeof(float));
    bool fine = result != NULL;
    for (int i = 0; i < SIDES && fine; i++)
        fine = (c[i] = make(s, i, w, result, why)) != NULL;
    if (fine && s->parts) {
        printf("%s compiled\n", w->layer->name);
    } else if (fine && turns_take(c, SIDES, &plan, times)) {
        report(s, w, c, times);
    } else {
        s->failed++;
        printf("%-32.32s not measured: %s\n", w->layer->name, why);
    }
    free(result);
    for (int i = 0; i < SIDES; i++)
        contender_release(c[i]);
}

static void compare_all(sweep *s, const layers *l)
{
    for (int i = 0; i < l->count; i++) {
        work w;
        if (s->parts && i % s->parts != s->part - 1)
            continue;
        if (work_make(&w, &l->at[i], KILN_FORWARD, KILN_F32))
            compare(s, &w);
        else
            s->failed++;
        work_free(&w);
    }
}

static int run(sweep *s, const layers *l)
{
    if (s->parts) {
        compare_all(s, l);
        return s->failed ? 1 : 0;
    }
    printf("%-32s %10s %10s %10s %7s %7s  short's config | long's\n", "layer", "guess ms",
           "short ms", "long ms", "short", "guess");
    compare_all(s, l);
    if (s->doubtful)
        printf("%d more layers, marked ~, were disturbed and do not count\n", s->doubtful);
    printf(
        "the short sweep has %.3f of the long one's speed in the geometric mean, worst %.3f (%s), "
        "the guess %.3f, worst %.3f (%s); %d layers, %d with the same config\n",
        stats_geomean(&s->found), s->found.worst, s->found.worst_name, stats_geomean(&s->guessed),
        s->guessed.worst, s->guessed.worst_name, s->found.count, s->same);
    return s->failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    static sweep s;
    const int64_t batch = 1;
    layers l = {0};
    if (argc < 4 || argc > 5 ||
        (argc == 5 && (sscanf(argv[4], "%5d/%5d", &s.part, &s.parts) != 2 || s.parts < 1))) {
        fprintf(stderr, "usage: bench_sweep LIST SHORT.yaml LONG.yaml [I/N]\n");
        return 2;
    }
    if (!layers_read(&l, argv[1], &batch, 1))
        return 2;
    if (!machine_open(&s.machine, &s.session[GUESS], getenv("KILN_DEVICE") ? NULL : "cpu"))
        return 1;
    machine_print(&s.machine, stdout);
    int status = 1;
    if (open_side(&s, SHORT, argv[2]) && open_side(&s, LONG, argv[3]))
        status = run(&s, &l);
    kiln_close(s.session[SHORT].kiln);
    kiln_close(s.session[LONG].kiln);
    session_close(&s.session[GUESS]);
    layers_free(&l);
    return status;
}
