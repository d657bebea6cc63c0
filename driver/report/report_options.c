/* Reads the flags of `kiln report`, and has their help. */
#include "report_options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char report_help[] =
    "usage: kiln report [FILE...] [-o PAGE]\n"
    "\n"
    "Writes one HTML page, which needs nothing else, with pictures of what the files say: each\n"
    "layer's share of the time, the roofline of the device with each layer on it, the gain of "
    "each\n"
    "layer, predicted against measured times, the best time over trials, heat maps of two\n"
    "parameters, wins of each solver, age and driver of the times, and a table with a filter.\n"
    "\n"
    "A FILE has tuning rows (the log of trials beside it is read, too), a log of trials, or what\n"
    "kiln conv --json and kiln tune --json printed. Without a FILE, kiln takes the user's file\n"
    "for the device. Files of several devices give a part of the page each. A FILE.onnx is a\n"
    "model: only its convolutions are shown, as conv runs them, of what the other files have.\n"
    "\n"
    "  --before FILE         an older FILE, to compare with: each layer that both have, how many "
    "are\n"
    "                        faster and slower now; may be given again\n"
    "  -o, --output PAGE     the file to write [kiln-report.html]; -: standard output\n"
    "  --input NAME=SIZES, --dim NAME=N, --batch N\n"
    "                        sizes of a model's inputs, as for kiln model\n"
    "  --match TEXT          only problems that contain TEXT\n"
    "  --device DEVICE       the device whose limits are drawn; KILN_DEVICE unless given\n"
    "  --limits measure|count|none\n"
    "                        measure: multiply-adds and copies, in six rounds over some\n"
    "                        seconds, if the files are of this device; count: from the units\n"
    "                        and the clock that it tells; none: only what --peak and\n"
    "                        --bandwidth give [measure]\n"
    "  --peak [TYPE=]GFLOPS  the limit of multiply-adds, in 1e9 operations a second, of a type\n"
    "                        (f32, f16, bf16, i8) or of types that have none; may be given again\n"
    "  --bandwidth GBS       the limit of memory, in 1e9 bytes a second\n"
    "  --help                print this text\n"
    "\n"
    "Exit status: 0 success; 2 the command line makes no sense; 4 no device could be opened, and\n"
    "one is needed; 5 a file could not be read or written; 6 out of memory.\n";

static bool parse_limits(const char *word, int *limits)
{
    static const char *const words[] = {"measure", "count", "none"};
    for (int i = LIMITS_MEASURE; i <= LIMITS_NONE; i++)
        if (strcmp(words[i], word) == 0) {
            *limits = i;
            return true;
        }
    return false;
}

static bool parse_rate(const char *text, double *rate)
{
    const double least = 1e-6, most = 1e12;
    char *end;
    *rate = strtod(text, &end);
    return end != text && !*end && *rate >= least && *rate <= most;
}

/* Reads "GFLOPS" for all types that have none yet, or "TYPE=GFLOPS". */
static bool parse_peak(const char *text, double peak[KILN_TYPES])
{
    const char *rate = strchr(text, '=');
    const size_t length = rate ? (size_t)(rate - text) : 0;
    double value;
    bool known = !rate;
    if (!parse_rate(rate ? rate + 1 : text, &value))
        return false;
    for (int t = KILN_F32; t < KILN_TYPES; t++) {
        const char *name = kiln_type_name((kiln_type)t);
        const bool named = rate && strlen(name) == length && strncmp(name, text, length) == 0;
        known = known || named;
        if (named || (!rate && peak[t] == 0))
            peak[t] = value;
    }
    return known;
}

static bool add_given(onnx_given *g, bool input, const char *text)
{
    const char **list = input ? g->input : g->dim;
    int *count = input ? &g->inputs : &g->dims;
    if (*count == ONNX_GIVEN)
        return false;
    list[(*count)++] = text;
    return true;
}

static bool parse_batch(const char *text, int64_t *batch)
{
    char *end;
    *batch = strtoll(text, &end, 10);
    return *text >= '1' && *text <= '9' && !*end && *batch <= INT32_MAX;
}

/* Names what getopt does not take: a letter may stand among others, in a word that is not done. */
static void name_unknown(int code, char *const *argv, char *why)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const bool is_letter = code == '?' && optopt > 0 && optopt != 'h'; /* that is --help=VALUE */
    snprintf(why, KILN_ERROR_TEXT,
             "unknown flag or missing value: %.60s; kiln report --help explains",
             is_letter ? letter : argv[optind - 1]);
}

static kiln_status bad(const char *flag, const char *wanted, char *why)
{
    snprintf(why, KILN_ERROR_TEXT, "%s is '%.60s'; it must be %s", flag, optarg, wanted);
    return KILN_INVALID;
}

static kiln_status parse(report_options *o, int argc, char **argv, char *why)
{
    static const struct option table[] = {
        {"before", required_argument, NULL, 'B'}, {"output", required_argument, NULL, 'o'},
        {"input", required_argument, NULL, 'I'},  {"dim", required_argument, NULL, 'D'},
        {"batch", required_argument, NULL, 'n'},  {"match", required_argument, NULL, 'm'},
        {"device", required_argument, NULL, 'd'}, {"limits", required_argument, NULL, 'l'},
        {"peak", required_argument, NULL, 'p'},   {"bandwidth", required_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},         {0}};
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", table, NULL)) != -1;)
        switch (c) {
        case 'o':
            o->output = optarg;
            if (!*optarg)
                return bad("--output (-o)", "a file's name", why);
            break;
        case 'B':
            o->before[o->befores++] = optarg;
            break;
        case 'I':
        case 'D':
            if (!add_given(&o->given, c == 'I', optarg))
                return bad("--input or --dim", "given 16 times at most", why);
            break;
        case 'n':
            if (!parse_batch(optarg, &o->given.batch))
                return bad("--batch", "a whole number from 1 on", why);
            break;
        case 'm':
            o->match = optarg;
            break;
        case 'd':
            o->device = optarg;
            break;
        case 'l':
            if (!parse_limits(optarg, &o->limits))
                return bad("--limits", "measure, count or none", why);
            break;
        case 'p':
            if (!parse_peak(optarg, o->peak))
                return bad("--peak", "a number above 0, or f32=, f16=, bf16= or i8= and one", why);
            break;
        case 'b':
            if (!parse_rate(optarg, &o->bandwidth))
                return bad("--bandwidth", "a number above 0", why);
            break;
        case 'h':
            o->help = true;
            break;
        default:
            name_unknown(c, argv, why);
            return KILN_INVALID;
        }
    return KILN_OK;
}

kiln_status report_options_parse(report_options *o, int argc, char **argv, char *why)
{
    *o = (report_options){.output = "kiln-report.html", .match = "", .device = ""};
    o->before = calloc((size_t)argc, sizeof *o->before);
    if (!o->before) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the command line");
        return KILN_NO_MEMORY;
    }
    return parse(o, argc, argv, why);
}

void report_options_free(report_options *o)
{
    free(o->before);
}
