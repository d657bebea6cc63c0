/* Words, numbers and names of a problem list's line. */
#include "list_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

list_word list_next_word(const char **at)
{
    const char *p = *at;
    while (blank(*p))
        p++;
    list_word word = {.at = p};
    while (*p && !blank(*p))
        p++;
    word.length = (size_t)(p - word.at);
    *at = p;
    return word;
}

bool list_word_is(list_word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

bool list_is_program(list_word word, const char *program)
{
    size_t n = strlen(program);
    return word.length >= n && memcmp(word.at + word.length - n, program, n) == 0 &&
           (word.length == n || strchr("/\\", word.at[word.length - n - 1]));
}

bool list_take_prefix(list_word *word, const char *prefix)
{
    const size_t n = strlen(prefix);
    if (word->length < n || memcmp(word->at, prefix, n) != 0)
        return false;
    *word = (list_word){word->at + n, word->length - n};
    return true;
}

list_word list_take_part(list_word *word, char letter)
{
    const char *end = memchr(word->at, letter, word->length);
    const list_word part = {word->at, end ? (size_t)(end - word->at) : word->length};
    const size_t gone = part.length + (end != NULL);
    *word = (list_word){word->at + gone, word->length - gone};
    return part;
}

bool list_at_end(const char *at)
{
    list_word next = list_next_word(&at);
    return next.length == 0 || next.at[0] == '#';
}

void list_copy_printable(list_word word, char *text, size_t size)
{
    size_t n = 0;
    for (; n + 1 < size && n < word.length; n++)
        text[n] = word.at[n] >= ' ' && word.at[n] <= '~' ? word.at[n] : '?';
    text[n] = '\0';
}

list_quoted list_quote(list_word word)
{
    list_quoted q;
    list_copy_printable(word, q.text, sizeof q.text);
    return q;
}

bool list_scan_int(const char **at, int64_t *value)
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

list_kind list_bad(list_entry *entry, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(entry->why, sizeof entry->why, format, list);
    va_end(list);
    return LIST_BAD;
}

/* "name*4" gives name and 4. Some lists number their layers after that ("*2:19"): then the name
 * stays whole, as it does where nothing would be left of it. */
void list_take_name(list_word word, list_entry *entry)
{
    entry->repeat = 1;
    for (size_t star = word.length; star-- > 0;) {
        if (word.at[star] != '*')
            continue;
        int64_t times;
        const char *p = word.at + star + 1, *end = word.at + word.length;
        if (!list_scan_int(&p, &times) || p > end || times < 1 || times > 1000000)
            break;
        if (p == end || *p == ':')
            entry->repeat = (int)times;
        if (p == end && star > 0)
            word.length = star;
        break;
    }
    list_copy_printable(word, entry->name, sizeof entry->name);
}
