/* Predicted against measured times: how far the predictions that rank untuned solvers can be
 * trusted. */
#include "axis.h"
#include "html.h"
#include "page_part.h"

#include <math.h>
#include <stdlib.h>

enum { HEIGHT = 440, TOP = 44, BOTTOM = 60 };

static double ratio(const report_layer *l)
{
    return l->known && l->best.ms > 0 && l->best.predicted_ms > 0
               ? l->best.predicted_ms / l->best.ms
               : 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Says between which factors half of the predictions lie. */
static void put_quartiles(const page_part *p, size_t n)
{
    double *of = malloc(n * sizeof *of);
    char low[HTML_NUMBER], middle[HTML_NUMBER], high[HTML_NUMBER];
    size_t found = 0;
    for (size_t i = 0; i < p->count && of; i++)
        if (ratio(&p->layer[i]) > 0)
            of[found++] = ratio(&p->layer[i]);
    if (of) {
        qsort(of, n, sizeof *of, by_value);
        html_fill(p->to,
                  "<p class=\"says\">Half of the predictions are % to % times the measured time; "
                  "the median is %.</p>\n",
                  html_number(of[(n - 1) / 4], low), html_number(of[(n - 1) * 3 / 4], high),
                  html_number(of[(n - 1) / 2], middle));
    }
    free(of);
}

/* Draws the line on which predictions are `factor` times the measured time. */
static void draw_line(const page_part *p, const axis *x, const axis *y, double factor,
                      const char *class)
{
    const double from = fmax(x->low, y->low / factor), to = fmin(x->high, y->high / factor);
    if (from < to)
        fprintf(p->to,
                "<g><title>predicted: %g times the measured time</title><line class=\"line %s\" "
                "x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/></g>\n",
                factor, class, axis_at(x, from), axis_at(y, from * factor), axis_at(x, to),
                axis_at(y, to * factor));
}

static void draw(const page_part *p)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < p->count; i++) {
        const report_best *b = &p->layer[i].best;
        if (ratio(&p->layer[i]) <= 0)
            continue;
        low = low > 0 ? fmin(low, fmin(b->ms, b->predicted_ms)) : fmin(b->ms, b->predicted_ms);
        high = fmax(high, fmax(b->ms, b->predicted_ms));
    }
    const axis x = axis_make(true, low, high, PAGE_LEFT, PAGE_WIDTH - PAGE_RIGHT),
               y = axis_make(true, low, high, HEIGHT - BOTTOM, TOP);
    page_picture(p->to, PAGE_WIDTH, HEIGHT, "Predicted over measured time, a mark a layer");
    axis_draw_x(p->to, &x, &y, 8, "measured (ms, logarithmic)");
    axis_draw_y(p->to, &x, &y, 10, "predicted (ms, logarithmic)");
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        if (ratio(l) <= 0)
            continue;
        page_mark(p, l);
        page_mark_draw(p->to, l, axis_at(&x, l->best.ms), axis_at(&y, l->best.predicted_ms));
        page_mark_end(p, l);
    }
    draw_line(p, &x, &y, 1, "steps");
    draw_line(p, &x, &y, 2, "worst");
    draw_line(p, &x, &y, 0.5, "worst");
    page_picture_end(p->to);
}

void page_predicted(const page_part *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        n += ratio(&p->layer[i]) > 0;
    if (n == 0)
        return;
    page_section(p->to, "predicted", p->number, "Predicted against measured",
                 "What kiln predicts for the best config, over its measured time. On the line both "
                 "are equal; the dots are twice and half. Predictions rank the solvers of layers "
                 "that have no row.");
    put_quartiles(p, n);
    draw(p);
    page_section_end(p->to);
}
