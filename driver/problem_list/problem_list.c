/* Tells what kind of line a problem list has, and what all kinds share. */
#include "list_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

lines_word lines_next_word(const char **at)
{
    const char *p = *at;
    while (blank(*p))
        p++;
    lines_word word = {.at = p};
    while (*p && !blank(*p))
        p++;
    word.length = (size_t)(p - word.at);
    *at = p;
    return word;
}

bool lines_word_is(lines_word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

bool lines_at_end(const char *at)
{
    lines_word next = lines_next_word(&at);
    return next.length == 0 || next.at[0] == '#';
}

static void copy_printable(lines_word word, char *text, size_t size)
{
    size_t n = 0;
    for (; n + 1 < size && n < word.length; n++)
        text[n] = word.at[n] >= ' ' && word.at[n] <= '~' ? word.at[n] : '?';
    text[n] = '\0';
}

lines_quoted lines_quote(lines_word word)
{
    lines_quoted q;
    copy_printable(word, q.text, sizeof q.text);
    return q;
}

bool lines_scan_int(const char **at, int64_t *value)
{
    const char *p = *at;
    int64_t v = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return false;
    if (p == *at)
        return false;
    *at = p;
    *value = v;
    return true;
}

lines_kind lines_bad(lines_entry *entry, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(entry->why, sizeof entry->why, format, list);
    va_end(list);
    return LINES_BAD;
}

/* "name*4" -> name, 4. Some lists number their layers afterwards ("*2:19"): then the name stays
 * whole, as it does when nothing would be left of it. */
void lines_take_name(lines_word word, lines_entry *entry)
{
    entry->repeat = 1;
    for (size_t star = word.length; star-- > 0;) {
        if (word.at[star] != '*')
            continue;
        int64_t times;
        const char *p = word.at + star + 1, *end = word.at + word.length;
        if (!lines_scan_int(&p, &times) || p > end || times < 1 || times > 1000000)
            break;
        if (p == end || *p == ':')
            entry->repeat = (int)times;
        if (p == end && star > 0)
            word.length = star;
        break;
    }
    copy_printable(word, entry->name, sizeof entry->name);
}

bool lines_axis_is_tame(const lines_axis *a)
{
    const int64_t most = (int64_t)1 << 40;
    return a->in <= most && a->pad >= 0 && a->pad <= most && a->pad_end >= -most &&
           a->pad_end <= most && a->filter - 1 <= most / a->dilation &&
           a->out - 1 <= most / a->stride;
}

bool lines_drop_unread(lines_axis *a)
{
    if (a->pad_end >= 0)
        return true;
    if (a->pad_end <= -a->stride)
        return false;
    int64_t span = a->in + a->pad - (a->filter - 1) * a->dilation - 1;
    if (span + a->pad_end < 0 || (span + a->pad_end) / a->stride != span / a->stride)
        return false;
    a->pad_end = 0;
    return true;
}

lines_kind lines_set_problem(const lines_sizes *s, lines_entry *entry)
{
    kiln_problem p = {.spatial_rank = s->rank,
                      .batch = s->n,
                      .in_channels = s->c,
                      .out_channels = s->k,
                      .groups = s->g};
    for (int i = 0; i < s->rank; i++) {
        const lines_axis *a = &s->axis[3 - s->rank + i];
        p.input[i] = a->in;
        p.filter[i] = a->filter;
        p.stride[i] = a->stride;
        p.dilation[i] = a->dilation;
        p.pad_begin[i] = a->pad;
        p.pad_end[i] = a->pad_end;
        if (a->stride < 1 || a->dilation < 1) /* 0 is a default only inside the program */
            return lines_bad(entry, "a stride or dilation is 0; the least is 1");
    }
    if (s->g < 1)
        return lines_bad(entry, "there are 0 groups; the least is 1");
    entry->problem = p;
    return kiln_problem_check(&p, entry->why) == KILN_OK ? LINES_SHAPE : LINES_BAD;
}

static bool ends_with(lines_word word, const char *end)
{
    size_t n = strlen(end);
    return word.length >= n && memcmp(word.at + word.length - n, end, n) == 0;
}

/* "conv -n 1" (but a layer may be called conv), "-n 1", "kiln conv", and what a log holds: any
 * words, then a path to MIOpenDriver. */
static bool is_command(const char *line)
{
    static const char *const first[] = {"conv", "convfp16", "convbfp16", "convint8"};
    const char *rest = line;
    lines_word word = lines_next_word(&rest), next = lines_next_word(&rest);
    if (word.at[0] == '-')
        return true;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (lines_word_is(word, first[i]))
            return next.length == 0 || next.at[0] == '-';
    if ((lines_word_is(word, "kiln") || ends_with(word, "/kiln")) && next.length > 0 &&
        strncmp(next.at, "conv", 4) == 0)
        return true;
    for (lines_word w; (w = lines_next_word(&line)).length > 0;)
        if (ends_with(w, "MIOpenDriver"))
            return true;
    return false;
}

/* A single word "fwd-..." or "192-28-...". */
static bool is_problem(const char *line)
{
    lines_word word = lines_next_word(&line);
    if (!lines_at_end(line) || word.length < 4)
        return false;
    bool digit = word.at[0] >= '0' && word.at[0] <= '9';
    for (int d = 0; d < 3; d++)
        if (strncmp(word.at, kiln_direction_name((kiln_direction)d), 3) == 0 && word.at[3] == '-')
            return true;
    return digit && memchr(word.at, '-', word.length);
}

static lines_kind read_problem(const char *line, lines_entry *entry)
{
    char text[KILN_KEY_TEXT];
    lines_word word = lines_next_word(&line);
    if (word.length >= sizeof text)
        return lines_bad(entry, "a problem's text has at most %d bytes, not %zu", KILN_KEY_TEXT - 1,
                         word.length);
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    return kiln_problem_parse(&entry->problem, text, entry->why) ? LINES_BAD : LINES_PROBLEM;
}

lines_kind lines_read(lines_reader *reader, const char *line, lines_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    entry->repeat = 1;
    const char *rest = line;
    lines_word word = lines_next_word(&rest);
    if (word.length == 0)
        return LINES_NOTHING;
    if (word.at[0] == '#')
        return lines_read_comment(reader, word.at + 1, entry);
    if (is_command(line))
        return LINES_COMMAND;
    if (is_problem(line))
        return read_problem(line, entry);
    return lines_is_descriptor(line) ? lines_read_descriptor(line, entry)
                                     : lines_read_columns(reader, line, entry);
}
