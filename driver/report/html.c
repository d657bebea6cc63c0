/* Escapes texts for a page. */
#include "html.h"

#include "driver/base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void html_text(FILE *to, const char *text)
{
    static const struct {
        char letter;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    while (*text) {
        uint32_t value;
        const size_t length = utf8_read(text, &value);
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == entities[i].letter)
                entity = entities[i].entity;
        if (entity)
            fputs(entity, to);
        else
            utf8_write(to, text);
        text += length;
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
