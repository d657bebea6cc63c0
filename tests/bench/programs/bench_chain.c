/* The time of whole networks: layouts decided link by link, all plain, and by kiln_chain(), beside
 * oneDNN. By prediction and by the clock. With --settings, kiln_chain()'s alone with and without
 * what a program can promise kiln.
 */
#include "tests/bench/base/options.h"
#include "tests/bench/base/stats.h"
#include "tests/bench/machine/machine.h"
#include "tests/bench/peers/contender_chain.h"
#include "tests/bench/timing/turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONEDNN = CHAIN_WAYS, SIDES };

/* Compares the last tensor of a side with that of the first one. */
static bool agree(contender *c, const float *expected, float *got, int64_t count)
{
    double worst = 0, largest = 0;
    if (!c->calls->enqueue(c) || !c->calls->finish(c) || !c->calls->read(c, got))
        return false;
    for (int64_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs((double)got[i] - (double)expected[i]));
        largest = fmax(largest, fabs((double)expected[i]));
    }
    return largest > 0 && worst <= 1e-3 * largest;
}

static bool verify(contender *const *side, int n, const chain_net *net)
{
    const int64_t count = kiln_problem_count(&net->link[net->count - 1].problem, 'y');
    float *both[2] = {malloc((size_t)count * sizeof(float)), malloc((size_t)count * sizeof(float))};
    bool fine = both[0] && both[1] && side[0]->calls->enqueue(side[0]) &&
                side[0]->calls->finish(side[0]) && side[0]->calls->read(side[0], both[0]);
    for (int i = 0; i < n && fine; i++) {
        fine = agree(side[i], both[0], both[1], count);
        if (!fine)
            fprintf(stderr, "bench: %s: %s, %s, does not give what kiln's plain layouts give\n",
                    net->name, side[i]->name, side[i]->detail);
    }
    free(both[0]);
    free(both[1]);
    return fine;
}

/* ---- layouts ---- */

static void print(const chain_net *net, contender *const *side, int n, const turns_times *times)
{
    for (int i = 0; i < n; i++) {
        const bool doubtful = turns_doubtful(&times[i], &times[n - 1]);
        printf("%-16s %-9s", net->name, i < ONEDNN ? chain_way_name((chain_way)i) : "oneDNN");
        if (i < ONEDNN)
            printf(" %9.3f", side[i]->predicted_ms);
        else
            printf(" %9s", "");
        printf(" %9.3f", times[i].ms);
        if (n == SIDES)
            printf(" %7.3f", turns_ratio(&times[i], &times[ONEDNN]));
        printf("  %s%s\n", side[i]->detail, doubtful ? " ~" : "");
    }
    fflush(stdout);
}

static bool run(const session *s, const char *file, int rounds, stats_mean *mean)
{
    static chain_net net;
    contender *side[SIDES] = {NULL};
    turns_times times[SIDES];
    char why[KILN_ERROR_TEXT] = "";
    const turns_plan plan = {.rounds = rounds, .seconds = 0.1, .latency = true};
    int n = 0;
    if (!chain_net_read(&net, file))
        return false;
    bool fine = true;
    for (; n < CHAIN_WAYS && fine; n += fine)
        fine = (side[n] = contender_chain(s, &net, (chain_way)n, why)) != NULL;
    if (fine && (side[ONEDNN] = contender_chain_onednn(&net, why)) != NULL)
        n = SIDES;
    if (*why)
        fprintf(stderr, "bench: %s: %s\n", net.name, why);
    fine = fine && verify(side, n, &net) && turns_take(side, n, &plan, times);
    if (fine)
        print(&net, side, n, times);
    if (fine && n == SIDES)
        stats_add(mean, turns_ratio(&times[CHAIN_ARENA], &times[ONEDNN]), net.name);
    for (int i = 0; i < SIDES; i++)
        contender_release(side[i]);
    chain_net_free(&net);
    return fine;
}

/* ---- settings ---- */

/* What a program does: all of it, then all but one thing. Only with buffers_stay do queues_flushed
 * count. */
static const struct {
    const char *name;
    kiln_settings settings;
    bool sleeps; /* waits by clFinish() */
    chain_way way;
} habits[] = {
    {"all of docs/network.md", {.buffers_stay = 1, .queues_flushed = 1}, false, CHAIN_ARENA},
    {"without queues_flushed", {.buffers_stay = 1}, false, CHAIN_ARENA},
    {"without buffers_stay", {.queues_flushed = 1}, false, CHAIN_ARENA},
    {"without kiln_finish()", {.buffers_stay = 1, .queues_flushed = 1}, true, CHAIN_ARENA},
    {"without keepalive", {.buffers_stay = 1, .keepalive_us = -1}, false, CHAIN_ARENA},
    {"without the arena", {.buffers_stay = 1, .queues_flushed = 1}, false, CHAIN_TOGETHER},
    {"without any", {.keepalive_us = -1}, true, CHAIN_TOGETHER},
};

enum { HABITS = sizeof habits / sizeof *habits };

/* A contender that waits in its own way. */
typedef struct sleeper {
    contender base, *of;
    cl_command_queue queue; /* NULL: it waits as the contender does */
} sleeper;

static bool enqueue(contender *c)
{
    contender *of = ((sleeper *)c)->of;
    return of->calls->enqueue(of);
}

static bool finish(contender *c)
{
    const sleeper *s = (sleeper *)c;
    return s->queue ? clFinish(s->queue) == CL_SUCCESS : s->of->calls->finish(s->of);
}

static const contender_calls sleeper_calls = {.enqueue = enqueue, .finish = finish};

static bool open_habit(int i, const session *s, const chain_net *net, session *own, sleeper *one)
{
    char why[KILN_ERROR_TEXT];
    *own = *s;
    own->kiln = NULL;
    *one = (sleeper){.base.calls = &sleeper_calls, .queue = habits[i].sleeps ? s->queue : NULL};
    if (kiln_open(&own->kiln, s->context, s->device, &habits[i].settings) == KILN_OK &&
        (one->of = contender_chain(own, net, habits[i].way, why)) != NULL)
        return true;
    fprintf(stderr, "bench: %s: %s\n", net->name, kiln_last_error());
    return false;
}

static bool run_habits(const session *s, const char *file, int rounds)
{
    static chain_net net;
    static session own[HABITS];
    static sleeper one[HABITS];
    contender *side[HABITS];
    turns_times times[HABITS];
    const turns_plan plan = {.rounds = rounds, .seconds = 0.1, .latency = true};
    if (!chain_net_read(&net, file))
        return false;
    bool fine = true;
    for (int i = 0; i < HABITS && fine; i++) {
        fine = open_habit(i, s, &net, &own[i], &one[i]);
        side[i] = &one[i].base;
    }
    fine = fine && turns_take(side, HABITS, &plan, times);
    for (int i = 0; i < HABITS && fine; i++)
        printf("%-16s %-24s %9.3f %7.3f%s\n", net.name, habits[i].name, times[i].ms,
               turns_ratio(&times[0], &times[i]),
               turns_doubtful(&times[0], &times[i]) ? "  ~" : "");
    const double alone = fine ? contender_chain_alone(one[0].of) : -1;
    if (alone > 0)
        printf("%-16s %-24s %9.3f %7.3f\n", net.name, "its layers alone, best", alone,
               alone / times[0].ms);
    for (int i = 0; i < HABITS; i++) {
        contender_release(one[i].of);
        kiln_close(own[i].kiln);
        one[i].of = NULL;
        own[i].kiln = NULL;
    }
    chain_net_free(&net);
    return fine;
}

/* ---- the command ---- */

/* The first thing to know of a pair of cores; a host may move them while a bench runs. */
static void print_hand_off(void)
{
    double best = HUGE_VAL;
    for (int i = 0; i < 20; i++)
        best = fmin(best, machine_hand_off());
    printf("cores    a cache line goes from one to the other in %.0f ns\n", best * 1e9);
}

static void help(void)
{
    printf("usage: ./dev bench chain [NETWORK...] [OPTIONS]   (mobilenet_v2 resnet_18 shufflenet)\n"
           "\n"
           "A network is a file of tests/bench/networks, or the path of another one.\n"
           "\n"
           "  plain     NCHW everywhere\n"
           "  greedy    each convolution takes x as it comes, and writes y as it likes best\n"
           "  together  kiln_chain() decides the layouts\n"
           "  arena     the same, with all tensors in one buffer\n"
           "\n"
           "The ratio is oneDNN's time over the line's. On a CPU, or on the device that\n"
           "KILN_DEVICE names.\n"
           "\n"
           "  --settings      kiln's arena alone, with less and less of docs/network.md; the ratio "
           "is\n"
           "                  the line's time over the first line's\n"
           "  --rounds N      turns of each  (9)\n");
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"rounds", required_argument, NULL, 'r'},
                                          {"settings", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    static const char *const usual[] = {"mobilenet_v2", "resnet_18", "shufflenet"};
    static machine m;
    session s;
    stats_mean mean = {0};
    int rounds = 9, c;
    bool settings = false;
    while ((c = options_next(argc, argv, known, help)) != -1)
        if (c == 's')
            settings = true;
        else if (c != 'r' || !options_number("--rounds", optarg, 1, TURNS_ROUNDS, &rounds))
            return 2;
    if (!machine_open(&m, &s, getenv("KILN_DEVICE") ? NULL : "cpu"))
        return 1;
    machine_print(&m, stdout);
    print_hand_off();
    if (settings)
        printf("%-16s %-24s %9s %7s\n", "network", "habits", "ms", "ratio");
    else
        printf("%-16s %-9s %9s %9s %7s\n", "network", "way", "predicted", "ms", "ratio");
    bool fine = true;
    const int count = optind < argc ? argc - optind : (int)(sizeof usual / sizeof *usual);
    for (int i = 0; i < count && fine; i++) {
        const char *file = optind < argc ? argv[optind + i] : usual[i];
        fine = settings ? run_habits(&s, file, rounds) : run(&s, file, rounds, &mean);
    }
    if (mean.count > 0)
        printf("arena beside oneDNN: networks %d geomean %.3f worst %.3f (%s)\n", mean.count,
               stats_geomean(&mean), mean.worst, mean.worst_name);
    print_hand_off();
    session_close(&s);
    return fine ? 0 : 1;
}
