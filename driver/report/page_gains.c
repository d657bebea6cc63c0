/* Gain per layer: how many times as fast the best config is as the guess. */
#include "page_part.h"

#include <math.h>

static double gain(const page_part *p, const report_layer *l)
{
    (void)p;
    return report_gain(l);
}

/* What a measurement can tell from 1. */
static double clear_gain(const page_part *p, const report_layer *l)
{
    const double least = 0.01;
    return fabs(gain(p, l) - 1) < least ? 0 : gain(p, l);
}

/* A win within the spread of its turns may be luck. */
static void put_wins(const page_part *p)
{
    size_t timed = 0, won = 0;
    for (size_t i = 0; i < p->count; i++) {
        timed += p->layer[i].best.turns > 0 && gain(p, &p->layer[i]) > 0;
        won += report_wins(&p->layer[i]);
    }
    if (timed > 0)
        fprintf(p->to,
                "<p class=\"says\">%zu layer%s timed in turns with the guess; in %zu of them the "
                "win is beyond the spread of the turns.</p>\n",
                timed, timed == 1 ? " was" : "s were", won);
}

void page_gains(const page_part *p)
{
    const page_bars bars = {.value = gain, .origin = 1, .log = true, .unit = ""};
    const report_layer *list[PAGE_BARS];
    const size_t all = page_largest(p, gain, 0, list),
                 clear = page_largest(p, clear_gain, PAGE_BARS, list);
    if (all == 0)
        return;
    page_section(p->to, "gains", p->number, "Gain per layer",
                 "How many times as long the config takes that would run without tuning rows (the "
                 "guess) as the best one that was found, both in one measurement. Bars are "
                 "logarithmic and begin at 1.");
    if (all > clear)
        fprintf(
            p->to,
            "<p class=\"says\">In %zu of %zu layers the guess was within 1 %% of the best.</p>\n",
            all - clear, all);
    put_wins(p);
    if (clear > 0)
        page_bars_draw(p, &bars, list, clear < PAGE_BARS ? clear : PAGE_BARS);
    if (clear > PAGE_BARS)
        fprintf(p->to,
                "<p class=\"note\">The %d layers with the largest gain; %zu more are in the "
                "table.</p>\n",
                PAGE_BARS, clear - PAGE_BARS);
    page_section_end(p->to);
}
