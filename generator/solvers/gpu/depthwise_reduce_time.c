/* Predicts the time of depthwise_reduce: one count for scalars, one for vectors. */
#include "generator/base/integers.h"

#include "depthwise_reduce.h"
#include "tiles.h"

#include <math.h>

/* What a prediction counts. */
typedef struct counts {
    double taps, columns, sharers, groups;
    double of_unit, at_once; /* groups that a unit runs in all, and side by side */
    double pieces;           /* of an item */
    double loads, sums;      /* of a piece */
    double bytes;            /* of x and dy */
} counts;

static counts count(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int64_t local = d->gpu.unit_local_memory ? d->gpu.unit_local_memory : 4 * d->local_memory;
    const int64_t elements = s->x_count + s->y_count;
    const kiln_depthwise_reduce g = kiln_depthwise_reduce_of(s, c);
    counts n = {.taps = (double)g.taps, .columns = (double)g.columns, .sharers = (double)g.sharers};
    n.groups = (double)divide_up(g.pairs, c->v[REDUCE_CHANNELS]) * c->v[REDUCE_PARTS];
    n.of_unit = ceil(n.groups / d->compute_units);
    n.at_once =
        fmax(1, fmin((double)d->unit->items / c->v[REDUCE_GROUP], (double)(local / g.local_bytes)));
    n.pieces = (double)g.pieces / c->v[REDUCE_PARTS] / n.sharers;
    n.loads = (double)(s->filter[0] * g.columns * g.window) +
              (double)(c->v[REDUCE_ROWS] * c->v[REDUCE_COLS]);
    n.sums = (double)(g.taps * c->v[REDUCE_ROWS] * c->v[REDUCE_COLS]);
    n.bytes = (double)kiln_type_size(s->x_type) * (double)elements;
    return n;
}

/* With the launch that adds up the parts: `again` is how much longer it takes than to read them. */
static double with_parts(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                         double ms, double launch_ms, double again)
{
    const double sums = 4.0 * c->v[REDUCE_PARTS] * (double)s->w_count;
    const double adding = launch_ms + again * kiln_device_move_ms(d, sums);
    return kiln_device_launch_ms(d) + (c->v[REDUCE_PARTS] > 1 ? kiln_tiles_row_ms(d, ms + adding, 2)
                                                              : kiln_tiles_row_ms(d, ms, 1));
}

/* Three things take time: moving tensors, longer where some units have more groups than others; all
 * instructions of a unit; and what one item does after the other, a column of a strip at a time,
 * then the tree. Fitted to 340 configs of 10 problems at a batch of 64 on an H100 (NVIDIA's driver
 * 580.159, 2026-11-27). All of them have groups of one source channel; longer filters of others
 * take in proportion. */
static double plain_ms(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double begin_ms = 1.3e-3, group_ms = 8e-5, load_ms = 3.8e-5, level_ms = 1.3e-5,
                 least_cycles = 59; /* of a column */
    const double uneven = 0.4, beside = 0.85, again = 8.7;
    const counts n = count(s, d, c);
    const double size = (double)kiln_type_size(s->x_type), pieces = ceil(n.pieces);
    /* Neighbouring items read neighbouring pixels, which are a pixel's channels apart in NHWC. */
    const double apart =
        kiln_shape_is_plain_layout(s) ? 1 : fmax(1, fmin(4, size * (double)s->c / 8));
    const double cycles = s->c == s->g ? least_cycles * c->v[REDUCE_COLS]
                                       : fmax(least_cycles, 1.4 * (n.loads + n.sums));
    const double more = n.of_unit * d->compute_units / n.groups - 1;
    const double move = 0.9 * kiln_device_move_ms(d, n.bytes) * (1 + uneven * more);
    const double items = n.of_unit * d->compute_units * c->v[REDUCE_GROUP];
    const double all = 2 * items * pieces * apart * cycles / (d->peak_gflops * 1e6);
    const double one = ceil(n.of_unit / n.at_once) * (apart * pieces * n.loads * load_ms +
                                                      level_ms * n.taps * log2(fmax(2, n.sharers)));
    const double most = fmax(move, fmax(all, one)), least = fmin(move, fmin(all, one));
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* of items, at every barrier */
    const double ms = begin_ms + group_ms * n.of_unit +
                      turns * (most + beside * (move + all + one - most - least));
    return with_parts(s, d, c, ms, kiln_device_behind_ms(d), again);
}

/* The same three with vectors, each of which hides a part of the others: moving; instructions, of
 * which a load's are those of its words and of its elements, which become floats; and a piece's
 * wait for memory. Registers, of which an item needs some for its elements of dy, its sums and a
 * row of x, limit the groups of a unit, and few items leave its lanes waiting. Fitted to 2300
 * configs of 19 depthwise problems in f16 at a batch of 64 on an H200 (NVIDIA's driver 580.159,
 * 2026-11-28): predictions are within 30 % (standard deviation), and of those configs that a guess
 * may take the one predicted to be the fastest has 0.89 of the speed of the fastest one measured,
 * in the mean (worst 0.69). */
static double vector_ms(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    enum { SECTOR_BYTES = 32 }; /* that memory gives */
    enum { MOST_REGISTERS = 255, BUSY_ITEMS = 1350 };
    const double begin_ms = 5e-4, group_ms = 3.3e-4, piece_ms = 6.5e-4, level_ms = 1.8e-5;
    const double word_cycles = 0.22, element_cycles = 3.1, sum_cycles = 0.45, spill = 0.17;
    const double rounded = 0.3, together = 1.57, launch_ms = 0.0029, again = 0.25;
    const double vector = c->v[REDUCE_VECTOR], size = (double)kiln_type_size(s->x_type);
    counts n = count(s, d, c);
    const int64_t registers = kiln_device_unit_registers(d);
    const double has = fmin(MOST_REGISTERS, (double)(registers / c->v[REDUCE_GROUP]));
    const double needs =
        33 + vector * (0.5 * ((double)(c->v[REDUCE_ROWS] * c->v[REDUCE_COLS]) + n.taps) +
                       0.42 * n.columns);
    n.at_once = fmax(1, fmin(floor(n.at_once),
                             floor((double)registers / (c->v[REDUCE_GROUP] * fmin(has, needs)))));
    const double beside = fmin(n.of_unit, n.at_once) * c->v[REDUCE_GROUP];
    const double longer =
        (1 + spill * fmax(0, needs / has - 1)) * sqrt(fmax(1, BUSY_ITEMS / beside));
    const double load_cycles =
        word_cycles * fmax(1, vector * size / REDUCE_WORD_BYTES) + element_cycles * vector;
    const double cycles = longer * (n.loads * load_cycles + n.sums * sum_cycles * vector);
    const double pieces = ceil(n.pieces), turns = rounded * pieces + (1 - rounded) * n.pieces;
    const double items = n.of_unit * d->compute_units * c->v[REDUCE_GROUP];
    const double move = 0.82 * kiln_device_move_ms(d, n.bytes) *
                        fmax(1, SECTOR_BYTES / (c->v[REDUCE_CHANNELS] * size));
    const double all = 2 * items * turns * cycles / (d->peak_gflops * 1e6);
    const double one = ceil(n.groups / d->compute_units / n.at_once) *
                       (pieces * piece_ms + level_ms * n.taps * log2(fmax(2, n.sharers)));
    const double ms =
        pow(pow(move, together) + pow(all, together) + pow(one, together), 1 / together);
    return with_parts(s, d, c, begin_ms + group_ms * n.of_unit + ms, launch_ms, again);
}

double kiln_depthwise_reduce_ms(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[REDUCE_VECTOR] > 1 ? vector_ms(s, d, c) : plain_ms(s, d, c);
}
