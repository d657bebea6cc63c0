/* Backward weights of groups of one source channel, each gradient summed by the items of a group;
 * from plain tensors, for devices whose work-items share local memory. */
#include "generator/base/integers.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"

#include <math.h>

enum { GROUP, PARTS, PARAMS };

static const kiln_param params[PARAMS] = {
    [GROUP] = {"T_GROUP", 3, {64, 128, 256}, 0, 0},
    [PARTS] = {"T_PARTS", 9, {1, 2, 4, 8, 16, 32, 64, 128, 256}, 1, 4096},
};

enum { MOST_TAPS = 49 };

static int64_t taps_of(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

static int64_t pixels_of(const kiln_shape *s)
{
    return s->n * s->out[0] * s->out[1] * s->out[2];
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    const int64_t bytes = 4 * taps_of(s) * c->v[GROUP];
    if (c->v[GROUP] > d->max_group || c->v[GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[GROUP]);
    if (bytes > d->local_memory)
        return kiln_no(why, "%lld bytes of local memory exceed the device's %lld", (long long)bytes,
                       (long long)d->local_memory);
    if (c->v[PARTS] > pixels_of(s))
        return kiln_no(why, "T_PARTS is %d, but there are only %lld pixels", c->v[PARTS],
                       (long long)pixels_of(s));
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    const kiln_config least = {{[GROUP] = 64, [PARTS] = 1}};
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->c != s->g)
        return kiln_no(why, "it does groups of one source channel; these have %lld",
                       (long long)(s->c / s->g));
    if (!kiln_shape_is_plain_layout(s))
        return kiln_no(why, "it works on the layouts NCHW and OIHW and their 1-D and 3-D kin");
    if (taps_of(s) > MOST_TAPS)
        return kiln_no(why, "an item keeps a sum for each tap, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)taps_of(s));
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (pixels_of(s) > most || s->k > most / 256)
        return kiln_no(why, "its pixels or channels leave the range of its grid");
    return illegal(s, d, &least, why);
}

/* A CPU runs the items of a group in turns between barriers, and has better solvers. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double groups = (double)s->k * c->v[PARTS];
    return d->kind == KILN_DEVICE_CPU ||
           (c->v[PARTS] > 1 && (groups > 64.0 * d->compute_units ||
                                (int64_t)c->v[PARTS] * c->v[GROUP] > 2 * pixels_of(s)));
}

/* An item waits for memory at each of its pixels; groups beside one another on a unit hide that,
 * up to a unit's rate of reads. Not fitted: the reads of a tap count as half a multiply-add's
 * lane. */
static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double wait_ms = 6e-4, beside = 2048.0 / c->v[GROUP];
    const double pixels = (double)pixels_of(s), taps = (double)taps_of(s);
    const double groups = (double)s->k * c->v[PARTS];
    const double steps = ceil(pixels / c->v[PARTS] / c->v[GROUP]);
    const double rounds = ceil(groups / (d->compute_units * beside));
    const double reads = (double)s->k * pixels * (taps + 1) * 8 / (d->peak_gflops * 1e6);
    const double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count);
    const double sums = c->v[PARTS] > 1 ? kiln_sum_parts_ms(d, s->w_count, c->v[PARTS]) / 3 : 0;
    const double turns = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* of items, at every barrier */
    return kiln_device_launch_ms(d) + sums +
           turns * fmax(fmax(rounds * steps * wait_ms, reads), kiln_device_move_ms(d, bytes));
}

static double ms_of(const kiln_guess *g, kiln_config *c)
{
    return illegal(g->s, g->d, c, NULL) ? INFINITY : predict(g->s, g->d, c);
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    const kiln_config start = {{[GROUP] = 64, [PARTS] = 1}};
    const kiln_range all[] = {kiln_searched(params, GROUP), kiln_searched(params, PARTS)};
    kiln_guess g = {.s = s, .d = d, .ms = ms_of, .best = start, .best_ms = INFINITY};
    *c = start;
    if (d->kind == KILN_DEVICE_CPU)
        return; /* where a small kernel compiles soonest */
    kiln_config_best(&g, &start, all, sizeof all / sizeof *all);
    *c = g.best;
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const int parts = c->v[PARTS];
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
    for (int i = 0; i < PARAMS; i++)
        kiln_define(plan, params[i].name, c->v[i]);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, c->v[GROUP], 1, 1, c->v[GROUP] * s->k, parts, 1);
    if (parts > 1)
        kiln_sum_parts_emit(s, d, s->w_count, parts, sums, KILN_ROLE_W, plan);
}

const kiln_solver kiln_solver_depthwise_reduce = {
    .name = "depthwise_reduce",
    .id = 1052,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
