/* Backward weights by the direct solver: dot products of lines, in parts that are added in order.
 */
#include "generator/base/integers.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"

#include "direct.h"

#include <math.h>

/* Returns the weights of one output channel. */
static int64_t weights_of(const kiln_shape *s)
{
    return s->c / s->g * s->filter[0] * s->filter[1] * s->filter[2];
}

static int64_t part_of(const kiln_lines *l, const kiln_config *c)
{
    int64_t vectors = divide_up(l->positions, c->v[DIRECT_VEC]);
    return divide_up(vectors, c->v[DIRECT_SPLIT]) * c->v[DIRECT_VEC];
}

enum { MOST_PARTS = 1024 };

bool kiln_direct_weights_sums_long(const kiln_shape *s, kiln_why *why)
{
    return kiln_lines_of(s).positions / MOST_PARTS >= KILN_INT_PRODUCTS - 64 &&
           kiln_reject_long_sums(s, why);
}

bool kiln_direct_weights_illegal(const kiln_shape *s, const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (v[DIRECT_K] > s->k / s->g)
        return kiln_no(why, "T_K is %d, but a group has only %lld output channels", v[DIRECT_K],
                       (long long)(s->k / s->g));
    if (!v[DIRECT_COPY] || v[DIRECT_PACK])
        return kiln_no(why, "backward weights needs T_COPY 1 and T_PACK 0");
    kiln_lines l = kiln_lines_of(s);
    if ((v[DIRECT_SPLIT] - 1) * part_of(&l, c) >= l.positions)
        return kiln_no(why, "T_SPLIT is %d, which leaves parts without any of the %lld positions",
                       v[DIRECT_SPLIT], (long long)l.positions);
    if (kiln_shape_sums_long(s) && part_of(&l, c) > KILN_INT_PRODUCTS)
        return kiln_no(why, "T_SPLIT is %d, and a part of %lld products of bytes may leave 32 bits",
                       v[DIRECT_SPLIT], (long long)part_of(&l, c));
    return false;
}

/* Counts vector multiply-adds, as in the other directions. To add up the lanes of one sum takes
 * about 8 of them. */
double kiln_direct_weights_ms(const kiln_solver *self, const kiln_shape *s,
                              const kiln_device_facts *d, const kiln_config *c)
{
    const int *v = c->v;
    kiln_lines l = kiln_lines_of(s), dy = kiln_lines_of_dy(s, &l);
    int64_t along = divide_up(weights_of(s), (int64_t)v[DIRECT_GROUP] * v[DIRECT_PIX]);
    int64_t blocks = divide_up(s->g * divide_up(s->k / s->g, v[DIRECT_K]), v[DIRECT_GROUP_K]);
    int64_t groups = along * blocks * v[DIRECT_SPLIT];
    double waves = (double)divide_up(groups, d->compute_units) * d->compute_units;
    double sums = v[DIRECT_K] * v[DIRECT_PIX], loads = v[DIRECT_K] + 2 * v[DIRECT_PIX];
    double step = fmax(sums, loads) + 0.1 * (sums + loads) + 1;
    double tail = d->kind == KILN_DEVICE_CPU ? 8 * sums + 8 * v[DIRECT_PIX] + 40 : 10;
    double per_item = (double)(part_of(&l, c) / v[DIRECT_VEC]) * step + tail;
    double items = waves * v[DIRECT_GROUP] * v[DIRECT_GROUP_K];
    const double reached = kiln_direct_reached_weights(self, d);
    double ms = items * per_item * 2 * v[DIRECT_VEC] / (reached * d->peak_gflops * 1e6);
    if (d->kind == KILN_DEVICE_CPU && d->simd_floats > v[DIRECT_VEC])
        ms *= (double)d->simd_floats / v[DIRECT_VEC];
    /* A GPU needs some thousand items to be busy. */
    double wanted = 512.0 * d->compute_units;
    if (d->kind == KILN_DEVICE_GPU && items < wanted)
        ms *= wanted / items;
    double size = (double)kiln_type_size(s->x_type);
    double bytes = size * (double)(s->x_count + s->y_count) +
                   2 * size * (double)(kiln_lines_count(&l, 16) + kiln_lines_count(&dy, 16));
    if (v[DIRECT_SPLIT] > 1)
        bytes += 8.0 * (double)s->w_count * v[DIRECT_SPLIT];
    return ms + bytes / (d->bandwidth_gbs * 1e6) + 2 * kiln_device_launch_ms(d);
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const int most = g->d->kind != KILN_DEVICE_CPU ? 32 : g->d->simd_floats >= 16 ? 24 : 8;
    if (c->v[DIRECT_K] * c->v[DIRECT_PIX] > most || kiln_direct_weights_illegal(g->s, c, NULL))
        return INFINITY;
    return kiln_direct_weights_ms(g->self, g->s, g->d, c);
}

void kiln_direct_weights_guess(const kiln_solver *self, const kiln_shape *s,
                               const kiln_device_facts *d, kiln_config *c)
{
    const kiln_range range[] = {kiln_doubled(DIRECT_SPLIT, 1, MOST_PARTS),
                                kiln_each(DIRECT_K, 1, 8), kiln_each(DIRECT_PIX, 1, 8)};
    c->v[DIRECT_COPY] = 1;
    c->v[DIRECT_PACK] = 0;
    const bool legal = !kiln_direct_weights_illegal(s, c, NULL);
    const double ms = legal ? kiln_direct_weights_ms(self, s, d, c) : INFINITY;
    kiln_guess g = {self, s, d, NULL, guessed_ms, *c, ms};
    kiln_config_best(&g, c, range, sizeof range / sizeof *range);
    *c = g.best;
}

static void define_all(const kiln_shape *s, const kiln_lines *l, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    bool wide = kiln_lines_count(l, c->v[DIRECT_VEC]) > INT32_MAX ||
                s->w_count * c->v[DIRECT_SPLIT] > INT32_MAX;
    if (!s->wide && wide)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_GROUPS", s->g);
    kiln_define(plan, "D_K", s->k / s->g);
    kiln_define(plan, "D_C", s->c / s->g);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "D_SLOTS", l->slots);
    kiln_define_axes(plan, "D_PERIOD", l->period);
    kiln_define_axes(plan, "D_LINE", l->line);
    kiln_define(plan, "D_CHANNEL", l->channel);
    kiln_define(plan, "D_POSITIONS", l->positions);
    kiln_define(plan, "D_PART", part_of(l, c));
    kiln_filter_places_define_grouped(s, plan);
    kiln_direct_define_params(c, plan);
}

void kiln_direct_weights_emit(const kiln_shape *s, const kiln_device_facts *d, const kiln_config *c,
                              kiln_plan *plan)
{
    const int *v = c->v;
    kiln_lines l = kiln_lines_of(s), dy = kiln_lines_of_dy(s, &l);
    int x_lines = kiln_lines_emit(&l, s, d, v[DIRECT_VEC], KILN_ROLE_X, plan);
    int dy_lines = kiln_lines_emit(&dy, s, d, v[DIRECT_VEC], KILN_ROLE_Y, plan);
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    int out = KILN_ROLE_W;
    if (v[DIRECT_SPLIT] > 1)
        out = kiln_plan_temp(plan, s->w_count * v[DIRECT_SPLIT] * 4);
    kiln_plan_stage(plan, "direct_weights.cl", "weights");
    define_all(s, &l, c, plan);
    kiln_arg_buffer(plan, x_lines);
    kiln_arg_buffer(plan, dy_lines);
    kiln_arg_buffer(plan, out);
    int64_t along =
        divide_up(weights_of(s), (int64_t)v[DIRECT_GROUP] * v[DIRECT_PIX]) * v[DIRECT_GROUP];
    int64_t blocks = s->g * divide_up(s->k / s->g, v[DIRECT_K]);
    if (v[DIRECT_ORDER])
        kiln_grid(plan, v[DIRECT_GROUP_K], v[DIRECT_GROUP], 1, blocks, along, v[DIRECT_SPLIT]);
    else
        kiln_grid(plan, v[DIRECT_GROUP], v[DIRECT_GROUP_K], 1, along, blocks, v[DIRECT_SPLIT]);
    if (v[DIRECT_SPLIT] > 1)
        kiln_sum_parts_emit(s, d, s->w_count, v[DIRECT_SPLIT], out, KILN_ROLE_W, plan);
}
