/* Reads UTF-8 without trust, and shows what would be hidden. */
#include "utf8.h"

size_t utf8_read(const char *text, uint32_t *value)
{
    static const struct {
        unsigned char mask, head;
        uint32_t least; /* a shorter form would do for smaller characters */
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    const unsigned char *s = (const unsigned char *)text;
    const uint32_t surrogates = 0xd800, behind = 0xe000, most = 0x10ffff;
    for (size_t n = 0; n < sizeof forms / sizeof *forms; n++) {
        if ((s[0] & forms[n].mask) != forms[n].head)
            continue;
        uint32_t v = s[0] & ~forms[n].mask & 0xffu;
        size_t i = 1;
        for (; i <= n && (s[i] & 0xc0) == 0x80; i++)
            v = v << 6 | (s[i] & 0x3fu);
        if (i <= n || v < forms[n].least || (v >= surrogates && v < behind) || v > most)
            break;
        *value = v;
        return n + 1;
    }
    *value = UTF8_REPLACEMENT;
    return 1;
}

bool utf8_is_hidden(uint32_t value)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                  {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                  {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (value >= ranges[i].first && value <= ranges[i].last)
            return true;
    return false;
}

size_t utf8_write(FILE *to, const char *s)
{
    uint32_t value;
    const size_t length = utf8_read(s, &value);
    if (utf8_is_hidden(value))
        fprintf(to, "\\u%04x", (unsigned)value);
    else if (value == UTF8_REPLACEMENT)
        fputs("\xef\xbf\xbd", to);
    else
        fwrite(s, 1, length, to);
    return length;
}
