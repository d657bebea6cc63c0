/* Backward weights of groups of few source channels, each gradient summed by the items of a group;
 * from plain tensors, or several at a time in NHWC; for devices whose work-items share local
 * memory. */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/blocked.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"

#include "tiles.h"

#include <math.h>
#include <string.h>

enum { GROUP, CHANNELS, ROWS, PARTS, VECTOR, COLS, PARAMS };

static const kiln_param params[PARAMS] = {
    [GROUP] = {"T_GROUP", 4, {64, 128, 256, 512}, 0, 0},
    [CHANNELS] = {"T_CHANNELS", 8, {1, 2, 4, 8, 16, 32, 64, 128}, 0, 0},
    [ROWS] = {"T_ROWS", 5, {1, 2, 4, 7, 14}, 1, 16},
    [PARTS] = {"T_PARTS", 11, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, 1, 4096},
    [VECTOR] = {"T_VECTOR", 4, {1, 2, 4, 8}, 0, 0},
    [COLS] = {"T_COLS", 4, {1, 2, 4, 8}, 1, 16},
};

static const kiln_config least = {
    {[GROUP] = 64, [CHANNELS] = 1, [ROWS] = 1, [PARTS] = 1, [VECTOR] = 1, [COLS] = 1}};

enum { MOST_TAPS = 49, MOST_SUMS = 128, MOST_WINDOW = 256, MOST_SOURCES = 16 };

enum { WORD_BYTES = 4 }; /* an item reads words */

static int64_t taps_of(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

/* Of a channel of dy and one of x; each has a filter's gradients. */
static int64_t pairs_of(const kiln_shape *s)
{
    return s->k * (s->c / s->g);
}

static int64_t pixels_of(const kiln_shape *s)
{
    return s->n * s->out[0] * s->out[1] * s->out[2];
}

/* Pieces of strips, of a pair in all images. */
static int64_t pieces_of(const kiln_shape *s, const kiln_config *c)
{
    return s->n * s->out[0] * divide_up(s->out[1], c->v[ROWS]) * divide_up(s->out[2], c->v[COLS]);
}

/* Rows of x that a strip meets. */
static int64_t window_of(const kiln_shape *s, const kiln_config *c)
{
    return (c->v[ROWS] - 1) * s->stride[1] + (s->filter[1] - 1) * s->dilation[1] + 1;
}

/* Columns of x that a piece reads. */
static int64_t columns_of(const kiln_shape *s, const kiln_config *c)
{
    return c->v[COLS] == 1
               ? s->filter[2]
               : (c->v[COLS] - 1) * s->stride[2] + (s->filter[2] - 1) * s->dilation[2] + 1;
}

/* Items that share a pair. */
static int64_t sharers_of(const kiln_config *c)
{
    return c->v[GROUP] / (c->v[CHANNELS] / c->v[VECTOR]);
}

static bool channels_are_last(const kiln_shape *s)
{
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    return kiln_order_of(&x, s->in, s->c) == KILN_CHANNELS_LAST &&
           kiln_order_of(&y, s->out, s->k) == KILN_CHANNELS_LAST;
}

static int64_t local_bytes(const kiln_shape *s, const kiln_config *c)
{
    const int64_t sharers = sharers_of(c);
    return 4 * taps_of(s) * c->v[CHANNELS] *
           (sharers + sharers / 8 + sharers / 64 + sharers / 512 + 1);
}

static bool may_have_vectors(const kiln_shape *s)
{
    return s->c == s->g && s->k == s->g && channels_are_last(s);
}

/* Of a config whose vectors may be. */
static bool exceeds(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    if (c->v[CHANNELS] % c->v[VECTOR] || s->c % c->v[VECTOR])
        return kiln_no(why, "%d channels of a group, or %lld in all, are no multiple of %d",
                       c->v[CHANNELS], (long long)s->c, c->v[VECTOR]);
    if (c->v[VECTOR] > 1 && c->v[VECTOR] * kiln_type_size(s->x_type) < WORD_BYTES)
        return kiln_no(why, "vectors of %d elements of a byte are shorter than a word",
                       c->v[VECTOR]);
    if (c->v[CHANNELS] / c->v[VECTOR] > c->v[GROUP])
        return kiln_no(why, "%d channels are more than %d items do, of %d each", c->v[CHANNELS],
                       c->v[GROUP], c->v[VECTOR]);
    if (c->v[VECTOR] > 1 && taps_of(s) * c->v[VECTOR] > MOST_SUMS)
        return kiln_no(why, "an item would have %lld sums, more than %d",
                       (long long)(taps_of(s) * c->v[VECTOR]), MOST_SUMS);
    const int64_t bytes = local_bytes(s, c);
    if (c->v[GROUP] > d->max_group || c->v[GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[GROUP]);
    if (bytes > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld", (long long)bytes,
                       (long long)d->local_memory);
    if (c->v[PARTS] > pieces_of(s, c))
        return kiln_no(why, "T_PARTS is %d, but there are only %lld pieces of strips", c->v[PARTS],
                       (long long)pieces_of(s, c));
    if (c->v[VECTOR] > 1 && c->v[VECTOR] * c->v[ROWS] * c->v[COLS] > MOST_SUMS)
        return kiln_no(why, "an item would hold %d elements of dy, more than %d",
                       c->v[VECTOR] * c->v[ROWS] * c->v[COLS], MOST_SUMS);
    if (window_of(s, c) > MOST_WINDOW)
        return kiln_no(why, "the rows of an item meet %lld rows of x, more than %d",
                       (long long)window_of(s, c), MOST_WINDOW);
    return false;
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    if (c->v[VECTOR] > 1 && !may_have_vectors(s))
        return kiln_no(why,
                       "vectors are of %d neighbouring groups of one channel; x has %lld in %s",
                       c->v[VECTOR], (long long)s->c, s->x_layout);
    return exceeds(s, d, c, why);
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->c / s->g > MOST_SOURCES)
        return kiln_no(why, "it does groups of at most %d source channels; these have %lld",
                       MOST_SOURCES, (long long)(s->c / s->g));
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0 ||
        (!kiln_shape_is_plain_layout(s) && !channels_are_last(s)))
        return kiln_no(why, "it works on the layouts NCHW, or NHWC, and OIHW and their kin");
    if (taps_of(s) > MOST_TAPS)
        return kiln_no(why, "an item keeps a sum for each tap, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)taps_of(s));
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (pixels_of(s) > most || pairs_of(s) > most / 256)
        return kiln_no(why, "its pixels or channels leave the range of its grid");
    return illegal(s, d, &least, why);
}

/* A CPU runs the items of a group in turns between barriers, and has better solvers. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double groups = (double)divide_up(pairs_of(s), c->v[CHANNELS]) * c->v[PARTS];
    const int64_t sharers = sharers_of(c);
    return d->kind == KILN_DEVICE_CPU || sharers > 2 * pieces_of(s, c) ||
           (c->v[PARTS] > 1 &&
            (groups > 64.0 * d->compute_units || c->v[PARTS] * sharers > 2 * pieces_of(s, c)));
}

/* What a prediction counts. */
typedef struct counts {
    double sharers, groups;
    double of_unit, at_once; /* groups that a unit runs in all, and side by side */
    double pieces;           /* of an item */
    double loads, sums;      /* of a piece */
    double bytes;            /* of x and dy */
} counts;

static counts count(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const int64_t local = d->gpu.unit_local_memory ? d->gpu.unit_local_memory : 4 * d->local_memory;
    const int64_t elements = s->x_count + s->y_count;
    counts n = {.sharers = (double)sharers_of(c)};
    n.groups = (double)divide_up(pairs_of(s), c->v[CHANNELS]) * c->v[PARTS];
    n.of_unit = ceil(n.groups / d->compute_units);
    n.at_once = fmax(1, fmin(2048.0 / c->v[GROUP], (double)(local / local_bytes(s, c))));
    n.pieces = (double)pieces_of(s, c) / c->v[PARTS] / n.sharers;
    n.loads = (double)(s->filter[0] * columns_of(s, c) * window_of(s, c)) +
              (double)(c->v[ROWS] * c->v[COLS]);
    n.sums = (double)(taps_of(s) * c->v[ROWS] * c->v[COLS]);
    n.bytes = (double)kiln_type_size(s->x_type) * (double)elements;
    return n;
}

/* With the launch that adds up the parts: `again` is how much longer it takes than to read them. */
static double with_parts(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                         double ms, double launch_ms, double again)
{
    const double sums = 4.0 * c->v[PARTS] * (double)s->w_count;
    const double adding = launch_ms + again * kiln_device_move_ms(d, sums);
    return kiln_device_launch_ms(d) +
           (c->v[PARTS] > 1 ? kiln_tiles_row_ms(ms + adding, 2) : kiln_tiles_row_ms(ms, 1));
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
    const double cycles =
        s->c == s->g ? least_cycles * c->v[COLS] : fmax(least_cycles, 1.4 * (n.loads + n.sums));
    const double more = n.of_unit * d->compute_units / n.groups - 1;
    const double move = 0.9 * kiln_device_move_ms(d, n.bytes) * (1 + uneven * more);
    const double items = n.of_unit * d->compute_units * c->v[GROUP];
    const double all = 2 * items * pieces * apart * cycles / (d->peak_gflops * 1e6);
    const double one =
        ceil(n.of_unit / n.at_once) * (apart * pieces * n.loads * load_ms +
                                       level_ms * (double)taps_of(s) * log2(fmax(2, n.sharers)));
    const double most = fmax(move, fmax(all, one)), least = fmin(move, fmin(all, one));
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* of items, at every barrier */
    const double ms = begin_ms + group_ms * n.of_unit +
                      turns * (most + beside * (move + all + one - most - least));
    return with_parts(s, d, c, ms, kiln_tiles_next_launch_ms, again);
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
    enum { UNIT_REGISTERS = 65536, MOST_REGISTERS = 255, BUSY_ITEMS = 1350 };
    const double begin_ms = 5e-4, group_ms = 3.3e-4, piece_ms = 6.5e-4, level_ms = 1.8e-5;
    const double word_cycles = 0.22, element_cycles = 3.1, sum_cycles = 0.45, spill = 0.17;
    const double rounded = 0.3, together = 1.57, launch_ms = 0.0029, again = 0.25;
    const double vector = c->v[VECTOR], size = (double)kiln_type_size(s->x_type);
    counts n = count(s, d, c);
    const double has = fmin(MOST_REGISTERS, UNIT_REGISTERS / c->v[GROUP]);
    const double needs = 33 + vector * (0.5 * (double)(c->v[ROWS] * c->v[COLS] + taps_of(s)) +
                                        0.42 * (double)columns_of(s, c));
    n.at_once =
        fmax(1, fmin(floor(n.at_once), floor(UNIT_REGISTERS / (c->v[GROUP] * fmin(has, needs)))));
    const double beside = fmin(n.of_unit, n.at_once) * c->v[GROUP];
    const double longer =
        (1 + spill * fmax(0, needs / has - 1)) * sqrt(fmax(1, BUSY_ITEMS / beside));
    const double load_cycles =
        word_cycles * fmax(1, vector * size / WORD_BYTES) + element_cycles * vector;
    const double cycles = longer * (n.loads * load_cycles + n.sums * sum_cycles * vector);
    const double pieces = ceil(n.pieces), turns = rounded * pieces + (1 - rounded) * n.pieces;
    const double items = n.of_unit * d->compute_units * c->v[GROUP];
    const double move =
        0.82 * kiln_device_move_ms(d, n.bytes) * fmax(1, SECTOR_BYTES / (c->v[CHANNELS] * size));
    const double all = 2 * items * turns * cycles / (d->peak_gflops * 1e6);
    const double one =
        ceil(n.groups / d->compute_units / n.at_once) *
        (pieces * piece_ms + level_ms * (double)taps_of(s) * log2(fmax(2, n.sharers)));
    const double ms =
        pow(pow(move, together) + pow(all, together) + pow(one, together), 1 / together);
    return with_parts(s, d, c, begin_ms + group_ms * n.of_unit + ms, launch_ms, again);
}

static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    return c->v[VECTOR] > 1 ? vector_ms(s, d, c) : plain_ms(s, d, c);
}

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    return exceeds(g->s, g->d, c, NULL) ? INFINITY : predict(g->s, g->d, c);
}

/* Without vectors no piece of several columns was measured that is fast. With a stride more than
 * two gain a fifth at most, but where the prediction errs they take twice the time. */
static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const bool vectors = may_have_vectors(s);
    const int columns = !vectors ? 1 : s->stride[2] > 1 ? 2 : 8;
    const kiln_range all[] = {kiln_searched(params, GROUP),
                              kiln_searched(params, CHANNELS),
                              kiln_searched(params, ROWS),
                              kiln_searched(params, PARTS),
                              kiln_doubled(VECTOR, 1, vectors ? 8 : 1),
                              kiln_doubled(COLS, 1, columns)};
    kiln_guess g = {.s = s, .d = d, .ms = ms_of, .best = least, .best_ms = INFINITY};
    *c = least;
    if (d->kind == KILN_DEVICE_CPU)
        return; /* where a small kernel compiles soonest */
    kiln_config_best(&g, &least, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const int parts = c->v[PARTS];
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const int sums = parts > 1 ? kiln_plan_temp(plan, 4 * s->w_count * parts) : KILN_ROLE_W;
    kiln_plan_stage(plan, "depthwise_reduce.cl", "depthwise_reduce");
    kiln_define_types(plan, s);
    if (!s->wide && product_of(s->w_count, parts) > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_axes(plan, "P_SRC", s->in);
    kiln_define_axes(plan, "P_DST", s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_CHANNELS", s->k);
    kiln_define(plan, "D_MULTIPLE", s->k / s->g);
    kiln_define(plan, "D_SOURCES", s->c / s->g);
    kiln_define(plan, "D_CHANNELS_LAST", kiln_order_of(&y, s->out, s->k) == KILN_CHANNELS_LAST);
    kiln_pitch_define(&x, "D_SRC", plan);
    kiln_pitch_define(&y, "D_DST", plan);
    kiln_define(plan, "D_WORDS", c->v[VECTOR] * (int64_t)kiln_type_size(s->x_type) / 4);
    if (d->kind == KILN_DEVICE_GPU)
        kiln_define(plan, "D_ALIGNED", 1);
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, c->v[GROUP], 1, 1, c->v[GROUP] * divide_up(pairs_of(s), c->v[CHANNELS]), parts,
              1);
    if (parts > 1)
        kiln_sum_parts_emit(s, d, s->w_count, parts, sums, KILN_ROLE_W, plan);
}

const kiln_solver kiln_solver_depthwise_reduce = {
    .name = "depthwise_reduce",
    .id = 1052,
    .algorithm = 1,
    .version = 5,
    .params = params,
    .nparams = PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
