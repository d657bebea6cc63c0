/* Escapes texts for a page. */
#include "html.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Returns the bytes of the UTF-8 character at `s`; 0 where there is none. */
static size_t character(const unsigned char *s)
{
    static const struct {
        unsigned char mask, head;
        unsigned least; /* a shorter form would do for smaller characters */
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 0; n < sizeof forms / sizeof *forms; n++) {
        if ((s[0] & forms[n].mask) != forms[n].head)
            continue;
        unsigned value = s[0] & ~forms[n].mask & 0xffu;
        for (size_t i = 1; i <= n; i++) {
            if ((s[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (s[i] & 0x3fu);
        }
        const unsigned control = 0x20, last_control = 0x9f, surrogates = 0xd800, others = 0xdfff,
                       none = 0xfffe, most = 0x10ffff;
        if (value < forms[n].least || value < control || (value >= 0x7f && value <= last_control) ||
            (value >= surrogates && value <= others) || (value & none) == none || value > most)
            return 0;
        return n + 1;
    }
    return 0;
}

void html_text(FILE *to, const char *text)
{
    static const struct {
        char letter;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    while (*text) {
        const size_t length = character((const unsigned char *)text);
        const char *entity = length ? NULL : "\xef\xbf\xbd";
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == entities[i].letter)
                entity = entities[i].entity;
        if (entity)
            fputs(entity, to);
        else
            fwrite(text, 1, length, to);
        text += length ? length : 1;
    }
}

void html_fill(FILE *to, const char *pattern, ...)
{
    va_list arguments;
    va_start(arguments, pattern);
    for (; *pattern; pattern++)
        if (*pattern == '%')
            html_text(to, va_arg(arguments, const char *));
        else
            fputc(*pattern, to);
    va_end(arguments);
}

const char *html_number(double value, char text[HTML_NUMBER])
{
    const double size = fabs(value), least = 1e-9, most = 1e15;
    if (!isfinite(value) || size > most)
        snprintf(text, HTML_NUMBER, "?");
    else if (size < least)
        snprintf(text, HTML_NUMBER, "0");
    else {
        const int digits = 2 - (int)floor(log10(size));
        snprintf(text, HTML_NUMBER, "%.*f", digits > 0 ? digits : 0, value);
        if (digits > 0) {
            char *end = text + strlen(text);
            while (end[-1] == '0')
                *--end = '\0';
            if (end[-1] == '.')
                end[-1] = '\0';
        }
    }
    return text;
}
