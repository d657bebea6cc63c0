/* Layers in pictures: marks and bars, which lead to the layer's row in the table. */
#include "driver/base/number_text.h"

#include "axis.h"
#include "html.h"
#include "page_part.h"

#include <math.h>

/* Writes the text that a pointer sees. */
static void put_words(const page_part *p, const report_layer *l)
{
    char number[HTML_NUMBER], config[REPORT_CONFIG];
    const double roof = report_roof(p->data, l);
    html_fill(p->to, "%\n", l->name);
    html_fill(p->to, "% ms: %", html_number(l->best.ms, number),
              page_config(l->best.config, l->best.solver, config));
    if (report_gflops(l) > 0)
        html_fill(p->to, "\n% GFLOP/s", html_number(report_gflops(l), number));
    if (report_gbs(l) > 0)
        html_fill(p->to, ", % GB/s", html_number(report_gbs(l), number));
    if (roof > 0)
        html_fill(p->to, ", % &#37; of the roof",
                  html_number(100 * report_gflops(l) / roof, number));
    if (report_gain(l) > 0)
        html_fill(p->to, "\nguess % ms", html_number(l->best.guess_ms, number));
    if (l->best.turns > 0)
        fprintf(p->to, ", won %d of %d turns", l->best.turns_won, l->best.turns);
}

/* Begins a link to the row of a layer, without its last bracket; an element of another name where
 * the page has no such row. */
static void begin_link(const page_part *p, const report_layer *l, const char *other)
{
    if (l->listed)
        fprintf(p->to, "<a href=\"#d%d-l%zu\"", p->number, (size_t)(l - p->layer) + 1);
    else
        fprintf(p->to, "<%s", other);
}

static void end_link(const page_part *p, const report_layer *l, const char *other)
{
    fprintf(p->to, "</%s>\n", l->listed ? "a" : other);
}

void page_mark(const page_part *p, const report_layer *l)
{
    begin_link(p, l, "g");
    fputs("><title>", p->to);
    put_words(p, l);
    fputs("</title>", p->to);
}

void page_mark_end(const page_part *p, const report_layer *l)
{
    end_link(p, l, "g");
}

void page_mark_draw(FILE *to, const report_layer *l, double x, double y)
{
    static const char *const classes[] = {"fwd", "bwd", "wrw"};
    const kiln_direction direction = l->problem.direction;
    fprintf(to, "<g class=\"mark %s%s\">", classes[direction],
            l->problem.x_type != KILN_F32 ? " hollow" : "");
    switch (direction) {
    case KILN_FORWARD:
        fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", x, y);
        break;
    case KILN_BACKWARD_DATA:
        fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"9\" height=\"9\"/>", x - 4.5, y - 4.5);
        break;
    default:
        fprintf(to, "<path d=\"M%.1f %.1fl5.5 9.5h-11z\"/>", x, y - 6);
    }
    fputs("</g>", to);
}

static void draw_bar(const page_part *p, const page_bars *b, const axis *x, const report_layer *l)
{
    char number[NUMBER_TEXT];
    const double value = b->value(p, l), zero = axis_at(x, b->origin), end = axis_at(x, value);
    begin_link(p, l, "div");
    fputs(" class=\"bar\" title=\"", p->to);
    put_words(p, l);
    html_fill(p->to, "\"><span class=\"name\">%</span><span class=\"track\">", l->name);
    fprintf(p->to, "<i style=\"left:%.1f%%;width:%.1f%%\"></i></span><b>%s%s</b>", fmin(zero, end),
            fmax(fabs(end - zero), 0.3), number_text(value, 2, number), b->unit);
    end_link(p, l, "div");
}

void page_bars_draw(const page_part *p, const page_bars *b, const report_layer *const *list,
                    size_t n)
{
    axis x = {b->log, b->origin, b->log ? 2 * b->origin : b->origin, 0, 100}; /* in per cent */
    for (size_t i = 0; i < n; i++) {
        x.low = fmin(x.low, b->value(p, list[i]));
        x.high = fmax(x.high, b->value(p, list[i]));
    }
    fputs("<div class=\"bars\">\n", p->to);
    for (size_t i = 0; i < n; i++)
        draw_bar(p, b, &x, list[i]);
    fputs("</div>\n", p->to);
}
