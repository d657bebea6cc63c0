/* Backward weights as a product of matrices on tensor cores: the stages of its plan. */
#include "gemm_weights_mma.h"

#include "generator/base/integers.h"
#include "generator/geometry/bias_gradient.h"
#include "generator/geometry/filter_places.h"

static void define_all(const kiln_shape *s, const kiln_gemm_weights_mma *g,
                       const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan)
{
    const int64_t sums = product_of(kiln_gemm_weights_mma_part(g), c->v[MMA_SPLIT]);
    kiln_define_types(plan, s);
    if (!s->wide && (sums > INT32_MAX || kiln_mma_source_bytes(&g->x) > INT32_MAX ||
                     kiln_mma_source_bytes(&g->dy) > INT32_MAX))
        kiln_define(plan, "P_WIDE", 1);
    kiln_define(plan, "P_IMAGES", s->n);
    kiln_define(plan, "P_GROUPS", g->groups);
    kiln_define(plan, "D_TOGETHER", g->together);
    kiln_define(plan, "D_SRC_C", g->together * g->x.group_channels);
    kiln_define(plan, "D_DST_C", g->rows);
    kiln_define(plan, "D_X_CHANNELS", g->x_c);
    kiln_define(plan, "D_DY_CHANNELS", g->together * g->dy.channels);
    kiln_define(plan, "D_X_UNIT", g->x.unit);
    kiln_define(plan, "D_DY_UNIT", g->dy.unit);
    kiln_define_axes(plan, "P_SRC", s->in);
    kiln_define_axes(plan, "P_DST", s->out);
    kiln_define_axes(plan, "P_FILTER", s->filter);
    kiln_define_axes(plan, "P_STRIDE", s->stride);
    kiln_define_axes(plan, "P_DILATION", s->dilation);
    kiln_define_axes(plan, "P_PAD", s->pad);
    kiln_define(plan, "D_POINTWISE", g->pointwise);
    kiln_define(plan, "D_PARTS", g->parts);
    kiln_pitch_define(&g->x.pitch, "D_X", plan);
    kiln_pitch_define(&g->dy.pitch, "D_DY", plan);
    kiln_filter_places_define(s, plan);
    kiln_mma_define(&g->tiles, d, c, plan);
}

void kiln_gemm_weights_mma_emit(const kiln_solver *self, const kiln_shape *s,
                                const kiln_device_facts *d, const kiln_config *c, kiln_plan *plan)
{
    const kiln_gemm_weights_mma g = kiln_gemm_weights_mma_of(self, s, c);
    const int split = c->v[MMA_SPLIT];
    const double terms = (double)kiln_shape_terms(s);
    plan->amplification = kiln_mma_amplification(g.tiles.type, terms, terms / split);
    if (s->epilogue.bias)
        kiln_bias_gradient_emit(s, d, plan);
    const int x = kiln_mma_source_emit(&g.x, s, d, KILN_ROLE_X, plan),
              dy = kiln_mma_source_emit(&g.dy, s, d, KILN_ROLE_Y, plan);
    const int sums =
        g.parts ? kiln_plan_temp(plan, 4 * kiln_gemm_weights_mma_part(&g) * split) : KILN_ROLE_W;
    kiln_plan_stage(plan, "gemm_weights_mma.cl", "gemm_weights_mma");
    define_all(s, &g, d, c, plan);
    kiln_arg_buffer(plan, x);
    kiln_arg_buffer(plan, dy);
    kiln_arg_buffer(plan, sums);
    kiln_grid(plan, g.tiles.items, 1, 1, g.tiles_m * g.tiles_n * g.tiles.items, g.groups, split);
    if (!g.parts)
        return;
    kiln_plan_stage(plan, "gemm_weights_mma.cl", "gemm_weights_mma_sum");
    define_all(s, &g, d, c, plan);
    kiln_arg_buffer(plan, sums);
    kiln_arg_buffer(plan, KILN_ROLE_W);
    kiln_grid(plan, kiln_device_group(d, 128), 1, 1, s->w_count, 1, 1);
}
