/* Backward weights of 3x3 filters by Winograd's F(3x3, 4x4): 36 products of all tiles of x and dy;
 * for CPUs.
 *
 * Accuracy: as sums over 4x4 tiles, see kiln_winograd_amplification(). */
#include "generator/base/integers.h"
#include "generator/base/names.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/blocked.h"
#include "generator/geometry/filter_places.h"
#include "generator/plan/config_best.h"
#include "generator/plan/staging.h"
#include "generator/problem/problem_layout.h"

#include "winograd.h"
#include "winograd_weights.h"

#include <math.h>
#include <stdio.h>

static const kiln_param params[GRADIENT_PARAMS] = {
    [GRADIENT_K] = {"T_K", 3, {4, 8, 16}, 0, 0},
    [GRADIENT_CV] = {"T_CV", 5, {1, 2, 3, 4, 5}, 0, 0},
    [GRADIENT_ROWS] = {"T_ROWS", 4, {0, 1, 2, 4}, 0, 64},
    [GRADIENT_PARTS] = {"T_PARTS", 4, {0, 1, 2, 4}, 0, 64},
};

static void blocked_layout(const kiln_shape *s, const kiln_gradient *g, char text[KILN_LAYOUT_TEXT])
{
    snprintf(text, KILN_LAYOUT_TEXT, "%s%dc", kiln_plain_data_layout(s->rank), g->block);
}

static void prefer(const kiln_solver *self, kiln_shape *s, const kiln_device_facts *d)
{
    if (s->direction != KILN_BACKWARD_WEIGHTS || s->rank != 2)
        return;
    kiln_gradient g = kiln_gradient_of(s, d);
    char blocked[KILN_LAYOUT_TEXT];
    blocked_layout(s, &g, blocked);
    kiln_prefer_layout(s->x_layout, blocked);
    if (!s->epilogue.bias)
        kiln_prefer_layout(s->y_layout, blocked);
}

/* ---- what it can do ---- */

static bool wrong_layouts(const kiln_shape *s, kiln_why *why)
{
    int x = kiln_layout_block(s->x_layout, s->rank), y = kiln_layout_block(s->y_layout, s->rank);
    if (!x || !y || (x > 1 && y > 1 && x != y))
        return kiln_no(why,
                       "it reads NCHW and blocks of 16, 8 and 4 channels, both the same; the "
                       "layouts are %s and %s",
                       s->x_layout, s->y_layout);
    if (kiln_filter_places_refused(s, why))
        return true;
    if (s->epilogue.bias && (s->mirrored ? x : y) != 1)
        return kiln_no(why, "it sums the bias gradient of NCHW only");
    return false;
}

static bool reject(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                   kiln_why *why)
{
    if (d->kind != KILN_DEVICE_CPU)
        return kiln_no(
            why, "it is shaped for a CPU, where one item has a core and its vectors to itself");
    if (s->direction != KILN_BACKWARD_WEIGHTS)
        return kiln_no(why, "it does backward weights");
    if (s->rank != 2)
        return kiln_no(why, "it works on two spatial axes");
    for (int a = KILN_AXIS_H; a <= KILN_AXIS_W; a++)
        if (s->filter[a] != 3 || s->stride[a] != 1 || s->dilation[a] != 1)
            return kiln_no(why,
                           "Winograd's tiles are for 3x3 filters with stride 1 and dilation 1");
    if (s->math == KILN_MATH_EXACT)
        return kiln_no(why,
                       "the problem asks for plain sums of products, which Winograd's are not");
    if (kiln_type_is_integer(s->x_type))
        return kiln_no(why, "Winograd's transforms are not for integers");
    if (s->g > 1)
        return kiln_no(why, "it does one group, and there are %lld", (long long)s->g);
    if (wrong_layouts(s, why))
        return true;
    kiln_gradient g = kiln_gradient_of(s, d);
    int64_t most = INT32_MAX / 64, pixels = s->in[1] * s->in[2], points = s->out[1] * s->out[2];
    if (pixels > most || points > most || g.all > most || s->c > most / 16 || s->k > most / 16)
        return kiln_no(why, "it counts pixels and tiles below 2^25, channels below 2^21");
    return false;
}

static bool illegal(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                    const kiln_config *c, kiln_why *why)
{
    kiln_gradient g = kiln_gradient_of(s, d);
    if (c->v[GRADIENT_K] > g.block)
        return kiln_no(why, "T_K is %d, but a block has only %d channels", c->v[GRADIENT_K],
                       g.block);
    if (c->v[GRADIENT_CV] > g.c_blocks)
        return kiln_no(why, "T_CV is %d, but there are only %lld blocks of %d channels",
                       c->v[GRADIENT_CV], (long long)g.c_blocks, g.block);
    if (c->v[GRADIENT_ROWS] == 0 && c->v[GRADIENT_PARTS] > 1)
        return kiln_no(why, "T_PARTS is %d, but parts need a T_ROWS", c->v[GRADIENT_PARTS]);
    if (c->v[GRADIENT_ROWS] && c->v[GRADIENT_PARTS] == 0)
        return kiln_no(why, "T_PARTS is 0, but T_ROWS %d needs a part", c->v[GRADIENT_ROWS]);
    if (c->v[GRADIENT_PARTS] == 0)
        return false;
    if (c->v[GRADIENT_ROWS] > kiln_gradient_part(s, &g, c) ||
        (c->v[GRADIENT_PARTS] - 1) * kiln_gradient_part(s, &g, c) >= kiln_gradient_rows(s, &g))
        return kiln_no(why, "T_ROWS is %d and T_PARTS %d, too many for %lld rows of tiles",
                       c->v[GRADIENT_ROWS], c->v[GRADIENT_PARTS],
                       (long long)kiln_gradient_rows(s, &g));
    return false;
}

static bool skip(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c)
{
    kiln_gradient g = kiln_gradient_of(s, d);
    int vectors = kiln_blocked_vectors(g.block, d),
        sums = c->v[GRADIENT_K] * c->v[GRADIENT_CV] * vectors;
    return sums + c->v[GRADIENT_CV] * vectors > kiln_blocked_registers(d) - 1 ||
           (c->v[GRADIENT_ROWS] && c->v[GRADIENT_PARTS] < d->compute_units);
}

static void guess(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                  kiln_config *c)
{
    static const int parts[] = {1, 0, 2, 4, 8, 16};
    const kiln_config start = {
        .v = {[GRADIENT_K] = 4, [GRADIENT_CV] = 1, [GRADIENT_ROWS] = 0, [GRADIENT_PARTS] = 1}};
    const kiln_range range[] = {kiln_searched(params, GRADIENT_K),
                                kiln_searched(params, GRADIENT_CV), kiln_each(GRADIENT_ROWS, 0, 8),
                                kiln_listed(GRADIENT_PARTS, parts, 6)};
    kiln_guess g = {self, s, d, NULL, kiln_legal_ms, start, kiln_gradient_ms(self, s, d, &start)};
    kiln_config_best(&g, &start, range, sizeof range / sizeof *range);
    *c = g.best;
}

/* ---- the plan ---- */

/* Returns the role of the tensor in blocks: the tensor itself, or the result of a stage. */
static int emit_blocks(const kiln_shape *s, const kiln_device_facts *d, const kiln_gradient *g,
                       char tensor, kiln_plan *plan)
{
    char text[KILN_LAYOUT_TEXT];
    if (kiln_layout_block(tensor == 'x' ? s->x_layout : s->y_layout, s->rank) > 1)
        return tensor == 'x' ? KILN_ROLE_X : KILN_ROLE_Y;
    blocked_layout(s, g, text);
    return kiln_stage_source(s, d, tensor, text, plan);
}

/* Returns how many filters an item stores together. Where channels of dy are neighbours in dw, an
 * item has lines of it for itself. */
static int64_t kept(const kiln_shape *s, const kiln_gradient *g, const kiln_config *c)
{
    kiln_filter_places w;
    if (!kiln_filter_places_of(s, &w) || w.k != 1 || w.c == 1)
        return 1;
    return c->v[GRADIENT_PARTS] == 0 ? c->v[GRADIENT_K] : g->block;
}

static void stage(const kiln_shape *s, const kiln_gradient *g, const kiln_config *c,
                  const char *kernel, kiln_plan *plan)
{
    kiln_plan_stage(plan, "winograd_weights.cl", kernel);
    kiln_define_types(plan, s);
    int64_t planes = (int64_t)GRADIENT_ELEMENTS * kiln_gradient_copies(c);
    int64_t largest =
        planes * (kiln_gradient_plane(g, g->c_blocks, c) + kiln_gradient_plane(g, g->k_blocks, c));
    if (!s->wide && (largest > INT32_MAX || planes * kiln_gradient_products(g) > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "D_B", g->block);
    kiln_define(plan, "P_SRC_H", s->in[KILN_AXIS_H]);
    kiln_define(plan, "P_SRC_W", s->in[KILN_AXIS_W]);
    kiln_define(plan, "P_DST_H", s->out[KILN_AXIS_H]);
    kiln_define(plan, "P_DST_W", s->out[KILN_AXIS_W]);
    kiln_define(plan, "D_SRC_C", s->c);
    kiln_define(plan, "D_DST_C", s->k);
    kiln_define(plan, "D_LEAD_H", s->pad[KILN_AXIS_H]);
    kiln_define(plan, "D_LEAD_W", s->pad[KILN_AXIS_W]);
    kiln_define(plan, "D_TILES_H", g->tiles[0]);
    kiln_define(plan, "D_TILES_W", g->tiles[1]);
    kiln_define(plan, "D_ROOM", kiln_gradient_room(g, c));
    kiln_define(plan, "D_ROWS", kiln_gradient_rows(s, g));
    kiln_define(plan, "D_PART", kiln_gradient_part(s, g, c));
    kiln_define(plan, "D_W_KEPT", kept(s, g, c));
    kiln_filter_places_define(s, plan);
    kiln_define_params(plan, params, GRADIENT_PARAMS, c);
}

enum { X, DY, V, U, M, DW };

/* One stage for the first three steps: each item does them for its parts, one after the other. */
static void emit_parts(const kiln_shape *s, const kiln_gradient *g, const kiln_config *c,
                       const int role[DW + 1], kiln_plan *plan)
{
    stage(s, g, c, "part", plan);
    for (int i = X; i <= M; i++)
        kiln_arg_buffer(plan, role[i]);
    kiln_grid(plan, 1, 1, 1, c->v[GRADIENT_PARTS], 1, 1);
}

/* One stage for each of the first three steps. */
static void emit_steps(const kiln_shape *s, const kiln_gradient *g, const kiln_config *c,
                       const int role[DW + 1], kiln_plan *plan)
{
    stage(s, g, c, "source", plan);
    kiln_arg_buffer(plan, role[X]);
    kiln_arg_buffer(plan, role[V]);
    kiln_grid(plan, 1, 1, 1, kiln_gradient_rows(s, g), g->c_blocks, 1);

    stage(s, g, c, "gradient", plan);
    kiln_arg_buffer(plan, role[DY]);
    kiln_arg_buffer(plan, role[U]);
    kiln_grid(plan, 1, 1, 1, kiln_gradient_rows(s, g), g->k_blocks, 1);

    bool whole = c->v[GRADIENT_PARTS] == 0;
    stage(s, g, c, whole ? "filters" : "products", plan);
    kiln_arg_buffer(plan, role[V]);
    kiln_arg_buffer(plan, role[U]);
    kiln_arg_buffer(plan, role[whole ? DW : M]);
    kiln_grid(plan, 1, 1, 1, kiln_gradient_items(g, c), whole ? 1 : GRADIENT_ELEMENTS, 1);
}

static void emit(const kiln_solver *self, const kiln_shape *s, const kiln_device_facts *d,
                 const kiln_config *c, kiln_plan *plan)
{
    kiln_gradient g = kiln_gradient_of(s, d);
    plan->amplification = kiln_winograd_amplification(6, (const int[]){4, 4}, g.all);
    int x = emit_blocks(s, d, &g, 'x', plan), dy = emit_blocks(s, d, &g, 'y', plan);
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    int64_t planes = (int64_t)GRADIENT_ELEMENTS * kiln_gradient_copies(c) *
                     4; /* bytes of an element in each plane */
    int v = kiln_plan_temp(plan, planes * kiln_gradient_plane(&g, g.c_blocks, c));
    int u = kiln_plan_temp(plan, planes * kiln_gradient_plane(&g, g.k_blocks, c));
    bool whole = c->v[GRADIENT_PARTS] == 0;
    int m = whole ? 0 : kiln_plan_temp(plan, planes * kiln_gradient_products(&g));
    const int role[] = {x, dy, v, u, m, KILN_ROLE_W};
    if (c->v[GRADIENT_ROWS])
        emit_parts(s, &g, c, role, plan);
    else
        emit_steps(s, &g, c, role, plan);
    if (whole)
        return;
    stage(s, &g, c, "weights", plan);
    kiln_arg_buffer(plan, m);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_grid(plan, 1, 1, 1, divide_up(s->k, kept(s, &g, c)), g.c_blocks, 1);
}

const kiln_solver kiln_solver_winograd_weights = {
    .name = "winograd_weights",
    .id = 1023,
    .algorithm = 3,
    .version = 2,
    .params = params,
    .nparams = GRADIENT_PARAMS,
    .prefer = prefer,
    .reject = reject,
    .illegal = illegal,
    .skip = skip,
    .guess = guess,
    .predict = kiln_gradient_ms,
    .emit = emit,
};
