/* The numbers above the pictures of a device. */
#include "html.h"
#include "roof_sum.h"

#include <math.h>

static void tile(FILE *to, double value, const char *words)
{
    char number[HTML_NUMBER];
    fprintf(to, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", html_number(value, number),
            words);
}

void page_tiles(const page_part *p)
{
    const roof_sum roof = roof_sum_of(p);
    double trials = 0, seconds = 0, log_gain = 0;
    int gains = 0;
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        const double gain = report_gain(l);
        trials += (double)l->trials;
        seconds += l->seconds;
        log_gain += gain > 0 ? log(gain) : 0;
        gains += gain > 0;
    }
    fputs("<div class=\"tiles\">\n", p->to);
    tile(p->to, (double)p->count, p->count == 1 ? "layer" : "layers");
    if (gains > 0)
        tile(p->to, exp(log_gain / gains), "times the guess' speed, geometric mean");
    if (roof.below > 0)
        tile(p->to, 100 * roof.mean, "% of the roof, geometric mean of the layers below it");
    if (trials > 0)
        tile(p->to, trials, "trials");
    if (seconds > 0)
        tile(p->to, seconds / 60, "minutes of searches");
    fputs("</div>\n", p->to);
    roof_sum_explain(p->to, &roof);
}
