/* Gain per layer: how many times as fast the best config is as the guess. */
#include "driver/base/number_text.h"

#include "axis.h"
#include "html.h"
#include "page_part.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 960, LEFT = 490, RIGHT = 70, TOP = 8, BOTTOM = 46, ROW = 20, MOST = 40 };

/* How many letters have room; the middle of a longer name is left out. */
enum { LETTERS = 66, TAIL = 28, NAME = LETTERS + 8 };

static const char *shorten(const char *name, char text[NAME])
{
    const size_t length = strlen(name);
    if (length <= LETTERS)
        snprintf(text, NAME, "%s", name);
    else
        snprintf(text, NAME, "%.*s…%s", LETTERS - TAIL - 1, name, name + length - TAIL);
    return text;
}

/* What a measurement can tell from 1. */
static double clear_gain(const report_layer *l)
{
    const double gain = report_gain(l), least = 0.01;
    return fabs(gain - 1) < least ? 0 : gain;
}

static void draw_bar(const page_part *p, const axis *x, const report_layer *l, double y)
{
    char number[NUMBER_TEXT], name[NAME];
    const double gain = report_gain(l), zero = axis_at(x, 1), end = axis_at(x, gain);
    const double from = fmin(zero, end), width = fmax(fabs(end - zero), 1), middle = ROW / 2.0;
    page_layer(p, l);
    fprintf(p->to,
            "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>",
            from, y + 3, width, ROW - 6);
    fprintf(p->to, "<text class=\"name\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8,
            y + middle + 4);
    html_fill(p->to, "%</text>", shorten(l->name, name));
    fprintf(p->to, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">", fmax(end, zero) + 6,
            y + middle + 4);
    html_fill(p->to, "%</text>", number_text(gain, 2, number));
    page_layer_end(p, l);
}

static void draw(const page_part *p, const report_layer **list, size_t n)
{
    double least = 1, most = 1.1;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, report_gain(list[i]));
        most = fmax(most, report_gain(list[i]));
    }
    const double height = TOP + (double)n * ROW + BOTTOM;
    const bool log = most > 5 * least;
    const axis x = axis_make(log, least, most, LEFT, WIDTH - RIGHT),
               y = axis_make(false, 0, 1, height - BOTTOM, TOP);
    page_picture(p->to, WIDTH, height, "Gain: a bar a layer");
    axis_draw_x(p->to, &x, &y, 8,
                log ? "time of the guess / best time (logarithmic)"
                    : "time of the guess / best time");
    for (size_t i = 0; i < n; i++)
        draw_bar(p, &x, list[i], TOP + (double)i * ROW);
    fprintf(p->to, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>",
            axis_at(&x, 1), axis_at(&x, 1), TOP, height - BOTTOM);
    page_picture_end(p->to);
}

void page_gains(const page_part *p)
{
    const report_layer *list[MOST];
    const size_t all = page_largest(p, report_gain, 0, list),
                 clear = page_largest(p, clear_gain, MOST, list);
    if (all == 0)
        return;
    page_section(p->to, "gains", p->number, "Gain per layer",
                 "How many times as long the config takes that would run without tuning rows (the "
                 "guess) as the best one that was found.");
    if (all > clear)
        fprintf(
            p->to,
            "<p class=\"says\">In %zu of %zu layers the guess was within 1 %% of the best.</p>\n",
            all - clear, all);
    if (clear > 0)
        draw(p, list, clear < MOST ? clear : MOST);
    if (clear > MOST)
        fprintf(p->to,
                "<p class=\"note\">The %d layers with the largest gain; %zu more are in the "
                "table.</p>\n",
                MOST, clear - MOST);
    page_section_end(p->to);
}
