/* Parses the command line of `kiln tune` by a table; what the table has not are flags of conv. */
#include "tune_options.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(tune_options, field)

static const struct option_row {
    const char *name;
    enum { SECONDS, COUNT, TEXT, ON, OFF, CHOICE } kind;
    size_t offset;
    const char *initial;
    const char *what; /* the value's name; CHOICE: "a|b"; "": takes none */
    const char *help;
} table[] = {
    {"seconds", SECONDS, AT(seconds), "30", "T",
     "limit a problem's search; 0: none. With --total-time, 0 unless given"},
    {"total-time", SECONDS, AT(total_time), "0", "T",
     "limit the whole run: one half for all problems, then rounds for the ones that gain most"},
    {"trials", COUNT, AT(trials), "0", "N", "limit a problem's trials; 0: none"},
    {"patience", COUNT, AT(patience), "0", "N",
     "end a problem's search after N trials of the grids without a faster config; 0: never, with "
     "--total-time 24 in the first round and twice as many in each further one"},
    {"solvers", TEXT, AT(solvers), "", "LIST", "try these solvers only: names or ids"},
    {"types", TEXT, AT(types), "", "LIST",
     "tune for these types (f32, f16, bf16, i8, f8e4m3, f8e5m2), whatever the lines say"},
    {"device", TEXT, AT(device), "", "LIST",
     "tune on these devices at once, or on all; devices of one kind share the problems"},
    {"shard", TEXT, AT(shard), "", "I/N",
     "tune every N-th part of the problems, from 1 to N, into rows of its own; an array 1-N of "
     "Slurm gives this by itself, another array needs it"},
    {"shard-by", CHOICE, AT(shard_by), "cost", "cost|key",
     "cost: parts that end together; key: a problem's part does not depend on the others"},
    {"profile", ON, AT(profile), "0", "",
     "weight problems by how often they occur, tune the heavy ones first, print the gain of all"},
    {"fresh", ON, AT(fresh), "0", "",
     "start over: what earlier runs left in the log does not count"},
    {"no-isolate", OFF, AT(isolate), "1", "",
     "search in this process: what crashes ends the run, and nothing is compiled ahead"},
    {"isolate", ON, AT(isolate), "1", "", "search in processes of their own (the default)"},
    {"jobs", COUNT, AT(jobs), "", "N",
     "compile ahead in N processes a device; 0: none. Unless given: as many as the device needs "
     "and cores there are"},
    {"trial-limit", SECONDS, AT(trial_limit), "120", "T",
     "end a trial that takes longer, stops not counted; one later run tries it again; 0: wait"},
    {"memory", COUNT, AT(memory), "0", "MIB",
     "end a process that asks for more memory; 0: three quarters of what the job, or the machine, "
     "has"},
    {"dry-run", ON, AT(dry_run), "0", "", "print the problems; this needs no device"},
    {"help", ON, AT(help), "0", "", "print this text"},
};

enum { OPTIONS = sizeof table / sizeof *table };

static kiln_status bad(char *why, const struct option_row *row, const char *value,
                       const char *wanted)
{
    snprintf(why, KILN_ERROR_TEXT, "--%s is '%.60s'; it must be %s", row->name, value, wanted);
    return KILN_INVALID;
}

/* "90", "1.5", "90s", "10m", "2h". */
static bool parse_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    const double value = strtod(text, &end);
    if (end == text || strspn(text, "0123456789.") != (size_t)(end - text) || !(value < 1e9))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *seconds = value * units[i].seconds;
            return true;
        }
    return false;
}

static kiln_status set(tune_options *o, const struct option_row *row, const char *value, char *why)
{
    char *at = (char *)o + row->offset, *end;
    int64_t number;
    switch (row->kind) {
    case SECONDS:
        return parse_seconds(value, (double *)at)
                   ? KILN_OK
                   : bad(why, row, value, "a time such as 90, 90s, 10m or 2h");
    case COUNT:
        number = strtoll(value, &end, 10);
        if (end == value || *end || number < 0 || number > 1000000000)
            return bad(why, row, value, "a whole number from 0 to 1000000000");
        memcpy(at, &number, sizeof number);
        return KILN_OK;
    case TEXT:
        memcpy(at, &value, sizeof value);
        return KILN_OK;
    case CHOICE:
        number = strcmp(value, "key") == 0;
        if (!number && strcmp(value, "cost") != 0)
            return bad(why, row, value, row->what);
        memcpy(at, &number, sizeof number);
        return KILN_OK;
    case ON:
    case OFF:
        number = (row->kind == ON) == (*value != '0');
        memcpy(at, &number, sizeof number);
        return KILN_OK;
    }
    return KILN_INVALID;
}

static void init(tune_options *o)
{
    char why[KILN_ERROR_TEXT];
    *o = (tune_options){.jobs = -1};
    for (int i = 0; i < OPTIONS; i++)
        set(o, &table[i], table[i].kind == OFF ? "0" : table[i].initial, why);
}

/* Returns the row of "--name" or "--name=value"; NULL: it is no option of tune. */
static const struct option_row *find(const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    const size_t length = strcspn(word + 2, "=");
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(table[i].name) == length && strncmp(table[i].name, word + 2, length) == 0)
            return &table[i];
    return NULL;
}

static bool takes_value(const struct option_row *row)
{
    return *row->what != '\0';
}

/* Takes an option at argv[*at]; moves *at on where the value is the next word. */
static kiln_status take_option(tune_options *o, const struct option_row *row, char **argv, int argc,
                               int *at, char *why)
{
    const char *value = strchr(argv[*at], '=');
    if (value && !takes_value(row)) {
        snprintf(why, KILN_ERROR_TEXT, "--%s takes no value", row->name);
        return KILN_INVALID;
    }
    if (!takes_value(row))
        return set(o, row, "1", why);
    value = value ? value + 1 : *at + 1 < argc ? argv[++*at] : NULL;
    if (!value || !*value) {
        snprintf(why, KILN_ERROR_TEXT, "--%s needs a value", row->name);
        return KILN_INVALID;
    }
    o->seconds_given = o->seconds_given || row->offset == AT(seconds);
    return set(o, row, value, why);
}

/* Reads "I/N", I from 1. */
static kiln_status parse_shard(tune_options *o, char *why)
{
    long long index, count;
    int end = 0;
    if (sscanf(o->shard, "%9lld/%9lld%n", &index, &count, &end) != 2 || o->shard[end] ||
        index < 1 || count < 1 || index > count) {
        snprintf(why, KILN_ERROR_TEXT, "--shard is '%.60s'; it must be I/N, such as 1/8 to 8/8",
                 o->shard);
        return KILN_INVALID;
    }
    o->shard_index = index - 1;
    o->shard_count = count;
    return KILN_OK;
}

static int64_t number_of(const char *variable, int64_t otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* An array job of Slurm. Its variables tell the tasks of this job, and a part that is run again is
 * a job of its own: only an array 1-N without gaps tells into how many parts a list is divided. */
static kiln_status take_slurm(tune_options *o, char *why)
{
    const int64_t id = number_of("SLURM_ARRAY_TASK_ID", -1),
                  first = number_of("SLURM_ARRAY_TASK_MIN", -1),
                  last = number_of("SLURM_ARRAY_TASK_MAX", -1),
                  step = number_of("SLURM_ARRAY_TASK_STEP", 1),
                  count = number_of("SLURM_ARRAY_TASK_COUNT", last);
    const char *text = getenv("SLURM_ARRAY_TASK_ID");
    o->shard_count = 1;
    if (!text || !*text)
        return KILN_OK;
    if (first != 1 || step != 1 || last < 2 || count != last || id < 1 || id > last) {
        snprintf(why, KILN_ERROR_TEXT,
                 "task %.20s of a Slurm array of %lld, %lld to %lld, does not tell into how many "
                 "parts the list is divided, as only a whole array 1-N does; say --shard I/N, such "
                 "as --shard $SLURM_ARRAY_TASK_ID/N (1/1: the whole list)",
                 text, (long long)(count < 0 ? 1 : count), (long long)first, (long long)last);
        return KILN_INVALID;
    }
    o->shard_of_slurm = true;
    o->shard_index = id - 1;
    o->shard_count = last;
    return KILN_OK;
}

/* Refuses flags of conv that say nothing about a line. */
static kiln_status check_flags(const flags *f, char *why)
{
    const char *sentence = f->json && f->csv ? "--json and --csv exclude each other"
                           : *f->batch_file  ? "name files without --batch: kiln tune FILE..."
                                             : "";
    snprintf(why, KILN_ERROR_TEXT, "%s", sentence);
    return *sentence ? KILN_INVALID : KILN_OK;
}

kiln_status tune_options_parse(tune_options *o, request *defaults, const char **files, int *nfiles,
                               int argc, char **argv, char *why)
{
    char **flags = malloc(((size_t)argc + 1) * sizeof *flags);
    int nflags = 0;
    kiln_status status = KILN_OK;
    init(o);
    *nfiles = 0;
    if (!flags) {
        snprintf(why, KILN_ERROR_TEXT, "out of memory for the flags");
        return KILN_NO_MEMORY;
    }
    flags[nflags++] = argv[0];
    for (int i = 1; i < argc && !status; i++) {
        const struct option_row *row = find(argv[i]);
        if (strcmp(argv[i], "-h") == 0)
            o->help = 1;
        else if (row)
            status = take_option(o, row, argv, argc, &i, why);
        else if (argv[i][0] != '-' || !argv[i][1])
            files[(*nfiles)++] = argv[i];
        else
            for (int n = flags_width(argv[i]); n > 0 && i < argc; n--)
                flags[nflags++] = argv[n > 1 ? i++ : i];
    }
    flags[nflags] = NULL;
    if (!status && !o->help)
        status = flags_parse(&defaults->flags, nflags, flags, why);
    free(flags);
    if (!status)
        status = check_flags(&defaults->flags, why);
    if (o->total_time > 0 && !o->seconds_given)
        o->seconds = 0;
    o->shard_count = 1;
    if (status || o->help || defaults->flags.help)
        return status;
    return *o->shard ? parse_shard(o, why) : take_slurm(o, why);
}

void tune_options_limits(const tune_options *o, char text[TUNE_LIMITS_TEXT])
{
    snprintf(text, TUNE_LIMITS_TEXT, "seconds=%g total=%g trials=%lld patience=%lld solvers=%.120s",
             o->seconds, o->total_time, (long long)o->trials, (long long)o->patience, o->solvers);
}

static const char head[] =
    "usage: kiln tune FILE... [OPTIONS] [FLAGS]\n"
    "\n"
    "Searches for the fastest config of every convolution in the files (-: standard input) and\n"
    "keeps it in the user's tuning rows. A file has what conv --batch takes: driver lines,\n"
    "benchdnn's and oneDNN's lines, columns of sizes, problem names, or a log around them. FLAGS\n"
    "are those of conv and are defaults for each line: -F 1 (directions), -I any -O any "
    "(layouts),\n"
    "--max-batchsize 1, --match TEXT and others.\n"
    "\n"
    "Each config runs in a process of its own kind: one that crashes, hangs or eats memory costs\n"
    "its trial and is never tried again. Every result is verified before it may win. All trials\n"
    "go to a log beside the rows. After Ctrl-C or a kill the same command goes on where it was.\n"
    "\n"
    "Options ([defaults]; a time T is 90, 90s, 10m or 2h):\n";

static const char tail[] =
    "\n"
    "Examples:\n"
    "  kiln tune layers.txt -F 1 --seconds 20\n"
    "      tune the forward direction of each layer for up to 20 seconds\n"
    "  KILN_LOG_CMD=calls.txt ./application; kiln tune calls.txt --profile --total-time 1h\n"
    "      tune what an application really runs, in an hour, by its share of the time\n"
    "  kiln tune layers.txt --device all\n"
    "      tune on all devices of this machine\n"
    "  kiln tune layers.txt --shard 3/8\n"
    "      tune the third of eight parts; kiln db merge joins the rows\n"
    "\n"
    "Exit status: as of conv; 3 where no solver takes some problem, 130 after Ctrl-C.\n";

void tune_options_help(FILE *to)
{
    enum { LEFT = 6 };
    fputs(head, to);
    for (int i = 0; i < OPTIONS; i++) {
        const bool plain = !takes_value(&table[i]) || !*table[i].initial;
        char help[400];
        fprintf(to, "  --%s%s%s\n", table[i].name, takes_value(&table[i]) ? " " : "",
                table[i].what);
        snprintf(help, sizeof help, plain ? "%s" : "%s [%s]", table[i].help, table[i].initial);
        flags_print_wrapped(to, LEFT, 0, help);
    }
    fputs(tail, to);
}
