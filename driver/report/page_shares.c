/* Share of the whole time that each layer has. */
#include "page_part.h"

static double share(const page_part *p, const report_layer *l)
{
    return p->ms > 0 ? 100 * l->best.ms / p->ms : 0;
}

void page_shares(const page_part *p)
{
    const page_bars bars = {.value = share, .origin = 0, .log = false, .unit = " %"};
    const report_layer *list[PAGE_BARS];
    const size_t all = page_largest(p, share, PAGE_BARS, list);
    double rest = 100;
    if (all < 2)
        return;
    page_section(
        p->to, "shares", p->number, "Share of the time",
        "How much of the sum of all best times a layer takes, each layer run once. What is "
        "on top is worth another search.");
    for (size_t i = 0; i < all && i < PAGE_BARS; i++)
        rest -= share(p, list[i]);
    page_bars_draw(p, &bars, list, all < PAGE_BARS ? all : PAGE_BARS);
    if (all > PAGE_BARS)
        fprintf(p->to, "<p class=\"note\">The other %zu layers have %.1f %%.</p>\n",
                all - PAGE_BARS, rest > 0 ? rest : 0);
    page_section_end(p->to);
}
