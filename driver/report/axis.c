/* Chooses round numbers for a scale and draws them. */
#include "axis.h"

#include "html.h"

#include <math.h>
#include <string.h>

enum { TICKS = 64 };

static double step_of(double span, int most)
{
    static const double steps[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(span / most)));
    for (int i = 0; i < 3; i++)
        if (span / (steps[i] * power) <= most)
            return steps[i] * power;
    return 10 * power;
}

axis axis_make(bool log, double low, double high, double from, double to)
{
    enum { ROUGHLY = 5 };
    if (!(low < high)) {
        const double apart = log ? 1.5 : fabs(low) * 0.5 + 0.5, middle = low;
        low = log ? middle / apart : middle - apart;
        high = log ? middle * apart : middle + apart;
    }
    if (!log) {
        const double step = step_of(high - low, ROUGHLY);
        return (axis){false, step * floor(low / step + 1e-9), step * ceil(high / step - 1e-9), from,
                      to};
    }
    const double margin = pow(high / low, 0.04);
    return (axis){true, low / margin, high * margin, from, to};
}

/* Returns where a value lies between the ends, from 0 to 1. */
static double share_of(const axis *a, double value)
{
    double share = a->log ? (value > 0 ? log(value / a->low) / log(a->high / a->low) : 0)
                          : (value - a->low) / (a->high - a->low);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

double axis_at(const axis *a, double value)
{
    return a->from + (a->to - a->from) * share_of(a, value);
}

static bool is_within(const axis *a, double value)
{
    const double little = 1e-9;
    return value >= a->low * (1 - little) - little && value <= a->high * (1 + little) + little;
}

/* Lists 1, 2 and 5 of each power of ten if so many fit, else powers alone. */
static int log_ticks(const axis *a, int most, double ticks[TICKS])
{
    static const double all[] = {1, 2, 5};
    const int first = (int)floor(log10(a->low)), last = (int)ceil(log10(a->high));
    for (int each = 3; each > 0; each -= 2)
        for (int skip = 1; skip < TICKS; skip++) {
            int n = 0;
            for (int e = first; e <= last; e += skip)
                for (int i = 0; i < each; i++) {
                    const double v = all[i] * pow(10, e);
                    if (v >= a->low && v <= a->high && n < TICKS)
                        ticks[n++] = v;
                }
            if (n <= most && (n > 1 || each == 1))
                return n;
            if (each == 3)
                break;
        }
    return 0;
}

static int linear_ticks(const axis *a, int most, double ticks[TICKS])
{
    const double step = step_of(a->high - a->low, most);
    int n = 0;
    for (double v = step * ceil(a->low / step - 1e-9); n < TICKS && is_within(a, v); v += step)
        ticks[n++] = fabs(v) < step * 1e-6 ? 0 : v;
    return n;
}

/* A log scale that spans little has round numbers like any other. */
static int list_ticks(const axis *a, int most, double ticks[TICKS])
{
    const int n = a->log ? log_ticks(a, most, ticks) : 0;
    return n > 1 ? n : linear_ticks(a, most, ticks);
}

/* A number that is too long for its place gets an exponent. */
static const char *tick_text(double value, char text[HTML_NUMBER])
{
    enum { LETTERS = 7 };
    if (strlen(html_number(value, text)) <= LETTERS)
        return text;
    const int power = (int)floor(log10(fabs(value)) + 1e-9);
    snprintf(text, HTML_NUMBER, "%.3ge%d", value / pow(10, power), power);
    return text;
}

void axis_draw_x(FILE *to, const axis *x, const axis *y, int most, const char *title)
{
    double ticks[TICKS];
    char number[HTML_NUMBER];
    const double bottom = y->from, top = y->to, below = 16, title_below = 36;
    const int n = list_ticks(x, most, ticks);
    for (int i = 0; i < n; i++) {
        const double at = axis_at(x, ticks[i]);
        fprintf(to, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", at,
                at, bottom, top);
        fprintf(to, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                at, bottom + below, tick_text(ticks[i], number));
    }
    fprintf(to, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x->from,
            x->to, bottom, bottom);
    if (title) {
        fprintf(to, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                (x->from + x->to) / 2, bottom + title_below);
        html_fill(to, "%</text>\n", title);
    }
}

void axis_draw_y(FILE *to, const axis *x, const axis *y, int most, const char *title)
{
    double ticks[TICKS];
    char number[HTML_NUMBER];
    const double beside = 6, title_above = 20, middle = 4;
    const int n = list_ticks(y, most, ticks);
    for (int i = 0; i < n; i++) {
        const double at = axis_at(y, ticks[i]);
        fprintf(to, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                x->from, x->to, at, at);
        fprintf(to, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                x->from - beside, at + middle, tick_text(ticks[i], number));
    }
    /* Above the axis and upright: a title on its side is hard to read. */
    if (title) {
        fprintf(to, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">", 4.0, y->to - title_above);
        html_fill(to, "%</text>\n", title);
    }
}
