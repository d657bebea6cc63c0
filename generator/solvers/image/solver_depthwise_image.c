/* The depthwise solver over channel-major images: one filter per channel. */
#include "generator/base/integers.h"

#include "image.h"

#include <math.h>

enum { TILE_W, WINDOW, GROUP_0, GROUP_1, PARAMS };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 7, {1, 2, 3, 4, 5, 6, 8}, 1, 16},
    [WINDOW] = {"T_WINDOW", 2, {0, 1}, 0, 0},
    [GROUP_0] = {"T_GROUP_0", 5, {1, 4, 8, 16, 32}, 1, 1024},
    [GROUP_1] = {"T_GROUP_1", 4, {1, 2, 4, 8}, 1, 1024},
};

static const char *const filters[] = {"IMG_DW_FILTER", NULL};

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    kiln_filter_image filter;
    if (kiln_image_reject(s, d, why))
        return true;
    if (s->g != s->c || s->g != s->k || s->g == 1)
        return kiln_no(why,
                       "it takes groups of one input and one output channel; these are %lld groups "
                       "of %lld and %lld",
                       (long long)s->g, (long long)(s->c / s->g), (long long)(s->k / s->g));
    return !kiln_image_filter(s, d, filters, &filter, why);
}

/* Returns the source pixels that a tile reads for a filter row. */
static int64_t reads_of(const kiln_shape *s, const kiln_config *c)
{
    int64_t taps = s->filter[KILN_AXIS_W];
    if (!c->v[WINDOW])
        return taps * c->v[TILE_W];
    return (c->v[TILE_W] - 1) * s->stride[KILN_AXIS_W] + (taps - 1) * s->dilation[KILN_AXIS_W] + 1;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (v[TILE_W] > s->out[KILN_AXIS_W])
        return kiln_no(why, "T_W is %d, but a row has only %lld pixels", v[TILE_W],
                       (long long)s->out[KILN_AXIS_W]);
    if (v[WINDOW] && (reads_of(s, c) > 48 || s->filter[KILN_AXIS_W] > 24))
        return kiln_no(why, "a window of %lld pixels does not fit registers",
                       (long long)reads_of(s, c));
    return kiln_image_group_illegal(self, d, c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    if (v[WINDOW] && s->filter[KILN_AXIS_W] == 1)
        return true;
    return kiln_image_group_skipped(self, d, c, divide_up(s->out[KILN_AXIS_W], v[TILE_W]),
                                    divide_up(s->k, 4));
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const int *v = c->v;
    double tiles = (double)(divide_up(s->out[KILN_AXIS_W], v[TILE_W]) * s->out[KILN_AXIS_H] * s->n *
                            divide_up(s->k, 4));
    double taps = (double)s->filter[KILN_AXIS_W];
    double reads = (double)s->filter[KILN_AXIS_H] * ((double)reads_of(s, c) + taps);
    return kiln_image_ms(d, tiles, reads, reads * 4, v[TILE_W]);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const kiln_config start = {.v = {[TILE_W] = 1, [GROUP_0] = 1, [GROUP_1] = 1}};
    const kiln_range range[] = {kiln_searched(params, TILE_W), kiln_each(WINDOW, 0, 1)};
    const kiln_guess g = {.self = self, .s = s, .d = d, .ms = kiln_legal_ms, .best = start};
    kiln_image_guess(&g, range, sizeof range / sizeof *range, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const int *v = c->v;
    kiln_filter_image filter;
    kiln_why why;
    if (!kiln_image_filter(s, d, filters, &filter, &why))
        plan->broken = true;
    int weights = kiln_image_pack(plan, s, d, &filter);
    int64_t tiles = divide_up(s->out[KILN_AXIS_W], v[TILE_W]);
    kiln_plan_stage(plan, "depthwise_image.cl", "depthwise_image");
    kiln_image_define(plan, s);
    kiln_define(plan, "D_TILES_W", tiles);
    kiln_define_params(plan, params, PARAMS, c);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, weights);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    kiln_grid(plan, v[GROUP_0], v[GROUP_1], 1, tiles, divide_up(s->k, 4),
              s->n * s->out[KILN_AXIS_H]);
    kiln_image_bind(plan, s);
}

const kiln_solver kiln_solver_depthwise_image = {
    .name = "depthwise_image",
    .id = 1013,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .reads_argument_image = true,
    .own = filters,
    .prefer = kiln_image_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
