/* Writes numbers of bounded length. */
#include "number_text.h"

#include <math.h>
#include <stdio.h>

const char *number_text(double value, int decimals, char text[NUMBER_TEXT])
{
    static const double most = 1e6;
    snprintf(text, NUMBER_TEXT, fabs(value) < most ? "%.*f" : "%.*e", decimals, value);
    return text;
}

const char *size_text(int64_t bytes, char text[NUMBER_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 3) {
        value /= 1024;
        unit++;
    }
    snprintf(text, NUMBER_TEXT, "%.*f %s", unit ? 1 : 0, value, units[unit]);
    return text;
}
