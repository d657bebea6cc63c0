/* Before and after: the times of older files beside those of the page. */
#include "html.h"
#include "page_part.h"
#include "report_before.h"

#include <math.h>
#include <string.h>

typedef struct changes {
    size_t both, faster, slower;
    double before_ms, ms, log_ratio;
    const char *first[2], *last[2]; /* dates of before and now; "": unknown */
} changes;

static double ratio(const page_part *p, const report_layer *l)
{
    (void)p;
    return report_before_ratio(l);
}

/* How large a change is, whichever way it goes. */
static double change(const page_part *p, const report_layer *l)
{
    return report_before_differs(l) ? fmax(ratio(p, l), 1 / ratio(p, l)) : 0;
}

static void note_date(changes *c, int which, const char *date)
{
    if (*date && (!*c->first[which] || strcmp(date, c->first[which]) < 0))
        c->first[which] = date;
    if (strcmp(date, c->last[which]) > 0)
        c->last[which] = date;
}

static changes sum_up(const page_part *p)
{
    changes c = {.first = {"", ""}, .last = {"", ""}};
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        if (ratio(p, l) <= 0)
            continue;
        c.both++;
        c.faster += report_before_differs(l) && ratio(p, l) > 1;
        c.slower += report_before_differs(l) && ratio(p, l) < 1;
        c.before_ms += l->before->best.ms;
        c.ms += l->best.ms;
        c.log_ratio += log(ratio(p, l));
        note_date(&c, 0, l->before->best.date);
        note_date(&c, 1, l->best.date);
    }
    return c;
}

static void put_sums(const page_part *p, const changes *c)
{
    char before[HTML_NUMBER], now[HTML_NUMBER], mean[HTML_NUMBER];
    fprintf(
        p->to,
        "<p class=\"says\">%zu layer%s in both: %zu faster now, %zu slower, %zu within 2 %% or the "
        "spread of the samples.",
        c->both, c->both == 1 ? " is" : "s are", c->faster, c->slower,
        c->both - c->faster - c->slower);
    html_fill(p->to, " In sum % ms before and % ms now; % times as fast in the geometric mean.",
              html_number(c->before_ms, before), html_number(c->ms, now),
              html_number(exp(c->log_ratio / (double)c->both), mean));
    if (p->count > c->both)
        fprintf(p->to, " %zu are new.", p->count - c->both);
    if (p->device->gone > 0)
        fprintf(p->to, " %zu are gone.", p->device->gone);
    fputs("</p>\n", p->to);
    if (*c->first[0] && *c->first[1])
        html_fill(
            p->to,
            "<p class=\"note\">Measured from % to % before, and from % to % now: the machine of "
            "another day may have another speed.</p>\n",
            c->first[0], c->last[0], c->first[1], c->last[1]);
}

void page_before(const page_part *p)
{
    const page_bars bars = {.value = ratio, .origin = 1, .log = true, .unit = ""};
    const report_layer *list[PAGE_BARS];
    const changes c = sum_up(p);
    if (c.both == 0)
        return;
    const size_t all = page_largest(p, change, PAGE_BARS, list);
    page_section(p->to, "before", p->number, "Before and after",
                 "How many times as long each layer took in the older files (--before). Bars are "
                 "logarithmic and begin at 1; above 1 the layer is faster now.");
    put_sums(p, &c);
    if (all > 0)
        page_bars_draw(p, &bars, list, all < PAGE_BARS ? all : PAGE_BARS);
    if (all > PAGE_BARS)
        fprintf(p->to,
                "<p class=\"note\">The %d layers that changed most; %zu more are in the "
                "table.</p>\n",
                PAGE_BARS, all - PAGE_BARS);
    page_section_end(p->to);
}
