/* Finds driver commands in lines of logs and shell scripts, and knows lines that hold none. */
#include "list_log.h"

#include "list_text.h"

#include <stdio.h>
#include <string.h>

static const char driver_name[] = "MIOpenDriver";

static bool quote_mark(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

const char *list_find_program(const char *line, const char *program, const char **name)
{
    for (const char *at = line; (at = strstr(at, program)); at++) {
        const char *after = at + strlen(program);
        bool begins = at == line || strchr(" \t/\\(", at[-1]) || quote_mark(at[-1]);
        if (strncmp(after, ".exe", 4) == 0)
            after += 4;
        *name = at;
        if (*after && quote_mark(*after))
            after++;
        after += *after == ':';
        if (begins && (!*after || strchr(" \t\r\n", *after)))
            return after;
    }
    return NULL;
}

static const char *find_driver(const char *line, const char **name)
{
    return list_find_program(line, driver_name, name);
}

char list_open_quote(const char *line, const char *at)
{
    char quote = 0;
    for (; line < at; line++)
        if (*line == quote)
            quote = 0;
        else if (!quote && quote_mark(*line))
            quote = *line;
    return quote;
}

/* Whether nothing but variables of a shell, "$MORE" or $@, stands from `at` to a command's end. */
static bool only_variables(const char *at)
{
    list_word word;
    bool any = false;
    while ((word = list_next_word(&at)).length > 0 && !strchr("<>|;&)#", *word.at)) {
        const char *first = word.at + (quote_mark(*word.at) && word.length > 1);
        if (*first != '$')
            return false;
        any = true;
    }
    return any;
}

const char *list_command_end(const char *at, char outer)
{
    char quote = 0;
    for (const char *p = at; *p; p++) {
        bool first = p == at || p[-1] == ' ' || p[-1] == '\t';
        if (!quote && (*p == outer || (first && only_variables(p))))
            return p;
        if (quote) {
            quote = *p == quote ? 0 : quote;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (*p == '\\' && p[1]) {
            p++;
        } else if (strchr("<>", *p)) {
            const char *digits = p;
            while (digits > at && digits[-1] >= '0' && digits[-1] <= '9')
                digits--;
            return digits > at && strchr(" \t", digits[-1]) ? digits : p;
        } else if (strchr("|;&)", *p) || (*p == '#' && first)) {
            return p;
        }
    }
    return at + strlen(at);
}

/* Reads the comment of KILN_LOG_CMD, "# 12 runs": how often a program runs the convolution. */
static int runs_of(const char *comment)
{
    enum { MOST = 1000000000 };
    long long runs;
    int end = 0;
    if (sscanf(comment, "# %10lld run%n", &runs, &end) != 1 || end == 0 || runs < 1)
        return 1;
    return runs < MOST ? (int)runs : MOST;
}

static list_kind take_command(const char *line, const char *at, char outer, list_entry *entry)
{
    const char *end = list_command_end(at, outer), *name;
    entry->begin = (size_t)(at - line);
    entry->end = (size_t)(end - line);
    entry->repeat = runs_of(end);
    if (*end != '#' && find_driver(end, &name))
        entry->rest = entry->end;
    return LIST_COMMAND;
}

static list_kind take_foreign(list_word word, list_entry *entry)
{
    snprintf(entry->name, sizeof entry->name, "%s", list_quote(word).text);
    return LIST_FOREIGN;
}

/* "conv -n 1" (a layer may be called conv, too), "-n 1" or "kiln conv". */
static bool is_command(const char *line)
{
    static const char *const words[] = {"conv",     "convfp16", "convbfp16",
                                        "convint8", "convfp8",  "convbfp8"};
    list_word word = list_next_word(&line), next = list_next_word(&line);
    if (word.at[0] == '-')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (list_word_is(word, words[i]))
            return next.length == 0 || next.at[0] == '-';
    return list_is_program(word, "kiln") && strncmp(next.at, "conv", 4) == 0;
}

/* One of MIOpenDriver's other words, before flags. */
static bool is_foreign(const char *line)
{
    static const char *const words[] = {"CBAInfer", "activ",  "bnorm", "cat",       "ctc",
                                        "dropout",  "fill",   "gemm",  "layernorm", "lrn",
                                        "pool",     "reduce", "rnn",   "softmax",   "tensorop"};
    list_word word = list_next_word(&line), next = list_next_word(&line);
    static const char *const types[] = {"", "fp16", "bfp16", "int8", "fp64"};
    char name[32];
    for (size_t i = 0; next.length && next.at[0] == '-' && i < sizeof words / sizeof *words; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            snprintf(name, sizeof name, "%s%s", words[i], types[t]);
            if (list_word_is(word, name))
                return true;
        }
    return false;
}

/* Text of MIOpen's logging, "MIOpen(HIP): Info [Find] ...", or of the driver itself. */
static bool is_log(const char *line)
{
    static const char *const begins[] = {"MIOpen Forward Conv",
                                         "MIOpen Backward ",
                                         "GPU Kernel Time ",
                                         "Wall-clock Time ",
                                         "stats: ",
                                         "Forward Conv",
                                         "Backward Conv",
                                         "Forward Activation",
                                         "PRNG seed: ",
                                         "Warm-up: ",
                                         "Read data from input file ",
                                         "Wrote output to file ",
                                         "Info: ",
                                         "Warning: ",
                                         "- id: "};
    const char *marker = strstr(line, "MIOpen(");
    if (marker && strstr(marker, "):"))
        return true;
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

list_kind list_read_log(list_reader *reader, const char *line, list_entry *entry)
{
    const char *name, *after = find_driver(line, &name);
    if (after) {
        const char *rest = after;
        list_word word = list_next_word(&rest);
        take_command(line, word.at, list_open_quote(line, name), entry);
        if (line + entry->end <= word.at)
            return take_foreign((list_word){name, sizeof driver_name - 1}, entry);
        return word.at[0] == '-' || strncmp(word.at, "conv", 4) == 0 ? LIST_COMMAND
                                                                     : take_foreign(word, entry);
    }
    const char *rest = line;
    list_word first = list_next_word(&rest);
    if (is_foreign(line))
        return take_foreign(first, entry);
    if (is_command(line))
        return take_command(
            line, list_is_program(first, "kiln") ? list_next_word(&rest).at : first.at, 0, entry);
    if (!is_log(line))
        return LIST_NOTHING;
    reader->log = true;
    return LIST_LOG;
}
