/* The direct solver over channel-major images. */
#include "generator/base/integers.h"

#include "image.h"

#include <math.h>

enum { TILE_W, TILE_KV, LOCAL, ORDER, GROUP_0, GROUP_1, PARAMS };
enum { STRIDED, ADJACENT, WINDOW };

static const kiln_param params[PARAMS] = {
    [TILE_W] = {"T_W", 7, {1, 2, 3, 4, 5, 6, 8}, 1, 16},
    [TILE_KV] = {"T_KV", 3, {1, 2, 4}, 1, 8},
    [LOCAL] = {"T_LOCAL", 3, {STRIDED, ADJACENT, WINDOW}, 0, 0},
    [ORDER] = {"T_ORDER", 2, {0, 1}, 0, 0},
    [GROUP_0] = {"T_GROUP_0", 5, {1, 4, 8, 16, 32}, 1, 1024},
    [GROUP_1] = {"T_GROUP_1", 4, {1, 2, 4, 8}, 1, 1024},
};

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    kiln_filter_image filter;
    if (kiln_image_reject(s, d, why))
        return true;
    if (s->g > 1 && (s->c / s->g % 4 || s->k / s->g % 4))
        return kiln_no(why, "groups of %lld and %lld channels do not fill pixels of four",
                       (long long)(s->c / s->g), (long long)(s->k / s->g));
    return !kiln_image_filter(s, d, kiln_image_filters, &filter, why);
}

static int64_t blocks_of(const kiln_shape *s)
{
    return divide_up(s->k / s->g, 4);
}

/* Returns the source pixels that a tile reads for a filter row. */
static int64_t reads_of(const kiln_shape *s, const kiln_config *c)
{
    int64_t taps = s->filter[KILN_AXIS_W];
    if (c->v[LOCAL] != WINDOW)
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
    if (v[TILE_KV] > blocks_of(s))
        return kiln_no(why, "T_KV is %d, but a group has only %lld blocks of four channels",
                       v[TILE_KV], (long long)blocks_of(s));
    if (v[TILE_W] * v[TILE_KV] > 32)
        return kiln_no(why, "%d pixels of sums are too many for registers", v[TILE_W] * v[TILE_KV]);
    if (v[LOCAL] == WINDOW && (reads_of(s, c) > 32 || s->filter[KILN_AXIS_W] > 16))
        return kiln_no(why, "a window of %lld pixels does not fit registers",
                       (long long)reads_of(s, c));
    return kiln_image_group_illegal(self, d, c, why);
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    int64_t tiles_w = divide_up(s->out[KILN_AXIS_W], v[TILE_W]);
    int64_t tiles_k = s->g * divide_up(blocks_of(s), v[TILE_KV]);
    if ((v[LOCAL] == WINDOW && s->filter[KILN_AXIS_W] == 1) ||
        (v[LOCAL] == STRIDED && d->kind == KILN_DEVICE_CPU))
        return true;
    return kiln_image_group_skipped(self, d, c, v[ORDER] ? tiles_k : tiles_w,
                                    v[ORDER] ? tiles_w : tiles_k);
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    const int *v = c->v;
    double tiles = (double)(divide_up(s->out[KILN_AXIS_W], v[TILE_W]) * s->out[KILN_AXIS_H] * s->n *
                            s->g * divide_up(blocks_of(s), v[TILE_KV]));
    double rows = (double)(divide_up(s->c / s->g, 4) * s->filter[KILN_AXIS_H]);
    double lanes = fmin(4, (double)(s->c / s->g)), taps = (double)s->filter[KILN_AXIS_W];
    double reads = (double)reads_of(s, c) + taps * lanes * v[TILE_KV];
    double adds = taps * lanes * 4 * v[TILE_W] * v[TILE_KV];
    return kiln_image_ms(d, tiles, rows * reads, rows * adds, v[TILE_W] * v[TILE_KV]);
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const int most = g->d->kind == KILN_DEVICE_CPU ? 32 : 16;
    return c->v[TILE_W] * c->v[TILE_KV] > most ? INFINITY : kiln_legal_ms(g, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const bool cpu = d->kind == KILN_DEVICE_CPU;
    const kiln_config start = {
        .v = {[TILE_W] = 1, [TILE_KV] = 1, [LOCAL] = cpu, [GROUP_0] = 1, [GROUP_1] = 1}};
    const kiln_range range[] = {kiln_searched(params, TILE_W), kiln_doubled(TILE_KV, 1, 4),
                                kiln_each(LOCAL, cpu, WINDOW)};
    const kiln_guess g = {.self = self, .s = s, .d = d, .ms = guessed_ms, .best = start};
    kiln_image_guess(&g, range, sizeof range / sizeof *range, c);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    const int *v = c->v;
    kiln_filter_image filter;
    kiln_why why;
    if (!kiln_image_filter(s, d, kiln_image_filters, &filter, &why))
        plan->broken = true;
    int weights = kiln_image_pack(plan, s, d, &filter);
    int64_t tiles_w = divide_up(s->out[KILN_AXIS_W], v[TILE_W]);
    int64_t tiles_k = divide_up(blocks_of(s), v[TILE_KV]);
    kiln_plan_stage(plan, "direct_image.cl", "direct_image");
    kiln_image_define(plan, s);
    kiln_define(plan, "D_SRC_C", s->c / s->g);
    kiln_define(plan, "D_DST_C", s->k / s->g);
    kiln_define(plan, "D_GROUPS", s->g);
    kiln_define(plan, "D_FLAT", kiln_filter_flat(&filter.storage));
    kiln_define(plan, "D_TILES_W", tiles_w);
    kiln_define(plan, "D_TILES_K", tiles_k);
    kiln_define_params(plan, params, PARAMS, c);
    kiln_arg_buffer(plan, KILN_ROLE_X);
    kiln_arg_buffer(plan, weights);
    kiln_arg_buffer(plan, KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    int64_t across = s->g * tiles_k, rows = s->n * s->out[KILN_AXIS_H];
    kiln_grid(plan, v[GROUP_0], v[GROUP_1], 1, v[ORDER] ? across : tiles_w,
              v[ORDER] ? tiles_w : across, rows);
    kiln_image_bind(plan, s);
}

const kiln_solver kiln_solver_direct_image = {
    .name = "direct_image",
    .id = 1012,
    .algorithm = 1,
    .version = 1,
    .params = params,
    .nparams = PARAMS,
    .reads_argument_image = true,
    .own = kiln_image_filters,
    .prefer = kiln_image_prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
