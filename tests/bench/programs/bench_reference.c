/* Times of the CPU reference, of a whole verification, and of the naive solver, forward. */
#include "driver/reference/verify.h"
#include "tests/bench/timing/results.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES, VERIFICATION, NAIVE, TIMES, ROUNDS = 3 };

typedef struct lot {
    const work *work;
    contender *naive;
    float *result;
    double *value, *magnitude;
} lot;

/* Returns the time of one run of one of the three, in ms; -1: it failed. */
static double time_one(const lot *l, int which)
{
    const int64_t count = reference_count(&l->work->problem);
    const reference_tensors sources = work_sources(l->work);
    const verify_options whole = {.amplification = 1, .max_seconds = 1e9, .poisoned = true};
    bool fine = true;
    double start = stats_now();
    if (which == VALUES)
        reference_run(&l->work->problem, &sources, NULL, count, l->value, l->magnitude);
    else if (which == VERIFICATION)
        fine = verify_destination(&l->work->problem, &sources, l->result, &whole).ok;
    else
        fine = l->naive->calls->enqueue(l->naive) && l->naive->calls->finish(l->naive);
    return fine ? (stats_now() - start) * 1e3 : -1;
}

static bool time_all(const lot *l, double ms[TIMES])
{
    double round[TIMES][ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < TIMES; i++) {
            round[i][r] = time_one(l, i);
            if (round[i][r] < 0)
                return false;
        }
    for (int i = 0; i < TIMES; i++)
        ms[i] = stats_median(round[i], ROUNDS);
    return true;
}

static bool measure(const session *s, const work *w, double ms[TIMES], char *why)
{
    const rules plain = {.layout = RULES_NCHW};
    const kiln_choice choice = {.solver = "naive"};
    const size_t count = (size_t)reference_count(&w->problem);
    lot l = {w, contender_kiln(s, w, &plain, &choice, why), malloc(count * sizeof(float)),
             malloc(count * sizeof(double)), malloc(count * sizeof(double))};
    bool fine = l.naive && l.result && l.value && l.magnitude &&
                contender_verify(l.naive, w, l.result, why) && time_all(&l, ms);
    contender_release(l.naive);
    free(l.result);
    free(l.value);
    free(l.magnitude);
    return fine;
}

static int run(const session *s, const layers *l)
{
    double sum[TIMES] = {0};
    int n = 0;
    printf("%-32s %12s %12s %12s\n", "layer", "values ms", "verify ms", "naive ms");
    for (int i = 0; i < l->count; i++) {
        work w;
        double ms[TIMES];
        char why[KILN_ERROR_TEXT] = "a run failed";
        bool fine = work_make(&w, &l->at[i], KILN_FORWARD, KILN_F32) && measure(s, &w, ms, why);
        work_free(&w);
        if (!fine) {
            fprintf(stderr, "bench: %s: %s\n", l->at[i].name, why);
            return 1;
        }
        printf("%-32.32s %12.2f %12.2f %12.2f\n", l->at[i].name, ms[VALUES], ms[VERIFICATION],
               ms[NAIVE]);
        fflush(stdout);
        for (int j = 0; j < TIMES; j++)
            sum[j] += ms[j];
        n++;
    }
    printf("mean of %d layers: reference %.1f ms, whole verification %.1f ms, naive %.1f ms\n", n,
           sum[VALUES] / n, sum[VERIFICATION] / n, sum[NAIVE] / n);
    return 0;
}

int main(int argc, char **argv)
{
    const int64_t one = 1;
    layers l = {0};
    session s;
    machine m;
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fprintf(stderr, "usage: ./dev bench reference [FILE]   (resnet50, N = 1)\n");
        return 2;
    }
    if (!layers_read(&l, argc > 1 ? argv[1] : "resnet50", &one, 1))
        return 2;
    if (!machine_open(&m, &s, "cpu"))
        return 1;
    machine_print(&m, stdout);
    int status = run(&s, &l);
    session_close(&s);
    layers_free(&l);
    return status;
}
