/* Backward weights of groups with few source channels, for devices whose work-items share local
 * memory: a gradient is a sum over pixels of dy, which the items of a group share.
 *
 *     dy, a channel      | piece  | piece  | piece  |     an item adds the products of its
 *     of all images      | item 0 | item 1 | item 0 |     pieces with the pixels of x that the
 *                                                         taps meet, a sum for each tap; then
 *                                                         the group adds up items' sums
 *
 * T_PARTS groups share the pixels of a pair of channels; sum_parts.cl adds their sums in order.
 * NHWC has T_VECTOR neighbouring pairs an item. templates/gpu/depthwise_reduce.cl has the kernel.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"
#include "generator/geometry/blocked.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"

#include "depthwise_reduce.h"

#include <math.h>
#include <string.h>

static const kiln_param params[REDUCE_PARAMS] = {
    [REDUCE_GROUP] = {"T_GROUP", 4, {64, 128, 256, 512}, 0, 0},
    [REDUCE_CHANNELS] = {"T_CHANNELS", 8, {1, 2, 4, 8, 16, 32, 64, 128}, 0, 0},
    [REDUCE_ROWS] = {"T_ROWS", 5, {1, 2, 4, 7, 14}, 1, 16},
    [REDUCE_PARTS] = {"T_PARTS", 11, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, 1, 4096},
    [REDUCE_VECTOR] = {"T_VECTOR", 4, {1, 2, 4, 8}, 0, 0},
    [REDUCE_COLS] = {"T_COLS", 4, {1, 2, 4, 8}, 1, 16},
};

static const kiln_config least = {{[REDUCE_GROUP] = 64,
                                   [REDUCE_CHANNELS] = 1,
                                   [REDUCE_ROWS] = 1,
                                   [REDUCE_PARTS] = 1,
                                   [REDUCE_VECTOR] = 1,
                                   [REDUCE_COLS] = 1}};

enum { MOST_TAPS = 49, MOST_SUMS = 128, MOST_WINDOW = 256, MOST_SOURCES = 16 };

static int64_t pixels_of(const kiln_shape *s)
{
    return s->n * s->out[0] * s->out[1] * s->out[2];
}

static bool channels_are_last(const kiln_shape *s)
{
    const kiln_pitch x = kiln_pitch_of(s, 'x'), y = kiln_pitch_of(s, 'y');
    return kiln_order_of(&x, s->in, s->c) == KILN_CHANNELS_LAST &&
           kiln_order_of(&y, s->out, s->k) == KILN_CHANNELS_LAST;
}

static bool channels_are_first(const kiln_shape *s)
{
    const char *plain = kiln_plain_data_layout(s->rank);
    return strcmp(s->x_layout, plain) == 0 && strcmp(s->y_layout, plain) == 0;
}

static bool may_have_vectors(const kiln_shape *s)
{
    return s->c == s->g && s->k == s->g && channels_are_last(s);
}

/* Returns whether a config whose vectors suit the layouts exceeds a limit, and writes the
 * reason. */
static bool exceeds(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    if (c->v[REDUCE_CHANNELS] % c->v[REDUCE_VECTOR] || s->c % c->v[REDUCE_VECTOR])
        return kiln_no(why, "%d channels of a group, or %lld in all, are no multiple of %d",
                       c->v[REDUCE_CHANNELS], (long long)s->c, c->v[REDUCE_VECTOR]);
    if (c->v[REDUCE_VECTOR] > 1 &&
        c->v[REDUCE_VECTOR] * kiln_type_size(s->x_type) < REDUCE_WORD_BYTES)
        return kiln_no(why, "vectors of %d elements of a byte are shorter than a word",
                       c->v[REDUCE_VECTOR]);
    if (c->v[REDUCE_CHANNELS] / c->v[REDUCE_VECTOR] > c->v[REDUCE_GROUP])
        return kiln_no(why, "%d channels are more than %d items do, of %d each",
                       c->v[REDUCE_CHANNELS], c->v[REDUCE_GROUP], c->v[REDUCE_VECTOR]);
    const kiln_depthwise_reduce g = kiln_depthwise_reduce_of(s, c);
    if (c->v[REDUCE_VECTOR] > 1 && g.taps * c->v[REDUCE_VECTOR] > MOST_SUMS)
        return kiln_no(why, "an item would have %lld sums, more than %d",
                       (long long)(g.taps * c->v[REDUCE_VECTOR]), MOST_SUMS);
    if (c->v[REDUCE_GROUP] > d->max_group || c->v[REDUCE_GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[REDUCE_GROUP]);
    if (g.local_bytes > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld",
                       (long long)g.local_bytes, (long long)d->local_memory);
    if (c->v[REDUCE_PARTS] > g.pieces)
        return kiln_no(why, "T_PARTS is %d, but there are only %lld pieces of strips",
                       c->v[REDUCE_PARTS], (long long)g.pieces);
    if (c->v[REDUCE_VECTOR] > 1 &&
        c->v[REDUCE_VECTOR] * c->v[REDUCE_ROWS] * c->v[REDUCE_COLS] > MOST_SUMS)
        return kiln_no(why, "an item would hold %d elements of dy, more than %d",
                       c->v[REDUCE_VECTOR] * c->v[REDUCE_ROWS] * c->v[REDUCE_COLS], MOST_SUMS);
    if (g.window > MOST_WINDOW)
        return kiln_no(why, "the rows of an item meet %lld rows of x, more than %d",
                       (long long)g.window, MOST_WINDOW);
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    if (c->v[REDUCE_VECTOR] > 1 && !may_have_vectors(s))
        return kiln_no(why,
                       "vectors are of %d neighbouring groups of one channel; x has %lld in %s",
                       c->v[REDUCE_VECTOR], (long long)s->c, s->x_layout);
    return exceeds(s, d, c, why);
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    const kiln_depthwise_reduce g = kiln_depthwise_reduce_of(s, &least);
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->c / s->g > MOST_SOURCES)
        return kiln_no(why, "it does groups of at most %d source channels; these have %lld",
                       MOST_SOURCES, (long long)(s->c / s->g));
    if (kiln_filter_places_refused(s, why))
        return true;
    if (!channels_are_first(s) && !channels_are_last(s))
        return kiln_no(why, "it works on the layouts NCHW, or NHWC, and their kin");
    if (g.taps > MOST_TAPS)
        return kiln_no(why, "an item keeps a sum for each tap, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)g.taps);
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (pixels_of(s) > most || g.pairs > most / 256)
        return kiln_no(why, "its pixels or channels leave the range of its grid");
    return illegal(self, s, d, &least, why);
}

/* A CPU runs the items of a group in turns between barriers, and has better solvers. */
static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const kiln_depthwise_reduce g = kiln_depthwise_reduce_of(s, c);
    const double groups = (double)divide_up(g.pairs, c->v[REDUCE_CHANNELS]) * c->v[REDUCE_PARTS];
    return d->kind == KILN_DEVICE_CPU || g.sharers > 2 * g.pieces ||
           (c->v[REDUCE_PARTS] > 1 &&
            (groups > 64.0 * d->compute_units || c->v[REDUCE_PARTS] * g.sharers > 2 * g.pieces));
}

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    return exceeds(g->s, g->d, c, NULL) ? INFINITY
                                        : kiln_depthwise_reduce_ms(g->self, g->s, g->d, c);
}

/* Without vectors no piece of several columns that was measured was fast. With a stride pieces
 * of more than two columns gain a fifth at most, and take twice the time where the prediction
 * errs. */
static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const bool vectors = may_have_vectors(s);
    const int columns = !vectors ? 1 : s->stride[2] > 1 ? 2 : 8;
    const kiln_range all[] = {kiln_searched(params, REDUCE_GROUP),
                              kiln_searched(params, REDUCE_CHANNELS),
                              kiln_searched(params, REDUCE_ROWS),
                              kiln_searched(params, REDUCE_PARTS),
                              kiln_doubled(REDUCE_VECTOR, 1, vectors ? 8 : 1),
                              kiln_doubled(REDUCE_COLS, 1, columns)};
    kiln_guess g = {.self = self, .s = s, .d = d, .ms = ms_of, .best = least, .best_ms = INFINITY};
    *c = least;
    if (d->kind == KILN_DEVICE_CPU)
        return; /* a CPU gets the small kernel, which compiles soonest */
    kiln_config_best(&g, &least, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const int parts = c->v[REDUCE_PARTS];
    const int64_t pairs = kiln_depthwise_reduce_of(s, c).pairs;
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
    kiln_filter_places_define(s, plan);
    kiln_define(plan, "D_WORDS", c->v[REDUCE_VECTOR] * (int64_t)kiln_type_size(s->x_type) / 4);
    if (d->kind == KILN_DEVICE_GPU)
        kiln_define(plan, "D_ALIGNED", 1);
    kiln_define_params(plan, params, REDUCE_PARAMS, c);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, c->v[REDUCE_GROUP], 1, 1,
              c->v[REDUCE_GROUP] * divide_up(pairs, c->v[REDUCE_CHANNELS]), parts, 1);
    if (parts > 1)
        kiln_sum_parts_emit(s, d, s->w_count, parts, sums, KILN_ROLE_W, plan);
}

const kiln_solver kiln_solver_depthwise_reduce = {
    .name = "depthwise_reduce",
    .id = 1052,
    .algorithm = 1,
    .version = 5,
    .params = params,
    .nparams = REDUCE_PARAMS,
    .fits = kiln_depthwise_reduce_fits,
    .nfits = REDUCE_FITS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = kiln_depthwise_reduce_ms,
    .emit = emit,
};
