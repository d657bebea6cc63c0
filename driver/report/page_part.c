/* What the parts of a page share. */
#include "page_part.h"

#include "html.h"

void page_section(FILE *to, const char *id, int number, const char *title, const char *says)
{
    fprintf(to, "<section id=\"d%d-%s\">\n<h3>%s</h3>\n<p class=\"says\">", number, id, title);
    html_fill(to, "%</p>\n", says);
}

void page_section_end(FILE *to)
{
    fputs("</section>\n", to);
}

void page_picture(FILE *to, double width, double height, const char *description)
{
    const bool big = width == PAGE_WIDTH;
    fprintf(to, "<div class=\"chart%s\"><svg viewBox=\"0 0 %.0f %.0f\" ", big ? " big" : "", width,
            height);
    if (!big) /* it does not grow beyond its size */
        fprintf(to, "style=\"max-width:%.0fpx\" ", width);
    html_fill(to, "role=\"img\" aria-label=\"%\">\n", description);
}

void page_picture_end(FILE *to)
{
    fputs("</svg></div>\n", to);
}

const char *page_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

const char *page_config(const char *config, const char *solver, char text[REPORT_CONFIG])
{
    snprintf(text, REPORT_CONFIG, "%.191s%s%.40s", config, *config && *solver ? " of " : "",
             solver);
    return text;
}

static size_t index_of(const page_part *p, const report_layer *l)
{
    return (size_t)(l - p->layer);
}

static void put_title(const page_part *p, const report_layer *l)
{
    char number[HTML_NUMBER], config[REPORT_CONFIG];
    const double roof = report_roof(p->data, l);
    html_fill(p->to, "<title>%\n", l->name);
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
    fputs("</title>", p->to);
}

void page_layer(const page_part *p, const report_layer *l)
{
    if (l->listed)
        fprintf(p->to, "<a href=\"#d%d-l%zu\">", p->number, index_of(p, l) + 1);
    else
        fputs("<g>", p->to);
    put_title(p, l);
}

void page_layer_end(const page_part *p, const report_layer *l)
{
    fputs(l->listed ? "</a>\n" : "</g>\n", p->to);
}

size_t page_largest(const page_part *p, double (*value)(const report_layer *l), size_t most,
                    const report_layer **list)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        const double own = value(l);
        if (!(own > 0))
            continue;
        all++;
        size_t at = kept < most ? kept++ : most;
        for (; at > 0 && value(list[at - 1]) < own; at--)
            if (at < most)
                list[at] = list[at - 1];
        if (at < most)
            list[at] = l;
    }
    return all;
}
