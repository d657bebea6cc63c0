/* Adds up launches: pauses between an operation's launches are part of its time, packing is not. */
#include "elapsed.h"

static const double ms_per_ns = 1e-6;

/* The part of `s` that lies between the two. */
static uint64_t within(const kiln_span *s, uint64_t first, uint64_t last)
{
    uint64_t start = s->start > first ? s->start : first;
    uint64_t end = s->end < last ? s->end : last;
    return end > start ? end - start : 0;
}

kiln_elapsed kiln_elapsed_of(const kiln_span *spans, int count)
{
    uint64_t first = UINT64_MAX, last = 0, packing = 0, between = 0;
    for (int i = 0; i < count; i++) {
        const kiln_span *s = &spans[i];
        if (s->pack) {
            packing += s->end - s->start;
            continue;
        }
        first = s->start < first ? s->start : first;
        last = s->end > last ? s->end : last;
    }
    for (int i = 0; i < count; i++)
        if (spans[i].pack)
            between += within(&spans[i], first, last);
    return (kiln_elapsed){
        .ms = last > first ? (double)(last - first - between) * ms_per_ns : 0,
        .pack_ms = (double)packing * ms_per_ns,
    };
}
