/* Sentences that say no. */
#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

static void write_sentence(char *why, const char *format, va_list list)
{
    if (why)
        vsnprintf(why, KILN_ERROR_TEXT, format, list);
}

kiln_status kiln_refuse(char *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_sentence(why, format, list);
    va_end(list);
    return KILN_INVALID;
}

bool kiln_deny(char *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_sentence(why, format, list);
    va_end(list);
    return false;
}

bool kiln_no(kiln_why *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_sentence(why ? why->text : NULL, format, list);
    va_end(list);
    if (why)
        why->limit = false;
    return true;
}

bool kiln_no_room(kiln_why *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_sentence(why ? why->text : NULL, format, list);
    va_end(list);
    if (why)
        why->limit = true;
    return true;
}
