/* Sizes that follow from a shape and a config of the blocked depthwise solver, and its predicted
 * time. */
#include "generator/base/integers.h"

#include "depthwise_blocked.h"
#include "depthwise_blocked_fit.h"

#include <math.h>

/* Most instructions of unrolled taps: more would take the compiler long, or it would give up. */
enum { MOST_UNROLLED = 1200 };

depthwise_span kiln_depthwise_span(const kiln_blocked *b, const kiln_config *c, int a)
{
    const int64_t up = b->up[a], pixels = (a == KILN_AXIS_W ? c->v[TILE_W] : c->v[TILE_H]) * up;
    const int64_t reach = (pixels - 1) * b->stride[a] + (b->filter[a] - 1) * b->dilation[a];
    return (depthwise_span){.pixels = pixels,
                            .tiles = divide_up(b->dst[a], pixels),
                            .from = divide_up(-b->lead[a], up),
                            .to = divide_up(reach - b->lead[a] + 1, up) - 1};
}

static bool reads_past(const kiln_blocked *b, const depthwise_span *w, int64_t tile)
{
    int64_t at = tile * w->pixels * b->stride[KILN_AXIS_W] / b->up[KILN_AXIS_W];
    return at + w->from < 0 || at + w->to >= b->src[KILN_AXIS_W];
}

/* `elements` of a group are multiplied one after the other. */
static bool may_unroll(const kiln_blocked *b, const kiln_config *c, int64_t elements)
{
    const depthwise_span h = kiln_depthwise_span(b, c, KILN_AXIS_H),
                         w = kiln_depthwise_span(b, c, KILN_AXIS_W);
    if (w.tiles > 2 && (reads_past(b, &w, 1) || reads_past(b, &w, w.tiles - 2)))
        return false;
    double met = (double)(h.to - h.from + 1) * (double)(w.to - w.from + 1);
    return met * (double)(h.pixels * b->filter[KILN_AXIS_W] * elements) <= MOST_UNROLLED;
}

/* Sums of bytes that are multiplied four at a time are corrected as if all taps counted. */
int kiln_depthwise_together(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                            const kiln_config *c)
{
    const bool planes = b->filter[0] == 1 && b->src[0] == 1 && b->dst[0] == 1 && b->lead[0] == 0;
    const bool all_taps = planes && b->up[1] == 1 && b->up[2] == 1;
    const bool bytes = s->w_type == KILN_I8 && d->has_vnni && b->block == 16 && b->src_c % 4 == 0;
    return bytes && all_taps && !kiln_shape_is_plain_layout(s) && may_unroll(b, c, b->src_c / 4)
               ? 4
               : 1;
}

bool kiln_depthwise_unrolls(const kiln_shape *s, const kiln_device_facts *d, const kiln_blocked *b,
                            const kiln_config *c)
{
    return may_unroll(b, c, b->src_c / kiln_depthwise_together(s, d, b, c));
}

int64_t kiln_depthwise_strips(const kiln_blocked *b, const kiln_config *c)
{
    return divide_up(kiln_depthwise_span(b, c, KILN_AXIS_H).tiles, c->v[TILES]);
}

/* ---- plain tensors ---- */

/* Returns how many source rows an item keeps: the rows that its tiles meet, and at least as many as
 * have a vector's number of pixels. */
int64_t kiln_depthwise_rows(const kiln_blocked *b, const kiln_config *c)
{
    const depthwise_span h = kiln_depthwise_span(b, c, KILN_AXIS_H);
    const int64_t next = h.pixels * b->stride[KILN_AXIS_H] / b->up[KILN_AXIS_H];
    const int64_t rows = (c->v[TILES] - 1) * next + h.to - h.from + 1;
    const int64_t least = divide_up(b->block, b->src[KILN_AXIS_W]);
    const int64_t wanted = rows > least ? rows : least;
    return wanted < b->src[KILN_AXIS_H] ? wanted : b->src[KILN_AXIS_H];
}

/* Returns how many pixels an item turns from vectors of channels back into planes. */
static int64_t results_of(const kiln_blocked *b, const kiln_config *c)
{
    return c->v[TILES] * kiln_depthwise_span(b, c, KILN_AXIS_H).pixels * b->dst[KILN_AXIS_W];
}

int64_t kiln_depthwise_kept(const kiln_blocked *b, const kiln_config *c)
{
    return (kiln_depthwise_rows(b, c) * b->src[KILN_AXIS_W] + results_of(b, c)) * b->block * 4;
}

bool kiln_depthwise_whole(const kiln_shape *s, const kiln_blocked *b, const kiln_config *c)
{
    return !kiln_shape_is_plain_layout(s) ||
           (results_of(b, c) % b->block == 0 && b->dst_pitch.channel % b->block == 0);
}

/* ---- time ---- */

/* Cycles of one core for a row of tiles whose taps look which columns of the source exist. Where
 * the next tap finds other columns the core predicts branches wrongly. */
static double checked_row_cost(const kiln_depthwise_blocked_numbers *k, const kiln_blocked *b,
                               const kiln_device_facts *d, const kiln_config *c)
{
    const depthwise_span h = kiln_depthwise_span(b, c, KILN_AXIS_H),
                         w = kiln_depthwise_span(b, c, KILN_AXIS_W);
    const double group = (double)b->src_c, vectors = kiln_blocked_vectors(b->block, d);
    const double row = (double)w.pixels * vectors, sums = (double)h.pixels * row;
    const double over = sums + (group + 1) * vectors - kiln_blocked_registers(d);
    double rows = (double)h.pixels; /* filter rows that meet a tile's rows */
    for (int a = 0; a < 2; a++)
        rows *= (double)kiln_blocked_meetings(b, a) / (double)b->dst[a];
    double adds = (double)kiln_blocked_meetings(b, 2) / (double)b->dst[2] * row;
    adds *= (group > 1 ? k->checked_add * group : 1) * (over > 0 ? 1 + k->spill * over / row : 1);
    const double looks =
        k->checked_row + (double)b->filter[2] * (k->checked_tap + k->checked_pixel * row);
    return (double)w.tiles * (rows * (adds + looks) + sums + k->row);
}

/* Cycles of one core for a row of tiles, in vector multiply-adds. */
static double row_cost(const kiln_depthwise_blocked_numbers *k, const kiln_blocked *b,
                       const kiln_device_facts *d, const kiln_config *c, int together)
{
    const depthwise_span h = kiln_depthwise_span(b, c, KILN_AXIS_H),
                         w = kiln_depthwise_span(b, c, KILN_AXIS_W);
    const double elements = (double)b->src_c / together;
    const double vectors = kiln_blocked_vectors(b->block, d);
    const double sums = (double)(h.pixels * w.pixels) * vectors;
    double taps = 1;
    for (int a = 0; a < 3; a++)
        taps *= together > 1 ? (double)b->filter[a]
                             : (double)kiln_blocked_meetings(b, a) / (double)b->dst[a];
    double adds = taps * elements * sums;
    /* The weights of all filter rows that meet one source row stay in registers if there is room.
     */
    double rows = fmin((double)h.pixels, ceil((double)b->filter[1] / (double)b->stride[1]));
    double weights = rows * (double)b->filter[2] * vectors;
    double over = sums + weights + 2 - kiln_blocked_registers(d);
    double loads = (double)((h.to - h.from + 1) * (w.to - w.from + 1)) * vectors;
    double cost = fmax(adds, loads) + k->add * adds + k->load * loads;
    if (b->src_c > 1)
        cost += k->group_load * loads * elements;
    if (over > 0)
        cost += adds * fmin(k->spill, k->spill * over / weights);
    return (double)w.tiles * (fmax(cost, k->least * taps * elements) + sums + k->row);
}

/* Cycles of one core to turn an item's squares of channels by pixels: rounds of shuffles, loads and
 * stores. */
static double turn_cost(const kiln_blocked *b, const kiln_config *c)
{
    double squares = (double)(divide_up(kiln_depthwise_rows(b, c) * b->src[KILN_AXIS_W], b->block) +
                              divide_up(results_of(b, c), b->block));
    return squares * b->block * (log2(b->block) + 1);
}

const kiln_fit *const kiln_depthwise_blocked_fits[1] = {&depthwise_blocked_fit};

double kiln_depthwise_predict(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_blocked *b,
                              const kiln_config *c)
{
    const kiln_depthwise_blocked_numbers *k = self->fits[0]->numbers;
    double items =
        (double)(kiln_depthwise_strips(b, c) * b->dst[0] * kiln_depthwise_vectors(b) * b->n);
    /* All cores wait in the end for the one that took the last item. */
    double wait = 1 + k->wait * d->compute_units / items;
    const int together = kiln_depthwise_together(s, d, b, c);
    const double row = kiln_depthwise_unrolls(s, d, b, c) ? row_cost(k, b, d, c, together)
                                                          : checked_row_cost(k, b, d, c);
    double item = c->v[TILES] * row + k->item;
    /* Plain tensors: more bytes than these leave a core's first cache while an item keeps them. */
    const int64_t few = d->cpu->fit.l1_counted * 7 / 8;
    if (kiln_shape_is_plain_layout(s))
        item = (item + turn_cost(b, c)) * (kiln_depthwise_kept(b, c) > few ? k->kept : 1);
    double work = items * item;
    double ms = wait * work * 2 * d->simd_floats / (k->reached * d->peak_gflops * 1e6);
    /* Two items that are neighbours both read the rows between them. */
    const depthwise_span h = kiln_depthwise_span(b, c, KILN_AXIS_H);
    double own = (double)(h.pixels * b->stride[1]) / (double)b->up[1];
    double shared = fmax(0, (double)(h.to - h.from + 1) - own) / (own * c->v[TILES]);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    double source = (double)(backward ? s->y_count : s->x_count);
    double count = (double)(s->x_count + s->y_count) + k->shared * shared * source;
    double move = (kiln_better_fetched(s, d) ? k->fetched : 1) * wait *
                  kiln_device_move_ms(d, count * (double)kiln_type_size(s->x_type));
    if (kiln_better_streamed(s, d) ? !(c->v[STREAM] && kiln_depthwise_whole(s, b, c))
                                   : c->v[STREAM])
        move *= k->streamed;
    /* Sums over groups of eight channels or more leave a core little idle time that hides loads. */
    const double both = b->src_c >= 8 ? 1 : k->beside;
    /* Groups of one channel: each thread reads what it wrote last from its own core's cache. */
    const double own_share = b->src_c == 1 ? d->cpu->fit.own_share : 1;
    return kiln_device_launch_ms(d) + own_share * (both * fmin(ms, move) + fmax(ms, move));
}
