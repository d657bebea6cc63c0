/* Tells the kind of a line and calls that kind's reader. */
#include "problem_list.h"

#include "list_columns.h"
#include "list_descriptor.h"
#include "list_log.h"
#include "list_onednn.h"
#include "list_text.h"

#include <string.h>

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

/* Whether a bad line is other text of a log: in a file without columns, below a line of a log, and
 * no failed descriptor. */
static bool is_prose(const list_reader *reader, const char *line)
{
    return reader->log && reader->columns == 0 && !reader->broken &&
           !list_starts_as_descriptor(line);
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
    list_kind kind;
    if (list_read_onednn(reader, line, entry, &kind))
        return kind;
    kind = list_read_log(reader, line, entry);
    if (kind != LIST_NOTHING)
        return kind;
    if (is_problem(line))
        return read_problem(line, entry);
    bool descriptor = list_is_descriptor(line);
    kind = descriptor ? list_read_descriptor(line, reader->options.transposed, entry)
                      : list_read_columns(reader, line, entry);
    if (kind == LIST_SHAPE && descriptor)
        return list_apply_options(reader, entry);
    return kind == LIST_BAD && is_prose(reader, line) ? LIST_LOG : kind;
}
