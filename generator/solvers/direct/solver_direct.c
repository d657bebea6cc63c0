/* The direct solver: register-tiled sums over lines. Backward weights is in direct_weights.c. */
#include "generator/base/integers.h"
#include "generator/geometry/filter_places.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"

#include "direct.h"

#include <math.h>

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_reject_but_plain(s, why))
        return true;
    if (s->direction == KILN_BACKWARD_WEIGHTS ? kiln_direct_weights_sums_long(s, why)
                                              : kiln_reject_long_sums(s, why))
        return true;
    return kiln_lines_too_large(s, why);
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    const int *v = c->v;
    if (v[DIRECT_STREAM] && (v[DIRECT_COPY] || v[DIRECT_VEC] == 1))
        return kiln_no(why,
                       "T_STREAM is 1, but only T_COPY=0 with T_VEC above 1 stores whole vectors");
    if (v[DIRECT_K] * v[DIRECT_PIX] > 64 || v[DIRECT_K] * v[DIRECT_PIX] * v[DIRECT_VEC] > 512)
        return kiln_no(why, "a tile of %d channels, %d vectors of %d is too large for registers",
                       v[DIRECT_K], v[DIRECT_PIX], v[DIRECT_VEC]);
    int64_t items = (int64_t)v[DIRECT_GROUP] * v[DIRECT_GROUP_K];
    int along_f = v[DIRECT_ORDER] ? 1 : 0;
    if (items > d->max_group || v[DIRECT_GROUP] > d->max_local[along_f] ||
        v[DIRECT_GROUP_K] > d->max_local[!along_f])
        return kiln_no(why, "a group of %lld items exceeds the device's limit", (long long)items);
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return kiln_direct_weights_illegal(s, c, why);
    if (v[DIRECT_SPLIT] != 1)
        return kiln_no(why, "T_SPLIT is %d; only backward weights is summed in parts",
                       v[DIRECT_SPLIT]);
    if (v[DIRECT_K] > kiln_direct_dst_channels(s))
        return kiln_no(why, "T_K is %d, but a group has only %lld channels", v[DIRECT_K],
                       (long long)kiln_direct_dst_channels(s));
    if (v[DIRECT_COPY])
        return false;
    if (!kiln_shape_is_pointwise(s))
        return kiln_no(why, "T_COPY is 0, but only 1x1 filters without stride and padding can "
                            "read the source where it lies");
    if (kiln_direct_span(c) > s->in[0] * s->in[1] * s->in[2])
        return kiln_no(why, "T_COPY is 0, and an image is smaller than one group's positions");
    return false;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    const int *v = c->v;
    bool cpu = d->kind == KILN_DEVICE_CPU;
    int sums = v[DIRECT_K] * v[DIRECT_PIX];
    /* Loads outweigh the sums of a small tile. */
    if (sums < 6 && kiln_direct_dst_channels(s) >= 8)
        return true;
    if (cpu ? v[DIRECT_GROUP] * v[DIRECT_GROUP_K] != 1 || v[DIRECT_VEC] == 1 || sums > 28
            : v[DIRECT_GROUP] == 1 || v[DIRECT_VEC] > 4 || v[DIRECT_ORDER])
        return true;
    if (s->direction == KILN_BACKWARD_WEIGHTS)
        return v[DIRECT_C] != 16;
    if (v[DIRECT_STREAM] && !kiln_better_streamed(s, d))
        return true;
    if (v[DIRECT_COPY]) {
        kiln_config in_place = *c;
        kiln_why why;
        in_place.v[DIRECT_COPY] = 0;
        if (!illegal(self, s, d, &in_place, &why))
            return true;
    }
    return v[DIRECT_C] > 16 && kiln_direct_src_channels(s) <= 16;
}

/* Whether items of all channels follow one another. The source is then read once, for all phases
 * too. This is slow where a cache of the core keeps the pixels of a group while its channels are
 * computed, because the pixels of all groups at one place are on too many pages. */
static bool is_by_channels(const kiln_shape *s, const kiln_device_facts *d, const kiln_lines *l,
                           const kiln_config *c)
{
    const int64_t held = d->cpu->fit.l2_counted / 2;
    const bool copy = c->v[DIRECT_COPY];
    const int64_t positions = copy ? l->slots[0] * l->slots[1] * l->slots[2] * l->channel
                                   : s->in[0] * s->in[1] * s->in[2];
    const int64_t group =
        kiln_direct_src_channels(s) * positions * (int64_t)kiln_type_size(s->x_type);
    return l->phases > 1 || (!copy && s->g == 1) || group > held;
}

static double predict(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                      const kiln_config *c)
{
    return s->direction == KILN_BACKWARD_WEIGHTS ? kiln_direct_weights_ms(self, s, d, c)
                                                 : kiln_direct_ms(self, s, d, c);
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    /* The most sums: 16 vector registers with 256 bits, 32 with 512; an item of a GPU has some
     * hundred scalars. */
    const bool cpu = g->d->kind == KILN_DEVICE_CPU, copy = c->v[DIRECT_COPY];
    const int most = !cpu ? 40 : g->d->simd_floats >= 16 ? 26 : 12;
    if (c->v[DIRECT_K] * c->v[DIRECT_PIX] > most)
        return INFINITY;
    c->v[DIRECT_STREAM] = !copy && kiln_better_streamed(g->s, g->d);
    c->v[DIRECT_ORDER] = cpu && is_by_channels(g->s, g->d, g->own, c);
    if (cpu && !copy)
        c->v[DIRECT_PACK] = 1;
    return kiln_legal_ms(g, c);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    const bool cpu = d->kind == KILN_DEVICE_CPU;
    const kiln_config smallest = {.v = {[DIRECT_VEC] = 1,
                                        [DIRECT_K] = 1,
                                        [DIRECT_PIX] = 1,
                                        [DIRECT_C] = 16,
                                        [DIRECT_SPLIT] = 1,
                                        [DIRECT_GROUP] = 1,
                                        [DIRECT_GROUP_K] = 1,
                                        [DIRECT_COPY] = 1}};
    kiln_config start = smallest;
    start.v[DIRECT_VEC] = !cpu ? 1 : d->simd_floats >= 16 ? 16 : d->simd_floats >= 8 ? 8 : 4;
    if (!cpu)
        start.v[DIRECT_GROUP] = d->max_group >= 64 && d->max_local[0] >= 64 ? 64 : 1;
    if (s->direction == KILN_BACKWARD_WEIGHTS) {
        *c = start;
        kiln_direct_weights_guess(self, s, d, c);
        return;
    }
    start.v[DIRECT_PACK] = s->x_type != KILN_F32;
    kiln_lines l = kiln_lines_of(s);
    const kiln_range range[] = {kiln_each(DIRECT_COPY, !kiln_shape_is_pointwise(s), 1),
                                kiln_each(DIRECT_K, 1, 16), kiln_each(DIRECT_PIX, 1, 8)};
    kiln_guess g = {self, s, d, &l, guessed_ms, smallest, kiln_direct_ms(self, s, d, &smallest)};
    kiln_config_best(&g, &start, range, sizeof range / sizeof *range);
    *c = g.best;
}

static void define_all(const kiln_shape *s, const kiln_device_facts *d, const kiln_lines *l,
                       const kiln_config *c, kiln_plan *plan)
{
    bool backward = s->direction == KILN_BACKWARD_DATA;
    kiln_define_types(plan, s);
    if (!s->wide && (kiln_lines_count(l, kiln_direct_span(c)) > INT32_MAX ||
                     kiln_direct_packed(s, c->v[DIRECT_K]) > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define_epilogue(plan, s);
    kiln_define(plan, "D_BACKWARD", backward);
    kiln_direct_define_weights(s, plan);
    kiln_define_axes(plan, "P_DST", backward ? s->in : s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_lines_define(l, plan);
    kiln_define_axes(plan, "D_LINE", c->v[DIRECT_COPY] ? l->line : s->in);
    kiln_define(plan, "D_AHEAD",
                kiln_better_fetched(s, d) && !c->v[DIRECT_COPY] && c->v[DIRECT_ORDER]);
    kiln_define(plan, "D_CHANNEL", c->v[DIRECT_COPY] ? l->channel : s->in[0] * s->in[1] * s->in[2]);
    kiln_define(plan, "D_POSITIONS", kiln_direct_positions(s, l, c));
    kiln_direct_define_params(c, plan);
    if (c->v[DIRECT_VEC] > 1)
        kiln_define(plan, "D_ROW", c->v[DIRECT_VEC]);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    if (s->direction == KILN_BACKWARD_WEIGHTS) {
        kiln_direct_weights_emit(s, d, c, plan);
        return;
    }
    const int *v = c->v;
    kiln_lines l = kiln_lines_of(s);
    bool backward = s->direction == KILN_BACKWARD_DATA;
    int source = backward ? KILN_ROLE_Y : KILN_ROLE_X;
    int64_t blocks = s->g * divide_up(kiln_direct_dst_channels(s), v[DIRECT_K]);
    if (v[DIRECT_PACK])
        kiln_direct_pack_emit(s, v[DIRECT_K], 1, false, plan);
    if (v[DIRECT_COPY])
        source = kiln_lines_emit(&l, s, d, kiln_direct_span(c), source, plan);
    kiln_plan_stage(plan, "direct.cl", "direct");
    define_all(s, d, &l, c, plan);
    kiln_arg_buffer(plan, source);
    kiln_arg_buffer(plan, v[DIRECT_PACK] ? KILN_ROLE_PACKED : KILN_ROLE_W);
    kiln_arg_buffer(plan, backward ? KILN_ROLE_X : KILN_ROLE_Y);
    kiln_arg_epilogue(plan, s);
    int64_t along =
        divide_up(kiln_direct_positions(s, &l, c), kiln_direct_span(c)) * v[DIRECT_GROUP];
    int64_t z = v[DIRECT_COPY] ? l.phases : s->n;
    const bool both = v[DIRECT_ORDER] && v[DIRECT_COPY]; /* in the first axis */
    const int64_t first = both ? blocks * z : v[DIRECT_ORDER] ? blocks : along;
    const int64_t second = v[DIRECT_ORDER] ? along : blocks, third = both ? 1 : z;
    if (v[DIRECT_GROUP] * v[DIRECT_GROUP_K] == 1)
        kiln_grid_shared(plan, d, kiln_direct_ms(self, s, d, c), first, second, third);
    else if (v[DIRECT_ORDER])
        kiln_grid(plan, v[DIRECT_GROUP_K], v[DIRECT_GROUP], 1, first, second, third);
    else
        kiln_grid(plan, v[DIRECT_GROUP], v[DIRECT_GROUP_K], 1, first, second, third);
}

const kiln_solver kiln_solver_direct = {
    .name = "direct",
    .id = 1001,
    .algorithm = 1,
    .version = 2,
    .any_type = true,
    .params = kiln_direct_params,
    .nparams = DIRECT_PARAMS,
    .fits = (const kiln_fit *const[]){&kiln_direct_fit},
    .nfits = 1,
    .sums_long = true,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = predict,
    .emit = emit,
};
