/* Predicts the time of the direct solver, forward and backward data. */
#include "generator/base/integers.h"

#include "direct.h"
#include "direct_fit.h"

#include <math.h>

/* Cost of a register tile for one tap and channel, in vector multiply-adds. A core does a
 * multiply-add in about the time of a vector load. Loads of pixels are unaligned and count twice.
 */
static double step_cost(const kiln_config *c)
{
    double k = c->v[DIRECT_K], pix = c->v[DIRECT_PIX], loads = 2 * pix + k;
    double sums = k * pix;
    return (sums > loads ? sums : loads) + 0.2 * (sums + loads) + 1;
}

/* Cost of going on to the next channel on a CPU, as measured. The larger the planes, the more often
 * the next channel's pixels are on another page, where no prefetcher expects them. Lines, which
 * join the images of a channel, are further apart than the planes of an image. */
static double channel_cost(const kiln_shape *s, const kiln_device_facts *d, const kiln_lines *l,
                           const kiln_config *c)
{
    const double page = (double)d->cpu->page_bytes;
    bool lines = c->v[DIRECT_COPY];
    double bytes = 4.0 * (double)(lines ? l->channel : s->in[0] * s->in[1] * s->in[2]);
    if (d->kind != KILN_DEVICE_CPU)
        return 0;
    return (bytes < page ? bytes / page : 1) * (lines ? 3 + 4 * (double)kiln_direct_taps(s) : 2);
}

/* How much longer a problem takes because its loads convert, as seen on PoCL. Integers multiply at
 * half the rate. What 8-bit floats take was not measured. */
static double conversion(const kiln_shape *s, const kiln_device_facts *d)
{
    static const double factor[] = {[KILN_F32] = 1,  [KILN_F16] = 1.1,  [KILN_BF16] = 1.1,
                                    [KILN_I8] = 1.4, [KILN_F8E4M3] = 3, [KILN_F8E5M2] = 3};
    return d->kind == KILN_DEVICE_CPU ? factor[s->w_type] : 1;
}

/* Cost of storing an element of one phase, as measured. Elements are stored one by one; if their
 * vector crosses rows, the kernel checks first whether each is there. On a CPU all phases write to
 * the same lines. Where the tensor is large and phases do not follow one another, a line has left a
 * core's cache before the next phase. */
static double scatter_cost(const kiln_shape *s, const kiln_device_facts *d, const kiln_lines *l,
                           const kiln_config *c)
{
    const double l2 = (double)d->cpu->fit.l2_counted;
    const int *v = c->v;
    bool large = 4.0 * (double)s->x_count > l2;
    double crossing = (double)(v[DIRECT_VEC] - 1) / (double)l->grid[2], checks = large ? 9 : 5;
    if (d->kind != KILN_DEVICE_CPU)
        return 2;
    if (crossing >= 1 || kiln_direct_dst_channels(s) > v[DIRECT_K])
        return checks;
    return crossing * checks + (1 - crossing) * (large && !v[DIRECT_ORDER] ? 7 : 4);
}

/* Cost of finding the place of each element of a vector that crosses rows, once for all channels of
 * a tile, as measured on a CPU. With several phases scatter_cost() contains it. */
static double crossing_cost(const kiln_device_facts *d, const kiln_lines *l, const kiln_config *c)
{
    const int *v = c->v;
    const double crossing = (double)(v[DIRECT_VEC] - 1) / (double)l->grid[2];
    if (d->kind != KILN_DEVICE_CPU || !v[DIRECT_COPY] || l->phases > 1)
        return 0;
    return 25.0 * v[DIRECT_VEC] * (crossing < 1 ? crossing : 1);
}

/* Time that moving the tensors adds to the sums, as measured. With T_COPY the lines are written and
 * read, and a CPU reads the destination's cache lines before it writes parts of them. Without it,
 * the sums of a CPU hide half of the way to a last cache that has plenty of room. */
static double move_ms(const kiln_shape *s, const kiln_device_facts *d, const kiln_lines *l,
                      const kiln_config *c)
{
    const bool cpu = d->kind == KILN_DEVICE_CPU;
    const double size = (double)kiln_type_size(s->x_type);
    double bytes = size * (double)(s->x_count + s->y_count) + 4.0 * (double)s->w_count;
    if (c->v[DIRECT_COPY]) {
        const bool forward = s->direction == KILN_FORWARD;
        const double lines = size * (double)kiln_lines_count(l, kiln_direct_span(c));
        const double to = size * (double)(forward ? s->y_count : s->x_count);
        const bool again = cpu && l->phases == 1 && !kiln_device_holds(d, bytes + lines);
        const double rate = kiln_device_memory_gbs(d) * 1e6;
        return kiln_lines_ms(l, forward ? s->x_type : s->y_type, d, kiln_direct_span(c)) +
               (lines + (again ? 2 : 1) * to + 4.0 * (double)s->w_count) / rate;
    }
    const bool hidden = cpu && bytes < (double)d->cache / 4;
    return (hidden ? 0.5 : 1) * kiln_device_move_ms(d, bytes);
}

/* The share of the peak that the formula is scaled to. Items of a GPU share nothing, so that loads
 * from memory hold them up, and few destination channels leave little to do between loads. */
static double reached(const kiln_direct_numbers *k, const kiln_shape *s, const kiln_device_facts *d)
{
    if (d->kind != KILN_DEVICE_GPU)
        return d->cpu->fit.reached_direct;
    if (s->direction == KILN_FORWARD)
        return k->forward;
    return kiln_direct_dst_channels(s) < 8 ? k->backward_few : k->backward;
}

/* The least time of an item of a GPU, in ms. The item waits for memory at every channel and, less
 * long, at every tap. */
static double latency_ms(const kiln_direct_numbers *k, const kiln_shape *s,
                         const kiln_device_facts *d)
{
    const double channels = (double)kiln_direct_src_channels(s);
    if (d->kind != KILN_DEVICE_GPU)
        return 0;
    return channels * (k->channel_ms + k->tap_ms * (double)kiln_direct_taps(s));
}

double kiln_direct_reached_weights(const kiln_solver *self, const kiln_device_facts *d)
{
    const kiln_direct_numbers *k = self->fits[0]->numbers;
    return d->kind == KILN_DEVICE_GPU ? k->weights : 1;
}

double kiln_direct_ms(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const int *v = c->v;
    const kiln_direct_numbers *k = self->fits[0]->numbers;
    kiln_lines l = kiln_lines_of(s);
    double images = v[DIRECT_COPY] ? 1 : (double)s->n;
    double tiles = (double)divide_up(kiln_direct_positions(s, &l, c), kiln_direct_span(c)) *
                   images * (double)l.phases;
    double blocks = (double)(s->g * divide_up(kiln_direct_dst_channels(s), v[DIRECT_K]));
    double groups = tiles * (double)divide_up((int64_t)blocks, v[DIRECT_GROUP_K]);
    double waves = (double)divide_up((int64_t)groups, d->compute_units) * d->compute_units;
    double store = l.phases > 1 ? scatter_cost(s, d, &l, c) * v[DIRECT_VEC] : 4;
    double per_channel = (double)kiln_direct_taps(s) * step_cost(c) + channel_cost(s, d, &l, c);
    double per_item = (double)kiln_direct_src_channels(s) / (double)l.phases * per_channel +
                      (store * v[DIRECT_K] + crossing_cost(d, &l, c)) * v[DIRECT_PIX] + 40;
    double flops = waves * v[DIRECT_GROUP] * v[DIRECT_GROUP_K] * per_item * 2 * v[DIRECT_VEC];
    /* A CPU runs at full speed only with vectors as wide as its own. */
    double width = d->kind == KILN_DEVICE_CPU ? (double)d->simd_floats / v[DIRECT_VEC] : 1;
    const double per_ms = reached(k, s, d) * d->peak_gflops * 1e6;
    double ms = conversion(s, d) * flops * (width > 1 ? width : 1) / per_ms;
    ms = fmax(ms, latency_ms(k, s, d) / (double)l.phases);
    return ms + move_ms(s, d, &l, c) + kiln_device_launch_ms(d) * (1 + v[DIRECT_COPY]);
}
