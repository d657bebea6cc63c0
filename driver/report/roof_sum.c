/* Sums up shares of the roof. A layer above its roof says that the roof is not its limit, so it is
 * no part of a mean. */
#include "roof_sum.h"

#include <math.h>
#include <string.h>

bool roof_is_memory(const page_part *p, const report_layer *l)
{
    const double peak = p->device->gflops[l->problem.x_type].value;
    return p->device->gbs.value * l->flops / l->bytes < peak;
}

static roof_reason reason_of(const page_part *p, const report_layer *l)
{
    if (strncmp(l->best.solver, "winograd", 8) == 0)
        return ROOF_WINOGRAD;
    return roof_is_memory(p, l) ? ROOF_CACHE : ROOF_OTHER;
}

roof_sum roof_sum_of(const page_part *p)
{
    roof_sum s = {.below = 0};
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        const report_layer *l = &p->layer[i];
        const double roof = report_roof(p->data, l), own = report_gflops(l);
        if (roof <= 0 || own <= 0)
            continue;
        if (own > roof) {
            s.above[reason_of(p, l)]++;
        } else {
            s.below++;
            sum += log(own / roof);
        }
    }
    s.mean = s.below > 0 ? exp(sum / (double)s.below) : 0;
    return s;
}

void roof_sum_explain(FILE *to, const roof_sum *s)
{
    static const char *const why[ROOF_REASONS] = {
        "by Winograd, which needs fewer operations than are counted",
        "under the slope of memory, whose tensors a cache can hold from one run to the next",
        "of another kind: the roof was measured too low, or their time on a faster day",
    };
    size_t above = 0;
    for (int i = 0; i < ROOF_REASONS; i++)
        above += s->above[i];
    if (above == 0)
        return;
    const size_t all = above + s->below;
    fprintf(to,
            "<p class=\"note\">%zu of %zu layer%s %s above the roof, and %s left out of the mean",
            above, all, page_plural(all), above == 1 ? "lies" : "lie", above == 1 ? "is" : "are");
    for (int i = 0, said = 0; i < ROOF_REASONS; i++)
        if (s->above[i] > 0)
            fprintf(to, "%s%zu %s", said++ ? "; " : ": ", s->above[i], why[i]);
    fputs(".</p>\n", to);
}
