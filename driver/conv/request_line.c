/* Parses one line of a file of problems. */
#include "request_line.h"

#include "conv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 256 };

/* Splits a line in place at blanks; quotes and backslashes work as in a shell. Returns the number
 * of words; -1: a quote is left open or there are too many words. */
static int split(char *line, char **words)
{
    int count = 0;
    char *from = line, *to = line;
    while (*(from += strspn(from, " \t\r\n"))) {
        if (count == MAX_WORDS)
            return -1;
        words[count++] = to;
        char quote = 0;
        for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
            if (*from == quote)
                quote = 0;
            else if (!quote && (*from == '\'' || *from == '"'))
                quote = *from;
            else if (*from == '\\' && quote != '\'' && from[1])
                *to++ = *++from;
            else
                *to++ = *from;
        }
        if (quote)
            return -1;
        from += *from != '\0';
        *to++ = '\0';
    }
    return count;
}

/* Returns the first flag of a line that would change what is decided once for all lines; NULL:
 * there is none. */
static const char *flag_of_all(const flags *all, const flags *line)
{
    return line->device != all->device ? "--device"
           : line->json != all->json   ? "--json"
           : line->csv != all->csv     ? "--csv"
           : line->trace != all->trace ? "--trace"
           : line->match != all->match ? "--match"
           : line->start != all->start ? "--start"
                                       : NULL;
}

/* Parses a driver line, from its word or first flag on. */
static kiln_status parse_driver_line(request *r, int count, char **words, char *why)
{
    static char implied[] = "conv";
    char *first[MAX_WORDS + 2];
    int n = 0;
    if (*words[0] == '-')
        first[n++] = implied;
    for (int i = 0; i < count; i++)
        first[n++] = words[i];
    first[n] = NULL;
    if (*words[0] != '-') {
        r->word = words[0];
        request_word(words[0], &r->type);
    }
    const flags all = r->flags; /* given beside --batch */
    kiln_status status = flags_parse(&r->flags, n, first, why);
    if (!status && (r->flags.help || r->flags.list_devices || *r->flags.batch_file)) {
        snprintf(why, KILN_ERROR_TEXT,
                 "--help, --list-devices and --batch do not belong in a file of problems");
        status = KILN_INVALID;
    }
    const char *flag = status ? NULL : flag_of_all(&all, &r->flags);
    if (flag) {
        snprintf(why, KILN_ERROR_TEXT, "%s is for the whole file; give it beside --batch", flag);
        status = KILN_INVALID;
    }
    if (status) { /* it is told as the results of other lines are */
        r->flags.json = all.json;
        r->flags.csv = all.csv;
    }
    return status;
}

/* Parses a line of flags. Changes `text`, which the request then points into. */
static kiln_status parse_command(char *text, request *r, char *why)
{
    char *words[MAX_WORDS];
    kiln_type type;
    int count = split(text, words);
    if (count > 0 && (*words[0] == '-' || request_word(words[0], &type)))
        return parse_driver_line(r, count, words, why);
    snprintf(why, KILN_ERROR_TEXT, "%s",
             count < 0 ? "a quote is left open, or the line has more than 256 words"
                       : "a command in a file is conv, convfp16, convbfp16, convint8, convfp8 or "
                         "convbfp8 with flags");
    return KILN_INVALID;
}

kiln_status request_line_parse(const request *defaults, list_kind kind, const list_entry *entry,
                               char *text, request *r, char *why)
{
    kiln_status status = KILN_OK;
    *r = *defaults;
    r->flags.batch_file = "";
    if (kind == LIST_COMMAND) {
        status = parse_command(text, r, why);
    } else if (kind == LIST_BAD) {
        snprintf(why, KILN_ERROR_TEXT, "%s", entry->why);
        status = entry->unsupported ? KILN_UNSUPPORTED : KILN_INVALID;
    } else {
        if (*entry->flags)
            status = parse_command(text, r, why);
        r->source = kind == LIST_SHAPE ? REQUEST_SHAPE : REQUEST_KEY;
        r->base = entry->problem;
    }
    return status ? status : conv_check(r, why);
}

bool request_line_matches(const request *r, const char *line, const char *match)
{
    char key[KILN_KEY_TEXT], why[KILN_ERROR_TEXT];
    kiln_problem p;
    if (!*match || strstr(line, match))
        return true;
    for (int d = KILN_FORWARD; d <= KILN_BACKWARD_WEIGHTS; d++)
        if (request_wants(r, (kiln_direction)d) &&
            !request_problem(r, (kiln_direction)d, &p, why)) {
            kiln_problem_text(&p, key, sizeof key);
            if (strstr(key, match))
                return true;
        }
    return false;
}
