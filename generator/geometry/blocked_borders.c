/* Finds the tiles of a row of pixels whose taps read past the borders of the source row. */
#include "generator/base/integers.h"

#include "blocked.h"

/* The pixels of a row that are `up` apart, from pixel `phase` on. */
typedef struct pixel_class {
    int64_t pixels;
    bool reads;          /* whether a tap of the class reads the source */
    int64_t least, most; /* columns that taps add to the column of a pixel */
} pixel_class;

static pixel_class class_of(const kiln_blocked *b, int64_t phase)
{
    const int a = KILN_AXIS_W;
    pixel_class p = {.pixels = divide_up(b->dst[a] - phase, b->up[a])};
    for (int64_t tap = 0; tap < b->filter[a]; tap++) {
        int64_t at = phase + tap * b->dilation[a] - b->lead[a];
        if (at % b->up[a])
            continue;
        p.least = p.reads ? p.least : at / b->up[a];
        p.most = at / b->up[a];
        p.reads = true;
    }
    return p;
}

/* Whether the tile that starts at pixel `first` of its class reads past its row. */
static bool reads_past(const kiln_blocked *b, const pixel_class *p, int64_t width, int64_t first)
{
    const int a = KILN_AXIS_W;
    return p->reads && (first * b->stride[a] + p->least < 0 ||
                        (first + width - 1) * b->stride[a] + p->most > b->src[a] - 1);
}

kiln_blocked_borders kiln_blocked_borders_of(const kiln_blocked *b, int width)
{
    int64_t size = b->dst[KILN_AXIS_W], up = b->up[KILN_AXIS_W];
    kiln_blocked_borders e = {.tiles = divide_up(divide_up(size, up), width)};
    if (up > KILN_BLOCKED_PHASES) {
        /* Counts every column between the outermost taps as read. */
        const int a = KILN_AXIS_W;
        int64_t reach = size - 1 + (b->filter[a] - 1) * b->dilation[a];
        e.more = b->lead[a] > 0 || reach - b->lead[a] > (b->src[a] - 1) * up;
        return e;
    }
    for (int64_t phase = 0; phase < up; phase++) {
        const pixel_class p = class_of(b, phase);
        int64_t tiles = divide_up(p.pixels, width);
        e.first = e.first || reads_past(b, &p, width, 0);
        e.last = e.last || (tiles > 1 && reads_past(b, &p, width, p.pixels - width));
        /* The tiles that read past a border are the first few and the last few. */
        if (tiles > 2)
            e.more = e.more || reads_past(b, &p, width, width) ||
                     reads_past(b, &p, width, (tiles - 2) * width);
    }
    return e;
}
