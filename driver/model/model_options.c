/* Parses the command line of `kiln model`: what is no option of its own is a flag of conv. */
#include "model_options.h"

#include "driver/conv/request_list.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: kiln model FILE.onnx [OPTIONS] [FLAGS]\n"
    "       kiln model --demo NAME -o FILE.onnx\n"
    "\n"
    "Prints what the convolutions of an ONNX model cost: a line for each different problem, with\n"
    "how often it occurs, its work, solver, time and share of the sum. kiln finds Conv,\n"
    "ConvTranspose, ConvInteger and QLinearConv, also in bodies of If, Loop and Scan and in local\n"
    "functions, and works out their sizes. What follows a convolution and can be a part of its\n"
    "launch (a normalisation, bias, residual, activation) is measured with it. Data are random:\n"
    "weights are not read.\n"
    "\n"
    "FLAGS are those of conv, for each convolution: -I any -O any (layouts that kiln chooses), -i "
    "50\n"
    "(runs), --math, --device, --json, --csv and others. In files of problems, too, a FILE.onnx\n"
    "stands for its convolutions: kiln tune FILE.onnx, kiln prepare FILE.onnx, kiln conv --batch\n"
    "FILE.onnx.\n"
    "\n"
    "Options:\n"
    "  --input NAME=SIZES\n"
    "      the sizes of an input, as images=1x3x640x640, where the file leaves them open or "
    "others\n"
    "      are wanted; may be given several times\n"
    "  --dim NAME=N\n"
    "      what a name stands for in the sizes of the inputs; may be given several times\n"
    "  --batch N\n"
    "      the batch, in the place of the file's: the first dim of the first input of two dims or\n"
    "      more, and of all inputs that have the same there\n"
    "  --predict\n"
    "      print predicted times and run nothing\n"
    "  --dry-run\n"
    "      the same without a device\n"
    "  --demo NAME\n"
    "      write a model with random weights to -o FILE: mobilenet_v2 or resnet_18\n"
    "  --help\n"
    "      print this text\n"
    "\n"
    "Examples:\n"
    "  kiln model --demo mobilenet_v2 -o net.onnx && kiln model net.onnx --batch 8\n"
    "      make a model, and measure its convolutions with 8 images\n"
    "  kiln model net.onnx --dim height=640 --dim width=640 --dry-run --json\n"
    "      their problems and predicted times, without a device, for a program to read\n"
    "  kiln tune net.onnx && kiln model net.onnx\n"
    "      tune them all, then measure\n"
    "\n"
    "Exit status: as of conv; 2 where the file is no model or sizes are missing, 3 where some\n"
    "convolution has no size or no solver.\n";

void model_options_help(FILE *to)
{
    fputs(help, to);
}

static kiln_status say(char *why, const char *text, const char *word)
{
    snprintf(why, KILN_ERROR_TEXT, text, word);
    return KILN_INVALID;
}

/* The words that are flags of conv. */
typedef struct words {
    char **word;
    int count;
} words;

/* Returns the value of an option "NAME" or "NAME=", which the next word may be; NULL: it is another
 * option, or has no value (with a sentence in `why`). */
static const char *value_of(const char *name, int argc, char **argv, int *at, char *why)
{
    const size_t n = strlen(name);
    if (strncmp(argv[*at], name, n) != 0 || (argv[*at][n] && argv[*at][n] != '='))
        return NULL;
    const char *value = argv[*at][n] ? argv[*at] + n + 1 : *at + 1 < argc ? argv[++*at] : "";
    if (*value)
        return value;
    say(why, "%s needs a value", name);
    return NULL;
}

/* Takes an option of its own at argv[*at]; else its words become flags. */
static kiln_status take(model_options *o, words *flags, int argc, char **argv, int *at, char *why)
{
    static char batch[] = "--batchsize";
    char *word = argv[*at];
    const char *value;
    *why = '\0';
    if ((value = value_of("--batch", argc, argv, at, why))) {
        flags->word[flags->count++] = batch;
        flags->word[flags->count++] = (char *)value;
    } else if ((value = value_of("--demo", argc, argv, at, why))) {
        o->demo = value;
    } else if ((value = value_of("--output", argc, argv, at, why)) ||
               (value = value_of("-o", argc, argv, at, why))) {
        o->output = value;
    } else if (*why) {
        return KILN_INVALID;
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        o->help = true;
    } else if (strcmp(word, "--predict") == 0) {
        o->predict = true;
    } else if (word[0] != '-' || !word[1]) {
        if (o->file)
            return say(why, "'%.60s' is a second file; name one", word);
        o->file = word;
    } else {
        for (int n = flags_width(word); n > 0 && *at < argc; n--)
            flags->word[flags->count++] = argv[n > 1 ? (*at)++ : *at];
    }
    return KILN_OK;
}

/* Refuses flags of conv that a model has no use for. */
static kiln_status check(const model_options *o, char *why)
{
    static const char *const foreign[] = {"forw",    "problem",     "search",
                                          "in_data", "weights",     "dout_data",
                                          "in_bias", "dump_output", "trace"};
    const flags *f = &o->defaults.flags;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (flags_given(f, foreign[i]))
            return say(why, "--%s is no flag of kiln model; kiln model --help explains",
                       foreign[i]);
    const char *shape = flags_given_shape(f);
    if (shape && strcmp(shape, "batchsize") != 0 && strncmp(shape, "in_layout", 9) != 0 &&
        strncmp(shape, "fil_layout", 10) != 0 && strncmp(shape, "out_layout", 10) != 0)
        return say(why, "--%s is said by the model", shape);
    if (f->json && f->csv)
        return say(why, "%s exclude each other", "--json and --csv");
    if (o->demo && (o->file || !o->output))
        return say(why, "%s", "--demo NAME needs -o FILE.onnx, and no other file");
    if (o->output && !o->demo)
        return say(why, "%s", "-o FILE belongs to --demo NAME");
    return o->file || o->demo ? KILN_OK : say(why, "%s", "name a model: kiln model FILE.onnx");
}

kiln_status model_options_parse(model_options *o, int argc, char **argv, char *why)
{
    words flags = {.word = calloc(2 * (size_t)argc + 2, sizeof *flags.word)};
    kiln_status status = KILN_OK;
    *o = (model_options){.defaults = {.word = "conv", .type = KILN_F32}};
    flags_init(&o->defaults.flags);
    if (!flags.word) {
        say(why, "%s", "out of memory for the flags");
        return KILN_NO_MEMORY;
    }
    flags.word[flags.count++] = argv[0];
    for (int i = 1; i < argc && !status; i++)
        status = take(o, &flags, argc, argv, &i, why);
    if (!status && !o->help)
        status = flags_parse(&o->defaults.flags, flags.count, flags.word, why);
    free(flags.word);
    o->help = o->help || o->defaults.flags.help;
    if (!status && !o->help)
        status = check(o, why);
    request_list_given(&o->defaults, &o->given);
    return status;
}
