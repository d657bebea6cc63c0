/* `kiln report`: reads its flags and files, finds the device's limits, writes the page. */
#include "report_command.h"

#include "driver/base/replaced_file.h"

#include "page.h"
#include "report_limits.h"
#include "report_predict.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
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
    "for the device. Files of several devices give a part of the page each.\n"
    "\n"
    "  -o, --output PAGE     the file to write [kiln-report.html]; -: standard output\n"
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

enum { LIMITS_MEASURE = 0, LIMITS_COUNT, LIMITS_NONE };

typedef struct options {
    const char *output, *match, *device;
    int limits;
    double peak[KILN_TYPES], bandwidth;
    bool help;
} options;

/* The files, and those beside them. */
typedef struct files {
    report_file *at;
    char (*beside)[4096]; /* names of logs */
    int count;
} files;

static int fail(kiln_status status, const char *why)
{
    fprintf(stderr, "kiln report: %s\n", why);
    return (int)status;
}

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

static kiln_status parse(options *o, int argc, char **argv, char *why)
{
    static const struct option table[] = {
        {"output", required_argument, NULL, 'o'}, {"match", required_argument, NULL, 'm'},
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

/* Whether a file has been read: all files of a folder have logs beside rows. */
static bool is_read(const files *f, const char *name)
{
    struct stat this, other;
    for (int i = 0; i < f->count; i++)
        if (stat(name, &this) == 0 && stat(f->at[i].name, &other) == 0 &&
            this.st_dev == other.st_dev && this.st_ino == other.st_ino)
            return true;
    return false;
}

static kiln_status read_one(report_data *d, files *f, const char *name, const char *match,
                            char *why)
{
    if (is_read(f, name))
        return KILN_OK;
    kiln_status status = report_read(d, name, match, &f->at[f->count], why);
    f->count += status == KILN_OK;
    return status;
}

/* Reads a file, after the log beside it if it has rows: the log tells more. */
static kiln_status read_with_log(report_data *d, files *f, const char *name, const char *match,
                                 char *why)
{
    char *log = f->beside[f->count];
    const size_t length = strlen(name);
    kiln_status status = KILN_OK;
    kiln_trials_file(name, log, sizeof *f->beside);
    const bool yaml = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    if (yaml && *log && access(log, F_OK) == 0)
        status = read_one(d, f, log, match, why);
    return status ? status : read_one(d, f, name, match, why);
}

static kiln_status read_all(report_data *d, files *f, char *const *names, int n, const char *match,
                            char *why)
{
    kiln_status status = KILN_OK;
    for (int i = 0; i < n && !status; i++)
        status = read_with_log(d, f, names[i], match, why);
    if (!status && d->too_many_devices)
        fprintf(stderr, "kiln report: warning: only the first %d devices are shown\n",
                REPORT_DEVICES);
    report_data_finish(d);
    return status;
}

static kiln_status write_page(const report_data *d, const files *f, const char *name, char *why)
{
    replaced_file file;
    kiln_status status = replaced_file_open(&file, name, why);
    if (status)
        return status;
    const page p = {.to = file.to, .data = d, .file = f->at, .files = f->count};
    page_write(&p);
    return replaced_file_close(&file, why);
}

static void warn_of_doubts(const report_data *d)
{
    for (int i = 0; i < d->devices; i++)
        if (*d->device[i].doubt)
            fprintf(stderr, "kiln report: warning: %s; make the page again when it is idle\n",
                    d->device[i].doubt);
}

static void print_sums(const report_data *d, const char *name)
{
    size_t trials = 0;
    for (size_t i = 0; i < d->layers; i++)
        trials += d->layer[i].trials;
    fprintf(stderr, "%s: %d device%s, %zu layer%s, %zu trial%s\n", name, d->devices,
            d->devices == 1 ? "" : "s", d->layers, d->layers == 1 ? "" : "s", trials,
            trials == 1 ? "" : "s");
}

static int report(const options *o, const session *s, char *const *names, int n)
{
    report_data d = {.devices = 0};
    char why[KILN_ERROR_TEXT];
    const size_t room = 2 * (size_t)n;
    files f = {.at = calloc(room, sizeof *f.at), .beside = calloc(room, sizeof *f.beside)};
    kiln_status status = f.at && f.beside ? KILN_OK : KILN_NO_MEMORY;
    snprintf(why, sizeof why, "out of memory for the report");
    if (!status)
        status = read_all(&d, &f, names, n, o->match, why);
    if (!status) {
        report_limits_give(&d, o->peak, o->bandwidth);
        if (s->kiln && o->limits != LIMITS_NONE) {
            report_limits_find(&d, s, o->limits == LIMITS_COUNT);
            report_predict(&d, s);
        }
        warn_of_doubts(&d);
        status = write_page(&d, &f, o->output, why);
    }
    if (!status && strcmp(o->output, "-") != 0)
        print_sums(&d, o->output);
    report_data_free(&d);
    free(f.at);
    free(f.beside);
    return status ? fail(status, why) : 0;
}

/* Names the user's file of rows; where there is none, `why` says how to get one. */
static kiln_status find_own(const session *s, char rows[4096], char *why)
{
    snprintf(rows, 4096, "%s", kiln_rows_file(s->kiln));
    if (!*rows)
        snprintf(why, KILN_ERROR_TEXT,
                 "the user's tuning rows are switched off: KILN_DB=off, or no home directory; "
                 "name a file");
    else if (access(rows, F_OK) != 0)
        snprintf(why, KILN_ERROR_TEXT, "%.150s: no such file yet; kiln conv -s 1 makes it", rows);
    else
        return KILN_OK;
    return KILN_FILE;
}

int report_command(int argc, char **argv)
{
    options o = {.output = "kiln-report.html", .match = "", .device = ""};
    char why[KILN_ERROR_TEXT] = "", rows[4096] = "";
    session s = {0};
    kiln_status status = parse(&o, argc, argv, why);
    if (status)
        return fail(status, why);
    if (o.help) {
        fputs(help, stdout);
        return 0;
    }
    char **names = argv + optind;
    int n = argc - optind;
    char *own[] = {rows};
    /* Limits are a help, not a need: a page can be made where the device is not. */
    if (o.limits != LIMITS_NONE || n == 0)
        status = session_open(&s, o.device, why);
    if (status && (n == 0 || *o.device))
        return fail(status, why);
    status = n == 0 ? find_own(&s, rows, why) : KILN_OK;
    if (n == 0) {
        names = own;
        n = 1;
    }
    const int exit = status ? fail(status, why) : report(&o, &s, names, n);
    session_close(&s);
    return exit;
}
