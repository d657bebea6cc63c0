/* Predicts the time of depthwise_reduce: one count for scalars, one for vectors. */
#include "generator/base/integers.h"
#include "generator/base/names.h"

#include "depthwise_reduce.h"
#include "depthwise_reduce_fit.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

/* The counts that both predictions start from. */
typedef struct counts {
    double taps, columns, sharers, groups;
    double of_unit, at_once; /* groups that a unit runs in all, and side by side */
    double pieces;           /* pieces of an item */
    double loads, sums;      /* loads and multiply-adds of a piece */
    double bytes;            /* bytes of x and dy */
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

/* Adds the launch that adds up the parts: `again` is its time over the time to read the parts. */
static double with_parts(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                         double ms, double launch_ms, double again)
{
    const double sums = 4.0 * c->v[REDUCE_PARTS] * (double)s->w_count;
    const double adding = launch_ms + again * kiln_device_move_ms(d, sums);
    return kiln_device_launch_ms(d) + (c->v[REDUCE_PARTS] > 1 ? kiln_tiles_row_ms(d, ms + adding, 2)
                                                              : kiln_tiles_row_ms(d, ms, 1));
}

const kiln_fit *const kiln_depthwise_reduce_fits[REDUCE_FITS] = {
    [REDUCE_FIT_PLAIN] = &reduce_plain_fit,
    [REDUCE_FIT_VECTORS] = &reduce_vector_fit,
};

/* Three times compete: to move tensors, longer where some units have more groups than others; of
 * all instructions of a unit; and of what one item does after the other, a column of a strip at
 * a time, then the tree. Longer filters of groups with several source channels take in
 * proportion. */
static double plain_ms(const kiln_reduce_plain_numbers *k, const kiln_shape *s,
                       const kiln_device_facts *d, const kiln_config *c)
{
    const counts n = count(s, d, c);
    const double size = (double)kiln_type_size(s->x_type), pieces = ceil(n.pieces);
    /* Neighbouring items read neighbouring pixels, which are a pixel's channels apart in NHWC. */
    const bool plain = strcmp(s->x_layout, kiln_plain_data_layout(s->rank)) == 0;
    const double apart = plain ? 1 : fmax(1, fmin(4, size * (double)s->c / 8));
    const double cycles =
        s->c == s->g ? k->least * c->v[REDUCE_COLS] : fmax(k->least, k->each * (n.loads + n.sums));
    const double more = n.of_unit * d->compute_units / n.groups - 1;
    const double move = k->move * kiln_device_move_ms(d, n.bytes) * (1 + k->uneven * more);
    const double items = n.of_unit * d->compute_units * c->v[REDUCE_GROUP];
    const double all = 2 * items * pieces * apart * cycles / (d->peak_gflops * 1e6);
    const double one =
        ceil(n.of_unit / n.at_once) *
        (apart * pieces * n.loads * k->load_ms + k->level_ms * n.taps * log2(fmax(2, n.sharers)));
    const double most = fmax(move, fmax(all, one)), least = fmin(move, fmin(all, one));
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* items take turns at barriers */
    const double ms = k->begin_ms + k->group_ms * n.of_unit +
                      turns * (most + k->beside * (move + all + one - most - least));
    return with_parts(s, d, c, ms, kiln_device_behind_ms(d), k->again);
}

/* Returns how much longer an item's instructions take, and sets how many groups a unit runs side
 * by side. An item needs registers for its elements of dy, its sums and a row of x; where there
 * are too few, they limit the groups and cost time. Few items leave a unit's lanes waiting. */
static double crowding(const kiln_reduce_vector_numbers *k, const kiln_device_facts *d,
                       const kiln_config *c, counts *n)
{
    enum { MOST_REGISTERS = 255 };
    const int64_t registers = kiln_device_unit_registers(d);
    const double has = fmin(MOST_REGISTERS, (double)(registers / c->v[REDUCE_GROUP]));
    const double needs =
        k->held + c->v[REDUCE_VECTOR] *
                      (k->held_sums * ((double)(c->v[REDUCE_ROWS] * c->v[REDUCE_COLS]) + n->taps) +
                       k->held_columns * n->columns);
    n->at_once = fmax(1, fmin(floor(n->at_once),
                              floor((double)registers / (c->v[REDUCE_GROUP] * fmin(has, needs)))));
    const double beside = fmin(n->of_unit, n->at_once) * c->v[REDUCE_GROUP];
    return (1 + k->spill * fmax(0, needs / has - 1)) * sqrt(fmax(1, k->busy_items / beside));
}

/* The same three times with vectors; each hides a part of the others. The instructions of a load
 * are those of its words, and of its elements, which become floats. A piece waits for memory
 * once. */
static double vector_ms(const kiln_reduce_vector_numbers *k, const kiln_shape *s,
                        const kiln_device_facts *d, const kiln_config *c)
{
    enum { SECTOR_BYTES = 32 }; /* bytes that memory gives at once */
    const double vector = c->v[REDUCE_VECTOR], size = (double)kiln_type_size(s->x_type);
    counts n = count(s, d, c);
    const double longer = crowding(k, d, c, &n);
    const double load_cycles =
        k->word * fmax(1, vector * size / REDUCE_WORD_BYTES) + k->element * vector;
    const double cycles = longer * (n.loads * load_cycles + n.sums * k->sum * vector);
    const double pieces = ceil(n.pieces), turns = k->rounded * pieces + (1 - k->rounded) * n.pieces;
    const double items = n.of_unit * d->compute_units * c->v[REDUCE_GROUP];
    const double move = k->move * kiln_device_move_ms(d, n.bytes) *
                        fmax(1, SECTOR_BYTES / (c->v[REDUCE_CHANNELS] * size));
    const double all = 2 * items * turns * cycles / (d->peak_gflops * 1e6);
    const double one = ceil(n.groups / d->compute_units / n.at_once) *
                       (pieces * k->piece_ms + k->level_ms * n.taps * log2(fmax(2, n.sharers)));
    const double ms = pow(pow(move, k->together) + pow(all, k->together) + pow(one, k->together),
                          1 / k->together);
    return with_parts(s, d, c, k->begin_ms + k->group_ms * n.of_unit + ms, k->launch_ms, k->again);
}

double kiln_depthwise_reduce_ms(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[REDUCE_VECTOR] > 1 ? vector_ms(self->fits[REDUCE_FIT_VECTORS]->numbers, s, d, c)
                                   : plain_ms(self->fits[REDUCE_FIT_PLAIN]->numbers, s, d, c);
}
