/* Groups of one channel on both sides, an item for each element of the destination: forward and
 * backward data, in NCHW and NHWC; for GPUs, whose caches serve neighbouring items together. */
#include "generator/base/names.h"
#include "generator/geometry/blocked.h"

#include "tiles.h"

#include <math.h>
#include <string.h>

enum { GROUP, PARAMS };

static const kiln_param params[PARAMS] = {[GROUP] = {"T_GROUP", 4, {32, 64, 128, 256}, 0, 0}};

enum { MOST_TAPS = 121 };

static int64_t taps_of(const kiln_shape *s)
{
    return s->filter[0] * s->filter[1] * s->filter[2];
}

static bool illegal(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                    kiln_why *why)
{
    (void)s;
    if (c->v[GROUP] > d->max_group || c->v[GROUP] > d->max_local[0])
        return kiln_no(why, "a group of %d items exceeds the device's limit", c->v[GROUP]);
    return false;
}

static bool reject(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    const int64_t most = INT32_MAX / 4;
    const kiln_config least = {{[GROUP] = 32}};
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does forward and backward data");
    if (s->c != s->g || s->k != s->g)
        return kiln_no(why, "it does groups of one channel; these have %lld and %lld",
                       (long long)(s->c / s->g), (long long)(s->k / s->g));
    if (strcmp(s->w_layout, kiln_plain_filter_layout(s->rank)) != 0 || !kiln_tiles_take_layouts(s))
        return kiln_no(why,
                       "it works on the layouts NCHW, NHWC and OIHW and their kin; these are "
                       "%s, %s and %s",
                       s->x_layout, s->y_layout, s->w_layout);
    if (taps_of(s) > MOST_TAPS)
        return kiln_no(why, "its loop over taps is unrolled, at most %d; the filter has %lld",
                       MOST_TAPS, (long long)taps_of(s));
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > most)
            return kiln_no(why, "an axis with its padding has 2^29 elements or more");
    if (s->in[0] * s->in[1] * s->in[2] > most || s->out[0] * s->out[1] * s->out[2] > most)
        return kiln_no(why, "a channel of an image has 2^29 elements or more");
    return illegal(s, d, &least, why);
}

/* A CPU has better solvers. */
static bool skip(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    (void)s, (void)c;
    return d->kind == KILN_DEVICE_CPU;
}

/* Moving the tensors, or reading an element and a weight for each tap: a unit reads for a quarter
 * of its lanes in a cycle, as counted, not measured. */
static double predict(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c)
{
    const double results = (double)kiln_shape_out_count(s), taps = (double)taps_of(s);
    const double reads = 8 * results * (2 * taps + 1) / (d->peak_gflops * 1e6);
    const double bytes = (double)kiln_type_size(s->x_type) * (double)(s->x_count + s->y_count);
    const double slow = d->kind == KILN_DEVICE_CPU ? 30 : 1; /* its vectors stay empty */
    (void)c;
    return kiln_device_launch_ms(d) + slow * fmax(reads, 1.1 * kiln_device_move_ms(d, bytes));
}

static void guess(const kiln_shape *s, const kiln_device_facts *d, kiln_config *c)
{
    (void)s;
    *c = (kiln_config){{[GROUP] = d->max_group >= 128 && d->max_local[0] >= 128 ? 128 : 32}};
}

static void emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                 kiln_plan *plan)
{
    const bool backward = s->direction == KILN_BACKWARD_DATA;
    const kiln_pitch src = kiln_pitch_of(s, backward ? 'y' : 'x');
    const kiln_pitch dst = kiln_pitch_of(s, backward ? 'x' : 'y');
    const int64_t *size = backward ? s->in : s->out;
    (void)d;
    kiln_plan_stage(plan, "depthwise_gather.cl", "depthwise_gather");
    kiln_define_types(plan, s);
    kiln_define_epilogue(plan, s);
    kiln_define_axes(plan, "P_SRC", backward ? s->out : s->in);
    kiln_define_axes(plan, "P_DST", size);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_CHANNELS", s->c);
    kiln_define(plan, "D_BACKWARD", backward);
    kiln_define(plan, "D_CHANNELS_LAST", kiln_order_of(&dst, size, s->c) == KILN_CHANNELS_LAST);
    kiln_pitch_define(&src, "D_SRC", plan);
    kiln_define(plan, "T_GROUP", c->v[GROUP]);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_Y : KILN_ROLE_X);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, c->v[GROUP], 1, 1, kiln_shape_out_count(s), 1, 1);
}

const kiln_solver kiln_solver_depthwise_gather = {
    .name = "depthwise_gather",
    .id = 1053,
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
