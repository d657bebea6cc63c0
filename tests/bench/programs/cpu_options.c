/* Reads bench_cpu's command line. */
#include "cpu_options.h"

#include "tests/bench/base/options.h"
#include "tests/bench/timing/turns.h"

#include <stdio.h>
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

/* Activations are blocked, but NCHW in the two -plain classes and NHWC in -nhwc. forward-latency
 * times a single enqueue until its end. */
const bench_class cpu_classes[CPU_CLASSES] = {
    {"forward-any", KILN_FORWARD, KILN_F32, {.layout = RULES_OWN}, false, is_dense, true},
    {"forward-direct", KILN_FORWARD, KILN_F32, {.algorithm = RULES_DIRECT}, false, is_dense, false},
    {"forward-winograd",
     KILN_FORWARD,
     KILN_F32,
     {.algorithm = RULES_WINOGRAD},
     false,
     work_is_winograd,
     true},
    {"forward-plain", KILN_FORWARD, KILN_F32, {.layout = RULES_NCHW}, false, is_dense, true},
    {"forward-nhwc", KILN_FORWARD, KILN_F32, {.layout = RULES_NHWC}, false, is_dense, false},
    {"depthwise", KILN_FORWARD, KILN_F32, {.layout = RULES_OWN}, false, work_is_depthwise, true},
    {"depthwise-plain",
     KILN_FORWARD,
     KILN_F32,
     {.layout = RULES_NCHW},
     false,
     work_is_depthwise,
     false},
    {"forward-latency", KILN_FORWARD, KILN_F32, {.layout = RULES_OWN}, true, is_single, false},
    {"backward-data",
     KILN_BACKWARD_DATA,
     KILN_F32,
     {.layout = RULES_OWN},
     false,
     is_anything,
     false},
    {"backward-weights",
     KILN_BACKWARD_WEIGHTS,
     KILN_F32,
     {.layout = RULES_OWN},
     false,
     is_anything,
     false},
    {"forward-f16", KILN_FORWARD, KILN_F16, {.layout = RULES_OWN}, false, is_anything, false},
    {"forward-bf16", KILN_FORWARD, KILN_BF16, {.layout = RULES_OWN}, false, is_anything, false},
    {"forward-i8", KILN_FORWARD, KILN_I8, {.layout = RULES_OWN}, false, is_anything, false},
};

/* ---- the command line ---- */

static void help(void)
{
    printf("usage: ./dev bench cpu [FILE...] [OPTIONS]\n\n"
           "FILE is a list of layers or the name of one in tests/bench/shapes\n"
           "(resnet50 vgg mobilenet inception resnext stems others generative dilated 3d).\n\n"
           "  --quick         the layers of quick.txt, short turns, no CLBlast; unless --class is "
           "given,\n"
           "                  the classes with a *. Takes a minute to a minute and a half, 40 s of "
           "it to\n"
           "                  compile kernels that are not in PoCL's cache yet\n"
           "  --batch N,...   batches to run; 0: each list's own  (1,16)\n"
           "  --every N       only one of N layers  (1)\n"
           "  --threads N     of every side, each on a core of its own  (2)\n"
           "  --class NAME    only this class; may be repeated. One of:\n");
    for (int i = 0; i < CPU_CLASSES; i++)
        printf("                  %c %s\n", cpu_classes[i].brief ? '*' : ' ', cpu_classes[i].name);
    printf("  --layout L      of activations before and after a run, in all classes: NCHW, NHWC, "
           "any,\n"
           "                  NCHW16c, ...  (the class's)\n"
           "  --filter-layout L  of weights and their gradients: OIHW, OHWI, HWIO, ...  (OIHW); "
           "weights\n"
           "                  are packed before the clock starts\n");
    printf("  --rounds N      turns of each contender  (5; 3 with --quick)\n"
           "  --bare          also time kernels that only move a layer's tensors once and multiply "
           "as\n"
           "                  often: the least time that a convolution could take\n"
           "  --tuned[=N]     let kiln search first, N trials per layer  (24)\n"
           "  --json FILE     also write one JSON object per row to FILE\n");
}

static bool want_class(cpu_options *o, const char *name)
{
    for (int i = 0; i < CPU_CLASSES; i++)
        if (strcmp(cpu_classes[i].name, name) == 0)
            return o->wanted[i] = true;
    fprintf(stderr, "bench: there is no class \"%s\"; --help lists them\n", name);
    return false;
}

static bool read_option(cpu_options *o, int letter, const char *value)
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
        return options_number("--rounds", value, 1, TURNS_ROUNDS, &o->rounds);
    case 'l':
        return o->bare = true;
    case 't':
        o->trials = 24;
        return !value || options_number("--tuned", value, 1, 1000000, &o->trials);
    case 'b':
        return (o->batches = options_batches(value, o->batch, CPU_BATCHES)) > 0;
    case 'e':
        return options_number("--every", value, 1, 1000, &o->every);
    case 'a':
        o->layout = value;
        return options_layout("--layout", value, 'x');
    case 'f':
        o->filter = value;
        return options_layout("--filter-layout", value, 'w');
    default:
        return false;
    }
}

static bool read_lists(cpu_options *o, char **lists)
{
    static char *const networks[] = {"resnet50", "vgg", "mobilenet", "inception", "resnext", NULL};
    static char *const quick[] = {"quick", NULL};
    if (o->batches == 0) {
        const int64_t usual[] = {1, 16};
        o->batches = o->quick ? 1 : 2;
        memcpy(o->batch, usual, sizeof usual);
        if (o->quick)
            o->batch[0] = 0;
    }
    if (!layers_read_all(&o->layers, lists, o->quick ? quick : networks, o->batch, o->batches))
        return false;
    layers_thin(&o->layers, o->every);
    return true;
}

bool cpu_options_read(cpu_options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},        {"json", required_argument, NULL, 'j'},
        {"class", required_argument, NULL, 'c'},  {"rounds", required_argument, NULL, 'r'},
        {"tuned", optional_argument, NULL, 't'},  {"batch", required_argument, NULL, 'b'},
        {"every", required_argument, NULL, 'e'},  {"bare", no_argument, NULL, 'l'},
        {"layout", required_argument, NULL, 'a'}, {"filter-layout", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},         {0}};
    bool some = false;
    o->every = 1;
    for (int letter; (letter = options_next(argc, argv, known, help)) != -1;)
        if (letter == '?' || !read_option(o, letter, optarg))
            return false;
    for (int i = 0; i < CPU_CLASSES; i++)
        some = some || o->wanted[i];
    for (int i = 0; i < CPU_CLASSES; i++)
        o->wanted[i] = o->wanted[i] || (!some && (!o->quick || cpu_classes[i].brief));
    if (!o->rounds)
        o->rounds = o->quick ? 3 : 5;
    return read_lists(o, argv + optind);
}
