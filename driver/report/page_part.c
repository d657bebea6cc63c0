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
    /* Another one does not grow beyond its size, and its letters stay legible. */
    const double legible = 0.75;
    if (!big)
        fprintf(to, "style=\"max-width:%.0fpx;min-width:%.0fpx\" ", width, legible * width);
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

size_t page_largest(const page_part *p, page_value *value, size_t most, const report_layer **list)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        const double own = value(p, l);
        if (!(own > 0))
            continue;
        all++;
        size_t at = kept < most ? kept++ : most;
        for (; at > 0 && value(p, list[at - 1]) < own; at--)
            if (at < most)
                list[at] = list[at - 1];
        if (at < most)
            list[at] = l;
    }
    return all;
}
