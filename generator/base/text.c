/* Numbers to text and back. snprintf() and strtof() follow the locale, which the name of a problem
 * must not. */
#include "text.h"

#include <stdio.h>
#include <string.h>

kiln_sink kiln_sink_open(char *text, size_t size)
{
    if (!text)
        size = 0;
    if (size)
        text[0] = '\0';
    return (kiln_sink){.text = text, .size = size};
}

void kiln_put(kiln_sink *sink, const char *text)
{
    size_t n = strlen(text);
    if (sink->length + 1 < sink->size) {
        size_t room = sink->size - sink->length - 1;
        size_t copied = n < room ? n : room;
        memcpy(sink->text + sink->length, text, copied);
        sink->text[sink->length + copied] = '\0';
    }
    sink->length += n;
}

void kiln_put_int(kiln_sink *sink, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    kiln_put(sink, text);
}

void kiln_put_list(kiln_sink *sink, const int64_t *value, int count, char separator)
{
    const char between[2] = {separator, '\0'};
    for (int i = 0; i < count; i++) {
        if (i)
            kiln_put(sink, between);
        kiln_put_int(sink, value[i]);
    }
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits of |value| rounded to `count` of them, and the power of ten of the first. */
static int float_digits(float value, int count, char digits[12])
{
    char raw[64];
    snprintf(raw, sizeof raw, "%.*e", count - 1, (double)value);
    const char *at = raw;
    int n = 0;
    for (; *at && *at != 'e';
         at++) /* skips the sign and the decimal point, whatever character that is here */
        if (digit(*at) && n < count)
            digits[n++] = *at;
    digits[n] = '\0';
    bool negative = *at && at[1] == '-';
    int exponent = 0;
    for (at += *at ? 2 : 0; digit(*at); at++)
        exponent = exponent * 10 + (*at - '0');
    return negative ? -exponent : exponent;
}

/* 1500, 0.015 or 1.5e-9 from digits "15" and a power of ten. */
static void spell_float(bool negative, const char *digits, int exponent, char text[48])
{
    const char *sign = negative ? "-" : "";
    int n = (int)strlen(digits);
    if (exponent >= n - 1 && exponent < 9)
        snprintf(text, 48, "%s%s%.*s", sign, digits, exponent - (n - 1), "000000000");
    else if (exponent >= 0 && exponent < 9)
        snprintf(text, 48, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
    else if (exponent < 0 && exponent >= -5)
        snprintf(text, 48, "%s0.%.*s%s", sign, -exponent - 1, "00000", digits);
    else
        snprintf(text, 48, "%s%c%s%se%d", sign, digits[0], n > 1 ? "." : "", digits + 1, exponent);
}

void kiln_put_float(kiln_sink *sink, float value)
{
    char digits[12], text[48] = "0";
    for (int count = 1; count <= 9 && value != 0; count++) {
        int exponent = float_digits(value, count, digits);
        spell_float(value < 0, digits, exponent, text);
        const char *at = text;
        float back;
        if (kiln_scan_float(&at, &back) && back == value)
            break;
    }
    kiln_put(sink, text);
}

bool kiln_scan(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

bool kiln_scan_int(const char **at, int64_t *value)
{
    const char *p = *at;
    int64_t v = 0;
    if (!digit(*p))
        return false;
    for (; digit(*p); p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return false;
    *value = v;
    *at = p;
    return true;
}

int kiln_scan_list(const char **at, int64_t *value, int most, char separator)
{
    int n = 0;
    const char *p = *at;
    while (n < most && kiln_scan_int(&p, &value[n])) {
        n++;
        *at = p;
        if (*p++ != separator)
            break;
    }
    return n;
}

/* v times that power of ten: in one exact step up to 1e22, in several beyond, more precise than a
 * float needs. */
static double scale(double v, int power)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (; power > 22; power -= 22)
        v *= exact[22];
    for (; power < -22; power += 22)
        v /= exact[22];
    return power < 0 ? v / exact[-power] : v * exact[power];
}

static int scan_exponent(const char **at)
{
    const char *p = *at;
    if (*p != 'e' && *p != 'E')
        return 0;
    p++;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!digit(*p))
        return 0;
    int e = 0;
    for (; digit(*p); p++)
        if (e < 10000)
            e = e * 10 + (*p - '0');
    *at = p;
    return negative ? -e : e;
}

bool kiln_scan_float(const char **at, float *value)
{
    const char *p = *at;
    bool negative = *p == '-', fraction = false;
    p += negative;
    if (!digit(*p))
        return false;
    uint64_t mantissa = 0;
    int power = 0;
    for (; digit(*p) || (*p == '.' && !fraction && digit(p[1])); p++) {
        if (*p == '.') {
            fraction = true;
        } else if (mantissa < UINT64_MAX / 10 - 1) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            power -= fraction && power > -10000;
        } else { /* digits beyond the 19th only count, their values no longer matter */
            power += !fraction && power < 10000;
        }
    }
    power += scan_exponent(&p);
    power = power > 400 ? 400 : power < -400 ? -400 : power;
    double v = mantissa ? scale((double)mantissa, power) : 0;
    *value = (float)(negative ? -v : v);
    *at = p;
    return true;
}

void kiln_quote(const char *from, const char *stop, char *text, size_t size)
{
    size_t n = 0;
    for (; n + 1 < size && from[n] && !strchr(stop, from[n]); n++)
        text[n] = from[n] >= ' ' && from[n] <= '~' ? from[n] : '?';
    text[n] = '\0';
}
