/* Adds up launches: pauses between an operation's launches are part of its time, packing is not. */
#include "elapsed.h"

static const double ms_per_ns = 1e-6;

/* Returns how much of `s` lies between the two times. */
static uint64_t within(const kiln_span *s, uint64_t first, uint64_t last)
{
    uint64_t start = s->start > first ? s->start : first;
    uint64_t end = s->end < last ? s->end : last;
    return end > start ? end - start : 0;
}

kiln_elapsed kiln_elapsed_of(const kiln_span *spans, int count)
{
    uint64_t first = UINT64_MAX, last = 0, packing = 0, between = 0, longest = 0;
    for (int i = 0; i < count; i++) {
        const kiln_span *s = &spans[i];
        if (s->pack) {
            packing += s->end - s->start;
            continue;
        }
        first = s->start < first ? s->start : first;
        last = s->end > last ? s->end : last;
        uint64_t own = s->end > s->start ? s->end - s->start : 0;
        longest = own > longest ? own : longest;
    }
    for (int i = 0; i < count; i++)
        if (spans[i].pack)
            between += within(&spans[i], first, last);
    /* Some clocks (llvmpipe's) tell the same time for packing and for the launch that waits for
     * it. */
    uint64_t all = last > first ? last - first - between : 0;
    all = all > longest ? all : longest;
    return (kiln_elapsed){
        .ms = (double)all * ms_per_ns,
        .pack_ms = (double)packing * ms_per_ns,
    };
}

bool kiln_clock_stands(double ms)
{
    const double least = 2e-5;
    return ms < least;
}
