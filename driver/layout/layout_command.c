/* `kiln layout`: reads its flags and calls the word. */
#include "layout_command.h"

#include "driver/reference/host.h"

#include "layout_words.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: kiln layout WORD [FLAGS]\n"
    "\n"
    "A layout is a name (NHWC, kCHW32, IMG_CHANNEL_MAJOR) or a text that spells out the order of\n"
    "storage (NCHW16c, NHWC;C%8, NH|CW|4c). docs/layouts.md explains the spelling.\n"
    "\n"
    "  list                      list every layout that has a name\n"
    "  show LAYOUT               print where elements are; with --dims, in numbers and a picture\n"
    "  convert --from LAYOUT --to LAYOUT --dims N,... IN OUT\n"
    "                            convert a raw tensor from file IN to OUT, on a device or --host\n"
    "  docs                      print a page about all layouts, in Markdown\n"
    "\n"
    "  --from LAYOUT, --to LAYOUT\n"
    "                            convert: the layouts of IN and OUT\n"
    "  --dims 2,3,5,7            the sizes of the tensor, in logical order\n"
    "  --order NCHW              the logical order; default: the layout's own\n"
    "  --type f32                type of the elements: f32, f16, bf16, i8, i32, f8e4m3 or f8e5m2\n"
    "  --to-type f16             convert: type of the result; default: as --type\n"
    "  --pad 0                   convert: value to write into padding\n"
    "  --profile dla             show: check the layout for tensorrt, dla or cudnn\n"
    "  --json                    show: print one JSON object\n"
    "  --host                    convert: compute on the host, without OpenCL\n"
    "  --device D                convert: device to use, as for kiln conv\n"
    "  --help                    print this text\n";

static const struct {
    const char *name;
    kiln_status (*run)(const layout_request *r, char *why);
    int names; /* how many layouts or files come after the word */
} words[] = {
    {"list", layout_list, 0},
    {"show", layout_show, 1},
    {"convert", layout_convert, 2},
    {"docs", layout_docs, 0},
};

static const struct option flags[] = {
    {"dims", required_argument, NULL, 'd'},
    {"order", required_argument, NULL, 'o'},
    {"from", required_argument, NULL, 'f'},
    {"to", required_argument, NULL, 't'},
    {"type", required_argument, NULL, 'T'},
    {"to-type", required_argument, NULL, 'U'},
    {"pad", required_argument, NULL, 'p'},
    {"profile", required_argument, NULL, 'P'},
    {"device", required_argument, NULL, 'D'},
    {"json", no_argument, NULL, 'j'},
    {"host", no_argument, NULL, 'H'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Reads "2,3,5,7" or "2x3x5x7". */
static bool read_sizes(layout_request *r, const char *text, char *why)
{
    const char *at = text;
    for (r->sizes = 0; r->sizes < KILN_MAX_DIMS; at++) {
        char *end;
        errno = 0;
        r->size[r->sizes++] = strtoll(at, &end, 10);
        if (end == at || errno || (*end && *end != ',' && *end != 'x'))
            break;
        at = end;
        if (!*end)
            return true;
    }
    snprintf(why, KILN_ERROR_TEXT, "--dims is '%.60s', not up to %d numbers such as 2,3,5,7", text,
             KILN_MAX_DIMS);
    return false;
}

static bool read_type(const char *flag, const char *text, kiln_type *type, char *why)
{
    if (kiln_type_named(text, type))
        return true;
    snprintf(why, KILN_ERROR_TEXT, "%s is '%.40s', not f32, f16, bf16, i8, i32, f8e4m3 or f8e5m2",
             flag, text);
    return false;
}

static bool read_pad(layout_request *r, const char *text, char *why)
{
    char *end;
    r->pad = strtod(text, &end);
    if (end != text && !*end)
        return true;
    snprintf(why, KILN_ERROR_TEXT, "--pad is '%.40s', not a number", text);
    return false;
}

static bool read_flag(layout_request *r, int flag, char *why)
{
    switch (flag) {
    case 'd':
        return read_sizes(r, optarg, why);
    case 'T':
        return read_type("--type", optarg, &r->type, why);
    case 'U':
        return read_type("--to-type", optarg, &r->to_type, why);
    case 'p':
        return read_pad(r, optarg, why);
    case 'o':
        r->order = optarg;
        return true;
    case 'f':
        r->from = optarg;
        return true;
    case 't':
        r->to = optarg;
        return true;
    case 'P':
        r->profile = optarg;
        return true;
    case 'D':
        r->device = optarg;
        return true;
    case 'j':
        r->json = true;
        return true;
    default:
        r->host = true;
        return true;
    }
}

static int complain(const char *why, kiln_status status)
{
    fprintf(stderr, "kiln layout: %s\n", why);
    return (int)status;
}

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "kiln layout: %s%.60s (--help explains)\n", what, word);
    return KILN_INVALID;
}

static int run(const char *word, const layout_request *r)
{
    char why[KILN_ERROR_TEXT] = "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word) != 0)
            continue;
        if (r->names != words[i].names)
            return usage(words[i].names == 0   ? "no name belongs after "
                         : words[i].names == 1 ? "one layout belongs after "
                                               : "two files belong after ",
                         word);
        kiln_status status = words[i].run(r, why);
        return status ? complain(why, status) : KILN_OK;
    }
    return usage("unknown word ", word);
}

int layout_command(int argc, char **argv)
{
    layout_request r = {.type = KILN_F32};
    char why[KILN_ERROR_TEXT];
    int flag;
    optind = 0; /* glibc: start afresh after another parse */
    opterr = 0;
    while ((flag = getopt_long(argc, argv, "h", flags, NULL)) != -1) {
        if (flag == 'h') {
            fputs(help, stdout);
            return KILN_OK;
        }
        if (flag == '?')
            return usage("unknown flag, or a flag without its value: ", argv[optind - 1]);
        if (!read_flag(&r, flag, why))
            return complain(why, KILN_INVALID);
    }
    if (optind >= argc)
        return usage("what to do is missing: list, show, convert or docs", "");
    const char *word = argv[optind++];
    r.names = argc - optind;
    for (int i = 0; i < r.names && i < 2; i++)
        r.name[i] = argv[optind + i];
    return run(word, &r);
}
