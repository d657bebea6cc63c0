/* Reads bench_gpu's command line. */
#include "gpu_options.h"

#include "tests/bench/base/options.h"

#include <stdio.h>
#include <string.h>

static bool is_dense(const kiln_problem *p)
{
    return !work_is_depthwise(p);
}

const gpu_class gpu_classes[GPU_CLASSES] = {
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
    {"f16-nchw", KILN_FORWARD, is_dense, KILN_F16, RULES_NCHW, false, false},
    {"f16-nchw-data", KILN_BACKWARD_DATA, is_dense, KILN_F16, RULES_NCHW, false, false},
    {"f16-nchw-weights", KILN_BACKWARD_WEIGHTS, is_dense, KILN_F16, RULES_NCHW, false, false},
    {"bf16-nchw", KILN_FORWARD, is_dense, KILN_BF16, RULES_NCHW, false, false},
    {"bf16-nchw-data", KILN_BACKWARD_DATA, is_dense, KILN_BF16, RULES_NCHW, false, false},
    {"bf16-nchw-weights", KILN_BACKWARD_WEIGHTS, is_dense, KILN_BF16, RULES_NCHW, false, false},
    {"tf32", KILN_FORWARD, is_dense, KILN_F32, RULES_NHWC, true, false},
    {"i8", KILN_FORWARD, is_dense, KILN_I8, RULES_NHWC, false, false},
    {"i8-to-i8", KILN_FORWARD, is_dense, KILN_I8, RULES_NHWC, false, true},
    {"f16-depthwise", KILN_FORWARD, work_is_depthwise, KILN_F16, RULES_NHWC, false, false},
    {"f16-depthwise-data", KILN_BACKWARD_DATA, work_is_depthwise, KILN_F16, RULES_NHWC, false,
     false},
    {"f16-depthwise-weights", KILN_BACKWARD_WEIGHTS, work_is_depthwise, KILN_F16, RULES_NHWC, false,
     false},
};

/* ---- the command line ---- */

static void help(void)
{
    printf("usage: ./dev bench gpu [FILE...] [OPTIONS]\n\n"
           "FILE is a list of layers or the name of one in tests/bench/shapes\n"
           "(resnet50 vgg mobilenet inception resnext quick: all by default; generative ...).\n"
           "KILN_DEVICE names the device (NVIDIA). Without PyTorch there is no peer: kiln's times "
           "and\n"
           "shares of the limits are printed alone.\n\n"
           "  --quick        the layers of quick.txt\n"
           "  --batch N,...  batches to run; 0: each list's own  (64,1)\n"
           "  --every N      only one of N layers  (1)\n"
           "  --class NAME   only this class; may be repeated. One of:\n");
    for (int i = 0; i < GPU_CLASSES; i++)
        printf("                   %s\n", gpu_classes[i].name);
    printf(
        "  --solver NAME  this solver instead of kiln's choice\n"
        "  --layout L     of activations in all classes: NCHW, NHWC, any, NHWC8, ...  (the "
        "class's)\n"
        "  --filter-layout L  of weights and their gradients: OIHW, OHWI, HWIO, ...  (OIHW);\n"
        "                 weights are packed before the clock starts. With one of both cuDNN gets "
        "the\n"
        "                 same layouts, where it has them\n"
        "  --rounds N     turns of each side  (3)\n"
        "  --json FILE    also write one JSON object per row to FILE\n");
}

static bool want_class(gpu_options *o, const char *name)
{
    for (int i = 0; i < GPU_CLASSES; i++)
        if (strcmp(gpu_classes[i].name, name) == 0)
            return o->wanted[i] = true;
    fprintf(stderr, "bench: there is no class \"%s\"; --help lists them\n", name);
    return false;
}

static bool read_option(gpu_options *o, int letter, const char *value)
{
    switch (letter) {
    case 'q':
        return o->quick = true;
    case 'b':
        return (o->batches = options_batches(value, o->batch, GPU_BATCHES)) > 0;
    case 'e':
        return options_number("--every", value, 1, 1000, &o->every);
    case 'c':
        return want_class(o, value);
    case 's':
        o->solver = value;
        return true;
    case 'a':
        o->layout = value;
        return options_layout("--layout", value, 'x');
    case 'f':
        o->filter = value;
        return options_layout("--filter-layout", value, 'w');
    case 'r':
        return options_number("--rounds", value, 1, GPU_ROUNDS, &o->rounds);
    case 'j':
        o->json = value;
        return true;
    default:
        return false;
    }
}

static bool read_lists(gpu_options *o, char **lists)
{
    static char *const all[] = {"resnet50", "vgg",   "mobilenet", "inception",
                                "resnext",  "quick", NULL};
    static char *const quick[] = {"quick", NULL};
    if (!layers_read_all(&o->layers, lists, o->quick ? quick : all, o->batch, o->batches))
        return false;
    layers_thin(&o->layers, o->every);
    return true;
}

bool gpu_options_read(gpu_options *o, int argc, char **argv)
{
    static const struct option known[] = {{"quick", no_argument, NULL, 'q'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"class", required_argument, NULL, 'c'},
                                          {"solver", required_argument, NULL, 's'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"layout", required_argument, NULL, 'a'},
                                          {"filter-layout", required_argument, NULL, 'f'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    bool some = false;
    *o = (gpu_options){.rounds = 3, .every = 1, .batches = 2, .batch = {64, 1}};
    for (int letter; (letter = options_next(argc, argv, known, help)) != -1;)
        if (letter == '?' || !read_option(o, letter, optarg))
            return false;
    for (int i = 0; i < GPU_CLASSES; i++)
        some = some || o->wanted[i];
    for (int i = 0; i < GPU_CLASSES; i++)
        o->wanted[i] = o->wanted[i] || !some;
    return read_lists(o, argv + optind);
}
