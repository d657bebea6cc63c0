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
