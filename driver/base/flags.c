/* Parses the command line by the table of flags; takes no abbreviations. */
#include "flag_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char *flag_title(const flag *row, char *text, size_t size)
{
    if (row->letter)
        snprintf(text, size, "--%s (-%c)", row->name, row->letter);
    else
        snprintf(text, size, "--%s", row->name);
    return text;
}

/* Returns the index of `value` in "a|b|c"; -1: it is not among them. */
static int choice_named(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (int i = 0;; i++) {
        size_t n = strcspn(choices, "|");
        if (n == length && memcmp(choices, value, n) == 0)
            return i;
        if (!choices[n])
            return -1;
        choices += n + 1;
    }
}

static kiln_status set_number(flags *f, const flag *row, const char *value, char *why)
{
    char *end;
    char title[64];
    errno = 0;
    long long number = strtoll(value, &end, 10);
    bool plain = (*value == '-' || (*value >= '0' && *value <= '9')) && end != value && !*end;
    if (!plain || errno == ERANGE || number < row->min || number > row->max) {
        snprintf(why, KILN_ERROR_TEXT, "%s is '%.60s'; it must be a whole number from %lld to %lld",
                 flag_title(row, title, sizeof title), value, (long long)row->min,
                 (long long)row->max);
        return KILN_INVALID;
    }
    *flag_number(f, row) = number;
    return KILN_OK;
}

/* Returns the spatial axis of a flag, 0 to 2 for D, H, W; -1: it has none. */
static int axis_of(const flag *row)
{
    static const size_t arrays[] = {offsetof(flags, size),      offsetof(flags, filter),
                                    offsetof(flags, stride),    offsetof(flags, dilation),
                                    offsetof(flags, pad),       offsetof(flags, pad_end),
                                    offsetof(flags, output_pad)};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (row->offset >= arrays[i] && row->offset < arrays[i] + 3 * sizeof(int64_t))
            return (int)((row->offset - arrays[i]) / sizeof(int64_t));
    return -1;
}

static kiln_status set_real(flags *f, const flag *row, const char *value, char *why)
{
    char *end;
    double number = strtod(value, &end);
    bool plain = end != value && !*end && strspn(value, "+-.0123456789eE") == strlen(value);
    if (!plain || number - number != 0) {
        snprintf(why, KILN_ERROR_TEXT, "--%s is '%.60s'; it must be a finite number", row->name,
                 value);
        return KILN_INVALID;
    }
    *flag_real(f, row) = number;
    return KILN_OK;
}

static kiln_status set_choice(flags *f, const flag *row, const char *value, char *why)
{
    char title[64];
    int index = choice_named(row->what, value);
    if (index < 0) {
        snprintf(why, KILN_ERROR_TEXT, "%s is '%.60s'; it must be one of %s",
                 flag_title(row, title, sizeof title), value, row->what);
        return KILN_INVALID;
    }
    *flag_number(f, row) = index;
    return KILN_OK;
}

static kiln_status add_text(flags *f, const flag *row, const char *value, char *why)
{
    flag_texts *list = flag_list(f, row);
    if (list->count == FLAGS_TEXTS) {
        snprintf(why, KILN_ERROR_TEXT, "--%s is given more than %d times", row->name, FLAGS_TEXTS);
        return KILN_INVALID;
    }
    list->text[list->count++] = value;
    return KILN_OK;
}

static kiln_status set_flag(flags *f, const flag *row, const char *value, char *why)
{
    switch (row->kind) {
    case NUMBER:
        return set_number(f, row, value, why);
    case REAL:
        return set_real(f, row, value, why);
    case CHOICE:
        return set_choice(f, row, value, why);
    case SWITCH:
        *flag_number(f, row) = value ? *value == '1' : 1;
        return KILN_OK;
    case TEXT:
        *flag_text(f, row) = value;
        return KILN_OK;
    case TEXTS:
        return *value ? add_text(f, row, value, why) : KILN_OK;
    }
    return KILN_INVALID;
}

/* "" is the value of a flag that was not given; on a command line it is often a variable that a
 * script forgot to set. */
static kiln_status refuse_empty(const flag *row, char *why)
{
    char title[64];
    snprintf(why, KILN_ERROR_TEXT, "%s is ''; give %s, or leave the flag out",
             flag_title(row, title, sizeof title), row->what);
    return KILN_INVALID;
}

void flags_init(flags *f)
{
    char why[KILN_ERROR_TEXT];
    memset(f, 0, sizeof *f);
    for (int i = 0; i < flag_rows; i++)
        set_flag(f, &flag_table[i], flag_table[i].initial, why);
}

/* Counts the insertions, deletions and changes of letters that turn one name into the other; '-'
 * and
 * '_' count as the same. */
static int distance(const char *a, const char *b)
{
    int row[64];
    int n = (int)strlen(b) < 63 ? (int)strlen(b) : 63;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            char p = a[i - 1] == '-' ? '_' : a[i - 1], q = b[j - 1] == '-' ? '_' : b[j - 1];
            int best = diagonal + (p != q);
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

static kiln_status unknown_long(const char *word, char *why)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    int best = 0, steps = distance(name, flag_table[0].name);
    for (int i = 1; i < flag_rows; i++) {
        /* The beginning of a name counts as the name. */
        bool begins = *name && strncmp(name, flag_table[i].name, strlen(name)) == 0;
        int here = begins ? 0 : distance(name, flag_table[i].name);
        if (here < steps) {
            best = i;
            steps = here;
        }
    }
    snprintf(why, KILN_ERROR_TEXT, "unknown flag --%s; did you mean --%s?", name,
             flag_table[best].name);
    return KILN_INVALID;
}

static const flag *flag_lettered(int letter)
{
    for (int i = 0; i < flag_rows; i++)
        if (flag_table[i].letter && flag_table[i].letter == letter)
            return &flag_table[i];
    return NULL;
}

static kiln_status unknown_letter(int letter, char *why)
{
    bool lower = letter >= 'a' && letter <= 'z', upper = letter >= 'A' && letter <= 'Z';
    const flag *near = lower ? flag_lettered(letter - 32) : upper ? flag_lettered(letter + 32) : 0;
    if (near)
        snprintf(why, KILN_ERROR_TEXT, "unknown flag -%c; did you mean -%c (--%s)?", letter,
                 near->letter, near->name);
    else
        snprintf(why, KILN_ERROR_TEXT, "unknown flag -%c; kiln --help lists them all", letter);
    return KILN_INVALID;
}

/* Makes the tables of getopt_long(), which returns LONG_BASE + row for a long flag. */
enum { LONG_BASE = 256 };

static void getopt_tables(char *letters, struct option *names)
{
    char *to = letters;
    *to++ = '+'; /* stop at the first word that is not a flag */
    *to++ = ':'; /* tell a missing value from an unknown flag */
    for (int i = 0; i < flag_rows; i++) {
        bool value = flag_table[i].kind != SWITCH;
        if (flag_table[i].letter)
            *to++ = flag_table[i].letter;
        if (flag_table[i].letter && value)
            *to++ = ':';
        names[i] = (struct option){flag_table[i].name, value ? required_argument : no_argument,
                                   NULL, LONG_BASE + i};
    }
    *to = '\0';
    names[flag_rows] = (struct option){NULL, 0, NULL, 0};
}

static const flag *flag_of(int code)
{
    return code >= LONG_BASE ? &flag_table[code - LONG_BASE] : flag_lettered(code);
}

/* getopt_long() also takes "--in_c" for --in_channels. kiln refuses that: a script with abbreviated
 * flags would break when a new flag begins the same. */
static bool abbreviated(const flag *row, char **argv)
{
    const char *word = argv[optind - 1];
    if (optarg && optarg == word)
        word = argv[optind - 2];
    return strcspn(word + 2, "=") != strlen(row->name);
}

static kiln_status refuse(int code, char **argv, char *why)
{
    char title[64];
    const flag *row = flag_of(optopt);
    if (code == ':') {
        snprintf(why, KILN_ERROR_TEXT, "%s needs a value", flag_title(row, title, sizeof title));
        return KILN_INVALID;
    }
    if (optopt == '?')
        return KILN_OK; /* -? asks for help */
    if (optopt >= LONG_BASE) {
        snprintf(why, KILN_ERROR_TEXT, "--%s takes no value", row->name);
        return KILN_INVALID;
    }
    return optopt ? unknown_letter(optopt, why) : unknown_long(argv[optind - 1], why);
}

int flags_width(const char *word)
{
    const flag *row = NULL;
    if (word[0] != '-' || !word[1] || strchr(word, '='))
        return 1;
    if (word[1] != '-')
        row = word[2] ? NULL : flag_lettered(word[1]);
    for (int i = 0; word[1] == '-' && i < flag_rows; i++)
        if (strcmp(flag_table[i].name, word + 2) == 0)
            row = &flag_table[i];
    return row && row->kind != SWITCH ? 2 : 1;
}

/* Why values of flags of an axis were refused; they are, if the problem has the axis. */
typedef struct axis_refusals {
    char why[3][KILN_ERROR_TEXT];
} axis_refusals;

/* Sets a flag. What is wrong with the value of an axis's flag is kept for later. */
static kiln_status set_or_keep(flags *f, const flag *row, const char *value, axis_refusals *kept,
                               char *why)
{
    const int axis = axis_of(row);
    const bool empty = (row->kind == TEXT || row->kind == TEXTS) && !*value;
    const kiln_status status = empty ? refuse_empty(row, why) : set_flag(f, row, value, why);
    if (!status || axis < 0)
        return status;
    if (!*kept->why[axis])
        memcpy(kept->why[axis], why, KILN_ERROR_TEXT);
    return KILN_OK;
}

/* Returns what was kept of the axes that the problem has. */
static kiln_status kept_refusal(const flags *f, const axis_refusals *kept, char *why)
{
    for (int axis = 3 - (int)f->spatial_dim; axis < 3; axis++)
        if (*kept->why[axis]) {
            memcpy(why, kept->why[axis], KILN_ERROR_TEXT);
            return KILN_INVALID;
        }
    return KILN_OK;
}

kiln_status flags_parse(flags *f, int argc, char **argv, char *why)
{
    axis_refusals kept = {0};
    char letters[2 * FLAGS_MAX + 3];
    struct option names[FLAGS_MAX + 1];
    getopt_tables(letters, names);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    int code;
    while ((code = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        kiln_status status;
        if (code == '?' || code == ':') {
            if ((status = refuse(code, argv, why)))
                return status;
            f->help = 1;
            continue;
        }
        const flag *row = flag_of(code);
        if (code >= LONG_BASE && abbreviated(row, argv))
            return unknown_long(argv[optarg == argv[optind - 1] ? optind - 2 : optind - 1], why);
        status = set_or_keep(f, row, optarg, &kept, why);
        if (status)
            return status;
        f->given[row - flag_table] = true;
    }
    if (optind < argc) {
        snprintf(why, KILN_ERROR_TEXT, "'%.60s' is not a flag: flags start with -", argv[optind]);
        return KILN_INVALID;
    }
    return kept_refusal(f, &kept, why);
}

bool flags_given(const flags *f, const char *name)
{
    for (int i = 0; i < flag_rows; i++)
        if (strcmp(flag_table[i].name, name) == 0)
            return f->given[i];
    return false;
}

const char *flags_given_shape(const flags *f)
{
    for (int i = 0; i < flag_rows; i++)
        if (f->given[i] && flag_table[i].group == GROUP_SHAPE &&
            flag_table[i].offset != offsetof(flags, problem))
            return flag_table[i].name;
    return NULL;
}
