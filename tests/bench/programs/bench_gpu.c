/* kiln against cuDNN on an NVIDIA GPU, class by class, in one run.
 *
 * For each layer kiln and the peer (cudnn.py, a process of its own) take turns on the same card,
 * and the medians are compared: kiln's time of one run in a row of runs that only the last one is
 * waited for, the peer's in a replayed graph. A replay costs the host nothing, while no operation
 * of kiln's takes less than the host needs to launch it: "device" is the time of a run in a row
 * that the host has enqueued before the device begins (device_row.h), which leaves the launches out
 * on both sides; a class has both means. Short operations are enqueued from a core where a launch
 * costs little (quiet_core.h), as on a host that nobody else uses. "events" is the time of a run
 * that is waited for, by the device's clock. kiln's result is verified by the sampled reference
 * before its times count. A ratio is the peer's time over kiln's: above 1, kiln is faster. "peak"
 * and "copy" say what share of the card's multiply-adds and of its copy bandwidth, both measured in
 * the same run, kiln reaches.
 */
#include "driver/base/json_csv.h"
#include "driver/conv/interrupt.h"
#include "driver/report/device_limits.h"
#include "tests/bench/base/cpus.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"
#include "tests/bench/base/progress.h"
#include "tests/bench/work/work.h"

#include "gpu_turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INTERRUPTED = 130 };

/* PyTorch has no convolution of bytes on a GPU: the peer is kiln in f16. */
static bool is_own_peer(const gpu_class *class)
{
    return class->type == KILN_I8;
}

typedef struct bench {
    gpu_options given;
    FILE *json;
    session session;
    device_limits limits;
    peer peer;
    gpu_turns turns;
    stats_mean mean[GPU_CLASSES], by_device[GPU_CLASSES];
    int wrong, failed;
} bench;

/* ---- one layer ---- */

static void print_json(const bench *b, const gpu_class *class, const char *problem,
                       const gpu_times *m, const contender *c)
{
    if (!b->json)
        return;
    fprintf(b->json,
            "{\"kind\":\"row\",\"class\":\"%s\",\"problem\":\"%s\",\"kiln_ms\":%.6f,"
            "\"device_ms\":%.6f,\"event_ms\":%.6f,",
            class->name, problem, m->kiln_ms, m->device_ms, m->event_ms);
    if (m->peer_ms > 0) {
        fprintf(b->json, "\"peer_ms\":%.6f,\"format\":", m->peer_ms);
        json_string(b->json, m->format);
        fprintf(b->json, ",\"ratio\":%.4f,", m->peer_ms / m->kiln_ms);
    }
    fputs("\"kiln\":", b->json);
    json_string(b->json, c->detail);
    fputs("}\n", b->json);
}

static void print_row(bench *b, int at, const work *w, const char *problem, const gpu_times *m,
                      const contender *c)
{
    const double seconds = m->kiln_ms * 1e-3;
    printf("%-21s %-32.32s %3lld %9.4f ms (device %.4f, events %.4f)  peak %3.0f%% copy %3.0f%%",
           gpu_classes[at].name, w->layer->name, (long long)w->problem.batch, m->kiln_ms,
           m->device_ms, m->event_ms,
           100e-9 * w->flops / seconds / fmax(limit_rounds_best(&b->limits.gflops), 1),
           100e-9 * w->bytes / seconds / fmax(limit_rounds_best(&b->limits.gbs), 1));
    if (m->peer_ms > 0) {
        printf("  %s %9.4f ms (%s)  ratio %.3f", is_own_peer(&gpu_classes[at]) ? "kiln" : "cuDNN",
               m->peer_ms, m->format, m->peer_ms / m->kiln_ms);
        stats_add(&b->mean[at], m->peer_ms / m->kiln_ms, w->layer->name);
        if (!is_own_peer(&gpu_classes[at])) /* whose time has launches */
            stats_add(&b->by_device[at], m->peer_ms / m->device_ms, w->layer->name);
    } else if (b->peer.process) {
        printf("  cuDNN: %s", m->format);
    }
    printf("  %s\n", c->detail);
    fflush(stdout);
    print_json(b, &gpu_classes[at], problem, m, c);
}

static rules rules_of(const bench *b, const gpu_class *class)
{
    const rules own = {.layout = class->layout,
                       .algorithm = class->reduced ? RULES_REDUCED : RULES_ANY};
    return rules_with(&own, b->given.layout, b->given.filter);
}

static void compare_with(bench *b, int at, const work *w, contender *c, contender *other)
{
    char why[KILN_ERROR_TEXT], problem[KILN_KEY_TEXT];
    gpu_times m;
    kiln_problem named = w->problem;
    if (gpu_classes[at].reduced)
        named.math = KILN_MATH_REDUCED;
    if (b->given.layout || b->given.filter) {
        const rules rules = rules_of(b, &gpu_classes[at]);
        rules_give_layouts(&rules, &named);
    }
    kiln_problem_text(&named, problem, sizeof problem);
    void *result = malloc((size_t)kiln_problem_count(&w->problem, w->to) * sizeof(float));
    if (!result || !contender_verify(c, w, result, why)) {
        printf("%-21s %-32.32s WRONG: %s (%s)\n", gpu_classes[at].name, w->layer->name,
               result ? why : "out of memory", c->detail);
        b->wrong++;
    } else if (gpu_turns_take(&b->turns, &(gpu_sides){c, other, &b->peer, problem}, b->given.rounds,
                              &m)) {
        print_row(b, at, w, problem, &m, c);
    } else {
        printf("%-21s %-32.32s a run failed\n", gpu_classes[at].name, w->layer->name);
        b->failed++;
    }
    free(result);
}

static void compare(bench *b, int at, const work *w)
{
    const gpu_class *class = &gpu_classes[at];
    const rules rules = rules_of(b, class);
    const kiln_choice choice = {.solver = b->given.solver};
    char why[KILN_ERROR_TEXT];
    work half = {0};
    contender *other = NULL;
    contender *c = contender_kiln(&b->session, w, &rules, b->given.solver ? &choice : NULL, why);
    if (c && is_own_peer(class) && work_make(&half, w->layer, class->direction, KILN_F16))
        other = contender_kiln(&b->session, &half, &rules, NULL, why);
    if (c) {
        compare_with(b, at, w, c, other);
    } else {
        printf("%-21s %-32.32s not measured: %s\n", class->name, w->layer->name, why);
        b->failed += b->given.solver == NULL;
    }
    contender_release(c);
    contender_release(other);
    work_free(&half);
}

/* ---- all layers ---- */

static void compare_layer(bench *b, const layer *l)
{
    for (int i = 0; i < GPU_CLASSES && !interrupt_came(); i++) {
        work w = {0};
        if (!b->given.wanted[i] || !gpu_classes[i].takes(&l->problem))
            continue;
        if (gpu_classes[i].bytes ? work_make_bytes(&w, l)
                                 : work_make(&w, l, gpu_classes[i].direction, gpu_classes[i].type))
            compare(b, i, &w);
        work_free(&w);
    }
}

static void print_mean(const stats_mean *mean, const char *class, const char *how)
{
    if (mean->count)
        printf("class %s%s layers %d geomean %.3f worst %.3f (%s)\n", class, how, mean->count,
               stats_geomean(mean), mean->worst, mean->worst_name);
}

static int run(bench *b)
{
    const char *script = getenv("BENCH_PEER");
    if (peer_start(&b->peer, script ? script : "tests/bench/peers/cudnn.py"))
        printf("peer: %s\n", b->peer.what);
    else
        printf("no peer: %s\n", b->peer.what);
    b->limits = device_limits_measure(&b->session);
    printf("%s: %.0f GFLOP/s multiply-add, %.0f GB/s copy\n", b->session.name,
           limit_rounds_best(&b->limits.gflops), limit_rounds_best(&b->limits.gbs));
    const progress p = progress_start(b->given.layers.count);
    for (int i = 0; i < b->given.layers.count && !interrupt_came(); i++) {
        progress_tell(&p, i);
        compare_layer(b, &b->given.layers.at[i]);
    }
    progress_tell(&p, b->given.layers.count);
    for (int i = 0; i < GPU_CLASSES; i++) {
        print_mean(&b->mean[i], gpu_classes[i].name, "");
        print_mean(&b->by_device[i], gpu_classes[i].name, " by the device");
    }
    if (b->turns.core.choices)
        printf("an empty launch took the host %.2f us from the cores that were chosen (%.2f .. "
               "%.2f)\n",
               b->turns.core.sum_us / b->turns.core.choices, b->turns.core.least_us,
               b->turns.core.most_us);
    if (b->wrong)
        printf("%d of kiln's results were wrong; see the rows above\n", b->wrong);
    peer_end(&b->peer);
    return interrupt_came() ? INTERRUPTED : b->wrong || b->failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    static bench b;
    char why[KILN_ERROR_TEXT];
    if (!gpu_options_read(&b.given, argc, argv))
        return 2;
    const char *device = getenv("KILN_DEVICE");
    if (session_open(&b.session, device && *device ? NULL : "NVIDIA", why)) {
        fprintf(stderr, "bench: %s\n", why);
        return 1;
    }
    if (!machine_forgo_profiling(&b.session))
        return 1;
    cpus_use_all();
    if (!gpu_turns_open(&b.turns, &b.session))
        return 1;
    interrupt watch;
    interrupt_watch(&watch);
    if (b.given.json && !(b.json = fopen(b.given.json, "w"))) {
        perror(b.given.json);
        return 1;
    }
    int status = run(&b);
    if (b.json && fclose(b.json)) {
        perror(b.given.json);
        status = 1;
    }
    gpu_turns_close(&b.turns);
    session_close(&b.session);
    layers_free(&b.given.layers);
    return status;
}
