/* Tells the kind of a line and calls that kind's reader. */
#include "problem_list.h"

#include "list_columns.h"
#include "list_descriptor.h"
#include "list_text.h"

#include <string.h>

static bool ends_with(list_word word, const char *end)
{
    size_t n = strlen(end);
    return word.length >= n && memcmp(word.at + word.length - n, end, n) == 0;
}

/* Whether the line is a command: "conv -n 1" (a layer may be called conv, too), "-n 1", "kiln
 * conv", or from a log any words and then a path to MIOpenDriver. */
static bool is_command(const char *line)
{
    static const char *const first[] = {"conv", "convfp16", "convbfp16", "convint8"};
    const char *rest = line;
    list_word word = list_next_word(&rest), next = list_next_word(&rest);
    if (word.at[0] == '-')
        return true;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (list_word_is(word, first[i]))
            return next.length == 0 || next.at[0] == '-';
    if ((list_word_is(word, "kiln") || ends_with(word, "/kiln")) && next.length > 0 &&
        strncmp(next.at, "conv", 4) == 0)
        return true;
    for (list_word w; (w = list_next_word(&line)).length > 0;)
        if (ends_with(w, "MIOpenDriver"))
            return true;
    return false;
}

/* Whether the line is a single word "fwd-..." or "192-28-...". */
static bool is_problem(const char *line)
{
    list_word word = list_next_word(&line);
    if (!list_at_end(line) || word.length < 4)
        return false;
    bool digit = word.at[0] >= '0' && word.at[0] <= '9';
    for (int d = 0; d < 3; d++)
        if (strncmp(word.at, kiln_direction_name((kiln_direction)d), 3) == 0 && word.at[3] == '-')
            return true;
    return digit && memchr(word.at, '-', word.length);
}

static list_kind read_problem(const char *line, list_entry *entry)
{
    char text[KILN_KEY_TEXT];
    list_word word = list_next_word(&line);
    if (word.length >= sizeof text)
        return list_bad(entry, "a problem's text has at most %d bytes, not %zu", KILN_KEY_TEXT - 1,
                        word.length);
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    return kiln_problem_parse(&entry->problem, text, entry->why) ? LIST_BAD : LIST_PROBLEM;
}

list_kind list_read(list_reader *reader, const char *line, list_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    entry->repeat = 1;
    const char *rest = line;
    list_word word = list_next_word(&rest);
    if (word.length == 0)
        return LIST_NOTHING;
    if (word.at[0] == '#')
        return list_read_comment(reader, word.at + 1, entry);
    if (is_command(line))
        return LIST_COMMAND;
    if (is_problem(line))
        return read_problem(line, entry);
    return list_is_descriptor(line) ? list_read_descriptor(line, entry)
                                    : list_read_columns(reader, line, entry);
}
