/* The blocked solver of backward weights: outer products of pixels over channel blocks; for CPUs.
 */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"
#include "generator/geometry/sum_parts.h"
#include "generator/plan/config_best.h"
#include "generator/plan/shared_grid.h"
#include "generator/plan/staging.h"
#include "generator/problem/problem_layout.h"

#include "weights_blocked.h"

#include <math.h>
#include <string.h>

static const kiln_param params[PARAMS] = {
    [TILE_X] = {"T_X", 6, {1, 2, 3, 4, 5, 8}, 1, 16},
    [TILE_Y] = {"T_Y", 5, {1, 2, 4, 8, 16}, 1, 16},
    [TILE_S] = {"T_S", 5, {1, 3, 5, 7, 11}, 1, 32},
    [CUTS_X] = {"T_CUTS_X", 5, {1, 2, 4, 8, 16}, 1, 1024},
    [CUTS_Y] = {"T_CUTS_Y", 5, {1, 2, 4, 8, 16}, 1, 1024},
    [PIXELS] = {"T_PIXELS", 3, {64, 128, 256}, 1, 1 << 20},
    [PARTS] = {"T_PARTS", 5, {1, 2, 4, 8, 16}, 1, 1024},
};

static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return;
    int block = kiln_weights_block(s, d);
    char blocked[KILN_LAYOUT_TEXT], w[KILN_LAYOUT_TEXT];
    kiln_weights_data_layout(s, block, blocked);
    kiln_weights_w_layout(s, kiln_weights_lanes(s, block), block, w);
    if (kiln_weights_lanes(s, block) == LANES_K && s->c <= block / 4)
        kiln_prefer_layout(s->x_layout, kiln_plain_data_layout(s->rank));
    kiln_prefer_layout(s->x_layout, blocked);
    kiln_prefer_layout(s->y_layout, blocked);
    kiln_prefer_layout(s->w_layout, w);
}

/* ---- what it can do ---- */

static bool wrong_layouts(const kiln_shape *s, const kiln_device_facts *d, kiln_why *why)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    if (!x || !y || (x > 1 && y > 1 && x != y))
        return kiln_no(why,
                       "it reads plain tensors and blocks of 16, 8 and 4 channels, both the "
                       "same; the layouts are %s and %s",
                       s->x_layout, s->y_layout);
    int block = kiln_weights_block(s, d);
    kiln_lanes lanes = kiln_weights_lanes(s, block);
    kiln_storage w;
    if (!kiln_shape_storage(s, 'w', s->w_layout, &w, why ? why->text : NULL))
        return true;
    if (w.layout.image || w.layout.dims[0] == 'M')
        return kiln_no(why, "it writes buffers over the dims O and I; dw is %s", s->w_layout);
    if (!kiln_weights_fits(s, lanes, block))
        return kiln_no(why, "groups of %lld and %lld channels do not fill blocks of %d",
                       (long long)(s->c / s->g), (long long)(s->k / s->g), block);
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (kiln_reject_but_cpu(d, why))
        return true;
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (kiln_type_is_integer(s->x_type))
        return kiln_no(why, "it adds floats, and these tensors are %s", kiln_type_name(s->x_type));
    if (wrong_layouts(s, d, why))
        return true;
    for (int a = 0; a < 3; a++)
        if (s->in[a] + s->pad[a] + s->pad_end[a] + s->stride[a] + s->dilation[a] > INT32_MAX / 64)
            return kiln_no(why, "an axis with its padding has 2^25 elements or more");
    kiln_weights_geometry g = kiln_weights_geometry_of(s, d);
    int64_t most = INT32_MAX / 64;
    if (g.b.dst[0] * g.b.dst[1] * g.b.n > most || g.b.src[0] * g.b.src[1] * g.b.src[2] > most ||
        s->k > most || s->c > most || g.b.src_pitch.pixel > most / g.b.stride[2] ||
        g.b.dst_pitch.pixel > most)
        return kiln_no(why, "it counts rows and pixels of a block of channels below 2^25");
    return false;
}

static bool illegal_units(const kiln_weights_geometry *g, const kiln_config *c, kiln_why *why)
{
    const int *v = c->v, block = g->b.block;
    int64_t blocks = divide_up(g->b.dst_c, block);
    bool split = kiln_weights_reads_elements(g) &&
                 (block % v[TILE_X] || (g->b.groups > 1 && g->b.src_c % v[TILE_X]));
    if (split || v[TILE_X] > kiln_weights_units_x(g, c))
        return kiln_no(why, "T_X is %d; it must fit %lld channels in blocks of %d", v[TILE_X],
                       (long long)g->b.src_c, block);
    split = g->lanes == LANES_C ? block % v[TILE_Y] || (g->b.groups > 1 && g->b.dst_c % v[TILE_Y])
                                : v[TILE_Y] > blocks;
    if (split)
        return kiln_no(why, "T_Y is %d; it must fit %lld channels in blocks of %d", v[TILE_Y],
                       (long long)g->b.dst_c, block);
    if ((v[CUTS_X] - 1) * kiln_weights_item_x(g, c) >= kiln_weights_units_x(g, c) ||
        (v[CUTS_Y] - 1) * kiln_weights_item_y(g, c) >= kiln_weights_units_y(g, c))
        return kiln_no(why, "T_CUTS_X is %d and T_CUTS_Y %d, which leaves items without any tile",
                       v[CUTS_X], v[CUTS_Y]);
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    kiln_weights_geometry g = kiln_weights_geometry_of(s, d);
    const int *v = c->v;
    if (g.b.filter[KILN_AXIS_W] % v[TILE_S])
        return kiln_no(why, "T_S is %d, which does not divide the %lld taps of a filter row",
                       v[TILE_S], (long long)g.b.filter[KILN_AXIS_W]);
    if (kiln_weights_sums(&g, d, c) > 2 * kiln_blocked_registers(d))
        return kiln_no(why, "%d vectors of sums are too many for registers",
                       kiln_weights_sums(&g, d, c));
    if (illegal_units(&g, c, why))
        return true;
    int64_t rows = kiln_weights_rows(&g, c);
    if (rows > INT32_MAX / 64)
        return kiln_no(why, "T_PIXELS is %d, which makes %lld strips, 2^25 or more", v[PIXELS],
                       (long long)rows);
    if ((v[PARTS] - 1) * kiln_weights_part(&g, c) >= rows)
        return kiln_no(why, "T_PARTS is %d, which leaves parts without any of the %lld strips",
                       v[PARTS], (long long)rows);
    return false;
}

/* ---- configs ---- */

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    kiln_weights_geometry g = kiln_weights_geometry_of(s, d);
    int sums = kiln_weights_sums(&g, d, c), registers = kiln_blocked_registers(d);
    int64_t items = g.b.groups * c->v[CUTS_X] * c->v[CUTS_Y] * c->v[PARTS];
    return sums > registers - 3 || sums < registers / 3 || items > 32 * d->compute_units ||
           (c->v[PARTS] > 1 && items > 4 * d->compute_units);
}

static double guessed_ms(const kiln_guess *g, kiln_config *c)
{
    const int *v = c->v;
    return v[TILE_X] * v[TILE_Y] * v[TILE_S] > 64 ? INFINITY : kiln_legal_ms(g, c);
}

/* Tiles of registers, then how items share the weights and the rows. */
static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    kiln_config start = {.v = {[TILE_X] = 1,
                               [TILE_Y] = 1,
                               [TILE_S] = 1,
                               [CUTS_X] = 1,
                               [CUTS_Y] = 1,
                               [PIXELS] = 128,
                               [PARTS] = 1}};
    while (start.v[PIXELS] < params[PIXELS].max && illegal(self, s, d, &start, NULL))
        start.v[PIXELS] *= 2; /* until there are not too many strips */
    const kiln_range tiles[] = {kiln_each(TILE_X, 1, 8), kiln_each(TILE_Y, 1, 16),
                                kiln_each(TILE_S, 1, 16)};
    const kiln_range cuts[] = {kiln_each(CUTS_X, 1, 16), kiln_each(CUTS_Y, 1, 16),
                               kiln_doubled(PARTS, 1, 64)};
    kiln_guess g = {self, s, d, NULL, guessed_ms, start, INFINITY};
    kiln_config_best(&g, &start, tiles, sizeof tiles / sizeof *tiles);
    const kiln_config tile = g.best;
    kiln_config_best(&g, &tile, cuts, sizeof cuts / sizeof *cuts);
    *c = g.best;
}

/* ---- the plan ---- */

static void define_all(const kiln_shape *s, const kiln_device_facts *d,
                       const kiln_weights_geometry *g, int64_t cells, const kiln_config *c,
                       kiln_plan *plan)
{
    kiln_define_types(plan, s);
    if (!s->wide && cells * c->v[PARTS] > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_blocked_define(&g->b, plan);
    kiln_define(plan, "D_GROUPS", g->b.groups);
    kiln_define(plan, "D_LANES", g->lanes);
    kiln_define(plan, "D_TOGETHER", g->together);
    kiln_define(plan, "D_BF16", d->has_bf16);
    kiln_define(plan, "D_UNITS_X", kiln_weights_units_x(g, c));
    kiln_define(plan, "D_UNITS_Y", kiln_weights_units_y(g, c));
    kiln_define(plan, "D_ITEM_X", kiln_weights_item_x(g, c));
    kiln_define(plan, "D_ITEM_Y", kiln_weights_item_y(g, c));
    kiln_define(plan, "D_STRIPS", divide_up(g->b.dst[KILN_AXIS_W], kiln_weights_strip(g, c)));
    kiln_define(plan, "D_STRIP", kiln_weights_strip(g, c));
    kiln_define(plan, "D_ROWS", kiln_weights_rows(g, c));
    kiln_define(plan, "D_CHUNK", kiln_weights_chunk(g, c));
    kiln_define(plan, "D_PART", kiln_weights_part(g, c));
    kiln_define(plan, "D_AHEAD",
                kiln_weights_chunk(g, c) < kiln_weights_part(g, c) && kiln_better_fetched(s, d));
    kiln_define(plan, "D_CELLS", cells);
    kiln_define_params(plan, params, PARAMS, c);
}

/* Moves the sums in `out` to a dw in some order of its axes, and adds up their parts. */
static void emit_places(const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_weights_geometry *g, const kiln_filter_places *w, int64_t cells,
                        int parts, int out, kiln_plan *plan)
{
    const int64_t taps = s->filter[0] * s->filter[1] * s->filter[2], c = s->c / s->g;
    const bool joined = g->lanes == LANES_K && w->tap == 1 && w->c == taps;
    const int64_t rows = joined ? c * taps : c;
    kiln_plan_stage(plan, "weights_blocked_places.cl", "weights_blocked_places");
    kiln_define_types(plan, s);
    if (!s->wide && cells * parts > INT32_MAX)
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "D_B", g->b.block);
    kiln_define(plan, "D_LANES", g->lanes);
    kiln_define(plan, "D_DST_C", s->k);
    kiln_define(plan, "D_SRC_C", rows);
    kiln_define(plan, "D_TAPS", joined ? 1 : taps);
    kiln_define(plan, "D_CELLS", cells);
    kiln_define(plan, "T_PARTS", parts);
    kiln_define(plan, "D_W_K", w->k);
    kiln_define(plan, "D_W_C", joined ? 1 : w->c);
    kiln_define(plan, "D_W_TAP", w->tap);
    kiln_arg_buffer(plan, out);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_grid_shared(plan, d, kiln_sum_parts_ms(d, s->w_count, parts), divide_up(s->k, g->b.block),
                     divide_up(rows, g->b.block), 1);
}

/* Moves the sums in `out` to a dw of other blocks, or with padding. */
static void emit_blocks(const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_storage *blocked, int parts, int out, kiln_plan *plan)
{
    if (parts > 1) {
        kiln_shape floats = *s;
        floats.w_type = KILN_F32;
        int sum = kiln_plan_temp(plan, blocked->cells * 4);
        kiln_sum_parts_emit(&floats, d, blocked->cells, parts, out, sum, plan);
        out = sum;
    }
    kiln_why why;
    kiln_storage dw;
    const kiln_operand from = {blocked, KILN_F32, out}, to = {&dw, s->w_type, KILN_ROLE_W};
    if (kiln_shape_storage(s, 'w', s->w_layout, &dw, why.text))
        kiln_stage_reformat(d, &from, &to, plan);
    else
        kiln_plan_refuse(plan, &why);
}

/* Moves the sums in `out` to dw. */
static void emit_result(const kiln_shape *s, const kiln_device_facts *d,
                        const kiln_weights_geometry *g, const kiln_storage *blocked, int parts,
                        int out, kiln_plan *plan)
{
    kiln_filter_places places;
    if (!g->moves_w)
        kiln_sum_parts_emit(s, d, blocked->cells, parts, out, KILN_ROLE_W, plan);
    else if (kiln_filter_places_of(s, &places))
        emit_places(s, d, g, &places, blocked->cells, parts, out, plan);
    else
        emit_blocks(s, d, blocked, parts, out, plan);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_weights_geometry g = kiln_weights_geometry_of(s, d);
    char text[KILN_LAYOUT_TEXT];
    kiln_why why;
    kiln_storage blocked;
    kiln_weights_w_layout(s, g.lanes, g.b.block, text);
    if (!kiln_shape_storage(s, 'w', text, &blocked, why.text)) {
        kiln_plan_refuse(plan, &why);
        return;
    }
    char data[KILN_LAYOUT_TEXT];
    kiln_weights_data_layout(s, g.b.block, data);
    int x = KILN_ROLE_X, dy = KILN_ROLE_Y, out = KILN_ROLE_W, parts = c->v[PARTS];
    if (kiln_layout_block(s->x_layout, s->rank) == 1 && !g.plain_x)
        x = kiln_stage_source(s, d, 'x', data, plan);
    if (kiln_layout_block(s->y_layout, s->rank) == 1)
        dy = kiln_stage_source(s, d, 'y', data, plan);
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    bool own = parts > 1 || g.moves_w || s->w_type != KILN_F32;
    if (own)
        out = kiln_plan_temp(plan, blocked.cells * parts * 4);
    kiln_plan_stage(plan, "weights_blocked.cl", "weights_blocked");
    define_all(s, d, &g, blocked.cells, c, plan);
    kiln_arg_buffer(plan, x);
    kiln_arg_buffer(plan, dy);
    kiln_arg_buffer(plan, out);
    int64_t items = g.b.groups * c->v[CUTS_X] * c->v[CUTS_Y];
    kiln_grid_shared(plan, d, kiln_weights_predict(self, s, d, c), items, parts, 1);
    if (own)
        emit_result(s, d, &g, &blocked, parts, out, plan);
}

const kiln_solver kiln_solver_weights_blocked = {
    .name = "weights_blocked",
    .id = 1040,
    .algorithm = 1,
    .version = 3,
    .params = params,
    .nparams = PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = kiln_weights_predict,
    .emit = emit,
};
